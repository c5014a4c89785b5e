// A chip without task units: one of its cores runs the bodies one after the other, in order, and keeps what waits in
// memory, as the serial programs of Swarm §6.2 do. It has the same caches and the same core.
#pragma once
#include <vector>

#include "lab/swarm/chip.hpp"

namespace weft::swarm {

// Runs the calls and what they create. Errors: what a body throws; the calls behind it are dropped.
void run_one_core(chip& c, std::vector<detail::ordered_call> roots);

}  // namespace weft::swarm
