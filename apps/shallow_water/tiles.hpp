// The matrices cut into tiles that match the blocks of the solution (SuperGlue §6.2): tile (i, j) holds what block i
// takes from block j. Neighbours have numbers near each other, so most tiles are empty and dropped: about three remain
// per block. All three matrices are in one tile, as they share their pattern.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "equations.hpp"

namespace weft::apps::shallow_water {

struct tile {
  struct line {  // the nonzeros of one row: entries[first, last)
    std::uint32_t row, first, last;
  };
  std::size_t to = 0, from = 0;  // blocks
  std::vector<line> lines;       // rows with nonzeros only, numbered within block `to`
  std::vector<entry> entries;    // columns numbered within block `from`
  [[nodiscard]] std::size_t bytes() const noexcept {
    return lines.size() * sizeof(line) + entries.size() * sizeof(entry);
  }
};

// In order of `to`, then `from`: taken one after the other they add each row's entries in order of columns.
[[nodiscard]] std::vector<tile> cut(const std::vector<row>& rows, std::size_t block);

// Adds the tile's part of all derivatives of block `to`.
void multiply(const tile& t, std::span<const node_state> from, std::span<derivatives> to) noexcept;

}  // namespace weft::apps::shallow_water
