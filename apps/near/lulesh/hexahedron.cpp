#include "hexahedron.hpp"

#include <algorithm>

namespace weft::apps::lulesh {
namespace {

// The corners of each face, against the clock as seen from outside.
constexpr int faces[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

double triple(const vec3& a, const vec3& b, const vec3& c) { return dot(a, cross(b, c)); }

// Sixteen times the square of a face's area if it is flat.
double face_measure(const corners& x, const int* f) {
  const vec3 one = x[f[2]] - x[f[0]], other = x[f[3]] - x[f[1]];
  const vec3 d = one - other, s = one + other;
  const double mixed = dot(d, s);
  return dot(d, d) * dot(s, s) - mixed * mixed;
}

}  // namespace

double volume_of(const corners& x) noexcept {
  const auto from = [&x](int a, int b) { return x[b] - x[a]; };
  return (triple(from(1, 3) + from(2, 7), from(3, 6), from(0, 2)) +
          triple(from(3, 4) + from(7, 5), from(4, 6), from(0, 7)) +
          triple(from(4, 1) + from(5, 2), from(1, 6), from(0, 5))) /
         12;
}

corners volume_gradient(const corners& x) noexcept {
  // Of each corner its three neighbours and, between each two of these, the corner across the face.
  constexpr int around[8][6] = {{1, 2, 3, 4, 5, 7}, {2, 3, 0, 5, 6, 4}, {3, 0, 1, 6, 7, 5}, {0, 1, 2, 7, 4, 6},
                                {7, 6, 5, 0, 3, 1}, {4, 7, 6, 1, 0, 2}, {5, 4, 7, 2, 1, 3}, {6, 5, 4, 3, 2, 0}};
  corners g;
  for (int i = 0; i < 8; ++i) {
    const auto both = [&](int a, int b) { return x[around[i][a]] + x[around[i][b]]; };
    g[i] = (cross(both(1, 2), both(0, 1)) + cross(both(0, 4), both(3, 4)) + cross(both(3, 5), both(2, 5))) / 12;
  }
  return g;
}

corners corner_areas(const corners& x) noexcept {
  const auto quarter = [&x](const int* f) {
    const vec3 a = x[f[0]], b = x[f[1]], c = x[f[2]], d = x[f[3]];
    return 0.0625 * cross(b + c - a - d, c + d - a - b);
  };
  const vec3 bottom = quarter(faces[0]), top = quarter(faces[1]), front = quarter(faces[2]), right = quarter(faces[3]),
             back = quarter(faces[4]), left = quarter(faces[5]);
  return {bottom + front + left, bottom + front + right, bottom + back + right, bottom + back + left,
          top + front + left,    top + front + right,    top + back + right,    top + back + left};
}

double length_of(const corners& x, double volume) noexcept {
  double largest = 0;
  for (const int* f : faces) largest = std::max(largest, face_measure(x, f));
  return 4 * volume / std::sqrt(largest);
}

shape shape_of(const corners& x) noexcept {
  const vec3 a = x[6] - x[0], b = x[5] - x[3], c = x[7] - x[1], d = x[4] - x[2];
  const vec3 xi = 0.125 * (a + b - c - d), eta = 0.125 * (a - b + c - d), zeta = 0.125 * (a + b + c + d);
  const vec3 of_xi = cross(eta, zeta), of_eta = cross(zeta, xi), of_zeta = cross(xi, eta);
  return {{-of_xi - of_eta - of_zeta, of_xi - of_eta - of_zeta, of_xi + of_eta - of_zeta, of_eta - of_xi - of_zeta},
          8 * dot(eta, of_eta)};
}

across differences(const corners& x) noexcept {
  const vec3 left = x[0] + x[3] + x[7] + x[4], right = x[1] + x[2] + x[6] + x[5];
  const vec3 front = x[0] + x[1] + x[5] + x[4], back = x[3] + x[2] + x[6] + x[7];
  const vec3 below = x[0] + x[1] + x[2] + x[3], above = x[4] + x[5] + x[6] + x[7];
  return {0.25 * (right - left), 0.25 * (back - front), 0.25 * (above - below)};
}

}  // namespace weft::apps::lulesh
