#include "kernels.hpp"

namespace weft::apps::lulesh {
namespace {

constexpr double hourglass_strength = 3;

// Summed in the order of elements.
vec3 at_node(const domain& d, std::size_t node) {
  vec3 f{0, 0, 0};
  for (const index c : d.node.corners[node]) {
    if (c == nothing) break;
    f += d.element.corner_force[c / 8][c % 8];
  }
  return f;
}

}  // namespace

void find_stress(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    const double s = -e.pressure[i] - e.viscosity[i];
    e.stress[i] = {s, s, s};
  }
}

void press_corners(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    corners x;
    for (int c = 0; c < 8; ++c) x[c] = d.node.position[e.nodes[i][c]];
    const corners areas = corner_areas(x);
    for (int c = 0; c < 8; ++c) e.corner_force[i][c] = -times(e.stress[i], areas[c]);
  }
}

void gather_pressing(domain& d, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) d.node.force[i] = at_node(d, i);
}

void prepare_hourglass(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    corners& x = e.corner_position[i];
    for (int c = 0; c < 8; ++c) x[c] = d.node.position[e.nodes[i][c]];
    e.corner_gradient[i] = volume_gradient(x);
    e.volume_now[i] = e.volume_first[i] * e.volume[i];
  }
}

// Of the corners' velocities, what is in hourglass modes, made orthogonal to any linear field, meets a force against
// it.
void resist_hourglass(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    const corners& x = e.corner_position[i];
    const corners& gradient = e.corner_gradient[i];
    corners v;
    for (int c = 0; c < 8; ++c) v[c] = d.node.velocity[e.nodes[i][c]];
    const double by_volume = 1 / e.volume_now[i];
    const double strength = -hourglass_strength * 0.01 * e.sound[i] * e.mass[i] / std::cbrt(e.volume_now[i]);
    corners sum{};
    for (const auto& mode : hourglass) {
      vec3 of_x{0, 0, 0};
      for (int c = 0; c < 8; ++c) of_x += mode[c] * x[c];
      double shape[8];
      vec3 of_v{0, 0, 0};
      for (int c = 0; c < 8; ++c) {
        shape[c] = mode[c] - by_volume * dot(gradient[c], of_x);
        of_v += shape[c] * v[c];
      }
      for (int c = 0; c < 8; ++c) sum[c] += shape[c] * of_v;
    }
    for (int c = 0; c < 8; ++c) e.corner_force[i][c] = strength * sum[c];
  }
}

void gather_resisting(domain& d, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) d.node.force[i] += at_node(d, i);
}

}  // namespace weft::apps::lulesh
