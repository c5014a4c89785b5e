// Speckle reducing anisotropic diffusion (PufferFish §V, Table I): an image is smoothed where it varies as little as a
// patch of pure speckle does. Each iteration takes the patch's statistics, then one sweep for the differences and the
// coefficient of each cell, and one that lets the image flow. Check: a plain loop gives the same bits, all finite, and
// the patch varies less than before.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "sweep.hpp"

namespace weft::apps {
namespace {

constexpr double lambda = 0.5;
constexpr std::size_t patch = 128;                           // rows and columns, from the first on
constexpr double ns_first = 6, ns_second = 2, ns_patch = 1;  // a cell, of computing, on modelled machines

struct parameters {
  std::size_t size = 512;
  std::size_t iterations = 10;
  std::shared_ptr<near::spread> how = std::make_shared<near::spread>();
};

// The image and what an iteration keeps of each cell.
template <class Grid> struct fields {
  Grid image, north, south, west, east, coefficient;
};

double speckle(std::size_t cell) { return 0.5 + near::noise(cell); }

// Variance by square of the mean.
template <class Grid> double patch_variation(const Grid& image, std::size_t n) {
  const std::size_t side = std::min(patch, n);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) {
      const double x = image.row(i)[j];
      sum += x;
      squares += x * x;
    }
  const auto cells = static_cast<double>(side * side);
  const double mean = sum / cells;
  return (squares / cells - mean * mean) / (mean * mean);
}

template <class Grid>
void coefficients(fields<Grid>& f, std::size_t n, std::size_t from, std::size_t to, double variation) {
  for (std::size_t i = from; i < to; ++i) {
    const double* up = f.image.row(i == 0 ? i : i - 1);
    const double* here = f.image.row(i);
    const double* down = f.image.row(i + 1 == n ? i : i + 1);
    for (std::size_t j = 0; j < n; ++j) {
      const double x = here[j];
      const double dn = up[j] - x, ds = down[j] - x;
      const double dw = here[j == 0 ? j : j - 1] - x, de = here[j + 1 == n ? j : j + 1] - x;
      const double gradient = (dn * dn + ds * ds + dw * dw + de * de) / (x * x);
      const double laplacian = (dn + ds + dw + de) / x;
      const double numerator = 0.5 * gradient - laplacian * laplacian / 16;
      const double denominator = 1 + 0.25 * laplacian;
      const double local = numerator / (denominator * denominator);
      // Where the patch is even, as one pixel is, whatever is uneven is an edge.
      const double scale = variation * (1 + variation);
      const double c = scale > 0 ? 1 / (1 + (local - variation) / scale) : local > 0 ? 0 : 1;
      f.north.row(i)[j] = dn, f.south.row(i)[j] = ds, f.west.row(i)[j] = dw, f.east.row(i)[j] = de;
      f.coefficient.row(i)[j] = c < 0 ? 0 : c > 1 ? 1 : c;
    }
  }
}

template <class Grid> void flow(fields<Grid>& f, std::size_t n, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const double* here = f.coefficient.row(i);
    const double* down = f.coefficient.row(i + 1 == n ? i : i + 1);
    for (std::size_t j = 0; j < n; ++j) {
      const double divergence = here[j] * f.north.row(i)[j] + down[j] * f.south.row(i)[j] + here[j] * f.west.row(i)[j] +
                                here[j + 1 == n ? j : j + 1] * f.east.row(i)[j];
      f.image.row(i)[j] += 0.25 * lambda * divergence;
    }
  }
}

// A matrix of the serial program.
struct plain {
  std::size_t n;
  std::vector<double> cells = std::vector<double>(n * n);
  [[nodiscard]] double* row(std::size_t i) { return &cells[i * n]; }
  [[nodiscard]] const double* row(std::size_t i) const { return &cells[i * n]; }
};

std::vector<double> serial(const parameters& p, double& before) {
  const std::size_t n = p.size;
  fields<plain> f{{n}, {n}, {n}, {n}, {n}, {n}};
  for (std::size_t i = 0; i < n * n; ++i) f.image.cells[i] = speckle(i);
  before = patch_variation(f.image, n);
  for (std::size_t t = 0; t < p.iterations; ++t) {
    coefficients(f, n, 0, n, patch_variation(f.image, n));
    flow(f, n, 0, n);
  }
  return f.image.cells;
}

double smooth(runtime& rt, const parameters& p, fields<near::matrix>& f, progress& bar) {
  const std::size_t n = p.size, side = std::min(patch, n);
  const auto rows_near = [&f](std::size_t from, std::size_t to) { return f.image.near_rows(from, to); };
  const auto cells = [n](std::size_t from, std::size_t to) { return static_cast<double>((to - from) * n); };
  near::fill(*p.how, rt.workers(), n, rows_near, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from * n; i < to * n; ++i) f.image.row(0)[i] = speckle(i);
    if (!p.how->fills_all()) return charge(cells(from, to), f.image.stores(from, to));
    charge(cells(from, to), f.image.stores(from, to), f.north.stores(from, to), f.south.stores(from, to),
           f.west.stores(from, to), f.east.stores(from, to), f.coefficient.stores(from, to));
  });
  const double start = rt.now_ns();
  for (std::size_t t = 0; t < p.iterations; ++t) {
    double variation = 0;
    finish([&] {
      near::hinted_async(*p.how, rows_near(0, side), [&] {
        variation = patch_variation(f.image, n);
        charge(ns_patch * static_cast<double>(side * side), f.image.loads(0, side));
      });
    });
    near::sweep(*p.how, 0, n, rows_near, [&](std::size_t from, std::size_t to) {
      coefficients(f, n, from, to, variation);
      charge(ns_first * cells(from, to), f.image.loads(from == 0 ? 0 : from - 1, to + 1), f.north.stores(from, to),
             f.south.stores(from, to), f.west.stores(from, to), f.east.stores(from, to),
             f.coefficient.stores(from, to));
    });
    near::sweep(*p.how, 0, n, rows_near, [&](std::size_t from, std::size_t to) {
      flow(f, n, from, to);
      charge(ns_second * cells(from, to), f.coefficient.loads(from, to + 1), f.north.loads(from, to),
             f.south.loads(from, to), f.west.loads(from, to), f.east.loads(from, to), f.image.updates(from, to));
    });
    bar.report(static_cast<double>(t + 1) / static_cast<double>(p.iterations));
  }
  return (rt.now_ns() - start) * 1e-9;
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  const std::size_t n = p.size;
  require_memory("srad", 12.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n));
  runtime rt(opt);
  const memory_placement how = p.how->placement();
  fields<near::matrix> f{{n, n, how}, {n, n, how}, {n, n, how}, {n, n, how}, {n, n, how}, {n, n, how}};
  result r;
  r.seconds = smooth(rt, p, f, bar);
  r.describe(rt);
  r.add("size", std::uint64_t{n});
  r.add("iterations", std::uint64_t{p.iterations});
  p.how->describe(r);
  r.add("ns_per_cell", r.seconds * 1e9 / static_cast<double>(n * n * std::max<std::size_t>(p.iterations, 1)));

  double before = 0;
  r.checks.push_back(near::same_bits(f.image, serial(p, before)));
  const double after = patch_variation(f.image, n);
  r.checks.push_back({"speckle_is_reduced", p.iterations == 0 || n < 2 || after < before,
                      std::to_string(before) + " before, " + std::to_string(after) + " after"});
  return r;
}

}  // namespace

app srad_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = {{"size", "rows and columns", &p->size, 1, 100'000},
                                 {"iterations", "steps of diffusion", &p->iterations, 0, 1'000'000}};
  std::ranges::copy(near::spread::options(p->how, "rows of a leaf task"), std::back_inserter(options));
  return {.name = "srad",
          .summary = "speckle reducing anisotropic diffusion of an image, asyncs near their rows",
          .example = "srad --size 512 --policy pufferfish --machine epyc-7551-32",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
