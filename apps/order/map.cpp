#include "map.hpp"

#include <string>

namespace weft::apps::order {

std::vector<option> map_setting::options() {
  return {{"width", "crossings from west to east", &width, 2, 20'000},
          {"height", "crossings from north to south", &height, 2, 20'000},
          {"bends", "nodes along a road from crossing to crossing, in the mean, of a hundred roads", &bends, 0, 1000},
          {"more", "roads beyond a spanning tree, for a hundred crossings", &more, 0, 100},
          {"rivers", "that cut the map from north to south", &rivers, 0, 1000},
          {"bridges", "over each river", &bridges, 1, 1000}};
}

graph map_setting::make(std::uint64_t seed) const {
  constexpr double bytes_per_node = 400;  // what makes the map, and what searches it
  const double more_roads = static_cast<double>(more) / 100, mean_bends = static_cast<double>(bends) / 100;
  const double nodes = static_cast<double>(width) * static_cast<double>(height) * (1 + (1 + more_roads) * mean_bends);
  require_memory("a map of " + std::to_string(width) + " x " + std::to_string(height) + " crossings",
                 nodes * bytes_per_node);
  return roads({.width = width,
                .height = height,
                .more = more_roads,
                .bends = mean_bends,
                .rivers = rivers,
                .bridges = bridges,
                .seed = seed});
}

void describe(result& r, const graph& g) {
  r.add("nodes", std::uint64_t{g.nodes()});
  r.add("arcs", std::uint64_t{g.arcs.size()});
  r.add("degree", static_cast<double>(g.arcs.size()) / static_cast<double>(g.nodes()));
}

}  // namespace weft::apps::order
