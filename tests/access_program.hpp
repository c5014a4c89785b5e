// Tasks without bodies, for tests of src/access: records with their accesses, and the few steps of the engine that a
// task goes through on its way over versions.
#pragma once
#include <cstddef>

#include "access/registration.hpp"
#include "weft/detail/worker.hpp"

namespace weft::accesses {

using access::entry;
using access::handle_state;
using access::woken;
using detail::record;

inline constexpr std::uint8_t kinds[] = {detail::kind_read, detail::kind_write, detail::kind_add,
                                         detail::kind_concurrent};

// The accesses lie behind the record, as they do in the pool's.
struct task {
  record r{};
  entry a[24]{};

  task() noexcept { begin(r, detail::record_state::filling); }
  // amount: how far the access advances the version.
  task& use(handle_state& h, std::uint8_t kind, std::uint64_t amount = 1) noexcept {
    add({reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(kind), 0});
    if (amount != 1) add(access::amount_entry(a[r.access_count - 1], amount));
    if (kind == detail::kind_add && r.exclusives < 2) ++r.exclusives;
    return *this;
  }
  task& use_units(handle_state& h, std::uint64_t units) noexcept {
    add({reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_resource), units});
    r.exclusives = 2;
    return *this;
  }
  void add(const entry& e) noexcept {
    WEFT_ASSERT(r.access_count < std::size(a));
    a[r.access_count++] = e;
  }
  [[nodiscard]] static task& of(record* r) noexcept { return *reinterpret_cast<task*>(r); }
};
static_assert(offsetof(task, a) == sizeof(record));

[[nodiscard]] inline bool has_amounts(const task& t) noexcept {
  for (std::uint32_t i = 0; i < t.r.access_count; ++i)
    if (access::is_repeated(t.a[i])) return true;
  return false;
}

// An engine that handles can name and nobody calls.
class identity {
 public:
  [[nodiscard]] detail::engine_base* get() noexcept { return reinterpret_cast<detail::engine_base*>(&place_); }

 private:
  std::max_align_t place_;
};

// Before handles go that a broken protocol may have left in use: their destructors would call the engine.
template <class Handles> void forget_uses(Handles& handles) noexcept {
  for (handle_state& h : handles) h.engine = nullptr;
}

// Of one that is set up, with a version of choice.
inline void age(handle_state& h, std::uint64_t version) noexcept {
  h.registered = h.group_start = version;
  h.word.raw = access::word_at(version);
}

// Whether every access to h is finished, and nobody is left in its list or its lock.
[[nodiscard]] inline bool is_done(const handle_state& h) noexcept {
  return access::outstanding(h.word.raw, h.registered) == 0 && h.waiters_head == nullptr && h.lock.raw == 0;
}

// Calls ready(task) for each record of the list that has nothing left to wait for (readiness::all).
template <class M, class Ready> void walk(woken& list, Ready ready) {
  while (record* r = list.take()) {
    if (r->plain) {
      if (access::advance_plain<M>(r)) ready(task::of(r));
      continue;
    }
    if (r->waiting.cursor < r->access_count) ++r->waiting.cursor;
    if (access::advance<M>(r, list)) ready(task::of(r));
  }
}

template <class M, class Ready> void submit(task& t, identity& engine, Ready ready) {
  access::open_reductions<M> none;
  access::closers no_closers;
  woken list;
  if (t.r.plain) {
    const auto done = access::register_plain<M>(&t.r, engine.get(), [](record&) {});
    if (done == access::short_outcome::ready) ready(t);
    if (done != access::short_outcome::long_way) return;
    t.r.plain = false;
  }
  if (access::register_task<M>(&t.r, engine.get(), none, no_closers, list).what == access::outcome::ready) ready(t);
  walk<M>(list, ready);
}

template <class M, class Ready> void finish(task& t, Ready ready) {
  woken list;
  access::settle<M>(t.r, list);
  walk<M>(list, ready);
}

}  // namespace weft::accesses
