// The sizes. A pass takes milliseconds; the small factorization and the small tree microseconds, so they are repeated
// more often.
#include "problem.hpp"

#include <algorithm>

#include "recursion.hpp"

namespace weft::bench {

namespace {

// The next smaller size of a recursion; the same if there is none.
std::uint32_t smaller(const problem& p) {
  const auto down = [&](std::uint32_t to, std::uint32_t least) { return std::max(to, std::min(least, p.length)); };
  switch (p.form) {
  case shape::fib: return down(p.length - 1, 3);
  case shape::uts: return down(p.length / 2, 2);
  case shape::queens: return down(p.length - 1, 4);
  case shape::skynet: return down(p.length / 10, 10);
  case shape::matmul: return down(p.length / 2, 2 * product::leaf);
  case shape::tree: return down(p.length - 1, 2);
  default: return p.length;
  }
}

}  // namespace

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
      {"fib", "30th Fibonacci number by two calls, per fork", shape::fib, 2, 30, metric::node},
      {"uts", "search of an unbalanced tree of 953,633 nodes", shape::uts, 2, 800, metric::node},
      {"nqueens", "12 queens, per board on the way", shape::queens, 2, 12, metric::node},
      {"skynet", "a tree with ten children a node, per leaf of a million", shape::skynet, 2, 1'000'000, metric::node},
      {"matmul", "product of matrices of 256, per product of blocks of 16", shape::matmul, 2, 256, metric::node},
      {"treesum1k", "sum over a binary tree of 1,023 nodes", shape::tree, 2, 10, metric::node},
      {"treesum4m", "sum over a binary tree of 4,194,303 nodes", shape::tree, 2, 22, metric::node},
  };
  return problems;
}

const char* meaning(metric m) noexcept {
  switch (m) {
  case metric::cost: return "time per task";
  case metric::access: return "time per further access";
  case metric::grain: return "length of a task at 50 % efficiency";
  case metric::node: return "time per task of a recursion";
  }
  return "";
}

std::uint64_t tasks_per_pass(const problem& p) {
  const std::uint64_t w = p.width;
  switch (p.form) {
  case shape::independent:
  case shape::chain: return p.length;
  case shape::stencil: return w * p.length;
  case shape::cholesky: return w * (w + 1) * (w + 2) / 6;
  default: return recursion_tasks(p);
  }
}

problem shortened(problem p, std::uint64_t tasks_max) {
  if (family_of(p) == family::recursions) {
    while (tasks_per_pass(p) > tasks_max && smaller(p) < p.length) p.length = smaller(p);
    return p;
  }
  if (p.form == shape::cholesky) return p;
  const std::uint64_t tasks_per_step = p.form == shape::stencil ? p.width : 1;
  const std::uint64_t steps = std::max<std::uint64_t>(tasks_max / tasks_per_step, 1);
  p.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(p.length, steps));
  return p;
}

}  // namespace weft::bench
