// Unique virtual time (Swarm §4.4): the timestamp that the program gave, and of equal ones the cycle and the tile of
// the dequeue. A tile dequeues once a cycle, so no two tasks have the same; a child is dequeued after its parent, so it
// has a later one.
#pragma once
#include <compare>
#include <cstdint>

#include "base/assert.hpp"

namespace weft::swarm {

using cycle = std::uint64_t;

struct virtual_time {
  std::uint64_t timestamp = 0;
  std::uint64_t order = 0;  // the cycle of the dequeue, and the tile in the lowest bits

  static constexpr unsigned tile_bits = 8;
  static constexpr unsigned tiles_max = 64;  // and a bit set of tiles is a word
  static_assert(tiles_max <= 1u << tile_bits);

  [[nodiscard]] static constexpr virtual_time of(std::uint64_t timestamp, cycle at, unsigned tile) noexcept {
    WEFT_ASSERT(tile < tiles_max && at >> (64 - tile_bits) == 0);  // else two tasks may have the same
    return {timestamp, at << tile_bits | tile};
  }
  // Later than any task's.
  [[nodiscard]] static constexpr virtual_time never() noexcept { return {UINT64_MAX, UINT64_MAX}; }
  friend constexpr auto operator<=>(const virtual_time&, const virtual_time&) noexcept = default;
};

}  // namespace weft::swarm
