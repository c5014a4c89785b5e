// The wait list of a handle: records that wait for one of its conditions, linked through themselves, so nothing is
// allocated. A record is in one list at a time; which condition it waits for there, its cursor says (walk.hpp).
// Order: by required version, then by arrival. Behind all of them, by arrival alone, those that wait for units: units
// have no versions.
// Who, but for `woken`: holder of the handle's lock.
#pragma once
#include <cstdint>

#include "access/version.hpp"

namespace weft::access {

// A list of records that became runnable, linked by next, oldest first.
struct woken {
  record* head = nullptr;
  record* tail = nullptr;

  void append(record* r) noexcept { append(r, r); }
  void append(record* first, record* last) noexcept {  // a chain
    WEFT_DEBUG_ASSERT(first != tail);
    last->waiting.next = nullptr;
    (head == nullptr ? head : tail->waiting.next) = first;
    tail = last;
  }
  [[nodiscard]] record* take() noexcept {
    record* r = head;
    if (r != nullptr) head = r->waiting.next;
    return r;
  }
};

// The entry whose condition r has to meet next; its cursor says which.
[[nodiscard]] inline entry& awaited(record* r) noexcept {
  const std::uint32_t met = r->waiting.cursor;
  const std::uint32_t i = met < r->access_count ? met : met - r->access_count - 1;
  WEFT_ASSERT(i < r->access_count);
  return r->accesses()[i];
}

// Whether r is among the first or the last few of h's list. For assertions: a record that is about to be listed and
// is in the list already is most often near one of its ends.
[[nodiscard]] bool seems_listed(const handle_state& h, const record* r) noexcept;

// Inserts r behind all that require the same version or an earlier one. Cost: the shorter way from either end: a new
// submission belongs near the tail, a task that waited elsewhere near the head.
void insert_waiter(handle_state& h, record* r, std::uint64_t required) noexcept;
// The same where others wait for units. Cost: how many wait for the whole handle.
void insert_ahead_of_units(handle_state& h, record* r, std::uint64_t required) noexcept;
void remove_waiter(handle_state& h, record* r) noexcept;

// The name that stands in a waiter for a version nobody has submitted yet. Such a one may be last in a list although it
// requires a later version than who comes next, and the alarm may be set for it alone.
inline constexpr char ahead_mark[] = "a wait for a version that is not submitted";
[[nodiscard]] inline bool ends_ahead(const handle_state& h) noexcept {
  return h.waiters_tail != nullptr && h.waiters_tail->name == ahead_mark;
}

// r is about to be listed: for its first condition, or for the next.
inline constexpr detail::record_states before_blocked{detail::record_state::blocked, detail::record_state::filling};
[[gnu::always_inline]] inline void becomes_blocked(record& r, detail::record_states from = before_blocked) noexcept {
  transition(r, from, detail::record_state::blocked);
}

// Lists r behind all others: right for units, which have no order, and at registration, because nobody listed there
// requires a later version than the newest, unless it waits ahead. With the alarm set.
[[gnu::always_inline]] inline void append_waiter(handle_state& h, record* r,
                                                 detail::record_states from = before_blocked) noexcept {
  WEFT_DEBUG_ASSERT(is_locked(h) && !seems_listed(h, r));
  if (ends_ahead(h)) [[unlikely]]
    return insert_waiter(h, r, awaited(r).required);
  becomes_blocked(*r, from);
  r->waiting.next = nullptr;
  r->waiting.prev = h.waiters_tail;
  (r->waiting.prev == nullptr ? h.waiters_head : r->waiting.prev->waiting.next) = r;
  h.waiters_tail = r;
}

// The first of those that wait for units, or nullptr. Cost: the length of the list in front of them, which is that of
// waits for the whole handle.
[[nodiscard]] record* first_for_units(const handle_state& h) noexcept;
[[nodiscard]] inline bool waits_for_units(const handle_state& h) noexcept {
  return h.waiters_tail != nullptr && is_resource(awaited(h.waiters_tail));
}

// Moves the first of the list whose versions are there, and who wait for nothing else, to `out`. Returns who is first
// then. What goes is always the head of the list, so nobody is taken out of its middle.
[[gnu::always_inline]] inline record* release_reached(handle_state& h, std::uint64_t current, woken& out) noexcept {
  WEFT_DEBUG_ASSERT(is_locked(h));
  record* const first = h.waiters_head;
  WEFT_DEBUG_ASSERT((first == nullptr) == (h.waiters_tail == nullptr));
  record* last = nullptr;
  record* r = first;
  while (r != nullptr && !r->waits_exclusive && reached(current, r->accesses()[r->waiting.cursor].required)) {
    WEFT_DEBUG_ASSERT(r->waiting.prev == last && r->state == detail::record_state::blocked);
    last = r;
    r = r->waiting.next;
  }
  if (last == nullptr) return r;
  out.append(first, last);
  h.waiters_head = r;
  (r != nullptr ? r->waiting.prev : h.waiters_tail) = nullptr;
  return r;
}

}  // namespace weft::access
