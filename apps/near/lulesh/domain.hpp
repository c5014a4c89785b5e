// What the shock hydrodynamics program knows: a cube of size^3 elements, hexahedra, with a node at each corner, and the
// fields of both. Elements have energy, pressure and volume, nodes have position and velocity. The mesh is regular at
// first, but no phase of a step (phases.hpp) knows that: each goes by the lists of who is beside whom, as on any mesh.
// A vector's numbers lie together, so 46 arrays hold what 68 would if each number had one; PufferFish counts 78.
#pragma once
#include <array>
#include <cstdint>

#include "../sweep.hpp"
#include "hexahedron.hpp"

namespace weft::apps::lulesh {

using index = std::uint32_t;
constexpr index nothing = ~index{0};  // where there is no neighbour
template <class T> using field = numa_array<T>;

// What bounds the next step: the least over elements.
struct limits {
  double courant = 1e20, hydro = 1e20;
};

struct nodes {
  field<vec3> position, velocity, acceleration, force;
  field<double> mass;
  field<std::array<index, 8>> corners;  // 8 * element + corner, ascending, then nothing
  field<std::uint8_t> at_wall;          // 1, 2, 4: it stays in the plane of x, y, z = 0
};

struct elements {
  field<std::array<index, 8>> nodes;
  field<std::array<index, 6>> beside;  // towards less xi, more xi, eta, zeta; itself: a mirror; nothing: open
  field<double> energy, pressure, viscosity, viscosity_linear, viscosity_quadratic;  // q = quadratic + linear * c
  field<double> volume, volume_first, volume_next, volume_change, volume_rate;       // but the first relative to it
  field<double> length, sound, mass;
  field<vec3> stress, strain;
  field<lulesh::corners> corner_force, corner_position, corner_gradient;
  field<double> volume_now;
  field<vec3> velocity_slope, position_slope;  // along xi, eta, zeta
  // Of the equation of state, within a step.
  field<double> volume_clamped, energy_old, pressure_old, viscosity_old, linear_old, quadratic_old, change_old;
  field<double> compression, compression_half, pressure_half, energy_new, pressure_new, viscosity_new;
  field<double> stiffness, stiffness_rate;
};

class domain {
 public:
  // All arrays, laid so, and nothing in them.
  domain(std::size_t size, const memory_placement& how, std::size_t tile);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t element_count() const noexcept { return size_ * size_ * size_; }
  [[nodiscard]] std::size_t node_count() const noexcept { return (size_ + 1) * (size_ + 1) * (size_ + 1); }
  // Of one domain, for a request to the system beforehand.
  [[nodiscard]] static double bytes(std::size_t size);

  // First nodes, then elements, then the nodes' masses: each a loop over [from, to) that may be cut anywhere.
  void fill_nodes(std::size_t from, std::size_t to);
  void fill_elements(std::size_t from, std::size_t to);
  void fill_masses(std::size_t from, std::size_t to);
  // Writes zeros to what a step computes before it reads it, so that no page is new when time counts.
  void clear_elements(std::size_t from, std::size_t to);

  // The least of all limits that leaves noted.
  [[nodiscard]] limits least() const noexcept;
  // Where the leaf that begins at an element notes its limits. No two leaves share a place: a leaf has more elements
  // than an eighth of a tile (sweep.hpp).
  [[nodiscard]] limits& noted(std::size_t from) noexcept { return limits_[from / limit_stride_]; }

  double time = 0, step_time = 0;
  std::size_t cycle = 0;
  nodes node;
  elements element;
  [[nodiscard]] const field<limits>& all_limits() const noexcept { return limits_; }

  // The nodes of the elements [from, to), and the elements at the nodes [from, to): two ranges that hold them all.
  struct range {
    std::size_t from, to;
  };
  [[nodiscard]] std::array<range, 2> nodes_of(std::size_t from, std::size_t to) const noexcept;
  [[nodiscard]] std::array<range, 2> elements_at(std::size_t from, std::size_t to) const noexcept;

 private:
  [[nodiscard]] std::size_t first_node(std::size_t element) const noexcept;
  std::size_t size_, limit_stride_;
  field<limits> limits_;
};

constexpr double stop_time = 1e-2;

// The length of the next step, from the limits of the last.
void choose_step(domain& d, const limits& found) noexcept;

// Internal and kinetic energy.
[[nodiscard]] double total_energy(const domain& d) noexcept;

}  // namespace weft::apps::lulesh
