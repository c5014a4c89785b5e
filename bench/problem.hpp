// The problems of the benchmark, each written once as a stream of tasks over numbered cells: a task names the cells it
// reads and the cells it writes, and its body adds one to the first cell it writes. Nothing is left to measure but the
// cost of a task and its dependences. A system under test sees only this stream, so all of them run the same program.
// Creation of the tasks is inside the timed region, as in a real program.
#pragma once
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::bench {

using cell_index = std::uint32_t;
using value = std::uint64_t;

enum class shape { independent, chain, stencil, cholesky };

struct problem {
  const char* name;
  const char* summary;
  shape form;
  std::uint32_t width;   // cells of a chain or a stencil, tiles per side of a factorization
  std::uint32_t length;  // tasks or steps in one pass
  std::uint32_t passes;  // each ends in a wait; enough of them that a measurement lasts milliseconds
};

[[nodiscard]] const std::vector<problem>& all_problems();

[[nodiscard]] constexpr std::size_t cell_count(const problem& p) noexcept {
  switch (p.form) {
  case shape::independent: return p.length;
  case shape::chain: return p.width;
  case shape::stencil: return std::size_t{2} * p.width;
  case shape::cholesky: return std::size_t{p.width} * (p.width + 1) / 2;
  }
  return 0;
}

[[nodiscard]] constexpr std::uint64_t tasks_per_pass(const problem& p) noexcept {
  const std::uint64_t w = p.width;
  switch (p.form) {
  case shape::independent:
  case shape::chain: return p.length;
  case shape::stencil: return w * p.length;
  case shape::cholesky: return w * (w + 1) * (w + 2) / 6;
  }
  return 0;
}

template <class System> void stencil_pass(const problem& p, System& s) {
  for (cell_index t = 0; t < p.length; ++t) {
    const cell_index from = t % 2 * p.width;
    const cell_index to = p.width - from;
    for (cell_index b = 0; b < p.width; ++b) {
      const cell_index left = b > 0 ? b - 1 : p.width - 1;
      const cell_index right = b + 1 < p.width ? b + 1 : 0;
      s.task(std::array{from + left, from + b, from + right}, std::array{to + b});
    }
  }
}

template <class System> void cholesky_pass(const problem& p, System& s) {
  const auto at = [](cell_index row, cell_index column) { return row * (row + 1) / 2 + column; };
  constexpr std::array<cell_index, 0> none{};
  for (cell_index k = 0; k < p.width; ++k) {
    s.task(none, std::array{at(k, k)});
    for (cell_index i = k + 1; i < p.width; ++i) s.task(std::array{at(k, k)}, std::array{at(i, k)});
    for (cell_index i = k + 1; i < p.width; ++i) {
      for (cell_index j = k + 1; j < i; ++j) s.task(std::array{at(i, k), at(j, k)}, std::array{at(i, j)});
      s.task(std::array{at(i, k)}, std::array{at(i, i)});
    }
  }
}

// Sends one pass of p to `s`, a system: s.independent_task(cell) and s.task(cells read, cells written).
template <class System> void submit_pass(const problem& p, System& s) {
  constexpr std::array<cell_index, 0> none{};
  assert(p.form != shape::chain || p.width == 1 || p.width == 3);
  switch (p.form) {
  case shape::independent:
    for (cell_index i = 0; i < p.length; ++i) s.independent_task(i);
    return;
  case shape::chain:
    for (cell_index i = 0; i < p.length; ++i)
      p.width == 1 ? s.task(none, std::array<cell_index, 1>{0}) : s.task(none, std::array<cell_index, 3>{0, 1, 2});
    return;
  case shape::stencil: return stencil_pass(p, s);
  case shape::cholesky: return cholesky_pass(p, s);
  }
}

// The body of every task. The barrier keeps a compiler from adding up a loop of serial tasks at once.
inline void touch(value& cell) noexcept {
  ++cell;
  asm volatile("" : "+m"(cell));
}

// What each cell must hold after `passes` passes.
[[nodiscard]] std::vector<value> expected_cells(const problem& p, std::uint64_t passes);

}  // namespace weft::bench
