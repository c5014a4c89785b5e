// LU factorization, without pivoting, of a matrix of square blocks of which many are zero: the graph of its tasks is as
// irregular as the pattern. Blocks that fill in are found first. Each task is a team: of the block on the diagonal
// members divide the rows left to eliminate, with a barrier for each column; of the others rows or columns are
// independent of each other.
// Check: one thread gets the same bits, and L U x is A x.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "../app.hpp"
#include "width.hpp"

namespace weft::apps {
namespace {

constexpr double ns_per_update = 0.25;  // cost clause: a multiply-add, one core, from its cache

struct parameters {
  std::size_t blocks = 12, size = 32, width = 2;
  bool learned = false;
  [[nodiscard]] double updates(double share) const noexcept {
    const auto n = static_cast<double>(size);
    return ns_per_update * share * n * n * n;
  }
};

using block = std::vector<double>;  // rows; empty: zero
using matrix = std::vector<block>;  // blocks x blocks

std::uint64_t drawn(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return (x ^ (x >> 27)) * 0x94d049bb133111ebu >> 20;
}

// Near the diagonal, and one in four elsewhere. Rows are dominated by their diagonal, so no pivot is small.
matrix first_values(const parameters& p) {
  const std::size_t nb = p.blocks, n = p.size;
  matrix a(nb * nb);
  for (std::size_t i = 0; i < nb; ++i)
    for (std::size_t j = 0; j < nb; ++j) {
      const bool is_near = i <= j + 1 && j <= i + 1;
      if (!is_near && drawn(i * nb + j + 1) % 4 != 0) continue;
      block& b = a[i * nb + j];
      for (std::size_t k = 0; k < n * n; ++k) {
        const double x = static_cast<double>(drawn((i * nb + j) * n * n + k + 7) % 1024) / 1024 - 0.5;
        b.push_back(i == j && k % (n + 1) == 0 ? x + static_cast<double>(nb * n) : x);
      }
    }
  return a;
}

// Blocks that are zero at first and not in the end, of so many elements.
void fill_in(matrix& a, std::size_t nb, std::size_t elements) {
  for (std::size_t k = 0; k < nb; ++k)
    for (std::size_t i = k + 1; i < nb; ++i)
      for (std::size_t j = k + 1; j < nb; ++j)
        if (!a[i * nb + k].empty() && !a[k * nb + j].empty()) a[i * nb + j].resize(elements);
}

// --- the four kinds of task

void factor(team_context& t, std::size_t n, block& d) {
  for (std::size_t k = 0; k + 1 < n; ++k) {
    t.for_each(k + 1, n, [&](std::size_t i) {
      const double l = d[i * n + k] /= d[k * n + k];
      for (std::size_t j = k + 1; j < n; ++j) d[i * n + j] -= l * d[k * n + j];
    });
    t.barrier();
  }
}
// b := L^-1 b, a block right of the diagonal.
void solve_row(team_context& t, std::size_t n, const block& d, block& b) {
  t.for_each(std::size_t{0}, n, [&](std::size_t j) {
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = k + 1; i < n; ++i) b[i * n + j] -= d[i * n + k] * b[k * n + j];
  });
}
// b := b U^-1, a block below it.
void solve_column(team_context& t, std::size_t n, const block& d, block& b) {
  t.for_each(std::size_t{0}, n, [&](std::size_t i) {
    for (std::size_t k = 0; k < n; ++k) {
      const double l = b[i * n + k] /= d[k * n + k];
      for (std::size_t j = k + 1; j < n; ++j) b[i * n + j] -= l * d[k * n + j];
    }
  });
}
void update(team_context& t, std::size_t n, const block& left, const block& up, block& b) {
  t.for_each(std::size_t{0}, n, [&](std::size_t i) {
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) b[i * n + j] -= left[i * n + k] * up[k * n + j];
  });
}

// Calls one of the four for each task, in order; `is_zero(i, j)` of a block.
template <class Zero, class Factor, class Row, class Column, class Update>
void each_task(std::size_t nb, Zero is_zero, Factor factors, Row row, Column column, Update updates) {
  for (std::size_t k = 0; k < nb; ++k) {
    factors(k);
    for (std::size_t j = k + 1; j < nb; ++j) {
      if (!is_zero(k, j)) row(k, j);
      if (!is_zero(j, k)) column(j, k);
    }
    for (std::size_t i = k + 1; i < nb; ++i)
      for (std::size_t j = k + 1; j < nb; ++j)
        if (!is_zero(i, k) && !is_zero(k, j)) updates(i, j, k);
  }
}

void submit_all(runtime& rt, const parameters& p, const matrix& filled, std::vector<handle<block>>& a) {
  const std::size_t nb = p.blocks, n = p.size;
  const auto at = [&](std::size_t i, std::size_t j) -> handle<block>& { return a[i * nb + j]; };
  const auto wide = tao::wide(p.width, p.learned);
  each_task(
      nb, [&](std::size_t i, std::size_t j) { return filled[i * nb + j].empty(); },
      [&](std::size_t k) {
        rt.submit(wide, named("factor"), cost(p.updates(1.0 / 3)), write(at(k, k)),
                  [n](team_context& t, block& d) { factor(t, n, d); });
      },
      [&](std::size_t k, std::size_t j) {
        rt.submit(wide, named("row"), cost(p.updates(0.5)), read(at(k, k)), write(at(k, j)),
                  [n](team_context& t, const block& d, block& b) { solve_row(t, n, d, b); });
      },
      [&](std::size_t i, std::size_t k) {
        rt.submit(wide, named("column"), cost(p.updates(0.5)), read(at(k, k)), write(at(i, k)),
                  [n](team_context& t, const block& d, block& b) { solve_column(t, n, d, b); });
      },
      [&](std::size_t i, std::size_t j, std::size_t k) {
        rt.submit(wide, named("update"), cost(p.updates(1)), read(at(i, k)), read(at(k, j)), write(at(i, j)),
                  [n](team_context& t, const block& l, const block& u, block& b) { update(t, n, l, u, b); });
      });
}

void factor_serially(const parameters& p, matrix& a) {
  const std::size_t nb = p.blocks, n = p.size;
  const auto at = [&](std::size_t i, std::size_t j) -> block& { return a[i * nb + j]; };
  team_context alone;
  each_task(
      nb, [&](std::size_t i, std::size_t j) { return at(i, j).empty(); },
      [&](std::size_t k) { factor(alone, n, at(k, k)); },
      [&](std::size_t k, std::size_t j) { solve_row(alone, n, at(k, k), at(k, j)); },
      [&](std::size_t i, std::size_t k) { solve_column(alone, n, at(k, k), at(i, k)); },
      [&](std::size_t i, std::size_t j, std::size_t k) { update(alone, n, at(i, k), at(k, j), at(i, j)); });
}

// a x, of the elements for which `use(row, column)` is not 0, times that.
template <class Use>
std::vector<double> times(const parameters& p, const matrix& a, const std::vector<double>& x, Use use) {
  const std::size_t nb = p.blocks, n = p.size;
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < nb * n; ++i)
    for (std::size_t j = 0; j < nb * n; ++j) {
      const block& b = a[i / n * nb + j / n];
      y[i] += use(i, j, b.empty() ? 0 : b[i % n * n + j % n]) * x[j];
    }
  return y;
}
check product(const parameters& p, const matrix& a, const matrix& lu) {
  std::vector<double> x;
  for (std::size_t i = 0; i < p.blocks * p.size; ++i) x.push_back(1 + static_cast<double>(i % 5));
  const auto all = [](std::size_t, std::size_t, double v) { return v; };
  const auto upper = [](std::size_t i, std::size_t j, double v) { return i <= j ? v : 0; };
  const auto lower = [](std::size_t i, std::size_t j, double v) { return i == j ? 1 : i > j ? v : 0; };
  const auto expected = times(p, a, x, all), found = times(p, lu, times(p, lu, x, upper), lower);
  double wrong = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    wrong = std::max(wrong, std::abs(found[i] - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  return {"product", wrong <= 1e-12 * size, std::to_string(wrong / size) + " of the greatest element"};
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  const auto n = static_cast<double>(p.blocks * p.size);
  require_memory("sparse_lu", 3.0 * sizeof(double) * n * n);
  const matrix a = first_values(p);
  matrix filled = a;
  fill_in(filled, p.blocks, p.size * p.size);
  runtime rt(opt);
  std::vector<handle<block>> blocks(filled.size());
  std::uint64_t full = 0;
  for (std::size_t i = 0; i < filled.size(); ++i) {
    blocks[i].unguarded() = filled[i];
    blocks[i].bytes(filled[i].size() * sizeof(double));
    full += filled[i].empty() ? 0 : 1;
  }
  const double start = rt.now_ns();
  submit_all(rt, p, filled, blocks);
  rt.wait();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  bar.report(0.5);
  r.add("blocks", std::uint64_t{p.blocks});
  r.add("size", std::uint64_t{p.size});
  r.add("width", std::uint64_t{p.width});
  r.add("learned", p.learned);
  r.add("full_blocks", full);

  factor_serially(p, filled);
  std::size_t different = 0;
  matrix found;
  for (std::size_t i = 0; i < filled.size(); ++i) {
    found.push_back(blocks[i].unguarded());
    for (std::size_t k = 0; k < filled[i].size(); ++k)
      different += std::bit_cast<std::uint64_t>(found[i][k]) != std::bit_cast<std::uint64_t>(filled[i][k]) ? 1 : 0;
  }
  r.checks.push_back({"same_bits_as_serial", different == 0, std::to_string(different) + " elements differ"});
  r.checks.push_back(product(p, a, found));
  return r;
}

}  // namespace

app sparse_lu_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "sparse_lu",
          .summary = "LU factorization of a matrix with many zero blocks, each task by a team",
          .example = "sparse_lu --blocks 12 --size 32 --width 2 --workers 4",
          .options = {{"blocks", "rows and columns of blocks", &p->blocks, 1, 1000},
                      {"size", "rows and columns of a block", &p->size, 1, 10'000},
                      {"width", "members of each team", &p->width, 1, 1024},
                      {"learned", tao::learned_help, &p->learned, 0, SIZE_MAX, "width"}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
