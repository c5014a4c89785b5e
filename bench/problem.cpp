// The sizes. A pass of the small factorization lasts microseconds, so it is repeated; the others are long enough in
// one.
#include "problem.hpp"

namespace weft::bench {

namespace {

// Counts instead of running: what the stream itself says every cell shall get.
struct counter {
  std::vector<value> cells;
  void independent_task(cell_index c) { ++cells[c]; }
  template <std::size_t R, std::size_t W>
  void task(const std::array<cell_index, R>&, const std::array<cell_index, W>& writes) {
    ++cells[writes[0]];
  }
};

}  // namespace

const std::vector<problem>& all_problems() {
  static const std::vector<problem> problems = {
      {"independent", "no dependences at all", shape::independent, 1, 1'000'000, 1},
      {"chain1", "every task writes the same cell", shape::chain, 1, 200'000, 1},
      {"chain3", "every task writes the same three cells", shape::chain, 3, 200'000, 1},
      {"stencil4", "three-point stencil on a ring of 4, two buffers", shape::stencil, 4, 25'000, 1},
      {"stencil32", "three-point stencil on a ring of 32, two buffers", shape::stencil, 32, 3'125, 1},
      {"cholesky20", "task graph of a factorization, 20 tiles a side: 1540 tasks", shape::cholesky, 20, 1, 65},
      {"cholesky50", "task graph of a factorization, 50 tiles a side: 22100 tasks", shape::cholesky, 50, 1, 5},
  };
  return problems;
}

std::vector<value> expected_cells(const problem& p, std::uint64_t passes) {
  counter once{std::vector<value>(cell_count(p))};
  submit_pass(p, once);
  std::uint64_t tasks = 0;
  for (value& v : once.cells) {
    tasks += v;
    v *= passes;
  }
  assert(tasks == tasks_per_pass(p));
  static_cast<void>(tasks);
  return std::move(once.cells);
}

}  // namespace weft::bench
