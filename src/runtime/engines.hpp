// The machines a runtime can be made on. One file per machine instantiates the engine for it; only those two see both
// the scheduler and a machine.
#pragma once
#include <memory>

#include "sched/engine.hpp"

namespace weft {

// `opt` is complete: every field set, every value checked (options.cpp).
[[nodiscard]] std::unique_ptr<sched::any_engine> make_host_engine(const options& opt);
[[nodiscard]] std::unique_ptr<sched::any_engine> make_virtual_engine(const options& opt);

}  // namespace weft
