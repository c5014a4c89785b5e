// When something has ended, in instructions since the beginning, under each of the limits that the oracle tries.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::ordered_run {

struct moments {
  enum limit : std::size_t { unlimited, window_1024, window_64, in_flight_1024, in_flight_64, queue, limits };
  std::array<std::uint64_t, limits> at{};
  std::uint64_t round = 0;  // of the loop over roots (sequential.hpp), which knows when it ends; 0: none

  void not_before(const moments& other) noexcept {
    for (std::size_t i = 0; i < limits; ++i) at[i] = std::max(at[i], other.at[i]);
    round = std::max(round, other.round);
  }
  // Nothing is earlier where less is in sight: not in a narrower window, nor in one that is left in order.
  [[nodiscard]] bool grows_with_limits() const noexcept {
    return at[unlimited] <= at[in_flight_1024] && at[in_flight_1024] <= at[in_flight_64] &&
           at[in_flight_64] <= at[window_64] && at[in_flight_1024] <= at[window_1024] &&
           at[window_1024] <= at[window_64];
  }
  friend bool operator==(const moments&, const moments&) = default;
};

}  // namespace weft::ordered_run
