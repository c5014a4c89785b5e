// The condition of a task that uses a resource: so many units are free. The entry's `required` says how many, from the
// submitter on; of a resource, group_start counts those that are free, since its tasks have no order and need no group.
// Units that are free are not for a task that arrives while others wait for more of them: else a stream of tasks that
// need few would starve one that needs many. Who waits for the whole resource stands in nobody's way.
#pragma once
#include <cstdint>
#include <string>

#include "access/condition_version.hpp"

namespace weft::access {

struct units_condition {
  static constexpr bool is_held = true;

  // The version counts here, too: for ~handle and for a wait for the whole resource.
  static void enter(handle_state& h, entry& a, std::uint64_t amount) noexcept {
    WEFT_ASSERT(is_locked(h));
    WEFT_ASSERT(a.required != 0);
    h.registered += amount;
  }
  [[nodiscard]] static bool met(const entry& a, std::uint64_t) noexcept { return !taken(a); }
  template <class M> [[nodiscard]] static bool list(handle_state& h, record* r) noexcept {
    const entry& a = awaited(r);
    if (!must_queue(a)) return take(a), false;
    set_alarm_now<M>(h);
    append_waiter(h, r);
    return true;
  }
  template <class M> static void settle(const entry& a, std::uint64_t amount, woken& out) noexcept {
    handle_state& h = handle_of(a);
    base::locked<M> guard(h.lock);
    give_back(a);
    finish_locked<M>(h, amount, out);
  }
  [[nodiscard]] static std::string describe(const entry& a) {
    return "waits for " + std::to_string(a.required) + " units of resource " + name_of(handle_of(a));
  }

  [[nodiscard]] static bool taken(const entry& a) noexcept {
    WEFT_ASSERT(is_locked(handle_of(a)));
    return handle_of(a).group_start < a.required;
  }
  [[nodiscard]] static bool must_queue(const entry& a) noexcept { return taken(a) || waits_for_units(handle_of(a)); }
  static void take(const entry& a) noexcept {
    WEFT_ASSERT(!taken(a));
    handle_of(a).group_start -= a.required;
  }
  static void give_back(const entry& a) noexcept {
    WEFT_ASSERT(is_locked(handle_of(a)));
    handle_of(a).group_start += a.required;
    WEFT_ASSERT(!taken(a));
  }
};

}  // namespace weft::access
