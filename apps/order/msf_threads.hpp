// The minimum spanning forest by threads: what the programs of msf.cpp have in common, and the parallel one.
#pragma once
#include <cstdint>

#include "paged.hpp"
#include "weft/lab/swarm.hpp"

namespace weft::apps::order {

// An edge, and what becomes of it.
struct candidate {
  std::uint64_t a, b, length;
  std::uint64_t number;  // in the input
  std::uint64_t chosen;
};

// The work beside the loads and stores of a look at an edge, so that most bodies take 40 instructions, as in the
// paper's Table 1.
constexpr std::uint64_t edge_instructions = 33;

struct forest_by_threads {
  swarm_statistics chip;
  std::uint64_t filtered = 0;  // edges that were never sorted
  std::uint64_t dropped = 0;   // whose ends were connected when they came
  std::uint64_t linked = 0;
  std::uint64_t rounds = 0;
  std::uint64_t tries = 0;  // edges times rounds they were in
};

// Marks the edges of the forest, the first in the input of equal ones. Without `filter` all are sorted at once.
[[nodiscard]] forest_by_threads forest_of(std::uint64_t nodes, paged<candidate>& edges, bool filter);

}  // namespace weft::apps::order
