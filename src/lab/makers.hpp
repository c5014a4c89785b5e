// What the lab adds to the ways to run ordered bodies (ordered/executors.hpp).
#pragma once
#include <memory>

#include "ordered/executors.hpp"

namespace weft::ordered_run {

std::unique_ptr<executor> make_oracle(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_swarm(runtime& rt, const ordered_options& options);

}  // namespace weft::ordered_run
