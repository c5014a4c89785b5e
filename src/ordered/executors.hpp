// The ways to run ordered bodies. Each is a file; `make` in ordered.cpp is the table of them.
#pragma once
#include <memory>

#include "weft/ordered.hpp"

namespace weft::ordered_run {

// What an executor tells of itself beside the counts, for traces.
struct executor : detail::ordered_executor {
  runtime* of = nullptr;
  // Calls of bodies that had been called before.
  [[nodiscard]] virtual std::uint64_t again() const noexcept { return 0; }
  // What bodies one after the other would have taken; 0: it does not know.
  [[nodiscard]] virtual double serial_seconds() const noexcept { return 0; }
};

using maker = std::unique_ptr<executor> (*)(runtime&, const ordered_options&);

std::unique_ptr<executor> make_speculative(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_serial(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_levels(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_relaxed(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_swarm(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_oracle(runtime& rt, const ordered_options& options);

}  // namespace weft::ordered_run
