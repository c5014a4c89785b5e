// The geometry of a hexahedron with eight corners, whose edges are straight and whose faces are bilinear. Corners 0 to
// 3 go round the face at the bottom, against the clock as seen from above, 4 to 7 stand above them. A corner has signs
// in the element's own directions xi, eta and zeta: 0 is (-, -, -), 1 (+, -, -), 2 (+, +, -), 3 (-, +, -).
#pragma once
#include <array>

#include "vec3.hpp"

namespace weft::apps::lulesh {

using corners = std::array<vec3, 8>;

[[nodiscard]] double volume_of(const corners& x) noexcept;

// How the volume changes as a corner moves, for each corner.
[[nodiscard]] corners volume_gradient(const corners& x) noexcept;

// The area that a corner has of the faces around it, outwards: a quarter of each.
[[nodiscard]] corners corner_areas(const corners& x) noexcept;

// How far sound has to go: four volumes by the root of the largest face's measure.
[[nodiscard]] double length_of(const corners& x, double volume) noexcept;

// The cofactors of the Jacobian at the centre, summed by the signs of corners 0 to 3; for 6, 7, 4 and 5, which are
// opposite, they are the negative. And the volume by that Jacobian.
struct shape {
  std::array<vec3, 4> gradient;
  double volume;
};
[[nodiscard]] shape shape_of(const corners& x) noexcept;
constexpr std::array<int, 4> opposite = {6, 7, 4, 5};

// The middle of the face towards larger xi, eta, or zeta, less that of the face opposite, of what corners have.
struct across {
  vec3 xi, eta, zeta;
};
[[nodiscard]] across differences(const corners& x) noexcept;

// The four ways in which corners can move so that at the centre nothing changes ("hourglass"; Flanagan and Belytschko
// 1981): products of the corners' signs, eta zeta, xi zeta, xi eta, and xi eta zeta.
constexpr std::array<std::array<double, 8>, 4> hourglass = [] {
  constexpr double xi[] = {-1, 1, 1, -1, -1, 1, 1, -1}, eta[] = {-1, -1, 1, 1, -1, -1, 1, 1},
                   zeta[] = {-1, -1, -1, -1, 1, 1, 1, 1};
  std::array<std::array<double, 8>, 4> modes{};
  for (int i = 0; i < 8; ++i)
    modes[0][i] = eta[i] * zeta[i], modes[1][i] = xi[i] * zeta[i], modes[2][i] = xi[i] * eta[i],
    modes[3][i] = xi[i] * eta[i] * zeta[i];
  return modes;
}();

}  // namespace weft::apps::lulesh
