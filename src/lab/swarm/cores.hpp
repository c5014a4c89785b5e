// Who runs: cores as fibers, in the order of the chip's time.
#pragma once
#include "lab/swarm/chip.hpp"

namespace weft::swarm {

// How far a core's time may be ahead of the chip's, in what no other core can see: hits of its own L1, instructions.
constexpr cycle ahead_max = 256;

// Runs the chip until its global virtual time is beyond all tasks. Who: the thread that runs the section.
void run_cores(chip& c);
// Runs loop(chip, core) for each core, on a fiber of its own, until the chip is `ending` and all have returned.
void run_fibers(chip& c, void (*loop)(chip&, core&));

// Waits until the chip's time is the core's own, so that what the core does next is in order with what others do.
// Throws aborted_execution if its task was aborted meanwhile.
void sync(chip& c, core& me);
// The same, but returns if its task was aborted: a throw costs some ten thousand instructions.
void catch_up(chip& c, core& me);
// The same where the time is too far ahead.
inline void sync_if_ahead(chip& c, core& me) {
  if (me.time > c.events.now() + ahead_max) [[unlikely]]
    sync(c, me);
}
// Waits until somebody wakes the core. Returns if its task was aborted, too.
void block(chip& c, core& me, core::waits why);
// Who: any event, for a core that waits for something.
void wake(chip& c, core& who, cycle at);
// An execution has been aborted: the core leaves its body, and is free at that time.
void kill(chip& c, core& who, cycle at);

enum class spent : std::uint8_t { task, aborted, spill, stall, empty, thread };
// What a core has done since it was last asked.
void count_cycles(chip& c, core& me, spent what) noexcept;

}  // namespace weft::swarm
