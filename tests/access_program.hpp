// Tasks without bodies, for tests of src/access: records with their accesses, and the few steps of the engine that a
// task goes through on its way over versions.
#pragma once
#include <cstddef>

#include "access/registration.hpp"

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

  task& use(handle_state& h, std::uint8_t kind) noexcept {
    WEFT_ASSERT(r.access_count < std::size(a));
    a[r.access_count++].handle_and_kind = reinterpret_cast<std::uintptr_t>(&h) | kind;
    if (kind == detail::kind_add && r.exclusives < 2) ++r.exclusives;
    return *this;
  }
  [[nodiscard]] static task& of(record* r) noexcept { return *reinterpret_cast<task*>(r); }
};
static_assert(offsetof(task, a) == sizeof(record));

// Handles name the engine that uses them; a test ends with handles that a broken protocol never finished.
struct no_engine final : detail::engine_base {
  record* allocate(std::size_t) override { return nullptr; }
  void discard(record*) noexcept override {}
  void enter(record*) override {}
  void push_slow(detail::worker&, record*) override {}
  void wait_all() override {}
  void wait_handle(handle_state&) override {}
  void drain(handle_state&) noexcept override {}
};

// Calls ready(task) for each record of the list that has nothing left to wait for (engine::make_all_ready).
template <class M, class Ready> void walk(woken& list, Ready ready) {
  while (record* r = list.take()) {
    if (r->cursor < r->access_count) ++r->cursor;
    if (access::advance<M>(r, list)) ready(task::of(r));
  }
}

template <class M, class Ready> void submit(task& t, detail::engine_base& engine, Ready ready) {
  woken list;
  if (access::register_task<M>(&t.r, &engine, list) == access::registered::ready) ready(t);
  walk<M>(list, ready);
}

template <class M, class Ready> void finish(task& t, Ready ready) {
  woken list;
  for (std::uint32_t i = 0; i < t.r.access_count; ++i)
    if (!access::is_repeated(t.a[i])) access::finish<M>(t.a[i], list);
  walk<M>(list, ready);
}

}  // namespace weft::accesses
