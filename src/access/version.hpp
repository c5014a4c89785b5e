// The versioning protocol of one handle: register an access, ask whether its version is there, wait, finish
// (SuperGlue §3.1). Written once for every machine. States, races and a proof sketch: version.md.
//
// The word of a handle is its current version and, in the low bits, an alarm: how many accesses may still finish before
// one of them has to look at the wait list. An access that finishes lowers the alarm as it advances the version; where
// that is at 0 it goes the long way, under the handle's lock. The lock is required to touch the list, the counters of
// registration, and to set the alarm.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "model/machine.hpp"
#include "weft/clause.hpp"
#include "weft/detail/handle_state.hpp"
#include "weft/detail/record.hpp"

namespace weft::access {

using detail::handle_state;
using detail::record;
using entry = detail::access;

inline constexpr std::uintptr_t kind_mask = 63;

[[nodiscard]] inline handle_state& handle_of(const entry& a) noexcept {
  return *reinterpret_cast<handle_state*>(a.handle_and_kind & detail::handle_address_mask);
}
[[nodiscard]] inline std::uint8_t kind_of(const entry& a) noexcept {
  return static_cast<std::uint8_t>(a.handle_and_kind & kind_mask);
}
// What tells groups apart (detail::group_number). Of a repetition: that of the first mention.
[[nodiscard]] inline std::uint8_t group_of(const entry& a) noexcept {
  return static_cast<std::uint8_t>(a.handle_and_kind >> (8 * sizeof(std::uintptr_t) - 8));
}
[[nodiscard]] inline bool is_exclusive(const entry& a) noexcept {
  // One at a time, in any order; a repetition is the first one's affair.
  return (kind_of(a) & (detail::kind_add | detail::kind_repeated)) == detail::kind_add;
}
[[nodiscard]] inline bool is_resource(const entry& a) noexcept { return kind_of(a) == detail::kind_resource; }
[[nodiscard]] inline bool is_repeated(const entry& a) noexcept { return (kind_of(a) & detail::kind_repeated) != 0; }

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
// Accesses that may finish the short way.
[[nodiscard]] constexpr std::uint64_t alarm_in(std::uint64_t word) noexcept { return word & alarm_max; }
// The word after one of these.
[[nodiscard]] constexpr std::uint64_t advanced(std::uint64_t word) noexcept { return word + alarm_max; }
static_assert(advanced(5 << alarm_bits | 3) == (6 << alarm_bits | 2));
// The word of a handle for which nobody waits, if no alarm is given.
[[nodiscard]] constexpr std::uint64_t word_at(std::uint64_t version, std::uint64_t alarm = alarm_max) noexcept {
  return version << alarm_bits | alarm;
}

// Versions are compared by difference: right wherever the counter stands, while no version that is asked for is more
// than half the range ahead or more than half less one behind. version.md says why none ever is.
[[nodiscard]] constexpr bool reached(std::uint64_t current, std::uint64_t required) noexcept {
  return static_cast<std::int64_t>((current - required) << (64 - version_bits)) >= 0;
}

// Accesses registered and not finished.
[[nodiscard]] constexpr std::uint64_t outstanding(std::uint64_t word, std::uint64_t registered) noexcept {
  return (registered - version_in(word)) & version_mask;
}

// Accesses of tasks that may be outstanding on one handle: one less than half the range, so that there is room for the
// internal task that closes a group of reduces.
inline constexpr std::uint64_t outstanding_max = version_half - 1;
// Accesses in a group. A further one of the same kind starts a new group, which is stricter than it need be and else
// makes no difference: an access of a group may still wait elsewhere when all others of the group are finished.
inline constexpr std::uint64_t group_max = version_half - 1;
inline constexpr bool versions_are_narrow = version_bits < 56;  // with 56 no program meets these limits: unchecked

// The latest alarm that does not miss `required`, which is ahead of `version`.
[[nodiscard]] constexpr std::uint64_t alarm_for(std::uint64_t version, std::uint64_t required) noexcept {
  const std::uint64_t ahead = (required - version) & version_mask;
  return ahead - 1 < alarm_max ? ahead - 1 : alarm_max;
}

// A list of records that became runnable, linked by next, oldest first.
struct woken {
  record* head = nullptr;
  record* tail = nullptr;

  void append(record* r) noexcept { append(r, r); }
  void append(record* first, record* last) noexcept {  // a chain
    last->next = nullptr;
    (head == nullptr ? head : tail->next) = first;
    tail = last;
  }
  [[nodiscard]] record* take() noexcept {
    record* r = head;
    if (r != nullptr) head = r->next;
    return r;
  }
};

// Whether an access joins the current group: it has the group's kind, and that kind is commutative. Otherwise it starts
// a group that needs all before it. Who: holder of h's lock.
[[nodiscard]] inline bool joins_group(const handle_state& h, std::uint8_t group) noexcept {
  const bool is_full = versions_are_narrow && ((h.registered - h.group_start) & version_mask) >= group_max;
  return group == h.group_kind && (group & detail::kind_commutative) != 0 && !is_full;
}

// Listing 3. Who: holder of h's lock. Gives the version this access requires.
[[nodiscard]] inline std::uint64_t register_access(handle_state& h, std::uint8_t group) noexcept {
  if (!joins_group(h, group)) {
    h.group_start = h.registered;
    h.group_kind = group;
  }
  ++h.registered;
  return h.group_start;
}

// Listing 4, for one access. Order: acquire, pairs with the release in finish(): what earlier tasks wrote is visible.
template <class M> [[nodiscard]] bool available(handle_state& h, std::uint64_t required) noexcept {
  return reached(version_in(M::load(h.word, base::acquire)), required);
}

// The entry whose condition r has to meet next; r->cursor says which (conditions.hpp).
[[nodiscard]] inline entry& awaited(record* r) noexcept {
  const std::uint32_t i = r->cursor < r->access_count ? r->cursor : r->cursor - r->access_count - 1;
  WEFT_ASSERT(i < r->access_count);
  return r->accesses()[i];
}

// Whether exclusive entry a cannot be taken now. Who: holder of its handle's lock. Of a resource, group_start counts
// the free units; its tasks have no order, so the field is not needed for versions.
[[nodiscard]] inline bool is_taken(const entry& a) noexcept {
  const handle_state& h = handle_of(a);
  return is_resource(a) ? h.group_start < a.required : h.exclusive_taken;
}
// Whether a task that comes to exclusive entry a must queue. Units that are free are not for it while others wait for
// more of them: else a stream of tasks that need few would starve one that needs many. An add that finds the handle
// free may have it: nobody waits for more than that. Who: holder of its handle's lock.
[[nodiscard]] inline bool must_queue(const entry& a) noexcept {
  return is_taken(a) || (is_resource(a) && handle_of(a).waiters_head != nullptr);
}
inline void take(const entry& a) noexcept {
  handle_state& h = handle_of(a);
  if (is_resource(a))
    h.group_start -= a.required;
  else
    h.exclusive_taken = true;
}
inline void untake(const entry& a) noexcept {
  handle_state& h = handle_of(a);
  if (is_resource(a)) {
    h.group_start += a.required;
  } else {
    WEFT_ASSERT(h.exclusive_taken);
    h.exclusive_taken = false;
  }
}

// Inserts r behind all that require the same version or an earlier one. Who: holder of h's lock. Cost: the shorter way
// from either end: a new submission belongs near the tail, a task that waited elsewhere near the head.
void insert_waiter(handle_state& h, record* r, std::uint64_t required) noexcept;
void remove_waiter(handle_state& h, record* r) noexcept;

// Whether `required` is still to come; then the access that brings it will go the long way. Who: holder of h's lock,
// which it keeps until it has listed who waits. The alarm is set in one operation on the word that finish() advances,
// with the version it was computed for: one of the two sees the other. One that rings earlier may stay.
template <class M>
[[nodiscard, gnu::always_inline]] inline bool set_alarm(handle_state& h, std::uint64_t required) noexcept {
  std::uint64_t word = M::load(h.word, base::acquire);
  while (!reached(version_in(word), required)) {
    const std::uint64_t alarm = alarm_for(version_in(word), required);
    if (alarm_in(word) <= alarm || M::compare_exchange(h.word, word, word - alarm_in(word) + alarm, base::acq_rel))
      return true;
  }
  return false;
}

// The same for one whose version is there and who waits for exclusive access.
template <class M> void set_alarm_now(handle_state& h) noexcept {
  std::uint64_t word = M::load(h.word, base::relaxed);
  while (alarm_in(word) != 0 && !M::compare_exchange(h.word, word, word - alarm_in(word), base::acq_rel)) {
  }
}

// The name that stands in a waiter for a version nobody has submitted yet. Such a one may be last in a list although it
// requires a later version than who comes next, and the alarm may be set for it alone.
inline constexpr char ahead[] = "a wait for a version that is not submitted";
[[nodiscard]] inline bool ends_ahead(const handle_state& h) noexcept {
  return h.waiters_tail != nullptr && h.waiters_tail->name == ahead;
}

// Lists r behind all others: right for units, which have no order, and at registration, because nobody listed there
// requires a later version than the newest. Who: holder of h's lock, with the alarm set.
inline void append_waiter(handle_state& h, record* r) noexcept {
  if (ends_ahead(h)) [[unlikely]]
    return insert_waiter(h, r, awaited(r).required);
  r->state = detail::record_state::blocked;
  r->next = nullptr;
  r->prev = h.waiters_tail;
  (r->prev == nullptr ? h.waiters_head : r->prev->next) = r;
  h.waiters_tail = r;
}

// Lists r on h for awaited(r), unless it can have it now. Who: holder of h's lock. Gives whether r waits; if it does, r
// may be gone as soon as the lock is.
template <class M> [[nodiscard]] bool wait_unless_available(handle_state& h, record* r) noexcept {
  if (is_resource(awaited(r)) || !set_alarm<M>(h, awaited(r).required)) {
    if (!r->waits_exclusive) return false;
    if (!must_queue(awaited(r))) {
      take(awaited(r));
      return false;
    }
    set_alarm_now<M>(h);
  }
  if (is_resource(awaited(r)))
    append_waiter(h, r);
  else
    insert_waiter(h, r, awaited(r).required);
  return true;
}

// Moves the first of the list whose versions are there, and who wait for nothing else, to `out`. Gives who is first
// then. Who: holder of h's lock. What goes is always the head of the list, so nobody is taken out of its middle.
[[gnu::always_inline]] inline record* release_reached(handle_state& h, std::uint64_t current, woken& out) noexcept {
  record* const first = h.waiters_head;
  record* last = nullptr;
  record* r = first;
  while (r != nullptr && !r->waits_exclusive && reached(current, r->accesses()[r->cursor].required)) {
    last = r;
    r = r->next;
  }
  if (last == nullptr) return r;
  out.append(first, last);
  h.waiters_head = r;
  (r != nullptr ? r->prev : h.waiters_tail) = nullptr;
  return r;
}

// The first of the list waits for exclusive access: it goes to `out` if its version is there and nobody has that. If
// this is all it needs exclusively it then owns it; else it is told only that h is free, and wakes the next if it
// cannot use that (conditions.hpp). Gives whether others may follow it. Who: holder of h's lock.
[[nodiscard]] inline bool release_exclusive(handle_state& h, std::uint64_t current, woken& out) noexcept {
  record* const r = h.waiters_head;
  const entry& a = awaited(r);
  // Exclusive waiters are of the current group and everything behind them needs h exclusively, too, or is of a later
  // group, so stopping is right.
  if ((!is_resource(a) && !reached(current, a.required)) || is_taken(a)) return false;
  const bool is_told = r->exclusives != 1;
  if (!is_told) take(a);
  r->waits_exclusive = false;
  h.waiters_head = r->next;
  (r->next != nullptr ? r->next->prev : h.waiters_tail) = nullptr;
  out.append(r);
  return !is_told;
}

// Moves every listed record that may go on to `out`; of those that need exclusive access at most one that gets it.
// Who: holder of h's lock.
inline void release_waiters(handle_state& h, std::uint64_t current, woken& out) noexcept {
  for (;;) {
    record* r = release_reached(h, current, out);
    if (r == nullptr || !r->waits_exclusive || !release_exclusive(h, current, out)) return;
  }
}

// Advances the version by one unless the alarm is at 0. Gives whether it did. Cost: one compare-exchange.
template <class M> [[nodiscard, gnu::always_inline]] inline bool finish_short(handle_state& h) noexcept {
  std::uint64_t word = M::load(h.word, base::relaxed);
  while (alarm_in(word) != 0)
    if (M::compare_exchange(h.word, word, advanced(word), base::acq_rel)) [[likely]]
      return true;
  return false;
}

// Advances the version by one and gives the records this makes runnable. Who: holder of h's lock; after this only the
// lock may be touched. While the alarm is at 0 nobody else changes the word. Else nobody who is listed comes next: this
// is an exclusive access that none waited for, or somebody was quicker.
// Order: acquire, then release. The store ends the release sequence of those who finished the short way before, so who
// comes next sees what they did through this thread only.
template <class M> [[gnu::noinline]] void finish_locked(handle_state& h, woken& out) noexcept {
  if (finish_short<M>(h)) return;
  const std::uint64_t version = (M::load(h.word, base::acquire) >> alarm_bits) + 1;
  release_waiters(h, version, out);
  record* const r = h.waiters_head;
  std::uint64_t alarm = alarm_max;
  if (r != nullptr) {
    const bool now = is_resource(awaited(r)) || reached(version, awaited(r).required);  // it waits for exclusive access
    alarm = now ? 0 : alarm_for(version, awaited(r).required);
  }
  M::store(h.word, word_at(version, alarm), base::release);
}

// finish() for an access that has found the alarm at 0: as above, for a list in which nobody waits for exclusive
// access.
template <class M> [[gnu::noinline]] void finish_long(handle_state& h, woken& out) noexcept {
  base::locked<M> guard(h.lock);
  const std::uint64_t word = M::load(h.word, base::acquire);
  if (alarm_in(word) == 0) [[likely]] {
    const std::uint64_t version = (word >> alarm_bits) + 1;
    record* const r = release_reached(h, version, out);
    if (r == nullptr || !r->waits_exclusive) [[likely]] {
      const std::uint64_t alarm = r == nullptr ? alarm_max : alarm_for(version, r->accesses()[r->cursor].required);
      return M::store(h.word, word_at(version, alarm), base::release);
    }
  }
  finish_locked<M>(h, out);
}

// Listing 5. The access is done: advances the version and gives the records this makes runnable. After the last access
// a waiter may destroy the handle, so nothing here touches it once the version is public and the lock is free.
// Order: release, pairs with available(). Cost: one compare-exchange while nobody waits for the next version.
template <class M> void finish(const entry& a, woken& out) noexcept {
  handle_state& h = handle_of(a);
  M::work(model::step::run_access, &h);
  const bool exclusive = is_exclusive(a) || is_resource(a);
  if (!exclusive && finish_short<M>(h)) return;
  base::locked<M> guard(h.lock);
  if (exclusive) untake(a);
  finish_locked<M>(h, out);
}

}  // namespace weft::access
