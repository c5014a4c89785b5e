// What the programs on ordered sections have in common: which executor runs them, what of it is reported, and the
// checks that find lost and doubled work.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "../app.hpp"
#include "paged.hpp"

namespace weft::apps::order {

struct section_setting {
  std::string executor;

  [[nodiscard]] ordered_options get() const noexcept {
    return {.executor = executor.empty() ? nullptr : executor.c_str()};
  }
  [[nodiscard]] option executor_option() {
    return {"executor", "speculative, serial, oracle (a profile) or swarm (a modelled architecture)", &executor};
  }
  // Of programs that also have a parallel version without order (threads.hpp).
  [[nodiscard]] bool by_threads() const noexcept { return executor == "threads"; }
  [[nodiscard]] option executor_option_with_threads() {
    return {"executor",
            "speculative, serial, oracle (a profile), swarm (a modelled architecture) or threads (a parallel program "
            "with locks, on that architecture's cores alone)",
            &executor};
  }
};

// Runs what the section was given, and notes what came of it: seconds, calls, and what the oracle has seen.
void run_section(result& r, runtime& rt, ordered& q);
// The notes alone, after for_each().
void describe_section(result& r, runtime& rt, ordered& q);

// As many calls counted as a serial program makes: none lost, none doubled.
[[nodiscard]] check each_call_once(ordered& q, std::uint64_t expected);

// So many of the values are as the serial program has them.
template <class Values> [[nodiscard]] check as_serial(const char* what, const Values& is, const Values& expected) {
  std::size_t wrong = is.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; wrong == 0 && i < is.size(); ++i)
    if (!(is[i] == expected[i])) wrong = i + 1;
  return {what, wrong == 0,
          std::to_string(is.size()) + " values" +
              (wrong == 0 ? "" : "; number " + std::to_string(wrong - 1) + " is the first that differs")};
}

// Seconds that a call takes on this computer, whatever the machine of the runtime.
template <class Body> [[nodiscard]] double host_seconds(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace weft::apps::order
