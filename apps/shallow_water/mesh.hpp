// Scattered nodes on the unit square with periodic edges, and the weights that turn values at the nodes near a point
// into derivatives there. RBF-FD-like, as the code of SuperGlue §6.2: no grid is used, each node has a stencil of its
// 31 nearest, and the three operators are sparse matrices with 31 nonzeros a row. Unlike it: the plane instead of the
// sphere, and weights by local least squares (polynomials of degree 4, near nodes counting more) instead of
// interpolation by radial basis functions. Both are exact for the same polynomials and damp grid noise by a power of
// the Laplacian.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::apps::shallow_water {

inline constexpr std::size_t stencil_size = 31;
inline constexpr std::size_t side_min = 12;  // below it a stencil would meet itself around the edge

struct point {
  double x, y;
};

// side * side nodes, one in each cell of a square lattice, shifted at random by up to a fifth of a cell. In order of
// rows, so that a node's neighbours have numbers near its own, but for the wrap around the edge.
struct mesh {
  std::size_t side;
  std::vector<point> nodes;
  [[nodiscard]] double spacing() const noexcept { return 1 / static_cast<double>(side); }
};
[[nodiscard]] mesh scatter(std::size_t side, std::uint64_t seed);

// One nonzero of all three matrices: they share their pattern.
struct entry {
  std::uint32_t column;
  double dx, dy;  // first derivatives
  double filter;  // minus the squared Laplacian, times spacing^3: waves of a few nodes decay, long ones do not
};
using row = std::array<entry, stencil_size>;  // by column, ascending

[[nodiscard]] row weights(const mesh& m, std::size_t node);
[[nodiscard]] std::vector<row> assemble(const mesh& m);

}  // namespace weft::apps::shallow_water
