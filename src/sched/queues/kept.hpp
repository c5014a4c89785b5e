// The branches that a worker keeps: those of its body's forks that nobody has asked for. A list through the records on
// its stack, newest first. A fork puts one there and takes it back, by a few plain stores (weft/detail/branch.hpp);
// what follows is for whoever moves some to the deque, where thieves are: the owner, or a thief in its name. Protocol:
// branches.md, "What is kept".
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "weft/detail/branch.hpp"

namespace weft::sched {

template <class M> class kept {
 public:
  using branch = detail::branch;

  // Who: the owner; for others a guess.
  [[nodiscard]] static bool any(const detail::worker& w) noexcept { return detail::peek(w.kept) != nullptr; }

  // The list as it is, after a thief may have moved some of it. Returns its newest. Who: the owner at its end.
  static branch* mend(detail::worker& w) noexcept {
    branch* const newest = detail::peek(w.kept);
    // An exchange, so that what comes after sees what whoever cancels has done before.
    if (M::exchange(w.claimed, std::uint8_t{0}, base::acquire) == 0) return newest;
    branch* const first = unless_gone(newest);
    detail::poke_release(w.kept, first);
    for (branch* b = first; b != nullptr;) {
      branch* const next = unless_gone(detail::peek(b->older));
      if (next == nullptr) detail::poke<branch*>(b->older, nullptr);
      b = next;
    }
    return first;
  }

  // How many there are from `newest` on. Who: the owner at its end, or a thief that has claimed them.
  [[nodiscard]] static std::uint32_t size(branch* newest) noexcept {
    std::uint32_t n = 0;
    for (branch* b = unless_gone(newest); b != nullptr; b = unless_gone(detail::peek(b->older))) ++n;
    return n;
  }

  // Of the n from `newest` on the list loses the m oldest, which get what a branch in a deque has; each is given to
  // put(i, b), where the oldest has i = 0. Of those the newest is last in the list no more: if it is the first of all,
  // the owner sees to that. Who: as size().
  template <class Put>
  static void take_oldest(branch* newest, std::uint32_t n, std::uint32_t m, detail::record* of, Put put) noexcept {
    WEFT_ASSERT(m >= 1 && m <= n);
    branch* b = newest;
    for (std::uint32_t skipped = n - m; skipped > 0; --skipped) {
      branch* const next = detail::peek(b->older);
      if (skipped == 1) detail::poke<branch*>(b->older, nullptr);
      b = next;
    }
    for (std::uint32_t i = m; i-- > 0;) {
      branch* const next = detail::peek(b->older);
      WEFT_ASSERT(next != branch::gone());
      detail::poke(b->older, branch::gone());
      make_ready(*b, of);
      put(i, b);
      b = next;
    }
  }

 private:
  // An owner that has not seen yet what a thief took may also have made what it read there its newest.
  [[nodiscard]] static branch* unless_gone(branch* b) noexcept {
    return b == nullptr || b == branch::gone() || detail::peek(b->older) == branch::gone() ? nullptr : b;
  }
};

}  // namespace weft::sched
