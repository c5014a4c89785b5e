// The ranges of addresses that weft::place_memory was told of, for machines that model the data in them.
#pragma once
#include <cstdint>

#include "weft/memory_placement.hpp"

namespace weft::access {

// Where bytes lie in the range that has them. The range has a number, which no other ever gets: so what a machine knows
// of it does not depend on addresses. 0: no range has them, or not wholly.
struct placed_range {
  std::uint64_t number = 0;
  detail::data_layout layout;
};
// Who: any thread. Cost: a look into an ordered map, under a lock.
[[nodiscard]] placed_range range_at(const void* begin, std::uint64_t bytes);
// Of the range that begins there, if any, nothing is known any more. Who, cost: as above.
void forget_range(const void* begin) noexcept;

}  // namespace weft::access
