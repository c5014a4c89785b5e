// The walk over the conditions of one task, in order; a task stands in at most one wait list at a time and each
// condition is met once (SuperGlue §3.1, "saves the index of the first handle not available").
//
// record::cursor counts: below access_count, the next version to wait for; at access_count, all versions are there; at
// access_count + 1 + i, it was listed for exclusive access to entry i. When it is woken from there, a task with a
// single exclusive access has it; one with several has been told that it is free, and tries for all of them again.
// Versions come first and exclusive access last, all of it or none: a task that held one handle while waiting for the
// version of another could wait for a task that waits for the handle it holds. A task with a single exclusive access
// waits for that version and the access together, as the last condition. One that was told too often in vain reserves:
// reservation.hpp.
#pragma once
#include <cstdint>
#include <memory>

#include "access/condition.hpp"
#include "access/plain.hpp"

namespace weft::access {

// The entries of a record whose conditions are held, by the ids of their handles, which is the lock order. Few are kept
// in place.
class exclusive_order {
 public:
  explicit exclusive_order(record& r) noexcept {
    for (std::uint32_t i = 0; i < r.access_count && many_ == nullptr; ++i) {
      if (!is_held(condition_of(r.accesses()[i]))) continue;
      if (size_ < in_place)
        insert(r, i);
      else
        sort_many(r);
    }
  }
  [[nodiscard]] const std::uint32_t* begin() const noexcept { return entries_; }
  [[nodiscard]] const std::uint32_t* end() const noexcept { return entries_ + size_; }

 private:
  void insert(record& r, std::uint32_t i) noexcept {
    std::uint32_t at = size_++;
    for (; at > 0 && comes_before(handle_of(r.accesses()[i]), handle_of(r.accesses()[few_[at - 1]])); --at)
      few_[at] = few_[at - 1];
    few_[at] = i;
  }
  void sort_many(record& r) noexcept;  // ends the program if there is no memory: r is half way between two lists

  static constexpr std::uint32_t in_place = 16;
  std::uint32_t few_[in_place];
  std::unique_ptr<std::uint32_t[]> many_;
  std::uint32_t* entries_ = few_;
  std::uint32_t size_ = 0;
};

// Wakes whoever can have h now. Who: holder of h's lock.
template <class M> void tell_next(handle_state& h, woken& out) noexcept {
  release_waiters(h, version_in(M::load(h.word, base::acquire)), out);
}

// Takes what all entries of r that are held want, or nothing; then r is listed on a handle that somebody has.
// Decided with all their locks held, so nobody ever sees some of them taken by a task that will not run: two tasks that
// each held one and gave it back for the other could do so for ever, and one worker alone could never end it.
// If r was woken for a handle and now waits for another, the next one listed there is woken in its place.
template <class M> [[nodiscard]] bool take_exclusives(record* r, woken& out) noexcept {
  const std::uint32_t n = r->access_count;
  const std::uint32_t woken_for = r->waiting.cursor > n ? r->waiting.cursor - n - 1 : n;
  const auto handle = [r](std::uint32_t i) -> handle_state& { return handle_of(r->accesses()[i]); };
  WEFT_ASSERT(r->exclusives > 1 && r->waiting.cursor >= n);
  const exclusive_order exclusives(*r);
  std::uint32_t wanted = n;
  for (const std::uint32_t i : exclusives) {
    base::acquire_lock<M>(handle(i).lock);
    const bool is_next = i == woken_for;  // it was the first in the list, and whoever is there now comes after it
    if (is_next ? is_taken(r->accesses()[i]) : must_queue(r->accesses()[i])) wanted = i;
  }
  if (wanted == n) {
    for (const std::uint32_t i : exclusives) {
      take(r->accesses()[i]);
      if (is_resource(r->accesses()[i])) tell_next<M>(handle(i), out);  // there may be units left
    }
  } else {
    r->waiting.cursor = n + 1 + wanted;
    r->waits_exclusive = true;
    const bool waits = wait_unless_available<M>(handle(wanted), r);
    WEFT_ASSERT(waits);
    if (woken_for != n && woken_for != wanted) tell_next<M>(handle(woken_for), out);
  }
  // The lock of the handle that r is listed on is the last to go: from then on r, and with it the others, may be gone.
  handle_state* const last = wanted == n ? nullptr : &handle(wanted);
  for (const std::uint32_t i : exclusives)
    if (i != wanted) base::release_lock<M>(handle(i).lock);
  if (last == nullptr) return true;
  base::release_lock<M>(last->lock);
  return false;
}

// The end of the walk: what is held. Returns whether r is ready; if not, it is listed somewhere and may already be
// gone.
template <class M> [[nodiscard]] bool advance_exclusive(record* r, woken& out) noexcept {
  const std::uint32_t n = r->access_count;
  if (r->exclusives != 1) return take_exclusives<M>(r, out);
  if (r->waiting.cursor > n) return true;  // woken with the access
  std::uint32_t wanted = 0;
  while (!is_held(condition_of(r->accesses()[wanted]))) ++wanted;
  WEFT_ASSERT(wanted < n);
  handle_state& h = handle_of(r->accesses()[wanted]);
  base::locked<M> guard(h.lock);
  r->waiting.cursor = n + 1 + wanted;
  r->waits_exclusive = true;
  return !wait_unless_available<M>(h, r);
}

// The walk, on from its cursor, up to what is held. Returns whether it is over. If not, r is listed and may
// already be gone.
template <class M> [[nodiscard]] bool advance_versions(record* r) noexcept {
  M::work(model::step::advance);
  const std::uint32_t n = r->access_count;
  for (; r->waiting.cursor < n; ++r->waiting.cursor) {
    const entry& a = r->accesses()[r->waiting.cursor];
    const condition c = first_condition(*r, a);
    if (c == condition::none || is_met<M>(c, a)) continue;
    base::locked<M> guard(handle_of(a).lock);
    if (wait_unless_available<M>(handle_of(a), r)) return false;
  }
  return true;
}

// Walks on from its cursor. Returns whether r is ready to run. If not, it is listed and may already be gone.
// `out` receives records that became runnable because r gave something back.
template <class M> [[nodiscard]] bool advance(record* r, woken& out) noexcept {
  return advance_versions<M>(r) && (r->exclusives == 0 || advance_exclusive<M>(r, out));
}

// r is done: all its accesses are.
template <class M> [[gnu::always_inline]] inline void settle(record& r, woken& out) noexcept {
  if (r.plain) return finish_plain<M>(r, out);
  for (std::uint32_t i = 0; i < r.access_count; ++i)
    if (!is_repeated(r.accesses()[i])) settle<M>(r, i, out);
}

}  // namespace weft::access
