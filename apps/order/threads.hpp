// The parallel programs that the Swarm paper compares with (§6.2): written with threads, locks and atomic operations,
// on the cores of the modelled chip without its task units (weft/lab/chip_threads.hpp). `--executor threads` runs them.
#pragma once
#include "section.hpp"
#include "weft/lab/chip_threads.hpp"

namespace weft::apps::order {

// Seconds and what the chip counted, as run_section() notes them.
void describe_threads(result& r, runtime& rt, const swarm_statistics& s);

}  // namespace weft::apps::order
