#include <algorithm>

#include "kernels.hpp"

namespace weft::apps::lulesh {
namespace {

constexpr double tiny = 1e-36;
constexpr double slope_limit = 2, slope_most = 1;  // of the neighbours' slopes
constexpr double linear = 0.5, quadratic = 2.0 / 3;

// How smooth the velocity is along one direction: 1 where its slope is that of both neighbours, 0 at a shock. A
// mirror's slope is the element's own, beyond an open side there is none.
double smoothness(double own, double less, double more) {
  const double norm = 1 / (own + tiny);
  less *= norm, more *= norm;
  const double phi = std::min({0.5 * (less + more), slope_limit * less, slope_limit * more});
  return std::clamp(phi, 0.0, slope_most);
}

}  // namespace

// What velocity and position change by across the element, in the directions of xi, eta and zeta.
void find_slopes(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    corners x, v;
    for (int c = 0; c < 8; ++c) x[c] = d.node.position[e.nodes[i][c]], v[c] = d.node.velocity[e.nodes[i][c]];
    const double volume = e.volume_first[i] * e.volume_next[i], norm = 1 / (volume + tiny);
    const across dx = differences(x), dv = differences(v);
    const auto along = [=](const vec3& normal, const vec3& change) { return dot(norm * normal, change); };
    const auto width = [=](const vec3& normal) { return volume / std::sqrt(dot(normal, normal) + tiny); };
    const vec3 xi = cross(dx.eta, dx.zeta), eta = cross(dx.zeta, dx.xi), zeta = cross(dx.xi, dx.eta);
    e.position_slope[i] = {width(xi), width(eta), width(zeta)};
    e.velocity_slope[i] = {along(xi, dv.xi), along(eta, dv.eta), along(zeta, dv.zeta)};
  }
}

void limit_slopes(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    const auto beside = [&](int side) {
      return e.beside[i][side] == nothing ? vec3{0, 0, 0} : e.velocity_slope[e.beside[i][side]];
    };
    const vec3 own = e.velocity_slope[i];
    const vec3 phi = {smoothness(own.x, beside(0).x, beside(1).x), smoothness(own.y, beside(2).y, beside(3).y),
                      smoothness(own.z, beside(4).z, beside(5).z)};
    double by_one = 0, by_two = 0;
    if (e.volume_rate[i] <= 0) {
      const vec3 p = times(own, e.position_slope[i]);
      const vec3 pressed = {std::min(p.x, 0.0), std::min(p.y, 0.0), std::min(p.z, 0.0)};
      const vec3 rough = {1 - phi.x, 1 - phi.y, 1 - phi.z};
      const vec3 rough_two = {1 - phi.x * phi.x, 1 - phi.y * phi.y, 1 - phi.z * phi.z};
      const double density = e.mass[i] / (e.volume_first[i] * e.volume_next[i]);
      by_one = -linear * density * dot(pressed, rough);
      by_two = quadratic * density * dot(times(pressed, pressed), rough_two);
    }
    e.viscosity_linear[i] = by_one;
    e.viscosity_quadratic[i] = by_two;
  }
}

}  // namespace weft::apps::lulesh
