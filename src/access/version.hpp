// The versioning protocol of one handle: register an access, ask whether its version is there, set the alarm, advance
// (SuperGlue §3.1). Written once for every machine. States, races and a proof sketch: version.md.
//
// The word of a handle is its current version and, in the low bits, an alarm: how far the version may still advance
// before somebody has to look at the wait list. An access that finishes lowers the alarm as it advances the version;
// where the alarm is lower than that it goes the long way, under the handle's lock (condition.hpp). The lock is
// required to touch the list, the counters of registration, and to set the alarm.
#pragma once
#include <cstdint>

#include "access/entry.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "model/machine.hpp"

namespace weft::access {

// Whether somebody holds h's lock: what a function assumes that says "Who: holder of h's lock". Costs a modelled
// machine no time.
[[nodiscard]] inline bool is_locked(const handle_state& h) noexcept { return detail::peek(h.lock) != 0; }

// Bits of a version that are looked at: all that a word has room for, which no program counts through. A test builds
// the library with 8, so that the same code wraps every 256 accesses (tests/narrow).
#ifdef WEFT_VERSION_BITS
inline constexpr unsigned version_bits = WEFT_VERSION_BITS;
#else
inline constexpr unsigned version_bits = 64 - detail::alarm_bits;
#endif
inline constexpr std::uint64_t version_mask = (std::uint64_t{1} << version_bits) - 1;
inline constexpr std::uint64_t version_half = std::uint64_t{1} << (version_bits - 1);
static_assert(version_bits >= 2 && version_bits <= 64 - detail::alarm_bits);

using detail::alarm_bits;
using detail::alarm_max;
[[nodiscard]] constexpr std::uint64_t version_in(std::uint64_t word) noexcept {
  return (word >> alarm_bits) & version_mask;
}
// How far the version may advance the short way.
[[nodiscard]] constexpr std::uint64_t alarm_in(std::uint64_t word) noexcept { return word & alarm_max; }
// The word after an access that advances the version by no more than the alarm.
[[nodiscard]] constexpr std::uint64_t advanced(std::uint64_t word, std::uint64_t amount) noexcept {
  return word + amount * alarm_max;
}
static_assert(advanced(5 << alarm_bits | 3, 1) == (6 << alarm_bits | 2));
static_assert(advanced(5 << alarm_bits | 3, 3) == (8 << alarm_bits | 0));
// The word of a handle for which nobody waits, if no alarm is given.
[[nodiscard]] constexpr std::uint64_t word_at(std::uint64_t version, std::uint64_t alarm = alarm_max) noexcept {
  return version << alarm_bits | alarm;
}

// Versions are compared by difference: right wherever the counter stands, while no version that is asked for is more
// than half the range ahead or more than half less one behind. version.md says why none ever is.
[[nodiscard]] constexpr bool reached(std::uint64_t current, std::uint64_t required) noexcept {
  return static_cast<std::int64_t>((current - required) << (64 - version_bits)) >= 0;
}

// What is registered and not finished: accesses, but for amounts.
[[nodiscard]] constexpr std::uint64_t outstanding(std::uint64_t word, std::uint64_t registered) noexcept {
  return (registered - version_in(word)) & version_mask;
}

// How much of tasks may be outstanding on one handle: one less than half the range, so that there is room for the
// internal task that closes a group of reduces.
inline constexpr std::uint64_t outstanding_max = version_half - 1;
// How far one group may advance the version. An access beyond that starts a new group, which is stricter than it need
// be and else makes no difference: an access of a group may still wait elsewhere when all others of the group are
// finished.
inline constexpr std::uint64_t group_max = version_half - 1;
inline constexpr bool versions_are_narrow = version_bits < 56;  // with 56 no program meets these limits: unchecked

// The latest alarm that does not miss `required`, which is ahead of `version`.
[[nodiscard]] constexpr std::uint64_t alarm_for(std::uint64_t version, std::uint64_t required) noexcept {
  const std::uint64_t ahead = (required - version) & version_mask;
  return ahead - 1 < alarm_max ? ahead - 1 : alarm_max;
}

// Whether an access joins the current group: it has the group's kind, and that kind is commutative. Otherwise it starts
// a group that needs all before it. Who: holder of h's lock.
[[nodiscard]] inline bool joins_group(const handle_state& h, std::uint8_t group, std::uint64_t amount = 1) noexcept {
  WEFT_DEBUG_ASSERT(is_locked(h));
  const bool is_full = versions_are_narrow && ((h.registered - h.group_start) & version_mask) + amount > group_max;
  return group == h.group_kind && (group & detail::kind_commutative) != 0 && !is_full;
}

// Listing 3. Who: holder of h's lock. Returns the version this access requires.
[[nodiscard]] inline std::uint64_t register_access(handle_state& h, std::uint8_t group,
                                                   std::uint64_t amount = 1) noexcept {
  WEFT_ASSERT(is_locked(h));
  WEFT_ASSERT(amount - 1 < outstanding_max);  // else a version could not be told from one of long ago
  if (!joins_group(h, group, amount)) {
    h.group_start = h.registered;
    h.group_kind = group;
  }
  h.registered += amount;
  WEFT_ASSERT(reached(h.registered, h.group_start));
  return h.group_start;
}

// Listing 4, for one access. Order: acquire, pairs with the release in finish(): what earlier tasks wrote is visible.
template <class M> [[nodiscard]] bool available(handle_state& h, std::uint64_t required) noexcept {
  return reached(version_in(M::load(h.word, base::acquire)), required);
}

// Whether `required` is still to come; then the access that brings or passes it will go the long way. Who: holder of
// h's lock, which it keeps until it has listed who waits. The alarm is set in one operation on the word that finish()
// advances, with the version it was computed for: one of the two sees the other. One that rings earlier may stay.
// Order: acquire, for who finds that the version is there; what the list holds is under the lock, and who goes the long
// way takes that.
template <class M>
[[nodiscard, gnu::always_inline]] inline bool set_alarm(handle_state& h, std::uint64_t required) noexcept {
  WEFT_DEBUG_ASSERT(is_locked(h));
  std::uint64_t word = M::load(h.word, base::acquire);
  while (!reached(version_in(word), required)) {
    const std::uint64_t alarm = alarm_for(version_in(word), required);
    if (alarm_in(word) <= alarm || M::compare_exchange(h.word, word, word - alarm_in(word) + alarm, base::acquire))
      return true;
  }
  return false;
}

// The same for one whose version is there and who waits for exclusive access. Order: relaxed, for the same reason; who
// reads the version from here acquires what its release sequence began with.
template <class M> void set_alarm_now(handle_state& h) noexcept {
  WEFT_ASSERT(is_locked(h));
  std::uint64_t word = M::load(h.word, base::relaxed);
  while (alarm_in(word) != 0 && !M::compare_exchange(h.word, word, word - alarm_in(word), base::relaxed)) {
  }
}

// Advances the version, unless that reaches what the alarm is set for. Returns whether it did. Cost: one
// compare-exchange. Order: release, pairs with available(). A read-modify-write, so the sequences of those who finished
// before go on, and whoever acquires has them all.
template <class M>
[[nodiscard, gnu::always_inline]] inline bool finish_short(handle_state& h, std::uint64_t amount = 1) noexcept {
  std::uint64_t word = M::load(h.word, base::relaxed);
  while (alarm_in(word) >= amount)
    if (M::compare_exchange(h.word, word, advanced(word, amount), base::release)) [[likely]]
      return true;
  return false;
}

// The long way: advances the version and moves what this makes runnable to `out` (condition.hpp). Who: holder of h's
// lock; after this only the lock may be touched.
struct woken;
template <class M> void finish_locked(handle_state& h, std::uint64_t amount, woken& out) noexcept;

}  // namespace weft::access
