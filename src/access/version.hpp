// The versioning protocol of one handle: register an access, ask whether its version is there, wait, finish
// (SuperGlue §3.1). Written once for every machine. States, races and a proof sketch: version.md.
//
// The word of a handle is current version * 2 + waiting, where `waiting` says that the wait list is not empty. Holding
// the handle's lock is required to touch the list, the counters of registration, and to set or clear `waiting`.
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
// What tells groups apart: the kind, and for types of the user's own their number. The flags stay the low three bits.
[[nodiscard]] inline std::uint8_t group_of(const entry& a) noexcept {
  const auto user_type = static_cast<unsigned>(a.handle_and_kind >> (8 * sizeof(std::uintptr_t) - 8));
  if (user_type == 0) return kind_of(a);
  return static_cast<std::uint8_t>(64 + (user_type - 1) * 8 + kind_of(a));
}
static_assert(64 + (detail::user_types_max - 1) * 8 + 7 <= 255);
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
inline constexpr unsigned version_bits = 63;
#endif
inline constexpr std::uint64_t version_mask = (std::uint64_t{1} << version_bits) - 1;
inline constexpr std::uint64_t version_half = std::uint64_t{1} << (version_bits - 1);
static_assert(version_bits >= 2 && version_bits <= 63);

[[nodiscard]] constexpr std::uint64_t version_in(std::uint64_t word) noexcept { return (word >> 1) & version_mask; }

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
inline constexpr bool versions_are_narrow = version_bits < 63;  // with 63 no program meets these limits: unchecked

// A list of records that became runnable, linked by next, oldest first.
struct woken {
  record* head = nullptr;
  record* tail = nullptr;

  void append(record* r) noexcept {
    r->next = nullptr;
    (head == nullptr ? head : tail->next) = r;
    tail = r;
  }
  [[nodiscard]] record* take() noexcept {
    record* r = head;
    if (r != nullptr) head = r->next;
    return r;
  }
};

// Listing 3. Who: holder of h's lock. Gives the version this access requires. An access joins the current group if it
// has the group's kind and that kind is commutative; otherwise it starts a group that needs all before it.
[[nodiscard]] inline std::uint64_t register_access(handle_state& h, std::uint8_t kind) noexcept {
  const bool is_full = versions_are_narrow && ((h.registered - h.group_start) & version_mask) >= group_max;
  if (kind != h.group_kind || (kind & detail::kind_commutative) == 0 || is_full) {
    h.group_start = h.registered;
    h.group_kind = kind;
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
void insert_waiter(handle_state& h, record* r) noexcept;
void remove_waiter(handle_state& h, record* r) noexcept;

// Lists r on h for awaited(r), unless it can have it now. Who: holder of h's lock. Gives whether r waits; if it does, r
// may be gone as soon as the lock is. The bit is set before the version is read again, in one operation on the word
// that finish() advances: one of the two sees the other.
template <class M> [[nodiscard]] bool wait_unless_available(handle_state& h, record* r) noexcept {
  std::uint64_t word = M::load(h.word, base::acquire);
  if ((word & 1) == 0) word = M::fetch_or(h.word, std::uint64_t{1}, base::acq_rel);
  const bool there = is_resource(awaited(r)) || reached(version_in(word), awaited(r).required);
  if (there && !(r->waits_exclusive && must_queue(awaited(r)))) {
    if (r->waits_exclusive) take(awaited(r));
    // While the bit is set only holders of the lock change the word, so a store is enough to clear it; release, because
    // available() may read this value instead of the one finish() wrote.
    if (h.waiters_head == nullptr) M::store(h.word, word & ~std::uint64_t{1}, base::release);
    return false;
  }
  r->state = detail::record_state::blocked;
  insert_waiter(h, r);
  return true;
}

// Lists r behind all others: right at registration, because nobody listed there requires a later version than the
// newest. Who: holder of h's lock, with the bit set.
inline void append_waiter(handle_state& h, record* r) noexcept {
  r->state = detail::record_state::blocked;
  r->next = nullptr;
  r->prev = h.waiters_tail;
  (r->prev == nullptr ? h.waiters_head : r->prev->next) = r;
  h.waiters_tail = r;
}

// Moves every listed record whose version is there to `out`; of those that need exclusive access only the first, and
// only if nobody has it. If that is all it needs exclusively it then owns it; else it is told only that h is free, and
// wakes the next if it cannot use that (conditions.hpp). Who: holder of h's lock.
// What goes is always the head of the list, so nobody is taken out of its middle.
template <class M> [[gnu::noinline]] void release_waiters(handle_state& h, std::uint64_t current, woken& out) noexcept {
  record* r = h.waiters_head;
  while (r != nullptr) {
    record* next = r->next;
    bool is_told = false;
    if (!r->waits_exclusive) [[likely]] {
      if (!reached(current, r->accesses()[r->cursor].required)) break;  // cursor: conditions.hpp
    } else {
      const entry& a = awaited(r);
      if (!is_resource(a) && !reached(current, a.required)) break;
      // Exclusive waiters are of the current group and everything behind them needs h exclusively, too, or is of a
      // later group, so stopping is right.
      if (is_taken(a)) break;
      is_told = r->exclusives != 1;
      if (!is_told) take(a);
      r->waits_exclusive = false;
    }
    out.append(r);
    r = next;
    if (is_told) break;
  }
  h.waiters_head = r;
  if (r != nullptr) {
    r->prev = nullptr;
    return;
  }
  h.waiters_tail = nullptr;
  M::store(h.word, current << 1, base::release);
}

// The part of finish() that is left when somebody waits, or when an add or units are given back. Once the lock is held
// and the bit is set nobody else changes the word; where the list has emptied meanwhile others may, by the short way.
template <class M> [[gnu::noinline]] void finish_locked(handle_state& h, woken& out) noexcept {
  std::uint64_t word = M::load(h.word, base::relaxed);
  while ((word & 1) == 0)
    if (M::compare_exchange(h.word, word, word + 2, base::acq_rel)) return;
  word += 2;
  M::store(h.word, word, base::release);
  release_waiters<M>(h, version_in(word), out);
}

// Listing 5. The access is done: advances the version and gives the records this makes runnable. After the last access
// a waiter may destroy the handle, so nothing here touches it once the version is public and the lock is free.
// Order: release, pairs with available(). Cost: one compare-exchange if nobody waits.
template <class M> void finish(const entry& a, woken& out) noexcept {
  handle_state& h = handle_of(a);
  M::work(model::step::run_access, &h);
  if (!is_exclusive(a) && !is_resource(a)) {
    std::uint64_t word = M::load(h.word, base::relaxed);
    while ((word & 1) == 0)
      if (M::compare_exchange(h.word, word, word + 2, base::acq_rel)) return;
  }
  base::locked<M> guard(h.lock);
  if (is_exclusive(a) || is_resource(a)) untake(a);
  finish_locked<M>(h, out);
}

}  // namespace weft::access
