// The program's waits: for the children of a task, for all tasks, for a handle. A wait inside a task, and the main
// thread's, sets its stack aside (suspension.hpp); a guest's blocks its thread.
//
// A task whose children are all that is left to do here runs them itself: while the newest task of its worker's deque
// is its own child, that child runs on the waiting stack, as a call would, and nothing is switched. Only a child:
// anything else there could wait for what the stack below holds. Not while the task holds exclusive access, which its
// children may need from each other, and not when the stack is half used: then it is set aside.
#pragma once
#include <cstdint>

#include "access/registration.hpp"
#include "sched/attention.hpp"
#include "sched/deque.hpp"
#include "sched/ordering.hpp"
#include "sched/poison.hpp"
#include "sched/registrar.hpp"
#include "sched/stall.hpp"
#include "sched/suspension.hpp"
#include "weft/error.hpp"

namespace weft::sched {

// Who runs a child of a body that waits, on its stack.
template <class M> struct child_runner {
  // Runs x and what follows from it, as far as that has the same parent. May return on another worker.
  virtual void run_child(worker<M>& w, detail::record* x) = 0;

 protected:
  ~child_runner() = default;
};

template <class M> struct waits_parts {
  child_runner<M>& runner;
  sched::attention<M>& attention;
  sched::ordering<M>& order;
  sched::stacks<M>& stacks;
  sched::guests<M>& outside;
  sched::recording<M>& recording;
  sched::registrar<M>& registrar;
  sched::placement<M>& placement;
  sched::quiescence<M>& quiescence;
  sched::poison<M>& poison;
  sched::suspension<M>& suspension;
  sched::stall<M>& stall;
};

template <class M> class waits {
 public:
  explicit waits(detail::engine_base* engine, const waits_parts<M>& parts) : engine_(engine), use_(parts) {}

  // The running task gives up its own share of `pending`; whoever brings the count to zero resumes it.
  void for_children(worker<M>& w) {
    detail::record* r = w.current;
    WEFT_ASSERT(r != nullptr && r->state == detail::record_state::running);
    typename recording<M>::pause since;
    const bool waited = lives_on(*r) && run_children(w, r, since);
    worker<M>& now = static_cast<worker<M>&>(*current_worker());
    if (lives_on(*r)) {
      waiter self;
      const auto publish = [this, r, &self](worker<M>& here) {
        r->next = &self.r;  // published by the decrement; pairs with who is last to be done
        if (M::fetch_sub(r->pending, 1u, base::acq_rel) == 1) use_.placement.place(here, &self.r);
      };
      use_.suspension.suspend(now, self, {trace::why::children}, publish, waited ? &since : nullptr);
      r->next = nullptr;
      M::store(r->pending, 1u, base::relaxed);  // nobody else counts: there are no children
    } else if (waited) {
      use_.recording.goes_on(now, r, {trace::why::children}, since);
    } else if (r->has_children) {
      use_.recording.passed(now, {trace::why::children});
    }
    use_.poison.rethrow_below(r);
  }

  // Who: the main thread, outside of tasks. Returns false if nothing can run any more.
  [[nodiscard]] bool for_all(worker<M>& w) {
    use_.registrar.close_all(w);
    bool waited = false;
    while (!use_.quiescence.reached()) {
      waited = true;
      waiter self;
      // This worker's loop looks for the end before it sleeps.
      use_.suspension.suspend(w, self, {trace::why::all}, [this, &self](worker<M>&) { use_.quiescence.await(self); });
      if (self.stalled) return false;
      use_.registrar.close_all(w);  // of tasks that were submitted by tasks meanwhile
    }
    if (!waited) use_.recording.passed(w, {trace::why::all});
    use_.poison.rethrow_below(nullptr);
    return true;
  }
  // Who: a guest.
  void for_all_outside(worker<M>& g) {
    do {
      waiter self;
      typename guests<M>::wait listed(use_.outside, self, nullptr);
      {
        typename guests<M>::call here(use_.outside);
        use_.registrar.close_all(g);
        use_.quiescence.await(self);
      }
      // Either a worker that is about to sleep sees the entry, or this look sees that it was the last to finish.
      if (use_.quiescence.reached())
        for (waiter* x : use_.quiescence.take_over()) use_.placement.place(g, &x->r);
      use_.stall.await_outside(self);
    } while (use_.registrar.any_open());
    use_.poison.rethrow_below(nullptr);
  }

  // Whether a wait for h has anything to look at. Errors: weft::error if the running task uses h itself, or another
  // runtime does.
  [[nodiscard]] bool concerns(worker<M>& w, detail::handle_state& h) {
    const detail::record* r = w.current;
    for (std::uint32_t i = 0; r != nullptr && i < r->access_count; ++i)
      if ((const_cast<detail::record*>(r)->accesses()[i].handle_and_kind & detail::handle_address_mask) ==
          reinterpret_cast<std::uintptr_t>(&h))
        throw error("weft: a task waits for handle " + access::name_of(h) +
                    ", which it uses itself; it would never end");
    bool elsewhere = false;
    {
      base::locked<M> guard(h.lock);
      if (h.engine == nullptr) return false;
      if (h.engine != engine_ && !access::in_use<M>(h)) return false;
      elsewhere = h.engine != engine_;
    }
    if (elsewhere) access::throw_in_use(h);
    return true;
  }
  // For the accesses registered so far. Who: a worker. Returns false if nothing can run any more.
  [[nodiscard]] bool for_handle(worker<M>& w, detail::handle_state& h) {
    waiter self;
    self.awaited = &h;
    use_.registrar.close_if_open(w, h);
    bool there = false;
    {
      base::locked<M> guard(h.lock);
      there = access::available<M>(h, h.registered);
    }
    if (there) {
      use_.recording.passed(w, {trace::why::handle, h.id});
    } else {
      use_.suspension.suspend(w, self, {trace::why::handle, h.id}, [this, &self, &h](worker<M>& here) {
        if (!list_on(h, self)) use_.placement.place(here, &self.r);
      });
    }
    return !self.stalled;
  }
  // Who: a guest.
  void for_handle_outside(worker<M>& g, detail::handle_state& h) {
    waiter self;
    typename guests<M>::wait listed(use_.outside, self, &h);
    bool has_to_wait = false;
    {
      typename guests<M>::call here(use_.outside);
      use_.registrar.close_if_open(g, h);
      has_to_wait = list_on(h, self);
    }
    if (has_to_wait) use_.stall.await_outside(self);
  }

 private:
  [[nodiscard]] static bool lives_on(detail::record& r) noexcept {
    return r.has_children && M::load(r.pending, base::acquire) != 1;
  }

  // Runs children of r, the body that w is in, on its stack, while the newest task here is one. Returns whether any.
  // Not where somebody else decides what is next, nor without an end: the loop below looks elsewhere now and then.
  // since: when the first began, for whoever records that the wait is over.
  [[nodiscard]] bool run_children(worker<M>& w, detail::record* r, typename recording<M>::pause& since) {
    if (r->exclusives != 0 || use_.order.chooses()) return false;
    bool any = false;
    worker<M>* here = &w;
    while (detail::record* x = newest_child(*here, *r)) {
      if (!any) since = use_.recording.waits(*here, r);
      suspension<M>::note_wait(*r, nullptr);
      any = true;
      use_.runner.run_child(*here, x);
      here = static_cast<worker<M>*>(current_worker());
      here->current = r;
    }
    return any;
  }
  // nullptr: none, or this is not the place or the time to run it.
  [[nodiscard]] detail::record* newest_child(worker<M>& w, detail::record& r) {
    if (w.is_special() || w.tick >= detail::peek(w.tick_limit) || use_.attention.called() ||
        !use_.stacks.has_room_for_body(w))
      return nullptr;
    if (!lives_on(r)) return nullptr;
    detail::record* x = deque<M>::pop(w, w.pace.coarse);
    if (x == nullptr) return nullptr;
    const bool is_child = x->kind == detail::record_kind::task && x->parent == &r;
    if (!is_child) deque<M>::push(w, x);
    use_.placement.keep_within_reach(w);
    return is_child ? x : nullptr;
  }

  // Returns whether self has to wait.
  [[nodiscard]] bool list_on(detail::handle_state& h, waiter& self) {
    self.r.access_count = 1;
    base::locked<M> guard(h.lock);
    self.a = {reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_read), h.registered};
    return access::wait_unless_available<M>(h, &self.r);
  }

  detail::engine_base* engine_;
  waits_parts<M> use_;
};

}  // namespace weft::sched
