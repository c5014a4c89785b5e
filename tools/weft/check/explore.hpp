// Many schedules of one program, several at a time, against the plain one.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "program.hpp"

namespace weft::tool::check {

struct wanted {
  std::size_t schedules = 1000;
  unsigned depth = 3;
  std::uint64_t seed = 1;
  std::vector<unsigned> workers{1, 2, 3, 4};
  unsigned jobs = 1;
  bool first_only = false;  // stop soon after the first difference
};

// The k-th schedule: tasks, random or pct, in turns. `steps`: of the plain run.
[[nodiscard]] settings schedule_of(const wanted& w, std::size_t k, std::size_t steps);

struct explored {
  settings how;
  bool ran = false;
  bool differs = false;
  std::size_t result = 0;      // which one of the distinct results; 0: that of the plain run
  std::uint64_t order = 0;     // hash
  std::uint64_t distance = 0;  // of a run that differs, from the plain one
};

struct exploration {
  std::vector<explored> runs;
  std::vector<result> results;  // distinct, the plain one first
  double seconds = 0;
};

// Errors: the first that a run throws.
[[nodiscard]] exploration explore(const program& p, const observation& plain, const wanted& w,
                                  const std::function<void(double)>& report);

}  // namespace weft::tool::check
