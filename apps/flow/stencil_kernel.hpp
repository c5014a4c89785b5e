// What the six stencils compute: a cell becomes the mean of itself and its nearest in each direction. Jacobi's take all
// of them as they were; Seidel's take those before the cell as they have just become, which is the same as computing in
// place. A block sees its neighbours as planes of cells, wherever these lie.
#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "grid.hpp"

namespace weft::apps::flow {

// 0: the x before the block, 1: behind it; 2, 3: y; 4, 5: z.
inline constexpr std::size_t sides_max = 6;

// The cells of a plane, by steps along its two dimensions, in the order x, y, z.
template <class T> struct plane {
  T* first;
  std::size_t step_a, step_b;
  [[nodiscard]] T& at(std::size_t a, std::size_t b) const noexcept { return first[a * step_a + b * step_b]; }
};
using planes = std::array<plane<const double>, sides_max>;

// Beyond the border of the grid.
inline constexpr double border_value = 1;
inline constexpr plane<const double> border{&border_value, 0, 0};

// How many cells a side of a block has along the two dimensions of its plane.
struct plane_extent {
  std::size_t a, b;
  [[nodiscard]] std::size_t count() const noexcept { return a * b; }
};
[[nodiscard]] inline plane_extent plane_of(const extent& n, std::size_t side) noexcept {
  return side < 2 ? plane_extent{n.y, n.z} : side < 4 ? plane_extent{n.x, n.z} : plane_extent{n.x, n.y};
}

// The outermost cells of a block at a side.
template <class T> [[nodiscard]] plane<T> side_of(T* block, const extent& n, std::size_t side) noexcept {
  const std::size_t layer = n.x * n.y;
  const bool is_last = side % 2 == 1;
  if (side < 2) return {block + (is_last ? n.x - 1 : 0), n.x, layer};
  if (side < 4) return {block + (is_last ? layer - n.x : 0), 1, layer};
  return {block + (is_last ? (n.z - 1) * layer : 0), 1, n.x};
}

// Those cells, one after the other, and how one sees them.
inline void pack(const plane<const double>& from, const plane_extent& n, std::span<double> to) noexcept {
  std::size_t i = 0;
  for (std::size_t b = 0; b < n.b; ++b)
    for (std::size_t a = 0; a < n.a; ++a) to[i++] = from.at(a, b);
}
[[nodiscard]] inline plane<const double> packed(std::span<const double> cells, const plane_extent& n) noexcept {
  return cells.empty() ? border : plane<const double>{cells.data(), 1, n.a};
}

// A block of the next step. `to` may be `from` with seidel and nowhere else.
void relax(unsigned dimensions, bool is_seidel, const extent& n, const double* from, double* to, const planes& around);

}  // namespace weft::apps::flow
