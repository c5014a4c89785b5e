// Least squares for a handful of unknown costs, none of which can be negative: what a step of the scheduler costs, from
// the times of programs that consist of these steps in known numbers.
#pragma once
#include <string>
#include <vector>

namespace weft::tool::calibrate {

struct equation {
  std::vector<double> counts;  // of each unknown
  double value = 0;
  double weight = 1;  // of the equation's squared error
};

struct solution {
  std::vector<double> values;    // 0 where the best value would be negative, or where nothing tells it
  std::vector<bool> determined;  // false: no equation tells this unknown from others
};

// Any number of equations; all with as many counts. Unknowns that the equations do not tell are 0.
[[nodiscard]] solution solve_costs(const std::vector<equation>& equations);

}  // namespace weft::tool::calibrate
