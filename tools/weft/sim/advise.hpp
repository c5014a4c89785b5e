// What to do about the limits that a sweep met, in words, with the numbers it follows from. Nothing is advised that was
// not tried: a limit makes proposals, each is a point that is run, and what is said is what came of it. Stated rules
// and no others: docs/guide/25-whatif.md has them.
#pragma once
#include <string>
#include <vector>

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
};

// What can be tried. Of a program neither grain nor priorities can be changed from outside.
struct means {
  bool trace = true;
  std::vector<std::string> policies;
};

// rows: of a sweep, those that failed left out; they must outlive what is found. Of each machine the first policy,
// creation and grain are the base, about which it speaks.
[[nodiscard]] std::vector<finding> find_limits(const std::vector<row>& rows, const means& m);

// tried: a row for each proposal, in the order of the findings and their proposals.
[[nodiscard]] std::vector<advice> advise(const std::vector<row>& rows, const std::vector<finding>& found,
                                         const std::vector<row>& tried);

[[nodiscard]] json to_json(const std::vector<advice>& all);

}  // namespace weft::tool::sim
