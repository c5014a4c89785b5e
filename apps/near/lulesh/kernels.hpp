// The loops of a step, in the order of a step (phases.hpp). Each does the rounds [from, to), over elements or over
// nodes, writes only what belongs to these, and reads nothing that its own phase writes elsewhere.
#pragma once
#include "domain.hpp"

namespace weft::apps::lulesh {

using loop = void(domain& d, std::size_t from, std::size_t to);

// forces.cpp. Of elements the forces on their corners; of nodes the sum.
loop find_stress, press_corners, gather_pressing, prepare_hourglass, resist_hourglass, gather_resisting;
// motion.cpp. Nodes move, and elements with them.
loop accelerate, gain_speed, move_nodes, deform, find_strain;
// viscosity.cpp. Where elements are compressed, by how the velocity's slope changes from element to element.
loop find_slopes, limit_slopes;
// state.cpp. Energy, pressure and viscosity by a predictor and two correctors; the speed of sound; limits.
loop begin_state, predict_energy, find_pressure_half, correct_energy, find_pressure_new, correct_energy_again,
    find_viscosity, end_state, keep_volume, find_limits;

}  // namespace weft::apps::lulesh
