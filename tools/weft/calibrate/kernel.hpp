// What the kernel takes for putting a thread to sleep and waking it: the figures of model::runtime_costs that are not
// the scheduler's own.
#pragma once
#include "probe.hpp"

namespace weft::tool::calibrate {

struct sleep_figures {
  summary waker;  // what the wake takes of the waker
  summary wake;   // from the wake's beginning to the sleeper's first instruction
};
// The first core wakes, the second sleeps.
[[nodiscard]] sleep_figures sleep_and_wake(const effort& e, pair_of_cores cores);

// What going to sleep takes of the sleeper, until its core does something else. On one core: two threads there take
// turns, each waking the other and going to sleep itself, and the wake, which goes nowhere, is taken off.
[[nodiscard]] summary going_to_sleep(const effort& e, unsigned cpu);

}  // namespace weft::tool::calibrate
