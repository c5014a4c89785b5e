#include "phases.hpp"

#include <algorithm>
#include <exception>

#include "kernels.hpp"

namespace weft::apps::lulesh {
namespace {

constexpr auto of_elements = phase::over::elements, of_nodes = phase::over::nodes;

// Times of computing are twice what each loop takes on data in the cache of a 2.6 GHz Xeon of 2023, rounded: assumed of
// the 2 GHz core of 2017 that PufferFish ran on.
constexpr phase all[] = {
    {"stress", of_elements, 1, find_stress,
     [](const domain& d, moves& m) { m.loads(d.element.pressure, d.element.viscosity).stores(d.element.stress); }},
    {"press", of_elements, 180, press_corners,
     [](const domain& d, moves& m) {
       m.loads(d.element.nodes, d.element.stress).of_nodes(d.node.position).stores(d.element.corner_force);
     }},
    {"gather", of_nodes, 8, gather_pressing,
     [](const domain& d, moves& m) {
       m.loads(d.node.corners).of_elements(d.element.corner_force).stores(d.node.force);
     }},
    {"hourglass", of_elements, 110, prepare_hourglass,
     [](const domain& d, moves& m) {
       m.loads(d.element.nodes, d.element.volume_first, d.element.volume).of_nodes(d.node.position);
       m.stores(d.element.corner_position, d.element.corner_gradient, d.element.volume_now);
     }},
    {"resist", of_elements, 200, resist_hourglass,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.nodes, e.corner_position, e.corner_gradient, e.volume_now, e.sound, e.mass).of_nodes(d.node.velocity);
       m.stores(e.corner_force);
     }},
    {"gather more", of_nodes, 8, gather_resisting,
     [](const domain& d, moves& m) {
       m.loads(d.node.corners).of_elements(d.element.corner_force).updates(d.node.force);
     }},
    {"accelerate", of_nodes, 6, accelerate,
     [](const domain& d, moves& m) { m.loads(d.node.force, d.node.mass, d.node.at_wall).stores(d.node.acceleration); }},
    {"velocity", of_nodes, 2, gain_speed,
     [](const domain& d, moves& m) { m.loads(d.node.acceleration).updates(d.node.velocity); }},
    {"position", of_nodes, 1, move_nodes,
     [](const domain& d, moves& m) { m.loads(d.node.velocity).updates(d.node.position); }},
    {"deform", of_elements, 110, deform,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.nodes, e.volume_first, e.volume).of_nodes(d.node.position, d.node.velocity);
       m.stores(e.volume_next, e.volume_change, e.length, e.strain);
     }},
    {"strain", of_elements, 3, find_strain,
     [](const domain& d, moves& m) { m.updates(d.element.strain).stores(d.element.volume_rate); }},
    {"slopes", of_elements, 80, find_slopes,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.nodes, e.volume_first, e.volume_next).of_nodes(d.node.position, d.node.velocity);
       m.stores(e.position_slope, e.velocity_slope);
     }},
    {"limit slopes", of_elements, 20, limit_slopes,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.beside, e.volume_rate, e.position_slope, e.mass, e.volume_first, e.volume_next);
       m.with_neighbours(e.velocity_slope).stores(e.viscosity_linear, e.viscosity_quadratic);
     }},
    {"state", of_elements, 16, begin_state,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.volume_next, e.energy, e.volume_change, e.pressure, e.viscosity, e.viscosity_quadratic,
               e.viscosity_linear);
       m.stores(e.volume_clamped, e.energy_old, e.change_old, e.pressure_old, e.viscosity_old, e.quadratic_old,
                e.linear_old, e.compression, e.compression_half);
     }},
    {"predict", of_elements, 1, predict_energy,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.energy_old, e.change_old, e.pressure_old, e.viscosity_old).stores(e.energy_new);
     }},
    {"pressure", of_elements, 3, find_pressure_half,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.energy_new, e.compression_half, e.volume_clamped);
       m.stores(e.pressure_half, e.stiffness, e.stiffness_rate);
     }},
    {"correct", of_elements, 6, correct_energy,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.compression_half, e.change_old, e.pressure_half, e.pressure_old, e.viscosity_old, e.linear_old,
               e.quadratic_old, e.stiffness, e.stiffness_rate);
       m.updates(e.energy_new).stores(e.viscosity_new);
     }},
    {"pressure", of_elements, 3, find_pressure_new,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.energy_new, e.compression, e.volume_clamped);
       m.stores(e.pressure_new, e.stiffness, e.stiffness_rate);
     }},
    {"correct again", of_elements, 6, correct_energy_again,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.volume_clamped, e.change_old, e.pressure_new, e.pressure_half, e.pressure_old, e.viscosity_old,
               e.viscosity_new, e.linear_old, e.quadratic_old, e.stiffness, e.stiffness_rate);
       m.updates(e.energy_new);
     }},
    {"pressure", of_elements, 3, find_pressure_new,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.energy_new, e.compression, e.volume_clamped);
       m.stores(e.pressure_new, e.stiffness, e.stiffness_rate);
     }},
    {"viscosity", of_elements, 4, find_viscosity,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.change_old, e.energy_new, e.volume_clamped, e.pressure_new, e.linear_old, e.quadratic_old, e.stiffness,
               e.stiffness_rate);
       m.updates(e.viscosity_new);
     }},
    {"sound", of_elements, 6, end_state,
     [](const domain& d, moves& m) {
       const elements& e = d.element;
       m.loads(e.pressure_new, e.energy_new, e.viscosity_new, e.volume_clamped, e.stiffness, e.stiffness_rate);
       m.stores(e.pressure, e.energy, e.viscosity, e.sound);
     }},
    {"volume", of_elements, 1, keep_volume,
     [](const domain& d, moves& m) { m.loads(d.element.volume_next).stores(d.element.volume); }},
    {"limits", of_elements, 2, find_limits,
     [](const domain& d, moves& m) { m.loads(d.element.volume_rate, d.element.sound, d.element.length); }},
};

}  // namespace

void moves::add(const data_use& u) noexcept {
  if (count_ == std::size(uses_)) std::terminate();
  uses_[count_++] = u;
}

// Those of a regular mesh: one before and behind, a row, and a plane.
moves& moves::with_neighbours(const field<vec3>& f) {
  const std::size_t row = domain_.size(), plane = row * row, n = domain_.element_count();
  const auto down = [](std::size_t i, std::size_t by) { return i < by ? 0 : i - by; };
  const auto range = [&](std::size_t begin, std::size_t end) {
    if (begin < end) add(weft::loads(f, begin, end));
  };
  const std::size_t low = down(from_, row), high = std::min(to_ + row, n);
  range(down(from_, plane), std::min(low, down(to_, plane)));
  range(low, high);
  range(std::max(high, from_ + plane), std::min(to_ + plane, n));
  return *this;
}

std::span<const phase> phases() noexcept { return all; }

}  // namespace weft::apps::lulesh
