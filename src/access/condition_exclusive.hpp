// The condition of an add: its version, and the handle for itself while it runs. A task that needs only one handle so
// waits for both together; one that needs several waits for their versions first, and then takes all or none
// (walk.hpp). An add that finds the handle free may have it, whoever is listed: nobody waits for more than that.
#pragma once
#include <cstdint>
#include <string>

#include "access/condition_version.hpp"

namespace weft::access {

struct exclusive_condition {
  static constexpr bool is_held = true;

  static void enter(handle_state& h, entry& a, std::uint64_t amount) noexcept {
    version_condition::enter(h, a, amount);
  }
  [[nodiscard]] static bool met(const entry& a, std::uint64_t version) noexcept {
    return reached(version, a.required) && !taken(a);
  }
  template <class M> [[nodiscard]] static bool list(handle_state& h, record* r) noexcept {
    const entry& a = awaited(r);
    if (!set_alarm<M>(h, a.required)) {
      if (!taken(a)) return take(a), false;
      set_alarm_now<M>(h);
    }
    insert_waiter(h, r, a.required);
    return true;
  }
  template <class M> static void settle(const entry& a, std::uint64_t amount, woken& out) noexcept {
    handle_state& h = handle_of(a);
    base::locked<M> guard(h.lock);
    give_back(a);
    finish_locked<M>(h, amount, out);
  }
  [[nodiscard]] static std::string describe(const entry& a) { return version_condition::describe(a); }

  [[nodiscard]] static bool taken(const entry& a) noexcept {
    WEFT_ASSERT(is_locked(handle_of(a)));
    return handle_of(a).exclusive_taken;
  }
  [[nodiscard]] static bool must_queue(const entry& a) noexcept { return taken(a); }
  static void take(const entry& a) noexcept {
    WEFT_ASSERT(!taken(a));
    handle_of(a).exclusive_taken = true;
  }
  static void give_back(const entry& a) noexcept {
    WEFT_ASSERT(taken(a));
    handle_of(a).exclusive_taken = false;
  }
};

}  // namespace weft::access
