// The options of a road map, which several programs have.
#pragma once
#include <cstddef>
#include <vector>

#include "../app.hpp"
#include "graph.hpp"

namespace weft::apps::order {

struct map_setting {
  std::size_t width = 150;
  std::size_t height = 100;
  std::size_t bends = 100;  // of a hundred roads
  std::size_t more = 56;    // of a hundred crossings
  std::size_t rivers = 0;
  std::size_t bridges = 5;

  [[nodiscard]] std::vector<option> options();
  // Errors: weft::error if there is not the memory.
  [[nodiscard]] graph make(std::uint64_t seed) const;
};

void describe(result& r, const graph& g);

}  // namespace weft::apps::order
