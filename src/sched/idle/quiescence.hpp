// When everything is done. Each worker counts the top-level tasks that it submitted and those that were wholly done on
// it, so no counter is shared; the sums are read only by who waits for the end or is about to sleep
// (docs/decisions/0007). A task inside another is counted by its parent.
//
// Finished counts are read before created ones: finished <= created at every instant and both only grow, so equal sums
// mean that nothing was live in between. A task is counted before it is registered: it may be done before registration
// returns, and a count of finished tasks that runs ahead would look like the end. Order: finished counts are released
// and acquired. With them come the created counts of their tasks, which are relaxed for that reason.
#pragma once
#include <cstdint>
#include <utility>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "sched/idle/guests.hpp"
#include "sched/workers/children.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/waiter_list.hpp"

namespace weft::sched {

template <class M> class quiescence {
 public:
  quiescence(crew<M>& all, guests<M>& outside) : crew_(all), guests_(outside) {}

  // r is submitted on w: its parent, its number among its parent's or w's tasks, and one more that is not done.
  [[gnu::always_inline]] void created(worker<M>& w, detail::record& r) noexcept {
    detail::record* parent = w.current;
    r.parent = parent;
    if (parent != nullptr) {
      r.order = children<M>::added(*parent);
      return;
    }
    const std::uint64_t count = detail::peek(w.created) + 1;
    r.order = w.role != role::guest ? count : guests_.next_order();
    M::store(w.created, count, base::relaxed);
  }
  // The same for an internal task that must come directly before one that is counted already. It belongs to that one's
  // parent, which cannot be done yet; who creates it is nobody's child.
  void created_beside(worker<M>& w, detail::record& r, const detail::record& before) noexcept {
    r.parent = before.parent;
    r.order = before.order;
    if (r.parent != nullptr)
      children<M>::added_elsewhere(*r.parent);
    else
      M::store(w.created, detail::peek(w.created) + 1, base::relaxed);
  }
  // A top-level task is wholly done on w. Order: release, pairs with reached().
  [[gnu::always_inline]] void finished(worker<M>& w) noexcept {
    M::store(w.finished, detail::peek(w.finished) + 1, base::release);
  }
  // r was counted and will not be, after all. Who: whoever counted it.
  void withdraw(worker<M>& w, detail::record& r) noexcept {
    if (r.parent == nullptr) return finished(w);
    children<M>::withdrawn(*r.parent);
  }

  // Whether every top-level task is wholly done. Order: acquire on each count of finished ones.
  [[nodiscard]] bool reached() noexcept {
    std::uint64_t finished = guests_.finished();
    for (const auto& w : crew_) finished += M::load(w->finished, base::acquire);
    std::uint64_t created = guests_.created();
    for (const auto& w : crew_) created += M::load(w->created, base::relaxed);
    WEFT_ASSERT(finished <= created);
    return finished == created;
  }
  // Tasks that are not done. A guess while others run.
  [[nodiscard]] std::uint64_t live() noexcept {
    std::uint64_t finished = guests_.finished();
    for (const auto& w : crew_) finished += detail::peek(w->finished);
    std::uint64_t created = guests_.created();
    for (const auto& w : crew_) created += detail::peek(w->created);
    return created - finished;
  }
  // Grows with every task that begins or ends to live.
  [[nodiscard]] std::uint64_t steps() noexcept {
    std::uint64_t n = guests_.finished() + guests_.created();
    for (const auto& w : crew_) n += detail::peek(w->created) + detail::peek(w->finished);
    return n;
  }

  // Whether somebody waits for the end and it has come. Who: a worker that found nothing to do. Order: seq_cst on the
  // number of waiters: either such a worker sees a waiter, or the waiter, which lists itself first, sees the end.
  [[nodiscard]] bool is_over_for_some() noexcept { return M::load(waiting_, base::seq_cst) != 0 && reached(); }
  // The same as the last look of a worker that has announced sleep. The counts are not seq_cst, so to have looked at
  // one word before or after the waiter does not tell what the other one counted; an addition of nothing does: the
  // later of it and the waiter's exchange has what came before the other. Order: release; the load that
  // follows reads it, or what came after it, and acquires what its release sequence began with.
  [[nodiscard]] bool is_over_at_last() noexcept {
    static_cast<void>(M::unseen::fetch_add(waiting_, 0u, base::release));
    return is_over_for_some();
  }
  // A look, and nobody relies on it.
  [[nodiscard]] bool is_awaited() noexcept { return M::load(waiting_, base::relaxed) != 0; }
  // Who has the lock ends the waits, or is about to look whether they can end: so many come here at once that they
  // would wait for each other for longer than that takes. A look, and nobody relies on it.
  [[nodiscard]] bool is_up_to_caller() noexcept { return is_awaited() && M::load(lock_, base::relaxed) == 0; }
  void await(waiter& self) noexcept {
    base::locked<M> guard(lock_);
    waiters_.push(self);
    static_cast<void>(M::exchange(waiting_, waiters_.size(), base::seq_cst));
  }
  // Returns whether x was still listed. Order of what lowers the number, here and below: relaxed; nobody relies on
  // being told of less.
  [[nodiscard]] bool delist(waiter& x) noexcept {
    base::locked<M> guard(lock_);
    const bool listed = waiters_.erase(x);
    static_cast<void>(M::exchange(waiting_, waiters_.size(), base::relaxed));
    return listed;
  }
  // Those who wait, if it is over for them; the caller lets them go. Asked again with the list in hand: since the
  // caller asked, whoever waited may have gone on, submitted more and come back to wait for that.
  using list = waiter_list<&waiter::next_for_end>;
  [[nodiscard]] list take_over() noexcept {
    base::locked<M> guard(lock_);
    if (!reached()) return {};
    const list over = std::exchange(waiters_, {});
    static_cast<void>(M::exchange(waiting_, 0u, base::relaxed));
    return over;
  }

 private:
  crew<M>& crew_;
  guests<M>& guests_;
  alignas(64) detail::cell<std::uint8_t> lock_;
  list waiters_;                         // guarded by lock_
  detail::cell<std::uint32_t> waiting_;  // their number
};

}  // namespace weft::sched
