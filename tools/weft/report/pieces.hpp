// What ran without a break: a task that never waits is one piece, each wait that set its stack aside adds one. The main
// program is treated like a task: it has pieces between its waits, from the first submission until its wait for all
// is over, also where nothing was left to wait for.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tools/weft/trace/reader.hpp"

namespace weft::tool::report {

using ns = std::int64_t;
inline constexpr std::uint32_t none = trace::none;

struct piece {
  std::uint32_t task = none;  // none: the main program
  std::uint32_t worker = 0;
  ns from = 0;
  ns to = 0;
  std::uint32_t wait = none;  // the suspension that ended just before, index into trace::file::waits
  [[nodiscard]] ns length() const noexcept { return to - from; }
};

// Pieces of one task follow each other in time; tasks stand in their order, the main program last.
struct pieces {
  std::vector<piece> all;
  std::vector<std::uint32_t> first;  // of task t: all[first[t]] to before all[first[t + 1]]; t = tasks.size() is the
                                     // main program. A task that did not run has no piece.
  std::vector<piece> beside;  // branches that ran beside the body of their task; its bodies and waits are in `all`
  // Of task t, or the main program: how long it takes at least, with its forks in parallel, for each nanosecond of its
  // pieces. Empty: nothing forks.
  std::vector<double> shrinks;
  std::vector<std::pair<ns, ns>> forks_of_main;  // in order: when the main program was in forks, not waiting
  ns begin = 0;                                  // the first submission
  ns end = 0;                                    // the last task finished, or the main program's last wait over

  [[nodiscard]] std::span<const piece> of(std::size_t t) const {
    return std::span(all).subspan(first[t], first[t + 1] - first[t]);
  }
};

// Of piece i, as a step of what must come one after the other.
[[nodiscard]] ns least_length(const pieces& p, std::size_t i);

// Cost: linear; the file has its waits in the order of the tasks.
[[nodiscard]] pieces make_pieces(const trace::file& r);

// The piece of that task (or of the main program) in which `time` lies; none if there is none.
[[nodiscard]] std::uint32_t piece_at(const pieces& p, std::size_t t, ns time);

// Parents before children.
[[nodiscard]] std::vector<std::uint32_t> parents_first(const trace::file& r);

}  // namespace weft::tool::report
