// The problems of the benchmark, of two families. A stream is tasks over numbered cells: a task names the cells it
// reads and the cells it writes, and has a body that changes the first cell it writes. A system under test sees only
// this stream, so all of them run the same program. Creation of the tasks is inside the timed region, as in a real
// program. A recursion forks in two and joins; recursion.hpp has those.
#pragma once
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "body.hpp"

namespace weft::bench {

enum class family { streams, recursions };

enum class shape { independent, chain, stencil, cholesky, fib, uts, queens, skynet, matmul, tree };

enum class metric {
  cost,    // nanoseconds per task, bodies of one increment
  access,  // what each access of a task costs beyond its first: tasks of `width` accesses beside tasks of one
  grain,   // METG(50 %): length of a body at which half of the workers' time is bodies
  node     // nanoseconds per task of a recursion
};

struct problem {
  const char* name;
  const char* summary;
  shape form;
  std::uint32_t width;   // cells of a chain or a stencil, tiles per side of a factorization, branches of a fork
  std::uint32_t length;  // tasks or steps in one pass; of a recursion its size
  metric measures = metric::cost;
};

[[nodiscard]] const std::vector<problem>& all_problems();

[[nodiscard]] constexpr family family_of(const problem& p) noexcept {
  return p.measures == metric::node ? family::recursions : family::streams;
}

// What the figures of a problem are, for a heading.
[[nodiscard]] const char* meaning(metric m) noexcept;

[[nodiscard]] constexpr std::size_t cell_count(const problem& p) noexcept {
  switch (p.form) {
  case shape::independent: return p.length;
  case shape::chain: return p.width;
  case shape::stencil: return std::size_t{2} * p.width;
  case shape::cholesky: return std::size_t{p.width} * (p.width + 1) / 2;
  default: return 0;
  }
}

// What a figure is divided by.
[[nodiscard]] std::uint64_t tasks_per_pass(const problem& p);

// The same problem with at most so many tasks in a pass, at least one step or the smallest recursion that forks. A
// factorization has the size it has.
[[nodiscard]] problem shortened(problem p, std::uint64_t tasks_max);

template <class System, class Body> void chain_pass(const problem& p, System& s, Body& body) {
  constexpr std::array<cell_index, 0> none{};
  assert(p.width == 1 || p.width == 3 || p.width == 8);
  for (cell_index i = 0; i < p.length; ++i) switch (p.width) {
    case 1: s.task(none, std::array<cell_index, 1>{0}, body.next()); break;
    case 3: s.task(none, std::array<cell_index, 3>{0, 1, 2}, body.next()); break;
    default: s.task(none, std::array<cell_index, 8>{0, 1, 2, 3, 4, 5, 6, 7}, body.next());
    }
}

template <class System, class Body> void stencil_pass(const problem& p, System& s, Body& body) {
  for (cell_index t = 0; t < p.length; ++t) {
    const cell_index from = t % 2 * p.width;
    const cell_index to = p.width - from;
    for (cell_index b = 0; b < p.width; ++b) {
      const cell_index left = b > 0 ? b - 1 : p.width - 1;
      const cell_index right = b + 1 < p.width ? b + 1 : 0;
      s.task(std::array{from + left, from + b, from + right}, std::array{to + b}, body.next());
    }
  }
}

template <class System, class Body> void cholesky_pass(const problem& p, System& s, Body& body) {
  const auto at = [](cell_index row, cell_index column) { return row * (row + 1) / 2 + column; };
  constexpr std::array<cell_index, 0> none{};
  for (cell_index k = 0; k < p.width; ++k) {
    s.task(none, std::array{at(k, k)}, body.next());
    for (cell_index i = k + 1; i < p.width; ++i) s.task(std::array{at(k, k)}, std::array{at(i, k)}, body.next());
    for (cell_index i = k + 1; i < p.width; ++i) {
      for (cell_index j = k + 1; j < i; ++j) s.task(std::array{at(i, k), at(j, k)}, std::array{at(i, j)}, body.next());
      s.task(std::array{at(i, k)}, std::array{at(i, i)}, body.next());
    }
  }
}

// Sends one pass of p to `s`, a system: s.independent_task(cell, body) and s.task(cells read, cells written, body),
// with what body.next() returns for each task.
template <class System, class Body> void submit_pass(const problem& p, System& s, Body body) {
  switch (p.form) {
  case shape::independent:
    for (cell_index i = 0; i < p.length; ++i) s.independent_task(i, body.next());
    return;
  case shape::chain: return chain_pass(p, s, body);
  case shape::stencil: return stencil_pass(p, s, body);
  case shape::cholesky: return cholesky_pass(p, s, body);
  default: assert(false);  // no stream
  }
}

}  // namespace weft::bench
