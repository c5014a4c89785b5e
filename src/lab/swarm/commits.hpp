// Global virtual time and commits (Swarm §4.6): every so often the tiles send the earliest virtual time of what is
// unfinished there; the least of all is the global one; what has finished before it can never be aborted, and commits.
#pragma once
#include "lab/swarm/chip.hpp"

namespace weft::swarm {

void look_at_virtual_times(chip& c);
void apply_global_virtual_time(chip& c);

}  // namespace weft::swarm
