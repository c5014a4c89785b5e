// What model_options::schedule says, taken apart:
//   time             the earliest event is next
//   random           any event, drawn from the seed
//   pct:D:N          the event of the core with the highest priority; D times in about N events a core falls behind
//   tasks:D:N        the same with tasks: D times in about N choices the first of all that could run becomes the last
//   order:FILE       the order of a file that an earlier run wrote
// D and N may be left out: 3 and 1000.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

struct schedule {
  enum class kind : std::uint8_t { time, random, pct, tasks, order };
  kind how = kind::time;
  unsigned depth = 3;
  std::uint64_t length = 1000;
  std::string file;
};

// Errors: weft::error saying what is allowed, and calling the text what `name` says.
[[nodiscard]] schedule parse_schedule(std::string_view text, std::string_view name = "option model.schedule");

}  // namespace weft
