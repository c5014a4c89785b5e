// The conditions of one task, walked in order; a task stands in at most one wait list at a time and each condition is
// met once (SuperGlue §3.1, "saves the index of the first handle not available").
//
// record::cursor counts: below access_count, the next version to wait for; at access_count, all versions are there and
// no exclusive access is held; at access_count + 1 + i, exclusive access to entry i is held.
// Versions come first and exclusive access last, all of it or none: a task that held one handle while waiting for the
// version of another could wait for a task that waits for the handle it holds. A task with a single exclusive access
// waits for that version and the access together, as the last condition.
#pragma once
#include <cstdint>

#include "access/version.hpp"

namespace weft::access {

// Takes part in the first walk: skipped entries are repeated handles and the single exclusive access.
[[nodiscard]] inline bool version_awaited(const record& r, const entry& a) noexcept {
  return !is_repeated(a) && !(is_exclusive(a) && r.exclusives == 1);
}

// Gives up exclusive access to h, which the caller holds, and hands it on.
template <class M> void give_back_exclusive(handle_state& h, woken& out) noexcept {
  base::locked<M> guard(h.lock);
  WEFT_ASSERT(h.exclusive_taken);
  h.exclusive_taken = false;
  const std::uint64_t word = M::load(h.word, base::relaxed);
  if ((word & 1) != 0) release_waiters<M>(h, word >> 1, out);
}

// Tries to take exclusive access to every exclusive entry but `held`. Gives access_count if it has them all; otherwise
// the entry that was taken by someone else, and holds none, not even `held`.
template <class M> [[nodiscard]] std::uint32_t take_exclusives(record* r, std::uint32_t held, woken& out) noexcept {
  const std::uint32_t n = r->access_count;
  for (std::uint32_t i = 0; i < n; ++i) {
    entry& a = r->accesses()[i];
    if (i == held || !is_exclusive(a)) continue;
    handle_state& h = handle_of(a);
    bool taken = true;
    {
      base::locked<M> guard(h.lock);
      if (!h.exclusive_taken) {
        h.exclusive_taken = true;
        taken = false;
      }
    }
    if (!taken) continue;
    for (std::uint32_t j = 0; j < n; ++j)
      if ((j < i || j == held) && j != i && is_exclusive(r->accesses()[j]))
        give_back_exclusive<M>(handle_of(r->accesses()[j]), out);
    return i;
  }
  return n;
}

// The second walk. Gives whether r is ready; if not, it is listed somewhere and may already be gone. Terminates: every
// round but the last saw some task finish with the handle that was taken.
template <class M> [[nodiscard]] bool advance_exclusive(record* r, woken& out) noexcept {
  const std::uint32_t n = r->access_count;
  for (;;) {
    const std::uint32_t held = r->cursor > n ? r->cursor - n - 1 : n;
    std::uint32_t wanted = n;
    if (r->exclusives == 1) {
      if (held < n) return true;
      for (wanted = 0; !is_exclusive(r->accesses()[wanted]);) ++wanted;
    } else {
      wanted = take_exclusives<M>(r, held, out);
      if (wanted == n) return true;
    }
    handle_state& h = handle_of(r->accesses()[wanted]);
    base::locked<M> guard(h.lock);
    r->cursor = n + 1 + wanted;  // what it will hold when it is woken, or now
    r->waits_exclusive = true;
    if (wait_unless_available<M>(h, r)) return false;
  }
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
