// The network: tiles in a square mesh, X-Y routes, so many cycles a hop. Links are never busy (swarm.md, "What is
// simpler"). Main memory is behind four controllers, one at the middle of each edge.
#pragma once
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "lab/swarm/virtual_time.hpp"

namespace weft::swarm {

class mesh {
 public:
  mesh(unsigned tiles, std::uint32_t hop_latency) : tiles_(tiles) {
    while (side_ * side_ < tiles) ++side_;
    latency_.resize(static_cast<std::size_t>(tiles) * tiles);
    for (unsigned a = 0; a < tiles; ++a)
      for (unsigned b = 0; b < tiles; ++b) {
        latency_[a * tiles + b] = hops(a % side_, a / side_, b % side_, b / side_) * hop_latency;
        if (latency_[a * tiles + b] > worst_) worst_ = latency_[a * tiles + b];
      }
    const unsigned middle = side_ / 2, last = side_ - 1;
    const unsigned at[controllers][2] = {{middle, 0}, {middle, last}, {0, middle}, {last, middle}};
    for (unsigned a = 0; a < tiles; ++a)
      for (const auto& c : at) to_memory_.push_back(hops(a % side_, a / side_, c[0], c[1]) * hop_latency);
  }

  [[nodiscard]] std::uint32_t latency(unsigned from, unsigned to) const noexcept {
    WEFT_DEBUG_ASSERT(from < tiles_ && to < tiles_);
    return latency_[from * tiles_ + to];
  }
  [[nodiscard]] std::uint32_t worst() const noexcept { return worst_; }
  // From a tile to the controller that a line is behind.
  [[nodiscard]] std::uint32_t to_memory(unsigned from, std::uint32_t of_line) const noexcept {
    return to_memory_[from * controllers + of_line / lines_of_page % controllers];
  }

 private:
  static constexpr unsigned controllers = 4, lines_of_page = 64;

  [[nodiscard]] static unsigned hops(unsigned ax, unsigned ay, unsigned bx, unsigned by) noexcept {
    return (ax > bx ? ax - bx : bx - ax) + (ay > by ? ay - by : by - ay);
  }

  unsigned tiles_;
  unsigned side_ = 1;
  std::uint32_t worst_ = 0;
  std::vector<std::uint32_t> latency_;
  std::vector<std::uint32_t> to_memory_;
};

}  // namespace weft::swarm
