// The places in the code where shared words are used, each with its order, known by std::source_location: what the
// machine has met so far. One of them can be made weaker by one step, without compiling anything anew, to see which
// test notices:
//   WEFT_WEAKEN=src/sched/queues/theft.hpp:61:27=relaxed     the access there has that order instead of its own
//   WEFT_SITES=FILE                                   at the end FILE gets a line for each place that was met
//   WEFT_WEAK_TRACE=1                                 each access is printed; with WEFT_TEST_SEED, to see what happened
#pragma once
#include <cstdint>
#include <source_location>
#include <string>

#include "base/atomic.hpp"

namespace weft::weak {

enum class kind : std::uint8_t { load, store, modify, plain };

struct site {
  const char* file;  // from the root of the project on: as -fmacro-prefix-map has it
  std::uint32_t line;
  std::uint32_t column;
  kind what;
  base::order said = base::relaxed;  // by the code, when it was met first
  bool is_weakened = false;
  base::order instead = base::relaxed;

  // The order that holds at this place.
  [[nodiscard]] base::order of(base::order o) const noexcept { return is_weakened ? instead : o; }
  [[nodiscard]] std::string name() const;  // src/sched/queues/theft.hpp:61:27
};

// The place; it lives as long as the program.
[[nodiscard]] const site& met(const std::source_location& at, kind what, base::order said);

void say(unsigned core, const char* what, void* word, std::uint64_t value, base::order o, const site& at,
         std::size_t stale);

}  // namespace weft::weak
