// A graph with a distance in each node, as the bodies of bfs and sssp see it, and that body. One word is written; the
// others are input.
#pragma once
#include <cstdint>
#include <vector>

#include "graph.hpp"
#include "weft/ordered.hpp"

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

// The first body that comes to a node has come on a shortest path, as no body of an earlier timestamp is left. Two of
// one timestamp may come at the same time ("levels"): one exchange decides who is first, so that arcs are gone along
// once. `Cost` has the instructions beside the loads and stores, of a visit, of each of its arcs, and of a vain one;
// and the length of an arc.
template <class Cost> void visit(ordered_context& x, std::uint64_t distance, const search* s, std::uint64_t node) {
  search::node& n = x.read(s->nodes)[node];
  if (!x.exchange_if(n.distance, unreached, distance)) return x.work(Cost::vain_instructions);
  x.work(Cost::visit_instructions);
  const arc* const arcs = x.read(s->arcs);
  const std::uint64_t last = x.read(n.last);
  for (std::uint64_t i = x.read(n.first); i < last; ++i) {
    x.work(Cost::arc_instructions);
    x.at(distance + Cost::length(x, arcs[i]), visit<Cost>, s, x.read(arcs[i].to));
  }
}

// The nodes of a graph, none of them reached.
[[nodiscard]] paged<search::node> nodes_of(const graph& g);
[[nodiscard]] std::vector<std::uint64_t> distances_of(const paged<search::node>& nodes);
// Calls that a search of the whole graph makes: the first, and one along each arc of a node that is reached.
[[nodiscard]] std::uint64_t calls_of(const graph& g, const std::vector<std::uint64_t>& distances);

// The references: a queue for lengths of 1, Dijkstra's with std::priority_queue for all.
[[nodiscard]] std::vector<std::uint64_t> levels_from(const graph& g, std::uint64_t source);
[[nodiscard]] std::vector<std::uint64_t> distances_from(const graph& g, std::uint64_t source);

}  // namespace weft::apps::order
