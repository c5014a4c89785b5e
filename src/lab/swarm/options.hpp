// The chip's options: their names in a text, and what they can be.
#pragma once
#include "weft/lab/swarm.hpp"
#include "weft/ordered.hpp"

namespace weft::swarm {

struct chip;

// Errors: weft::error naming the option, its value and what it may be.
void require_possible(const swarm_options& options);
// What the parts of the chip are to go by. Errors: as above.
[[nodiscard]] swarm_options as_run(swarm_options options);
// The options of WEFT_SWARM, or those of the paper. Errors: weft::error that names the variable.
[[nodiscard]] swarm_options options_of_environment();
// Who: tests. The section's executor is "swarm".
[[nodiscard]] chip& chip_of(ordered& section);

}  // namespace weft::swarm
