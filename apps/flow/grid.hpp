// How a grid of up to three dimensions is cut into blocks, of which the last in each may be smaller. Arrays of a grid
// lie block after block, each with the room of a whole one, so a block is one range of bytes; within a block x runs
// fastest.
#pragma once
#include <algorithm>
#include <cstddef>

namespace weft::apps::flow {

struct extent {
  std::size_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::size_t count() const noexcept { return x * y * z; }
};

class grid {
 public:
  grid(const extent& cells, const extent& block)
      : cells_(cells), block_{std::min(block.x, cells.x), std::min(block.y, cells.y), std::min(block.z, cells.z)},
        blocks_{parts(cells.x, block_.x), parts(cells.y, block_.y), parts(cells.z, block_.z)} {}

  [[nodiscard]] const extent& cells() const noexcept { return cells_; }
  [[nodiscard]] const extent& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::size_t room() const noexcept { return block_.count(); }  // of a block
  [[nodiscard]] std::size_t all_room() const noexcept { return blocks_.count() * room(); }
  // Where a block stands among the blocks, and its first cell among the cells.
  [[nodiscard]] extent place(std::size_t b) const noexcept {
    return {b % blocks_.x, b / blocks_.x % blocks_.y, b / blocks_.x / blocks_.y};
  }
  [[nodiscard]] extent first_cell(std::size_t b) const noexcept {
    const extent at = place(b);
    return {at.x * block_.x, at.y * block_.y, at.z * block_.z};
  }
  [[nodiscard]] extent shape(std::size_t b) const noexcept {
    const extent first = first_cell(b);
    return {std::min(block_.x, cells_.x - first.x), std::min(block_.y, cells_.y - first.y),
            std::min(block_.z, cells_.z - first.z)};
  }
  // The block so many further in each dimension; blocks().count() if there is none.
  [[nodiscard]] std::size_t beside(std::size_t b, int dx, int dy, int dz) const noexcept {
    const extent at = place(b);
    const std::size_t x = at.x + static_cast<std::size_t>(dx), y = at.y + static_cast<std::size_t>(dy),
                      z = at.z + static_cast<std::size_t>(dz);
    const bool is_in = x < blocks_.x && y < blocks_.y && z < blocks_.z;  // below 0 is far above
    return is_in ? x + blocks_.x * (y + blocks_.y * z) : blocks_.count();
  }
  // Calls f(place in the array, x, y, z) for each cell of a block.
  template <class F> void each_cell(std::size_t b, const F& f) const {
    const extent first = first_cell(b), n = shape(b);
    std::size_t i = b * room();
    for (std::size_t z = first.z; z < first.z + n.z; ++z)
      for (std::size_t y = first.y; y < first.y + n.y; ++y)
        for (std::size_t x = first.x; x < first.x + n.x; ++x) f(i++, x, y, z);
  }
  // Where a cell is in the array.
  [[nodiscard]] std::size_t cell(std::size_t x, std::size_t y, std::size_t z = 0) const noexcept {
    const std::size_t b = x / block_.x + blocks_.x * (y / block_.y + blocks_.y * (z / block_.z));
    const extent n = shape(b);
    return b * room() + x % block_.x + n.x * (y % block_.y + n.y * (z % block_.z));
  }
  // The number of a cell where cells are counted row after row.
  [[nodiscard]] std::size_t number(std::size_t x, std::size_t y, std::size_t z) const noexcept {
    return x + cells_.x * (y + cells_.y * z);
  }

 private:
  static std::size_t parts(std::size_t n, std::size_t of) { return (n + of - 1) / of; }

  extent cells_, block_, blocks_;
};

}  // namespace weft::apps::flow
