// Minimum spanning forests: the serial reference, and whether another choice of edges is one, too. Where edges are of
// equal length there are several.
#pragma once
#include <cstdint>
#include <vector>

#include "../app.hpp"
#include "graph.hpp"

namespace weft::apps::order {

// Which edges sorting and a plain union-find choose, in the order of the input; of equal ones the first.
[[nodiscard]] std::vector<char> kruskal(std::uint64_t nodes, const std::vector<edge>& edges);

// Passes if the chosen edges close no circle, are as many as the reference's and together as long: then they connect
// what those do, and no forest is shorter.
[[nodiscard]] check as_short_a_forest(std::uint64_t nodes, const std::vector<edge>& edges,
                                      const std::vector<char>& chosen, const std::vector<char>& reference);

}  // namespace weft::apps::order
