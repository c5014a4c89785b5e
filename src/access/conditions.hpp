// The conditions of one task, walked in order; a task stands in at most one wait list at a time and each condition is
// met once (SuperGlue §3.1, "saves the index of the first handle not available").
//
// record::cursor counts: below access_count, the next version to wait for; at access_count, all versions are there; at
// access_count + 1 + i, it was listed for exclusive access to entry i. When it is woken from there, a task with a
// single exclusive access has it; one with several has been told that it is free, and tries for all of them again.
// Versions come first and exclusive access last, all of it or none: a task that held one handle while waiting for the
// version of another could wait for a task that waits for the handle it holds. A task with a single exclusive access
// waits for that version and the access together, as the last condition.
#pragma once
#include <cstdint>

#include "access/version.hpp"

namespace weft::access {

// Takes part in the first walk: skipped entries are repeated handles and the single exclusive access.
[[nodiscard]] inline bool version_awaited(const record& r, const entry& a) noexcept {
  return !is_repeated(a) && !is_resource(a) && !(is_exclusive(a) && r.exclusives == 1);
}

// The exclusive entry of r whose handle comes next in lock order behind id `after`; access_count if there is none.
[[nodiscard]] inline std::uint32_t next_exclusive(record& r, std::uint32_t after) noexcept {
  std::uint32_t best = r.access_count;
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    const entry& a = r.accesses()[i];
    if ((!is_exclusive(a) && !is_resource(a)) || handle_of(a).id <= after) continue;
    if (best == r.access_count || handle_of(a).id < handle_of(r.accesses()[best]).id) best = i;
  }
  return best;
}

// Calls visit(entry number) for the exclusive entries of r, in lock order.
template <class Visit> void for_each_exclusive(record& r, Visit visit) noexcept {
  for (std::uint32_t i = next_exclusive(r, 0); i < r.access_count;) {
    const std::uint32_t id = handle_of(r.accesses()[i]).id;
    visit(i);
    i = next_exclusive(r, id);
  }
}

// Wakes whoever can have h now. Who: holder of h's lock.
template <class M> void tell_next(handle_state& h, woken& out) noexcept {
  const std::uint64_t word = M::load(h.word, base::relaxed);
  if ((word & 1) != 0) release_waiters<M>(h, word >> 1, out);
}

// Takes exclusive access to all exclusive entries of r, or to none; then r is listed on a handle that somebody has.
// Decided with all their locks held, so nobody ever sees some of them taken by a task that will not run: two tasks that
// each held one and gave it back for the other could do so for ever, and one worker alone could never end it.
// If r was woken for a handle and now waits for another, the next one listed there is woken in its place.
template <class M> [[nodiscard]] bool take_exclusives(record* r, woken& out) noexcept {
  const std::uint32_t n = r->access_count;
  const std::uint32_t woken_for = r->cursor > n ? r->cursor - n - 1 : n;
  const auto handle = [r](std::uint32_t i) -> handle_state& { return handle_of(r->accesses()[i]); };
  std::uint32_t wanted = n;
  for_each_exclusive(*r, [&](std::uint32_t i) {
    base::acquire_lock<M>(handle(i).lock);
    if (is_taken(r->accesses()[i])) wanted = i;
  });
  if (wanted == n) {
    for_each_exclusive(*r, [&](std::uint32_t i) {
      take(r->accesses()[i]);
      if (is_resource(r->accesses()[i])) tell_next<M>(handle(i), out);  // there may be units left
    });
  } else {
    r->cursor = n + 1 + wanted;
    r->waits_exclusive = true;
    const bool waits = wait_unless_available<M>(handle(wanted), r);
    WEFT_ASSERT(waits);
    if (woken_for != n && woken_for != wanted) tell_next<M>(handle(woken_for), out);
  }
  // The lock of the handle that r is listed on is the last to go: from then on r, and with it the others, may be gone.
  for_each_exclusive(*r, [&](std::uint32_t i) {
    if (i != wanted) base::release_lock<M>(handle(i).lock);
  });
  if (wanted == n) return true;
  base::release_lock<M>(handle(wanted).lock);
  return false;
}

// The second walk. Gives whether r is ready; if not, it is listed somewhere and may already be gone.
template <class M> [[nodiscard]] bool advance_exclusive(record* r, woken& out) noexcept {
  const std::uint32_t n = r->access_count;
  if (r->exclusives != 1) return take_exclusives<M>(r, out);
  if (r->cursor > n) return true;  // woken with the access
  std::uint32_t wanted = 0;
  while (!is_exclusive(r->accesses()[wanted])) ++wanted;
  handle_state& h = handle_of(r->accesses()[wanted]);
  base::locked<M> guard(h.lock);
  r->cursor = n + 1 + wanted;
  r->waits_exclusive = true;
  return !wait_unless_available<M>(h, r);
}

// Walks on from r->cursor. Gives whether r is ready to run. If not, it is listed and may already be gone.
// `out` receives records that became runnable because r gave something back.
template <class M> [[nodiscard]] bool advance(record* r, woken& out) noexcept {
  const std::uint32_t n = r->access_count;
  for (; r->cursor < n; ++r->cursor) {
    entry& a = r->accesses()[r->cursor];
    if (!version_awaited(*r, a)) continue;
    handle_state& h = handle_of(a);
    if (available<M>(h, a.required)) continue;
    base::locked<M> guard(h.lock);
    if (wait_unless_available<M>(h, r)) return false;
  }
  return r->exclusives == 0 || advance_exclusive<M>(r, out);
}

}  // namespace weft::access
