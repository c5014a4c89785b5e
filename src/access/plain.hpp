// The short way for plain tasks: each access reads, writes or is concurrent, and no handle is named twice. They are
// most tasks, and small ones live from what is left out here: no order of locks, no exclusive access, no reductions.
// Registration still happens under all the task's locks at once, because two tasks that share two handles must be in
// one order on both (registration.hpp). Here the locks are only tried, in clause order: whoever finds one taken - by
// another submitter, by a finishing task, or by itself, for a handle named twice - gives back what it has and takes the
// long way, which sorts. Nobody waits for a lock while holding another out of order, so nobody can lock others out.
#pragma once
#include <cstdint>

#include "access/reduction.hpp"
#include "access/version.hpp"

namespace weft::access {

// Locks all handles of r, or none. Gives whether; none also where something calls for the long way.
template <class M>
[[nodiscard, gnu::always_inline]] inline bool try_lock_all(record& r, const detail::engine_base* engine) noexcept {
  entry* const a = r.accesses();
  const std::uint32_t n = r.access_count;
  for (std::uint32_t i = 0; i < n; ++i) {
    handle_state& h = handle_of(a[i]);
    if constexpr (M::modelled)
      if (h.engine != engine) M::fresh(&h, sizeof h);
    if (M::exchange(h.lock, std::uint8_t{1}, base::acquire) == 0) [[likely]] {
      if (h.engine == engine && !reduction_open(h)) [[likely]]
        continue;
      base::release_lock<M>(h.lock);
    }
    while (i > 0) base::release_lock<M>(handle_of(a[--i]).lock);
    return false;
  }
  return true;
}

// As register_task(), for a task that is plain. long_way: nothing was done.
enum class short_outcome : std::uint8_t { ready, waits, long_way };
template <class M, class Seen> [[nodiscard, gnu::always_inline]] inline short_outcome
register_plain(record* r, const detail::engine_base* engine, Seen seen) {
  if (versions_are_narrow || !try_lock_all<M>(*r, engine)) return short_outcome::long_way;
  entry* const a = r->accesses();
  const std::uint32_t n = r->access_count;
  bool waits = false;
  r->cursor = n;
  for (std::uint32_t i = 0; i < n; ++i) {
    handle_state& h = handle_of(a[i]);
    M::work(model::step::submit_access, &h);
    const std::uint64_t required = register_access(h, group_of(a[i]));
    a[i].required = required;
    if (waits || available<M>(h, required)) continue;
    // As wait_unless_available(): the bit is set before the version is read again.
    std::uint64_t word = M::load(h.word, base::relaxed);
    if ((word & 1) == 0) word = M::fetch_or(h.word, std::uint64_t{1}, base::acq_rel);
    if (!reached(version_in(word), required)) [[likely]] {
      r->cursor = i;
      append_waiter(h, r);
      waits = true;
    } else if (h.waiters_head == nullptr) {
      M::store(h.word, word & ~std::uint64_t{1}, base::release);
    }
  }
  seen(*r);
  // r may be taken from the list, run and recycled as soon as its handle is free: the entries are read before that.
  const std::uint32_t listed_on = waits ? r->cursor : n;
  for (std::uint32_t i = 0; i < n; ++i)
    if (i != listed_on) base::release_lock<M>(handle_of(a[i]).lock);
  if (!waits) return short_outcome::ready;
  base::release_lock<M>(handle_of(a[listed_on]).lock);
  return short_outcome::waits;
}

// The version that r was listed for is there. Gives whether all others are; if not, r is listed again and may be gone.
template <class M> [[nodiscard, gnu::always_inline]] inline bool advance_plain(record* r) noexcept {
  M::work(model::step::advance);
  const std::uint32_t n = r->access_count;
  for (std::uint32_t i = r->cursor + 1; i < n; ++i) {
    entry& a = r->accesses()[i];
    handle_state& h = handle_of(a);
    if (available<M>(h, a.required)) [[likely]]
      continue;
    r->cursor = i;
    base::locked<M> guard(h.lock);
    if (wait_unless_available<M>(h, r)) return false;
  }
  r->cursor = n;
  return true;
}

// All accesses of r are done: finish() for each.
template <class M> [[gnu::always_inline]] inline void finish_plain(record& r, woken& out) noexcept {
  const entry* a = r.accesses();
  const entry* const end = a + r.access_count;
  for (; a != end; ++a) {
    handle_state& h = handle_of(*a);
    M::work(model::step::run_access, &h);
    std::uint64_t word = M::load(h.word, base::relaxed);
    bool done = false;
    while (!done && (word & 1) == 0) done = M::compare_exchange(h.word, word, word + 2, base::acq_rel);
    if (done) continue;
    base::locked<M> guard(h.lock);
    finish_locked<M>(h, out);
  }
}

}  // namespace weft::access
