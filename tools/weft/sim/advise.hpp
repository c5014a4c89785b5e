// What to do about the limits that a sweep met, in words, with the numbers it follows from. Nothing is advised that was
// not tried: a limit makes proposals, each is a point that is run, and what is said is what came of it. Stated rules
// and no others: docs/guide/25-whatif.md has them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "search.hpp"
#include "sweep.hpp"

namespace weft::tool::sim {

struct proposal {
  point at;
  std::string what;  // "merging tasks by 4"
};

// A limit that binds, where it first does, and what might help.
struct finding {
  std::string kind;  // stable, for scripts
  std::string fact;  // what binds, with its numbers
  const row* of = nullptr;
  std::vector<proposal> proposals;
};

// What was tried, and what came of it.
struct trial {
  std::string what;
  double makespan_ns = 0;
  double gain = 0;  // share of the makespan that it saves; below 0: it is slower
};

struct advice {
  std::string kind;  // as above
  std::string text;
  std::vector<trial> trials;
  std::optional<point> at = {};  // what to choose, where that is more than one thing
};

// What can be tried. Of a program neither grain nor priorities can be changed from outside.
struct means {
  bool trace = true;
  double gil_share = 0;  // of the time in bodies, a wait for the lock of Python
  std::vector<std::string> policies;
};

// rows: of a sweep, those that failed left out; they must outlive what is found. Of each machine the first policy,
// creation and grain are the base, about which it speaks.
[[nodiscard]] std::vector<finding> find_limits(const std::vector<row>& rows, const means& m);

// tried: a row for each proposal, in the order of the findings and their proposals. error: of predictions, a share of
// the makespan (fidelity.hpp); no smaller gain is told as one.
// combined: of each machine at most one.
[[nodiscard]] std::vector<advice> advise(const std::vector<row>& rows, const std::vector<finding>& found,
                                         const std::vector<row>& tried, const std::vector<combination>& combined,
                                         double error);

// Of the rows of each machine those about which find_limits() speaks, by workers.
[[nodiscard]] std::vector<std::vector<row>> base_series(const std::vector<row>& rows);
// Gains from here on are told where predictions are off by so much.
[[nodiscard]] double least_gain(double error) noexcept;

[[nodiscard]] json to_json(const std::vector<advice>& all);

}  // namespace weft::tool::sim
