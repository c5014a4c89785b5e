// Conditions: what a task waits for before it is ready. Each kind is a struct of static functions in a file of its own
// and a line in the table below; the walk over a task's conditions, registration, wait lists and reports are written
// once, over that table. A kind says:
//
//   is_held     false: once met it stays met, and is waited for in clause order
//               true: something is taken for as long as the task runs, of all such entries or of none (walk.hpp)
//   enter       the access is registered: sets a.required. Who: holder of the locks of all the task's handles
//   met         at this version of the handle. Who: holder of its lock; anyone for a kind that is not held
//   list        lists r for awaited(r), with the alarm set; or returns false: that is met, and, where it is held, now
//               taken. Who: holder of the lock; r may be gone when that is free
//   settle      the task is done: gives back, advances the version, adds to `out` whom that wakes. After the last
//               access a waiter may destroy the handle, so nothing touches it once the version is public and the lock
//               free. Order: release, pairs with available()
//   describe    "waits for ...", for reports. Who: nobody else changes the task
//
// and where something is held, for which the handle's lock is needed:
//   taken       somebody has it, or too much of it
//   must_queue  so it is, or it is free and for somebody else
//   take, give_back
//
// The short way for plain tasks (plain.hpp) is the same for version_condition alone, inlined.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

#include "access/condition_elements.hpp"
#include "access/condition_exclusive.hpp"
#include "access/condition_units.hpp"
#include "access/condition_version.hpp"

namespace weft::access {

enum class condition : std::uint8_t {
  none,  // a repetition: the first mention of the handle has it
  version,
  exclusive,
  units,
  elements,
};

[[nodiscard]] constexpr condition condition_of_kind(std::uint8_t kind) noexcept {
  if ((kind & detail::kind_repeated) != 0) return condition::none;
  if (kind == detail::kind_resource) return condition::units;
  if ((kind & detail::kind_resource) != 0) return condition::elements;
  return (kind & detail::kind_add) == detail::kind_add ? condition::exclusive : condition::version;
}

// The table. Calls what(kind) with the struct of c.
template <class What> [[gnu::always_inline]] inline decltype(auto) by_kind(condition c, What what) {
  switch (c) {
  case condition::exclusive: return what(exclusive_condition{});
  case condition::units: return what(units_condition{});
  case condition::elements: return what(elements_condition{});
  case condition::version: return what(version_condition{});
  case condition::none: break;
  }
  WEFT_ASSERT(c != condition::none);  // a repetition has none to ask about
  return what(version_condition{});
}

[[nodiscard]] inline condition condition_of(const entry& a) noexcept { return condition_of_kind(kind_of(a)); }
[[nodiscard]] inline bool is_held(condition c) noexcept {
  return c != condition::none && by_kind(c, [](auto kind) { return kind.is_held; });
}

// What entry a of r makes it wait for before anything is held: nothing where r needs no more than this one exclusively,
// which it then waits for together with the version. What is held has its version first, except units: they have none.
[[nodiscard]] inline condition first_condition(const record& r, const entry& a) noexcept {
  const condition c = condition_of(a);
  if (!is_held(c)) return c;
  return c == condition::exclusive && r.exclusives != 1 ? condition::version : condition::none;
}

// What r waits for, where it is listed or about to be.
[[nodiscard]] inline condition awaited_condition(record* r) noexcept {
  const entry& a = awaited(r);
  const condition c = r->waiting.cursor < r->access_count ? first_condition(*r, a) : condition_of(a);
  WEFT_ASSERT(c != condition::none);
  return c;
}

// Of entries whose condition is held. Who: holder of the handle's lock.
template <class What> [[gnu::always_inline]] inline decltype(auto) by_held_kind(const entry& a, What what) {
  return by_kind(condition_of(a), [&](auto kind) {
    if constexpr (kind.is_held) return what(kind);
    WEFT_ASSERT(kind.is_held);
    return what(exclusive_condition{});
  });
}
[[nodiscard]] inline bool is_taken(const entry& a) noexcept {
  return by_held_kind(a, [&a](auto kind) { return kind.taken(a); });
}
[[nodiscard]] inline bool must_queue(const entry& a) noexcept {
  return by_held_kind(a, [&a](auto kind) { return kind.must_queue(a); });
}
inline void take(const entry& a) noexcept {
  by_held_kind(a, [&a](auto kind) { kind.take(a); });
}
inline void give_back(const entry& a) noexcept {
  by_held_kind(a, [&a](auto kind) { kind.give_back(a); });
}

// Whether the condition of kind c that entry a makes its task wait for is met. c is not held. Who: anyone.
template <class M> [[nodiscard]] bool is_met(condition c, const entry& a) noexcept {
  WEFT_ASSERT(!is_held(c));
  const std::uint64_t version = version_in(M::load(handle_of(a).word, base::acquire));
  return by_kind(c, [&](auto kind) {
    if constexpr (kind.is_held) return false;
    return kind.met(a, version);
  });
}

// Lists r on h for awaited(r), unless it can have it now. Who: holder of h's lock. Returns whether r waits; if it does,
// r may be gone as soon as the lock is.
template <class M> [[nodiscard]] bool wait_unless_available(handle_state& h, record* r) noexcept {
  WEFT_ASSERT(is_locked(h) && &handle_of(awaited(r)) == &h);
  return by_kind(awaited_condition(r), [&](auto kind) {
    WEFT_ASSERT(kind.is_held == r->waits_exclusive);
    return kind.template list<M>(h, r);
  });
}

// r, the first of h's list or the first there for units, waits for more than a version: it goes to `out` if it can have
// that. If this is all it needs to hold it then has it; else it is told only that it is free, and wakes the next if it
// cannot use that (walk.hpp). Returns whether others may follow it. Who: holder of h's lock.
[[nodiscard]] inline bool release_exclusive(handle_state& h, record* r, std::uint64_t current, woken& out) noexcept {
  const entry& a = awaited(r);
  // Who waits for exclusive access is of the current group, and everybody behind needs h exclusively, too, or is of a
  // later group; units are given in order of arrival. So stopping is right.
  if (!by_kind(awaited_condition(r), [&](auto kind) { return kind.met(a, current); })) return false;
  const bool is_told = r->exclusives != 1;
  if (!is_told) take(a);
  r->waits_exclusive = false;
  remove_waiter(h, r);
  out.append(r);
  return !is_told;
}

// Moves every listed record that may go on to `out`; of those that need exclusive access at most one that gets it.
// Who: holder of h's lock.
inline void release_waiters(handle_state& h, std::uint64_t current, woken& out) noexcept {
  WEFT_ASSERT(is_locked(h));
  for (;;) {
    record* r = release_reached(h, current, out);
    if (r != nullptr && !r->waits_exclusive) r = first_for_units(h);
    if (r == nullptr || !release_exclusive(h, r, current, out)) return;
  }
}

// The alarm for whoever is in h's list. Who: holder of h's lock, when those have been released whose turn it is.
[[nodiscard]] inline std::uint64_t alarm_of_list(const handle_state& h, std::uint64_t version) noexcept {
  if (h.waiters_head == nullptr) return alarm_max;
  const std::uint64_t required = awaited(h.waiters_head).required;
  if (waits_for_units(h) || reached(version, required)) return 0;  // what they wait for is somebody's, not a version
  return alarm_for(version, required);
}

// While the alarm is at 0 nobody else changes the word. Where it is merely too low for this amount, another access may
// still have the short way, so it is set to 0 first. Where it is high enough nobody who is listed comes next: this is
// an exclusive access that none waited for, or somebody was quicker. Order: acquire, then release. The store ends the
// release sequence of those who finished the short way before, so who comes next sees what they did through this thread
// only.
template <class M> [[gnu::noinline]] void finish_locked(handle_state& h, std::uint64_t amount, woken& out) noexcept {
  WEFT_ASSERT(is_locked(h));
  if (finish_short<M>(h, amount)) return;
  if (amount != 1) set_alarm_now<M>(h);
  const std::uint64_t word = M::load(h.word, base::acquire);
  WEFT_ASSERT(alarm_in(word) == 0);
  WEFT_ASSERT(outstanding(word, h.registered) >= amount);  // nobody finishes what was not registered
  const std::uint64_t version = (word >> alarm_bits) + amount;
  WEFT_ASSERT(reached(version, version_in(word)));
  release_waiters(h, version, out);
  M::store(h.word, word_at(version, alarm_of_list(h, version)), base::release);
}

// Listing 5. Access i of r is done.
template <class M> void settle(record& r, std::uint32_t i, woken& out) noexcept {
  const entry& a = r.accesses()[i];
  M::work(model::step::run_access, &handle_of(a));
  by_kind(condition_of(a), [&](auto kind) { kind.template settle<M>(a, amount_of(r, i), out); });
}

// What r waits for, as a report has it after the name of the task: "waits for ...". Who: nobody else changes r.
[[nodiscard]] std::string describe(record& r);

}  // namespace weft::access
