// Searches by threads with locks and atomic operations, on the chip without task units: what the Swarm paper compares
// bfs and sssp with.
#pragma once
#include <vector>

#include "search.hpp"
#include "threads.hpp"

namespace weft::apps::order {

struct search_run {
  swarm_statistics statistics;
  std::uint64_t visits = 0;  // of nodes; each costs its arcs
};

// Instructions beside loads, stores and atomic operations: of a visit, and of each of its arcs.
struct search_costs {
  std::uint64_t visit;
  std::uint64_t arc;
  std::uint64_t range = 1;  // of distances that count as alike
};

// Level by level (bfs_threads.cpp). The distance of each node that is reached is its level.
[[nodiscard]] search_run levels_by_threads(search& s, std::uint64_t source, const search_costs& costs);
// Bellman-Ford's algorithm from a shared list of nodes (sssp_threads.cpp).
[[nodiscard]] search_run distances_by_threads(search& s, std::uint64_t source, const search_costs& costs);

// Notes what came of it, and checks that each node that can be reached was visited, perhaps more than once.
void add_search(result& r, runtime& rt, const std::vector<std::uint64_t>& expected, const search_run& found);

}  // namespace weft::apps::order
