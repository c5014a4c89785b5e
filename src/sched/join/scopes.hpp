// The scopes of finishes (weft/finish.hpp) as the scheduler meets them. A scope is a record between a body and what is
// submitted in it; the wait at its end is that of a task for its children (waits.hpp), and as there the children that
// are newest here run on the waiting stack. What is here: scopes of the main thread, which are tasks without a task
// around them, and those that another record stands for (machine/stand_ins.hpp).
#pragma once
#include "base/assert.hpp"
#include "sched/join/stall.hpp"
#include "sched/join/waits.hpp"
#include "sched/workers/children.hpp"
#include "weft/detail/scope.hpp"

namespace weft::sched {

template <class M> class scopes {
 public:
  scopes(waits<M>& waits, stall<M>& stall, quiescence<M>& quiescence)
      : waits_(waits), stall_(stall), quiescence_(quiescence) {}

  // Who: a body on w, or the main thread between enter_forks and leave_forks.
  void open(worker<M>& w, detail::scope& s) {
    WEFT_ASSERT(s.r == &s.own && (w.current != nullptr || w.where->on == &w));
    s.r = &stand_ins_.of(s);
    quiescence_.created(w, *s.r);
    detail::enclose(w, *s.r, w.current);
  }
  // Returns when the children of s are done. Errors: what they threw; weft::error if nothing can run any more. Either
  // way s is closed.
  void close(worker<M>& w, detail::scope& s) {
    WEFT_ASSERT(w.current == s.r && detail::is_scope(*s.r));
    struct at_end {
      scopes& all;
      detail::record& r;
      ~at_end() { all.leave(r); }
    } const closed{*this, *s.r};
    waits_.for_children(w);
  }

 private:
  void leave(detail::record& r) noexcept {
    worker<M>& here = static_cast<worker<M>&>(*current_worker());
    WEFT_ASSERT(here.current == &r);
    here.current = r.parent;
    if (children<M>::any(r)) [[unlikely]]
      stall_.orphan(r);
    if (r.parent != nullptr)
      children<M>::ended_here(*r.parent);
    else
      quiescence_.finished(here);
    stand_ins_.leave(r);
  }

  waits<M>& waits_;
  stall<M>& stall_;
  quiescence<M>& quiescence_;
  [[no_unique_address]] typename M::stand_ins stand_ins_;
};

}  // namespace weft::sched
