#include "lab/swarm/spill_blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

using weft::swarm::line;

TEST_CASE("swarm spill_blocks: no line is in two blocks, and the block given back last is taken first") {
  weft::swarm::lines all;
  weft::swarm::spill_blocks blocks;
  constexpr std::uint32_t tasks = 15;
  std::set<line> seen;
  line last = 0;
  for (int i = 0; i < 200; ++i) {
    last = blocks.take(all, tasks);
    for (line l = last; l < last + tasks; ++l) {
      CHECK(seen.insert(l).second);
      CHECK(l < all.size());
    }
  }
  blocks.give_back(*seen.begin());
  blocks.give_back(last);
  CHECK(blocks.take(all, tasks) == last);
  CHECK(blocks.take(all, tasks) == *seen.begin());
}

TEST_CASE("swarm spill_blocks: blocks fill all sets of a cache alike") {
  constexpr std::size_t sets = 64;
  for (const std::uint32_t tasks : {1u, 2u, 15u, 100u}) {
    weft::swarm::lines all;
    weft::swarm::spill_blocks blocks;
    std::vector<unsigned> lines_of_set(sets);
    for (std::size_t i = 0; i < sets; ++i) {
      const line first = blocks.take(all, tasks);
      for (line l = first; l < first + std::max(2u, tasks); ++l) ++lines_of_set[l % sets];
    }
    CHECK(std::ranges::count(lines_of_set, std::max(2u, tasks)) == static_cast<std::ptrdiff_t>(sets));
  }
}
