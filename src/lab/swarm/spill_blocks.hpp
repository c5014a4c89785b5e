// The memory of a tile's spilled tasks: blocks of lines, each for the descriptors of one splitter (Swarm §4.7). Blocks
// lie one behind the other: if each began a page, all of them would share a few sets of the caches (decision 0046).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "lab/swarm/lines.hpp"

namespace weft::swarm {

class spill_blocks {
 public:
  // The first line of a block for so many tasks, of two lines each at most; the same number each time. The block that
  // was given back last, which is in the cache, or else one of new lines.
  [[nodiscard]] line take(lines& all, std::uint32_t tasks) {
    constexpr std::uint32_t at_a_time = lines::lines_of_page;  // as many whole pages as a block has lines
    if (free_.empty()) {
      const std::uint32_t block_lines = std::max(2u, tasks);
      const line first = all.fresh(block_lines * at_a_time);
      for (std::uint32_t i = at_a_time; i-- != 0;) free_.push_back(first + i * block_lines);
    }
    const line block = free_.back();
    free_.pop_back();
    return block;
  }
  void give_back(line block) { free_.push_back(block); }

 private:
  std::vector<line> free_;
};

}  // namespace weft::swarm
