// One use of one handle by one task, as its record keeps it behind itself (detail::access): which handle, what kind of
// access, which group it belongs to, and what it requires.
//
// An access advances its handle's version by one, or by an *amount* of its own: a handle may count something else than
// accesses, as the elements of a stream. Few accesses have one, so it takes no room in the others: it stands in an
// entry of its own directly behind, which names the same handle and is marked as a repetition by the submitter.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "weft/clause.hpp"
#include "weft/detail/handle_state.hpp"
#include "weft/detail/record.hpp"

namespace weft::access {

using detail::handle_state;
using detail::record;
using entry = detail::access;

inline constexpr std::uintptr_t kind_mask = 63;

[[nodiscard]] inline handle_state& handle_of(const entry& a) noexcept {
  return *reinterpret_cast<handle_state*>(a.handle_and_kind & detail::handle_address_mask);
}
[[nodiscard]] inline std::uint8_t kind_of(const entry& a) noexcept {
  return static_cast<std::uint8_t>(a.handle_and_kind & kind_mask);
}
// What tells groups apart (detail::group_number). Of a repetition: that of the first mention.
[[nodiscard]] inline std::uint8_t group_of(const entry& a) noexcept {
  return static_cast<std::uint8_t>(a.handle_and_kind >> (8 * sizeof(std::uintptr_t) - 8));
}
[[nodiscard]] inline bool is_exclusive(const entry& a) noexcept {
  // One at a time, in any order; a repetition is the first one's affair.
  return (kind_of(a) & (detail::kind_add | detail::kind_repeated)) == detail::kind_add;
}
[[nodiscard]] inline bool is_resource(const entry& a) noexcept { return kind_of(a) == detail::kind_resource; }
[[nodiscard]] inline bool is_repeated(const entry& a) noexcept { return (kind_of(a) & detail::kind_repeated) != 0; }
// Elements of a stream rather than a datum of the program's own.
[[nodiscard]] inline bool is_of_stream(const entry& a) noexcept {
  return (a.handle_and_kind & detail::kind_resource) != 0 && !is_resource(a);
}
// False for what abandon_uses_of() in the engine left behind: the handle is gone.
[[nodiscard]] inline bool has_handle(const entry& a) noexcept {
  return (a.handle_and_kind & detail::handle_address_mask) != 0;
}

// By how much access i of r advances the version. Who: after lock_set, which sets `required` of other repetitions to 0.
[[nodiscard]] inline std::uint64_t amount_of(record& r, std::uint32_t i) noexcept {
  WEFT_DEBUG_ASSERT(i < r.access_count && !is_repeated(r.accesses()[i]));
  if (i + 1 == r.access_count) return 1;
  const entry& a = r.accesses()[i];
  const entry& behind = r.accesses()[i + 1];
  return is_repeated(behind) && &handle_of(behind) == &handle_of(a) && behind.required != 0 ? behind.required : 1;
}
// The entry that says so.
[[nodiscard]] inline entry amount_entry(const entry& of, std::uint64_t amount) noexcept {
  return {of.handle_and_kind | detail::kind_repeated, amount};
}

}  // namespace weft::access
