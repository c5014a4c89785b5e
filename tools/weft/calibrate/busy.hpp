// What cores take from each other when all are busy: the speed of one while all do the same as it, over its speed
// alone. Clock and power show in all loops, shared units most in those that need them, shared bandwidth in streams.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "probe.hpp"

namespace weft::tool::calibrate {

// A loop of some tens of microseconds, in data of its own. Must not throw.
using chore = std::function<void()>;

[[nodiscard]] chore compute_loop();                  // integers, four chains at once
[[nodiscard]] chore vector_loop();                   // multiplications and additions, as wide as this processor can
[[nodiscard]] chore stream_loop(std::size_t bytes);  // a triad through a block that the caller's core touches first

// The time of a chore on the first core while the others idle, over the time while each of them does one of its own:
// 1 if they take nothing from each other. `make` is called on each core. Needs at least two cores.
// Errors: weft::error if a thread cannot be made; what `make` throws.
[[nodiscard]] summary speed_while_all(const effort& e, const std::vector<unsigned>& cpus,
                                      const std::function<chore()>& make);

}  // namespace weft::tool::calibrate
