// The ways to run ordered bodies. Each is a file; `make` in ordered.cpp is the table of them.
#pragma once
#include <memory>

#include "weft/ordered.hpp"

namespace weft::ordered_run {

using maker = std::unique_ptr<detail::ordered_executor> (*)(runtime&, const ordered_options&);

std::unique_ptr<detail::ordered_executor> make_speculative(runtime& rt, const ordered_options& options);
std::unique_ptr<detail::ordered_executor> make_serial(runtime& rt, const ordered_options& options);
std::unique_ptr<detail::ordered_executor> make_levels(runtime& rt, const ordered_options& options);
std::unique_ptr<detail::ordered_executor> make_relaxed(runtime& rt, const ordered_options& options);
std::unique_ptr<detail::ordered_executor> make_swarm(runtime& rt, const ordered_options& options);
std::unique_ptr<detail::ordered_executor> make_oracle(runtime& rt, const ordered_options& options);

}  // namespace weft::ordered_run
