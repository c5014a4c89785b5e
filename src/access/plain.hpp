// The short way for plain tasks: each access reads, writes or is concurrent, and no handle is named twice. They are
// most tasks, and small ones live from what is left out here: no order of locks, no exclusive access, no reductions.
// Registration still happens under all the task's locks at once, because two tasks that share two handles must be in
// one order on both (registration.hpp). Here the locks are only tried, in clause order: whoever finds one taken - by
// another submitter, by a finishing task, or by itself, for a handle named twice - gives back what it has and takes the
// long way, which sorts. Nobody waits for a lock while holding another out of order, so nobody can lock others out.
// Therefore nothing is written before the last lock is held; from then on each goes as soon as its handle is done with.
#pragma once
#include <cstdint>

#include "access/condition.hpp"
#include "access/reduction.hpp"

namespace weft::access {

// How many of r's accesses are to be registered: those behind them push to streams, which has been done (stream.hpp).
[[nodiscard, gnu::always_inline]] inline std::uint32_t unregistered(record& r) noexcept {
  std::uint32_t n = r.access_count;
  while (n != 0 && kind_of(r.accesses()[n - 1]) == detail::kind_fill) --n;
  return n;
}

// Locks the handles of r's first n accesses and computes the versions that its accesses require, or does nothing where
// something calls for the long way. Returns whether; `missing` is then the first whose version is not there, or their
// number.
template <class M> [[nodiscard, gnu::always_inline]] inline bool
try_lock_all(record& r, std::uint32_t n, const detail::engine_base* engine, std::uint32_t& missing) noexcept {
  entry* const a = r.accesses();
  missing = n;
  for (std::uint32_t i = 0; i < n; ++i) {
    handle_state& h = handle_of(a[i]);
    M::fresh_unless(h.engine, engine, &h, sizeof h);
    if (M::exchange(h.lock, std::uint8_t{1}, base::acquire) == 0) [[likely]] {
      const bool joins = joins_group(h, group_of(a[i]));
      if (h.engine == engine && (joins || !reduction_open(h))) [[likely]] {
        a[i].required = joins ? h.group_start : h.registered;
        if (missing == n && !available<M>(h, a[i].required)) missing = i;
        continue;
      }
      base::release_lock<M>(h.lock);
    }
    while (i > 0) base::release_lock<M>(handle_of(a[--i]).lock);
    return false;
  }
  return true;
}

template <class M> [[nodiscard, gnu::always_inline]] inline bool advance_plain(record* r) noexcept;

// As register_task(), for a task that is plain. long_way: nothing was done.
enum class short_outcome : std::uint8_t { ready, waits, long_way };
template <class M, class Seen> [[nodiscard, gnu::always_inline]] inline short_outcome
register_plain(record* r, const detail::engine_base* engine, Seen seen) {
  std::uint32_t missing = 0;
  const std::uint32_t n = unregistered(*r);
  if (versions_are_narrow || !try_lock_all<M>(*r, n, engine, missing)) return short_outcome::long_way;
  entry* const a = r->accesses();
  for (std::uint32_t i = 0; i < n; ++i) {
    handle_state& h = handle_of(a[i]);
    M::work(model::step::submit_access, &h);
    WEFT_DEBUG_ASSERT(is_locked(h) && !is_repeated(a[i]));
    h.group_start = a[i].required;
    h.group_kind = group_of(a[i]);
    ++h.registered;
    if (i != missing) base::release_lock<M>(h.lock);
  }
  for (std::uint32_t i = n; i < r->access_count; ++i) M::work(model::step::submit_access, &handle_of(a[i]));
  seen(*r);
  WEFT_DEBUG_ASSERT(r->exclusives == 0 && !r->waits_exclusive);
  r->waiting.cursor = missing == n ? r->access_count : missing;
  if (missing == n) return short_outcome::ready;
  handle_state& h = handle_of(a[missing]);
  // Where others are listed the alarm is set for the first of them, and whoever releases that comes to r, too.
  const bool waits = (h.waiters_head != nullptr && !ends_ahead(h)) || set_alarm<M>(h, a[missing].required);
  if (waits) [[likely]]
    append_waiter(h, r, detail::record_state::filling);
  // From here on r may be taken from the list, run and recycled.
  base::release_lock<M>(h.lock);
  return waits || !advance_plain<M>(r) ? short_outcome::waits : short_outcome::ready;
}

// The version that r was listed for is there. Returns whether all others are; if not, r is listed again and may be
// gone.
template <class M> [[nodiscard, gnu::always_inline]] inline bool advance_plain(record* r) noexcept {
  WEFT_DEBUG_ASSERT(r->plain && r->waiting.cursor < r->access_count);
  M::work(model::step::advance);
  const std::uint32_t n = r->access_count;
  for (std::uint32_t i = r->waiting.cursor + 1; i < n; ++i) {
    entry& a = r->accesses()[i];
    handle_state& h = handle_of(a);
    if (available<M>(h, a.required)) [[likely]]
      continue;
    r->waiting.cursor = i;
    base::locked<M> guard(h.lock);
    if (!set_alarm<M>(h, a.required)) continue;
    insert_waiter(h, r, a.required);
    return false;
  }
  r->waiting.cursor = n;
  return true;
}

// settle() for an access that has found the alarm at 0: as finish_locked(), for a list in which nobody waits for
// exclusive access.
template <class M> [[gnu::noinline]] void finish_long(handle_state& h, woken& out) noexcept {
  base::locked<M> guard(h.lock);
  const std::uint64_t word = M::load(h.word, base::acquire);
  if (alarm_in(word) == 0) [[likely]] {
    const std::uint64_t version = (word >> alarm_bits) + 1;
    WEFT_DEBUG_ASSERT(outstanding(word, h.registered) >= 1);
    record* const r = release_reached(h, version, out);
    if (r == nullptr || !r->waits_exclusive) [[likely]] {
      const std::uint64_t alarm =
          r == nullptr ? alarm_max : alarm_for(version, r->accesses()[r->waiting.cursor].required);
      return M::store(h.word, word_at(version, alarm), base::release);
    }
  }
  finish_locked<M>(h, 1, out);
}

// All accesses of r are done: settle() for each.
template <class M> [[gnu::always_inline]] inline void finish_plain(record& r, woken& out) noexcept {
  WEFT_DEBUG_ASSERT(r.plain && r.exclusives == 0);
  const entry* a = r.accesses();
  const entry* const end = a + r.access_count;
  for (; a != end; ++a) {
    handle_state& h = handle_of(*a);
    M::work(model::step::run_access, &h);
    if (!finish_short<M>(h)) finish_long<M>(h, out);
  }
}

}  // namespace weft::access
