// Bodies on cores: what they ask of the executor, in cycles of the chip.
#pragma once
#include "lab/swarm/chip.hpp"

namespace weft::swarm {

// Runs a task on a core: until it has an entry of the commit queue, or has been aborted.
void execute(chip& c, core& me, task& t);

}  // namespace weft::swarm
