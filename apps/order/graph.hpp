// Graphs as bodies read them: for each node where its arcs begin, and the arcs, all in words of 64 bits, as the Swarm
// paper counts them. And the graphs its programs ran on, or ones alike: a mesh of hexagons (hugetric), roads (DIMACS,
// OpenStreetMap), a Kronecker graph.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "paged.hpp"

namespace weft::apps::order {

struct arc {
  std::uint64_t to;
  std::uint64_t length;
};

struct edge {
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t length;
};

struct place {
  double latitude;  // degrees
  double longitude;
};

struct graph {
  paged<std::uint64_t> first;  // of each node's arcs; one more at the end
  paged<arc> arcs;
  paged<place> places;  // of nodes; or none

  [[nodiscard]] std::size_t nodes() const noexcept { return first.size() - 1; }
  [[nodiscard]] std::span<const arc> arcs_of(std::uint64_t node) const noexcept {
    return {arcs.data() + first[node], arcs.data() + first[node + 1]};
  }
};

// Each edge gives an arc there and one back, in the order of the edges.
[[nodiscard]] graph graph_of(std::size_t nodes, const std::vector<edge>& edges);
// The same graph with the nodes in another order in memory: node i is what new_number[i] says.
[[nodiscard]] graph renumbered(const graph& g, const std::vector<std::uint64_t>& new_number);

// A wall of bricks: nodes are corners, each with a neighbour left, right, and above or below. Lengths are 1.
[[nodiscard]] graph brick_wall(std::size_t width, std::size_t height);
// The node in the middle of it.
[[nodiscard]] std::uint64_t middle_of(std::size_t width, std::size_t height) noexcept;

struct road_map {
  std::size_t width = 300;   // crossings from west to east, and
  std::size_t height = 300;  // from north to south
  double more = 0.56;        // edges beyond a spanning tree, over crossings; at most what a grid has
  double bends = 1;          // nodes of degree 2 along a road, in the mean
  std::size_t rivers = 0;    // from north to south, each with
  std::size_t bridges = 4;   // so many
  double north = 55, west = 6, kilometres_per_crossing = 0.4;
  std::uint64_t seed = 1;
};
// Crossings on a grid, moved a little; a random spanning tree that prefers the wide roads, and more edges at random;
// each road is cut by bends. Lengths are decimetres of travel at the road's speed, at least those of the straight line.
// Nodes are numbered by where they lie, as maps are.
[[nodiscard]] graph roads(const road_map& m);

// Distance along the earth's surface in decimetres, rounded down.
[[nodiscard]] std::uint64_t straight_line(const place& a, const place& b) noexcept;

// A graph of 2^scale nodes by R-MAT with the corners of Graph500: so many edges are drawn, loops and doubles dropped.
// Lengths are random, up to length_max.
[[nodiscard]] std::vector<edge> kronecker(unsigned scale, std::size_t drawn, std::uint64_t length_max,
                                          std::uint64_t seed);
// The same draws as an integer multigraph, as matrix collections have it: each pair of ends once, its length how often
// it was drawn, by its lesser end, then the greater.
[[nodiscard]] std::vector<edge> kronecker_multigraph(unsigned scale, std::size_t drawn, std::uint64_t seed);

}  // namespace weft::apps::order
