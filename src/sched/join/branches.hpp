// The branches of forks (weft/fork_join.hpp) as the scheduler meets them. On the way most of them go it does not: the
// body that forked pushes a branch to its deque and takes it back. Here is what happens to the others: a thief has one,
// or the body that forked was set aside and its worker's loop finds it; then it runs as a task would, with a record of
// its own - the one on the stack of the body that forked - and that body waits for it. Protocol: branches.md.
#pragma once
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "sched/admit/admission.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/join/stall.hpp"
#include "sched/place/context.hpp"
#include "sched/queues/deque.hpp"
#include "weft/detail/branch.hpp"

namespace weft::sched {

using detail::branch;

template <class M> class branches {
 public:
  branches(context<M>& context, suspension<M>& suspension, admission<M>& admission, stall<M>& stall)
      : context_(context), suspension_(suspension), admission_(admission), stall_(stall) {}

  // The main thread begins to fork outside of tasks, and ends. Who: it.
  void enter(worker<M>& w) {
    WEFT_ASSERT(w.on_program_stack() && w.current == nullptr && w.where->on == nullptr && !main_.has_value());
    main_.emplace(admission_, w);
    w.where->on = &w;
  }
  void leave(worker<M>& w) noexcept {
    WEFT_ASSERT(w.where->on == &w && main_.has_value());
    w.where->on = nullptr;
    main_.reset();
  }

  // Offers b to all, but where the order of tasks is kept. Who: w's thread, in a body.
  void offer(worker<M>& w, branch& b) {
    if (context_.ordering.is_kept()) return;
    context_.placement.place(w, &stand_ins_.offer(b));
  }

  // Ends the fork of b. Returns whether the caller runs b itself, on the worker it is on then; if not, b has run. Who:
  // the body that forked.
  [[nodiscard]] bool join(worker<M>& w, branch& b) {
    if (context_.ordering.is_kept()) return true;
    branch& there = stand_ins_.of(b);
    if (take_back(w, there)) {
      stand_ins_.leave(b);
      return true;
    }
    if (M::load(there.meeting, base::acquire) != branch::over) wait(w, there);
    return false;
  }
  // What b threw, to be thrown by the join: once. Who: the body that forked, when b is over.
  [[nodiscard]] std::exception_ptr thrown_by(branch& b) noexcept {
    auto* held = std::launder(reinterpret_cast<std::exception_ptr*>(&stand_ins_.of(b).thrown));
    std::exception_ptr e = std::move(*held);
    held->~exception_ptr();
    stand_ins_.leave(b);
    return e;
  }

  // Makes a record of b that a body may have. Who: the worker that has taken b.
  static void begins(branch& b) noexcept {
    WEFT_ASSERT(b.kind == detail::record_kind::branch && b.state == detail::record_state::ready);
    b.running.waits_in = nullptr;
    b.name = b.parent != nullptr ? b.parent->name : nullptr;
    b.cost_ps = detail::record::charged_bit;  // a branch has no duration of its own, only what it charges
    b.order = b.parent != nullptr ? b.parent->order : 0;
    b.access_count = 0;
    b.size_class = 0;
    b.exclusives = 0;
    b.urgent = b.subtasks = b.waits_exclusive = b.has_children = b.internal = false;
    b.plain = true;
    b.denied = 0;
    b.has_waited = false;
    b.trace_id() = b.parent != nullptr ? b.parent->trace_id() : 0;
    b.is_call = false;
    M::store(b.pending, detail::record::body_share, base::relaxed);
  }
  // b has run on w, and threw e or nothing. b is gone when this returns. Order: what the branch did comes before what
  // the body does after its join, by the exchange, or by the queue that the body's stack goes through.
  void over(worker<M>& w, branch& b, std::exception_ptr e) {
    new (&b.thrown) std::exception_ptr(std::move(e));
    if (const std::uintptr_t who = M::exchange(b.meeting, branch::over, base::acq_rel)) {
      WEFT_ASSERT(who != branch::over);
      context_.placement.place(w, reinterpret_cast<detail::record*>(who));
    }
  }

 private:
  // Also where it is within reach of thieves, or below what the first body has left in the deque.
  [[nodiscard]] bool take_back(worker<M>& w, branch& b) {
    detail::record* x = deque<M>::pop(w);
    if (x == nullptr) return false;
    if (x != &b) context_.placement.keep(w, x);
    context_.placement.keep_within_reach(w);  // what is private now may stay so for as long as b takes
    return x == &b;
  }

  void wait(worker<M>& w, branch& b) {
    waiter self;
    self.joins = &b;
    suspension_.suspend(w, self, {trace::why::join}, [this, &self, &b](worker<M>& here) {
      const auto me = reinterpret_cast<std::uintptr_t>(&self.r);
      if (M::exchange(b.meeting, me, base::acq_rel) == branch::over) context_.placement.place(here, &self.r);
    });
    if (self.stalled) stall_.raise(true);
  }

  context<M>& context_;
  suspension<M>& suspension_;
  admission<M>& admission_;
  stall<M>& stall_;
  [[no_unique_address]] typename M::stand_ins stand_ins_;
  std::optional<typename admission<M>::main_wait> main_;
};

}  // namespace weft::sched
