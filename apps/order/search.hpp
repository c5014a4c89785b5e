// A graph with a distance in each node, as the bodies of bfs and sssp see it. One word is written; the others are
// input.
#pragma once
#include <cstdint>
#include <vector>

#include "graph.hpp"

namespace weft::apps::order {

constexpr std::uint64_t unreached = UINT64_MAX;

struct search {
  struct node {
    std::uint64_t distance;
    std::uint64_t first;  // of its arcs
    std::uint64_t last;   // behind them
  };
  node* nodes;
  const arc* arcs;
};

// The nodes of a graph, none of them reached.
[[nodiscard]] std::vector<search::node> nodes_of(const graph& g);
[[nodiscard]] std::vector<std::uint64_t> distances_of(const std::vector<search::node>& nodes);
// Calls that a search of the whole graph makes: the first, and one along each arc of a node that is reached.
[[nodiscard]] std::uint64_t calls_of(const graph& g, const std::vector<std::uint64_t>& distances);

// The references: a queue for lengths of 1, Dijkstra's with std::priority_queue for all.
[[nodiscard]] std::vector<std::uint64_t> levels_from(const graph& g, std::uint64_t source);
[[nodiscard]] std::vector<std::uint64_t> distances_from(const graph& g, std::uint64_t source);

}  // namespace weft::apps::order
