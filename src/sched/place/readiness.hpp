// What follows from a condition being met: step 2 of a task's life, ready. Who finishes an access, gives back what was
// exclusive, or ends a wait gets a list of records whose condition this met (access::woken); each is asked for its next
// condition, and those that have none left are placed.
#pragma once
#include "access/plain.hpp"
#include "access/registration.hpp"
#include "access/reservation.hpp"
#include "base/assert.hpp"
#include "sched/idle/quiescence.hpp"
#include "sched/place/placement.hpp"
#include "sched/queues/deque.hpp"
#include "sched/replay/ordering.hpp"

namespace weft::sched {

template <class M> class readiness {
 public:
  using woken = access::woken;

  readiness(placement<M>& placement, access::reservations<M>& reservations, ordering<M>& order,
            quiescence<M>& quiescence)
      : placement_(placement), reservations_(reservations), ordering_(order), quiescence_(quiescence) {}

  // The condition that r was listed for is met. Returns whether r is ready; if not, it is listed elsewhere. Where r
  // only stood for a task (reservation.hpp) it is that task afterwards.
  [[nodiscard, gnu::always_inline]] bool advance(detail::record*& r, woken& out) {
    if (r->plain) return access::advance_plain<M>(r);
    return advance_any(r, out);
  }

  void all(worker<M>& w, woken& list) {
    while (detail::record* r = list.take())
      if (advance(r, list)) placement_.place(w, r);
  }

  // The same where a body has just ended on w: the first task that may run there is returned, to run at once, where its
  // data is; no queue lies on the critical path (SuperGlue §3.1, Listing 5).
  [[nodiscard, gnu::always_inline]] detail::record* all_but_one(worker<M>& w, woken& list) {
    detail::record* follower = nullptr;
    while (detail::record* x = list.take()) {
      if (!advance(x, list)) continue;
      // Of several the first that may; the others join it in the deque only where that is what the policy always says.
      const bool may = follower == nullptr || (x->plain && placement_.own_only());
      if (!may || !placement_.follows(w, *x)) {
        placement_.place(w, x);
        continue;
      }
      placement_.tell_ready(w, *x);
      transition(*x, detail::record_state::blocked, detail::record_state::ready);
      if (follower == nullptr)
        follower = x;
      else
        placement_.keep(w, x);
    }
    if (follower != nullptr) placement_.keep_within_reach(w);
    return follower;
  }

  // Those who wait for the end of everything, if it has come.
  void quiescent(worker<M>& w) {
    auto over = quiescence_.take_over();
    while (waiter* const x = over.pop()) placement_.place(w, &x->r);  // it may be gone then
  }

  // The body that w runs may hold exclusive access, and is about to wait: until it goes on nobody reserves handles that
  // those may need whom it waits for (access/reservation.hpp).
  class exclusive_wait {
   public:
    exclusive_wait(readiness& to, worker<M>& w)
        : readiness_(to), counts_(w.current != nullptr && w.current->exclusives != 0) {
      if (counts_) [[unlikely]]
        to.wait_begins(w);
    }
    ~exclusive_wait() {
      if (counts_) readiness_.wait_ends();
    }
    exclusive_wait(const exclusive_wait&) = delete;
    exclusive_wait& operator=(const exclusive_wait&) = delete;

   private:
    readiness& readiness_;
    const bool counts_;
  };
  void wait_begins(worker<M>& w) {
    woken list;
    reservations_.wait_begins(list);
    all(w, list);
  }
  void wait_begins(woken& list) noexcept { reservations_.wait_begins(list); }
  void wait_ends() noexcept { reservations_.wait_ends(); }

 private:
  [[nodiscard]] bool advance_any(detail::record*& r, woken& out) {
    if (r->kind == detail::record_kind::resume || r->kind == detail::record_kind::external) return true;
    WEFT_ASSERT(r->state == detail::record_state::blocked || r->kind == detail::record_kind::place);
    if (ordering_.chooses_among_adds(*r) && r->waiting.cursor < r->access_count) return access::advance_versions<M>(r);
    return reservations_.advance(r, out);
  }

  placement<M>& placement_;
  access::reservations<M>& reservations_;
  ordering<M>& ordering_;
  quiescence<M>& quiescence_;
};

}  // namespace weft::sched
