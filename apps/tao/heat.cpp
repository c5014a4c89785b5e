// Heat on a square plate, by Jacobi's method: each cell becomes the mean of its four neighbours, and the border is kept
// warm by two sources. The plate is cut into bands of rows, in two buffers; step t of a band reads three bands of one
// and writes one of the other. Each task is a team, whose members divide the rows and agree on the greatest change.
// Check: one thread gets the same bits and the same greatest change.
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

constexpr double ns_per_cell = 1;  // cost clause

struct parameters {
  std::size_t size = 256, steps = 50, bands = 8, width = 2;
  bool learned = false;
};

// Rows of the plate; all of them have its columns.
struct band {
  std::vector<double> cells;
  double change = 0;  // the greatest, of the step that wrote it
};
using plate = std::vector<handle<band>>;

// On the border: how much of both sources arrives, which are at the left and at the middle of the bottom.
double border(double x, double y) {
  const double first = 1 - std::hypot(x, y), second = 1 - std::hypot(x - 0.5, y - 1);
  return 2.5 * (std::max(first, 0.0) + std::max(second, 0.0));
}

class heat {
 public:
  explicit heat(const parameters& p) : p_(p) {}

  [[nodiscard]] std::size_t first_row(std::size_t of_band) const { return p_.size * of_band / p_.bands; }
  [[nodiscard]] double first_value(std::size_t i, std::size_t j) const {
    const std::size_t last = p_.size - 1;
    const bool is_border = i == 0 || j == 0 || i == last || j == last;
    const auto scale = static_cast<double>(std::max<std::size_t>(last, 1));
    return is_border ? border(static_cast<double>(j) / scale, static_cast<double>(i) / scale) : 0;
  }
  // Row i from those around it. Returns its greatest change.
  double relax(std::size_t i, const double* above, const double* row, const double* below, double* out) const {
    double change = 0;
    for (std::size_t j = 0; j < p_.size; ++j) {
      const bool is_border = i == 0 || j == 0 || i + 1 == p_.size || j + 1 == p_.size;
      out[j] = is_border ? row[j] : 0.25 * (above[j] + below[j] + row[j - 1] + row[j + 1]);
      change = std::max(change, std::abs(out[j] - row[j]));
    }
    return change;
  }
  // A band of the next step. up, down: nullptr at the border.
  void step(team_context& t, std::size_t which, const band* up, const band& from, const band* down, band& to) const {
    const std::size_t n = p_.size, first = first_row(which), rows = first_row(which + 1) - first;
    double mine = 0;
    t.for_each(std::size_t{0}, rows, [&](std::size_t i) {
      const double* row = from.cells.data() + i * n;
      const double* above = i != 0 ? row - n : up != nullptr ? up->cells.data() + up->cells.size() - n : row;
      const double* below = i + 1 != rows ? row + n : down != nullptr ? down->cells.data() : row;
      mine = std::max(mine, relax(first + i, above, row, below, to.cells.data() + i * n));
    });
    const double all = t.reduce(mine, [](double a, double b) { return std::max(a, b); });
    if (t.rank() == 0) to.change = all;
  }
  void submit(runtime& rt, std::size_t b, plate& from, plate& to) const {
    const auto cells = static_cast<double>((first_row(b + 1) - first_row(b)) * p_.size);
    const auto wide = tao::wide(p_.width, p_.learned);
    const auto costs = cost(ns_per_cell * cells);
    const bool is_first = b == 0, is_last = b + 1 == p_.bands;
    const auto name = named("band");
    if (is_first && is_last)
      rt.submit(wide, name, costs, read(from[b]), write(to[b]),
                [this, b](team_context& t, const band& x, band& y) { step(t, b, nullptr, x, nullptr, y); });
    else if (is_first || is_last)
      rt.submit(wide, name, costs, read(from[is_first ? b + 1 : b - 1]), read(from[b]), write(to[b]),
                [this, b, is_first](team_context& t, const band& other, const band& x, band& y) {
                  step(t, b, is_first ? nullptr : &other, x, is_first ? &other : nullptr, y);
                });
    else
      rt.submit(wide, name, costs, read(from[b - 1]), read(from[b]), read(from[b + 1]), write(to[b]),
                [this, b](team_context& t, const band& up, const band& x, const band& down, band& y) {
                  step(t, b, &up, x, &down, y);
                });
  }
  // The same by one thread.
  double serial(std::vector<double>& now) const {
    const std::size_t n = p_.size;
    std::vector<double> next = now;
    double change = 0;
    for (std::size_t s = 0; s < p_.steps; ++s) {
      change = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double* row = now.data() + i * n;
        change = std::max(change, relax(i, i != 0 ? row - n : row, row, i + 1 != n ? row + n : row, &next[i * n]));
      }
      now.swap(next);
    }
    return change;
  }

 private:
  const parameters p_;
};

check compare(const heat& h, const parameters& p, plate& found) {
  std::vector<double> expected;
  for (std::size_t i = 0; i < p.size * p.size; ++i) expected.push_back(h.first_value(i / p.size, i % p.size));
  const double change = h.serial(expected);
  double greatest = 0;
  std::size_t different = 0, at = 0;
  for (handle<band>& b : found) {
    greatest = std::max(greatest, b.unguarded().change);
    for (const double x : b.unguarded().cells)
      different += std::bit_cast<std::uint64_t>(x) != std::bit_cast<std::uint64_t>(expected[at++]) ? 1 : 0;
  }
  const bool same = different == 0 && at == expected.size() && greatest == change;
  return {"same_bits_as_serial", same, std::to_string(different) + " of " + std::to_string(at) + " cells differ"};
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  if (p.bands > p.size) throw error("--bands is greater than --size: a band has at least one row");
  require_memory("heat", 3.0 * sizeof(double) * static_cast<double>(p.size) * static_cast<double>(p.size));
  const heat h(p);
  runtime rt(opt);
  plate plates[2] = {plate(p.bands), plate(p.bands)};
  for (plate& x : plates)
    for (std::size_t b = 0; b < p.bands; ++b) {
      std::vector<double>& cells = x[b].unguarded().cells;
      for (std::size_t i = h.first_row(b); i < h.first_row(b + 1); ++i)
        for (std::size_t j = 0; j < p.size; ++j) cells.push_back(h.first_value(i, j));
      x[b].bytes(cells.size() * sizeof(double));
    }
  const double start = rt.now_ns();
  for (std::size_t s = 0; s < p.steps; ++s) {
    for (std::size_t b = 0; b < p.bands; ++b) h.submit(rt, b, plates[s % 2], plates[(s + 1) % 2]);
    bar.report(0.5 * static_cast<double>(s) / static_cast<double>(p.steps));
  }
  rt.wait();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  r.add("size", std::uint64_t{p.size});
  r.add("steps", std::uint64_t{p.steps});
  r.add("bands", std::uint64_t{p.bands});
  r.add("width", std::uint64_t{p.width});
  r.add("learned", p.learned);
  r.add("ns_per_cell", r.seconds * 1e9 / static_cast<double>(p.size * p.size * p.steps));
  r.checks.push_back(compare(h, p, plates[p.steps % 2]));
  return r;
}

}  // namespace

app heat_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "heat",
          .summary = "heat on a plate between two sources, bands of rows by teams",
          .example = "heat --size 256 --width 2 --workers 4",
          .options = {{"size", "rows and columns of the plate", &p->size, 1, 100'000},
                      {"steps", "how often each cell becomes the mean of its neighbours", &p->steps, 1, 1'000'000},
                      {"bands", "into how many the rows are cut", &p->bands, 1, 10'000},
                      {"width", "members of each team", &p->width, 1, 1024},
                      {"learned", tao::learned_help, &p->learned, 0, SIZE_MAX, "width"}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
