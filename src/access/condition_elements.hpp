// The condition of an access to a buffer of a stream (stream.hpp): the elements are there. Which version that is was
// fixed when they were matched, before the access is registered: who pushes needs none, and who pops from a buffer that
// it named first the one at which all its elements are pushed. So these may be registered in any order.
#pragma once
#include <cstdint>
#include <string>

#include "access/condition_version.hpp"

namespace weft::access {

// "elements 3 to 5 of stream 'x', which nobody pushes". Who: nobody else changes the stream.
[[nodiscard]] std::string describe_buffer(const handle_state& h);

struct elements_condition {
  static constexpr bool is_held = false;

  // What pushes was counted with the buffer. Who takes the elements over also waits for those that look at them before.
  static void enter(handle_state& h, entry& a, std::uint64_t) noexcept {
    WEFT_ASSERT(is_locked(h));
    if (kind_of(a) == detail::kind_fill) return;
    if (kind_of(a) == detail::kind_take_over) a.required = h.registered;
    ++h.registered;
  }
  [[nodiscard]] static bool met(const entry& a, std::uint64_t version) noexcept { return reached(version, a.required); }
  template <class M> [[nodiscard]] static bool list(handle_state& h, record* r) noexcept {
    return version_condition::list<M>(h, r);
  }
  template <class M> static void settle(const entry& a, std::uint64_t amount, woken& out) noexcept {
    version_condition::settle<M>(a, amount, out);
  }
  [[nodiscard]] static std::string describe(const entry& a) { return "waits for " + describe_buffer(handle_of(a)); }
};

}  // namespace weft::access
