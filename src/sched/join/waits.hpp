// The program's waits: for the children of a task, for all tasks, for a handle. A wait inside a task, and the main
// thread's, sets its stack aside (suspension.hpp); a guest's blocks its thread.
//
// A task whose children are all that is left to do here runs them itself: while the newest task of its worker's deque
// is its own child, that child runs on the waiting stack, as a call would, and nothing is switched. Only a child:
// anything else there could wait for what the stack below holds. Not while the task holds exclusive access, which its
// children may need from each other, and not when the stack is half used: then it is set aside.
// How they are counted, and that the body goes on once: children.hpp, waits_model_test.cpp.
#pragma once
#include <cstdint>

#include "access/registration.hpp"
#include "base/assert.hpp"
#include "sched/admit/registrar.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/idle/events.hpp"
#include "sched/join/stall.hpp"
#include "sched/place/context.hpp"
#include "sched/queues/deque.hpp"
#include "sched/workers/children.hpp"
#include "weft/error.hpp"

namespace weft::sched {

// Who runs a child of a body that waits, on its stack.
template <class M> struct child_runner {
  // Runs x and what follows from it, as far as that has the same parent. May return on another worker.
  virtual void run_child(worker<M>& w, detail::record* x) = 0;

 protected:
  ~child_runner() = default;
};

template <class M> class waits {
 public:
  waits(detail::engine_base* engine, child_runner<M>& runner, context<M>& context, stacks<M>& stacks,
        registrar<M>& registrar, suspension<M>& suspension, stall<M>& stall, event_board& events)
      : engine_(engine), runner_(runner), context_(context), stacks_(stacks), registrar_(registrar),
        suspension_(suspension), stall_(stall), events_(events) {}

  // For those of the running task, or of the scope it is in. Errors: what they threw; weft::error if the main thread
  // waits in a scope, and nothing can run any more.
  void for_children(worker<M>& w) {
    detail::record* r = w.current;
    WEFT_ASSERT(r != nullptr && r->state == detail::record_state::running);
    typename recording<M>::pause since;
    const bool waited = children<M>::any(*r) && run_children(w, r, since);
    worker<M>& now = static_cast<worker<M>&>(*current_worker());
    if (children<M>::any(*r)) {
      waiter self;
      self.children_of = r;
      const auto publish = [this, r, &self](worker<M>& here) {
        if (children<M>::awaited(*r, &self.r)) context_.placement.place(here, &self.r);
      };
      suspension_.suspend(now, self, {trace::why::children}, publish, waited ? &since : nullptr);
      children<M>::goes_on(*r);
      if (self.stalled) stall_.raise(true);
    } else if (waited) {
      context_.recording.goes_on(now, r, {trace::why::children}, since);
    } else if (r->has_children) {
      context_.recording.passed(now, {trace::why::children});
    }
    context_.poison.rethrow_below(r);
  }

  // Who: the main thread, outside of tasks. Returns false if nothing can run any more.
  [[nodiscard]] bool for_all(worker<M>& w) {
    WEFT_ASSERT(w.role != role::guest && w.current == nullptr);
    registrar_.close_all(w);
    bool waited = false;
    context_.placement.expose(w);  // to ask whether all is done takes long, with many workers
    // Where others create, and where bodies submit, a group may have been opened, and all of it done, since the last
    // look for open ones: so that comes after the look for the end, too.
    for (;;) {
      if (context_.quiescence.reached()) {
        if (!registrar_.any_open()) break;
        registrar_.close_all(w);
        continue;
      }
      waited = true;
      waiter self;
      // This worker's loop looks for the end before it sleeps.
      suspension_.suspend(w, self, {trace::why::all}, [this, &self](worker<M>&) { context_.quiescence.await(self); });
      if (self.stalled) return false;
      registrar_.close_all(w);  // of tasks that were submitted by tasks meanwhile
    }
    if (!waited) context_.recording.passed(w, {trace::why::all});
    context_.poison.rethrow_below(nullptr);
    return true;
  }
  // Who: a guest.
  void for_all_outside(worker<M>& g) {
    WEFT_ASSERT(g.role == role::guest);
    do {
      waiter self;
      typename guests<M>::wait listed(context_.guests, self, nullptr);
      {
        typename guests<M>::call here(context_.guests);
        registrar_.close_all(g);
        context_.quiescence.await(self);
      }
      // Either a worker that is about to sleep sees the entry, or this look sees that it was the last to finish.
      if (context_.quiescence.reached()) {
        auto over = context_.quiescence.take_over();
        while (waiter* const x = over.pop()) context_.placement.place(g, &x->r);
      }
      M::block(self.signal);
      if (self.stalled) stall_.raise(false);
    } while (registrar_.any_open());
    context_.poison.rethrow_below(nullptr);
  }

  // Whether a wait for h has anything to look at. Errors: weft::error if the running task uses h itself, or another
  // runtime does.
  [[nodiscard]] bool concerns(worker<M>& w, detail::handle_state& h) {
    const detail::record* r = w.current;
    while (r != nullptr && r->kind != detail::record_kind::task) r = r->parent;  // in a scope, or a branch
    for (std::uint32_t i = 0; r != nullptr && i < r->access_count; ++i)
      if ((const_cast<detail::record*>(r)->accesses()[i].handle_and_kind & detail::handle_address_mask) ==
          reinterpret_cast<std::uintptr_t>(&h))
        throw error("weft: a task waits for handle " + access::name_of(h) +
                    ", which it uses itself; it would never end");
    bool elsewhere = false;
    M::fresh_unless(h.engine, engine_, &h, sizeof h);
    {
      base::locked<M> guard(h.lock);
      if (h.engine == nullptr) return false;
      if (h.engine != engine_ && !access::in_use<M>(h)) return false;
      elsewhere = h.engine != engine_;
    }
    if (elsewhere) access::throw_in_use(h);
    return true;
  }
  // For the accesses registered so far, or for a version. Who: a worker. Returns false if nothing can run any more.
  [[nodiscard]] bool for_handle(worker<M>& w, detail::handle_state& h, const std::uint64_t* version) {
    WEFT_ASSERT(w.role != role::guest);
    waiter self;
    self.awaited = &h;
    registrar_.close_if_open(w, h);
    const target to = target_of(h, version);
    if (to.is_there) {
      context_.recording.passed(w, {trace::why::handle, h.id});
      return true;
    }
    const ahead_wait listed(events_, to.is_ahead ? &self : nullptr, h, to.version, detail::body_around(w.current));
    suspension_.suspend(w, self, {trace::why::handle, h.id}, [this, &self, &h, to](worker<M>& here) {
      if (!list_on(h, self, to.version)) context_.placement.place(here, &self.r);
    });
    return !self.stalled;
  }
  // The same. Who: a guest.
  [[nodiscard]] bool for_handle_outside(worker<M>& g, detail::handle_state& h, const std::uint64_t* version) {
    WEFT_ASSERT(g.role == role::guest);
    waiter self;
    typename guests<M>::wait listed(context_.guests, self, &h);
    bool has_to_wait = false;
    target to;
    {
      typename guests<M>::call here(context_.guests);
      registrar_.close_if_open(g, h);
      to = target_of(h, version);
    }
    const ahead_wait ahead(events_, to.is_ahead ? &self : nullptr, h, to.version, nullptr);
    {
      typename guests<M>::call here(context_.guests);
      has_to_wait = !to.is_there && list_on(h, self, to.version);
    }
    if (has_to_wait) M::block(self.signal);
    return !self.stalled;
  }

 private:
  struct target {
    std::uint64_t version = 0;
    bool is_there = false;
    bool is_ahead = false;  // nobody has submitted what brings it
  };
  [[nodiscard]] target target_of(detail::handle_state& h, const std::uint64_t* version) {
    base::locked<M> guard(h.lock);
    target to;
    to.version = version != nullptr ? *version : h.registered;
    to.is_there = access::available<M>(h, to.version);
    to.is_ahead = !to.is_there && !access::reached(h.registered, to.version);
    return to;
  }

  // While a wait ahead of what is submitted lasts, the board of events knows of it, and its waiter carries the mark.
  class ahead_wait {
   public:
    ahead_wait(event_board& board, waiter* self, detail::handle_state& h, std::uint64_t version,
               const detail::record* body)
        : board_(self != nullptr ? &board : nullptr) {
      if (board_ == nullptr) return;
      self->r.name = access::ahead_mark;
      self->is_ahead = true;
      x_.handle = &h;
      x_.version = version;
      x_.body = body;
      static_cast<void>(board.list(x_));
    }
    ~ahead_wait() {
      if (board_ != nullptr) static_cast<void>(board_->delist(x_));
    }
    ahead_wait(const ahead_wait&) = delete;
    ahead_wait& operator=(const ahead_wait&) = delete;

   private:
    event_board* board_;
    detail::event_wait x_;
  };

  // Runs children of r, the body that w is in, on its stack, while the newest task here is one. Returns whether any.
  // Not where somebody else decides what is next, nor without an end: the loop below looks elsewhere now and then.
  // since: when the first began, for whoever records that the wait is over.
  [[nodiscard]] bool run_children(worker<M>& w, detail::record* r, typename recording<M>::pause& since) {
    if (r->exclusives != 0 || context_.ordering.chooses()) return false;
    bool any = false;
    worker<M>* here = &w;
    while (detail::record* x = newest_child(*here, *r)) {
      if (!any) since = context_.recording.waits(*here, r);
      if (detail::record* const body = detail::body_around(r)) suspension<M>::note_wait(*body, nullptr);
      any = true;
      runner_.run_child(*here, x);
      here = static_cast<worker<M>*>(current_worker());
      here->current = r;
    }
    return any;
  }
  // nullptr: none, or this is not the place or the time to run it.
  [[nodiscard]] detail::record* newest_child(worker<M>& w, detail::record& r) {
    if (w.is_special() || w.tick >= detail::peek(w.tick_limit) || context_.attention.called() ||
        !stacks_.has_room_for_body(w))
      return nullptr;
    if (!children<M>::any(r)) return nullptr;
    detail::record* x = deque<M>::pop(w, w.pace.coarse);
    if (x == nullptr) return nullptr;
    const bool is_child = x->kind == detail::record_kind::task && x->parent == &r;
    if (!is_child) context_.placement.keep(w, x);
    context_.placement.keep_within_reach(w);
    return is_child ? x : nullptr;
  }

  // Returns whether self has to wait.
  [[nodiscard]] bool list_on(detail::handle_state& h, waiter& self, std::uint64_t version) {
    self.r.access_count = 1;
    base::locked<M> guard(h.lock);
    self.a = {reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_read), version};
    return access::wait_unless_available<M>(h, &self.r);
  }

  detail::engine_base* engine_;
  child_runner<M>& runner_;
  context<M>& context_;
  stacks<M>& stacks_;
  registrar<M>& registrar_;
  suspension<M>& suspension_;
  stall<M>& stall_;
  event_board& events_;
};

}  // namespace weft::sched
