// The sizes. A pass takes milliseconds; the small factorization microseconds, so it is repeated more often.
#include "problem.hpp"

#include <algorithm>

namespace weft::bench {

const std::vector<problem>& all_problems() {
  static const std::vector<problem> problems = {
      {"independent", "no dependences at all", shape::independent, 1, 1'000'000},
      {"chain1", "every task writes the same cell", shape::chain, 1, 200'000},
      {"chain3", "every task writes the same three cells", shape::chain, 3, 200'000},
      {"stencil4", "three-point stencil on a ring of 4, two buffers", shape::stencil, 4, 25'000},
      {"stencil32", "three-point stencil on a ring of 32, two buffers", shape::stencil, 32, 3'125},
      {"cholesky20", "task graph of a factorization, 20 tiles a side: 1540 tasks", shape::cholesky, 20, 1},
      {"cholesky50", "task graph of a factorization, 50 tiles a side: 22100 tasks", shape::cholesky, 50, 1},
      {"dependency", "each access of a task beyond its first, from chains on 1 and on 8 cells", shape::chain, 8, 20'000,
       metric::access},
      {"metg4", "task length of 50 % efficiency on stencil4", shape::stencil, 4, 5'000, metric::grain},
      {"metg32", "task length of 50 % efficiency on stencil32", shape::stencil, 32, 625, metric::grain},
  };
  return problems;
}

const char* meaning(metric m) noexcept {
  switch (m) {
  case metric::cost: return "time per task";
  case metric::access: return "time per further access";
  case metric::grain: return "length of a task at 50 % efficiency";
  }
  return "";
}

problem shortened(problem p, std::uint64_t tasks_max) noexcept {
  if (p.form == shape::cholesky) return p;
  const std::uint64_t tasks_per_step = p.form == shape::stencil ? p.width : 1;
  const std::uint64_t steps = std::max<std::uint64_t>(tasks_max / tasks_per_step, 1);
  p.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(p.length, steps));
  return p;
}

}  // namespace weft::bench
