// Successive over-relaxation of Laplace's equation on a square, in red-black order (PufferFish §V, Table I): a cell is
// red or black like a chess board's, and a half sweep updates one colour from the other, so tasks of one half sweep
// share nothing that changes. Check: a plain loop gives the same bits, and the residual has fallen.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "sweep.hpp"

namespace weft::apps {
namespace {

constexpr double omega = 1.25;
constexpr double ns_per_cell = 1;  // of computing, on modelled machines

struct parameters {
  std::size_t size = 1024;
  std::size_t iterations = 10;
  std::shared_ptr<near::spread> how = std::make_shared<near::spread>();
};

// One colour of a row between the outermost columns.
void relax_row(const double* above, double* row, const double* below, std::size_t columns, std::size_t first) {
  for (std::size_t j = first; j + 1 < columns; j += 2)
    row[j] = (1 - omega) * row[j] + omega * 0.25 * (above[j] + below[j] + row[j - 1] + row[j + 1]);
}

std::size_t first_of(std::size_t row, std::size_t colour) { return 1 + (row + colour) % 2; }

std::vector<double> serial(const parameters& p) {
  const std::size_t n = p.size;
  std::vector<double> a(n * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = near::noise(i);
  for (std::size_t half = 0; half < 2 * p.iterations; ++half)
    for (std::size_t i = 1; i + 1 < n; ++i)
      relax_row(&a[(i - 1) * n], &a[i * n], &a[(i + 1) * n], n, first_of(i, half % 2));
  return a;
}

template <class Row> double residual(std::size_t n, const Row& row) {
  double sum = 0;
  for (std::size_t i = 1; i + 1 < n; ++i)
    for (std::size_t j = 1; j + 1 < n; ++j) {
      const double r = row(i - 1)[j] + row(i + 1)[j] + row(i)[j - 1] + row(i)[j + 1] - 4 * row(i)[j];
      sum += r * r;
    }
  return std::sqrt(sum);
}

double relax_all(runtime& rt, const parameters& p, near::matrix& a, progress& bar) {
  const std::size_t n = p.size;
  const auto rows_near = [&a](std::size_t from, std::size_t to) { return a.near_rows(from, to); };
  near::fill(*p.how, rt.workers(), n, rows_near, [&a, n](std::size_t from, std::size_t to) {
    for (std::size_t i = from * n; i < to * n; ++i) a.row(0)[i] = near::noise(i);
    charge(ns_per_cell * static_cast<double>((to - from) * n), a.stores(from, to));
  });
  const double start = rt.now_ns();
  for (std::size_t half = 0; half < 2 * p.iterations; ++half) {
    const std::size_t colour = half % 2;
    near::sweep(*p.how, 1, n - 1, rows_near, [&a, n, colour](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) relax_row(a.row(i - 1), a.row(i), a.row(i + 1), n, first_of(i, colour));
      charge(ns_per_cell * static_cast<double>((to - from) * n / 2), a.loads(from - 1, from), a.loads(to, to + 1),
             a.updates(from, to));
    });
    bar.report(static_cast<double>(half + 1) / static_cast<double>(2 * p.iterations));
  }
  return (rt.now_ns() - start) * 1e-9;
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  const std::size_t n = p.size;
  require_memory("sor", 2.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n));
  runtime rt(opt);
  near::matrix a(n, n, p.how->placement());
  result r;
  r.seconds = relax_all(rt, p, a, bar);
  r.describe(rt);
  r.add("size", std::uint64_t{n});
  r.add("iterations", std::uint64_t{p.iterations});
  p.how->describe(r);
  r.add("ns_per_cell", r.seconds * 1e9 / static_cast<double>(n * n * p.iterations));

  const std::vector<double> expected = serial(p);
  r.checks.push_back(near::same_bits(a, expected));
  std::vector<double> begin(n * n);
  for (std::size_t i = 0; i < begin.size(); ++i) begin[i] = near::noise(i);
  const double before = residual(n, [&](std::size_t i) { return &begin[i * n]; });
  const double after = residual(n, [&](std::size_t i) { return a.row(i); });
  r.checks.push_back({"residual_falls", p.iterations == 0 || n < 3 || after < before,
                      std::to_string(before) + " before, " + std::to_string(after) + " after"});
  return r;
}

}  // namespace

app sor_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = {{"size", "rows and columns", &p->size, 2, 100'000},
                                 {"iterations", "sweeps over both colours", &p->iterations, 0, 1'000'000}};
  std::ranges::copy(near::spread::options(p->how, "rows a leaf task relaxes"), std::back_inserter(options));
  return {.name = "sor",
          .summary = "red-black successive over-relaxation on a square, asyncs near their rows",
          .example = "sor --size 1024 --irregular --policy pufferfish --machine epyc-7551-32",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
