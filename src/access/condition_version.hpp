// The condition of most accesses: a version of the handle (SuperGlue §3.1). Once met it stays met, so it is waited for
// without holding anything, and there is nothing to give back.
#pragma once
#include <cstdint>
#include <string>

#include "access/wait_list.hpp"

namespace weft::access {

// How a handle is called in messages: its name, or "#id".
[[nodiscard]] std::string name_of(const handle_state& h);
// "version 5 of handle 'x', which is at 3". Who: any thread; the latter may have changed.
[[nodiscard]] std::string describe_version(const handle_state& h, std::uint64_t required);

struct version_condition {
  static constexpr bool is_held = false;

  static void enter(handle_state& h, entry& a, std::uint64_t amount) noexcept {
    a.required = register_access(h, group_of(a), amount);
  }
  [[nodiscard]] static bool met(const entry& a, std::uint64_t version) noexcept { return reached(version, a.required); }
  template <class M> [[nodiscard]] static bool list(handle_state& h, record* r) noexcept {
    const entry& a = awaited(r);
    if (!set_alarm<M>(h, a.required)) return false;
    waits_for_units(h) ? insert_ahead_of_units(h, r, a.required) : insert_waiter(h, r, a.required);
    return true;
  }
  template <class M> static void settle(const entry& a, std::uint64_t amount, woken& out) noexcept {
    handle_state& h = handle_of(a);
    if (finish_short<M>(h, amount)) return;
    base::locked<M> guard(h.lock);
    finish_locked<M>(h, amount, out);
  }
  [[nodiscard]] static std::string describe(const entry& a) {
    return "waits for " + describe_version(handle_of(a), a.required);
  }
};

}  // namespace weft::access
