#include "kernels.hpp"

namespace weft::apps::lulesh {
namespace {

constexpr double slowest = 1e-7;  // below it a node rests

}  // namespace

void accelerate(domain& d, std::size_t from, std::size_t to) {
  nodes& n = d.node;
  for (std::size_t i = from; i < to; ++i) {
    vec3 a = n.force[i] / n.mass[i];
    if ((n.at_wall[i] & 1) != 0) a.x = 0;
    if ((n.at_wall[i] & 2) != 0) a.y = 0;
    if ((n.at_wall[i] & 4) != 0) a.z = 0;
    n.acceleration[i] = a;
  }
}

void gain_speed(domain& d, std::size_t from, std::size_t to) {
  nodes& n = d.node;
  const auto rest = [](double v) { return std::abs(v) < slowest ? 0 : v; };
  for (std::size_t i = from; i < to; ++i) {
    const vec3 v = n.velocity[i] + d.step_time * n.acceleration[i];
    n.velocity[i] = {rest(v.x), rest(v.y), rest(v.z)};
  }
}

void move_nodes(domain& d, std::size_t from, std::size_t to) {
  nodes& n = d.node;
  for (std::size_t i = from; i < to; ++i) n.position[i] += d.step_time * n.velocity[i];
}

// Volume and length at the end of the step, and how fast it is stretched in each direction in its middle.
void deform(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    corners x, v;
    for (int c = 0; c < 8; ++c) x[c] = d.node.position[e.nodes[i][c]], v[c] = d.node.velocity[e.nodes[i][c]];
    const double volume = volume_of(x);
    e.volume_next[i] = volume / e.volume_first[i];
    e.volume_change[i] = e.volume_next[i] - e.volume[i];
    e.length[i] = length_of(x, volume);
    for (int c = 0; c < 8; ++c) x[c] = x[c] - 0.5 * d.step_time * v[c];
    const shape middle = shape_of(x);
    vec3 rate{0, 0, 0};
    for (int c = 0; c < 4; ++c) rate += times(middle.gradient[c], v[c] - v[opposite[c]]);
    e.strain[i] = 1 / middle.volume * rate;
  }
}

void find_strain(domain& d, std::size_t from, std::size_t to) {
  elements& e = d.element;
  for (std::size_t i = from; i < to; ++i) {
    const double rate = sum(e.strain[i]);
    e.volume_rate[i] = rate;
    e.strain[i] = e.strain[i] - vec3{rate / 3, rate / 3, rate / 3};
  }
}

}  // namespace weft::apps::lulesh
