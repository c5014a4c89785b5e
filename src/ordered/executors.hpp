// The ways to run ordered bodies. Each is a file; ordered.cpp has the table of the library's own, and those of the lab
// (src/lab) say what they are called.
#pragma once
#include <memory>
#include <string_view>

#include "weft/ordered.hpp"

namespace weft::ordered_run {

struct traced_section {
  std::uint32_t run = 0;      // what the trace calls the last run; 0: bodies are not there
  std::uint32_t section = 0;  // and all runs in common
  std::size_t window = 0;     // as ordered_options has these
  bool always_ahead = false;
};

// What an executor tells of itself beside the counts, for traces.
struct executor : detail::ordered_executor {
  runtime* of = nullptr;
  // Calls of bodies that had been called before.
  [[nodiscard]] virtual std::uint64_t again() const noexcept { return 0; }
  // What a trace needs to run it once more, if it has its bodies.
  [[nodiscard]] virtual traced_section traced() const noexcept { return {}; }
  // What bodies one after the other would have taken; 0: it does not know.
  [[nodiscard]] virtual double serial_seconds() const noexcept { return 0; }
};

using maker = std::unique_ptr<executor> (*)(runtime&, const ordered_options&);

std::unique_ptr<executor> make_speculative(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_serial(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_levels(runtime& rt, const ordered_options& options);
std::unique_ptr<executor> make_relaxed(runtime& rt, const ordered_options& options);

struct named_maker {
  std::string_view name;
  maker make = nullptr;
  const named_maker* next = nullptr;  // add()'s
};

// From here on sections may ask for it; `more` stays where it is. Who: any thread, once for each.
void add(named_maker& more);

}  // namespace weft::ordered_run
