// Fast Fourier transforms of one signal after the other, each in four steps: its points as a matrix, transforms of the
// columns, a factor for each point, transforms of the rows. Between two steps the matrix is transposed by streams. A
// task of one step pushes a piece to every stream of the next, an array of streams as one clause; a task of the next
// pops from its stream, and has the pieces of all in a row. Nothing waits for a whole signal, so several are under way.
// Checks: sums as in the definition, Parseval's theorem, the inverse by a transform in one step, and the bits of the
// same functions called in a loop.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "../app.hpp"
#include "../near/sweep.hpp"
#include "pipeline.hpp"

namespace weft::apps {
namespace {

struct point {
  double re, im;
};
using points = std::span<const point>;
constexpr std::size_t lanes_max = 8;  // so many streams in the clause of a push, beside one that is popped

// Of a point, on modelled machines; docs/guide/47-stream-programs.md.
constexpr double cycles_to_load = 7, cycles_to_store = 15, cycles_a_level = 4;

struct parameters {
  std::size_t count = 1 << 16, lanes = 8, signals = 16;
};

point plus(point a, point b) { return {a.re + b.re, a.im + b.im}; }
point minus(point a, point b) { return {a.re - b.re, a.im - b.im}; }
point times(point a, point b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
double energy(point a) { return a.re * a.re + a.im * a.im; }

point sample(std::size_t signal, std::size_t i) {
  const std::size_t cell = (signal << 40) + 2 * i;
  return {near::noise(cell) - 0.5, near::noise(cell + 1) - 0.5};
}

// exp(-2 pi i k / n) for all k.
std::vector<point> make_roots(std::size_t n) {
  std::vector<point> roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
  return roots;
}

// In place, of a power of two that divides the number of roots. Not inlined: with other code around it, a compiler may
// contract other multiplications and additions, and bits are compared.
[[gnu::noinline]] void transform(std::span<point> x, const std::vector<point>& roots) {
  for (std::size_t i = 1, j = 0; i < x.size(); ++i) {
    std::size_t bit = x.size() / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j |= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t half = 1; half < x.size(); half *= 2) {
    const std::size_t stride = roots.size() / (2 * half);
    for (std::size_t i = 0; i < x.size(); i += 2 * half)
      for (std::size_t k = i; k < i + half; ++k) {
        const point turned = times(x[k + half], roots[(k - i) * stride]);
        x[k + half] = minus(x[k], turned);
        x[k] = plus(x[k], turned);
      }
  }
}

// The points of a signal by rows, n = r * columns + c; of its spectrum, k = k1 + rows * k2. A lane has as many rows as
// any other, and as many columns.
struct shape {
  explicit shape(const parameters& p)
      : lanes(p.lanes), rows(std::size_t{1} << std::bit_width(p.count) / 2), columns(p.count / rows), count(p.count) {}
  std::size_t lanes, rows, columns, count;
  [[nodiscard]] std::size_t rows_each() const { return rows / lanes; }
  [[nodiscard]] std::size_t columns_each() const { return columns / lanes; }
  [[nodiscard]] std::size_t each() const { return count / lanes; }
  [[nodiscard]] std::size_t piece() const { return count / lanes / lanes; }
};

using pieces = std::span<const std::span<point>>;

// Rows of a lane, cut into as many pieces by columns, each by rows.
[[gnu::noinline]] void load(const shape& s, std::size_t signal, std::size_t lane, pieces out) {
  for (std::size_t r = 0; r < s.rows_each(); ++r)
    for (std::size_t c = 0; c < s.columns; ++c)
      out[c / s.columns_each()][r * s.columns_each() + c % s.columns_each()] =
          sample(signal, (lane * s.rows_each() + r) * s.columns + c);
}

// All rows of the columns of a lane; out: by what are rows of the spectrum, each piece by columns.
[[gnu::noinline]] void transform_columns(const shape& s, const std::vector<point>& roots, std::size_t lane, points in,
                                         pieces out) {
  std::vector<point> column(s.rows);
  for (std::size_t c = 0; c < s.columns_each(); ++c) {
    for (std::size_t r = 0; r < s.rows; ++r) column[r] = in[r * s.columns_each() + c];
    transform(column, roots);
    const std::size_t step = lane * s.columns_each() + c;
    for (std::size_t k = 0; k < s.rows; ++k)
      out[k / s.rows_each()][c * s.rows_each() + k % s.rows_each()] = times(column[k], roots[step * k]);
  }
}

[[gnu::noinline]] void transform_rows(const shape& s, const std::vector<point>& roots, points in,
                                      std::span<point> out) {
  for (std::size_t r = 0; r < s.rows_each(); ++r) {
    const std::span<point> row = out.subspan(r * s.columns, s.columns);
    for (std::size_t c = 0; c < s.columns; ++c) row[c] = in[c * s.rows_each() + r];
    transform(row, roots);
  }
}

void store(const shape& s, std::size_t lane, points in, std::span<point> spectrum) {
  for (std::size_t r = 0; r < s.rows_each(); ++r)
    for (std::size_t c = 0; c < s.columns; ++c) spectrum[lane * s.rows_each() + r + s.rows * c] = in[r * s.columns + c];
}

class transforms {
 public:
  transforms(const parameters& p, progress& bar)
      : shape_(p), signals_(p.signals), roots_(make_roots(p.count)), spectra_(p.signals * p.count),
        ran_(4 * p.lanes * p.signals), columns_(p.lanes), rows_(p.lanes), done_(p.lanes), bar_(bar) {}

  void submit(runtime& rt, std::size_t signal) {
    for (std::size_t lane = 0; lane < shape_.lanes; ++lane) submit_load(rt, signal, lane);
    for (std::size_t lane = 0; lane < shape_.lanes; ++lane) submit_columns(rt, signal, lane);
    for (std::size_t lane = 0; lane < shape_.lanes; ++lane) submit_rows(rt, signal, lane);
  }
  [[nodiscard]] std::vector<check> checks() const {
    return {pipeline::each_once(ran_), compare_definition(), compare_energy(), compare_inverse(), compare_bits()};
  }

 private:
  [[nodiscard]] double work(std::size_t length) const {
    return cycles_a_level * static_cast<double>(std::bit_width(length)) * static_cast<double>(shape_.each());
  }
  void count_body(std::size_t step, std::size_t signal, std::size_t lane) {
    ++ran_[(step * signals_ + signal) * shape_.lanes + lane];
  }
  [[nodiscard]] std::span<point> spectrum(std::size_t signal) {
    return std::span(spectra_).subspan(signal * shape_.count, shape_.count);
  }
  [[nodiscard]] points spectrum(std::size_t signal) const {
    return std::span(spectra_).subspan(signal * shape_.count, shape_.count);
  }

  void submit_load(runtime& rt, std::size_t signal, std::size_t lane) {
    rt.submit(named("load"), cycles(cycles_to_load * static_cast<double>(shape_.each())),
              push<lanes_max>(columns_, shape_.piece()), [this, signal, lane](pieces out) {
                count_body(0, signal, lane);
                load(shape_, signal, lane, out);
              });
  }
  void submit_columns(runtime& rt, std::size_t signal, std::size_t lane) {
    rt.submit(named("columns"), cycles(work(shape_.rows)), pop(columns_[lane], shape_.each()),
              push<lanes_max>(rows_, shape_.piece()), [this, signal, lane](points in, pieces out) {
                count_body(1, signal, lane);
                transform_columns(shape_, roots_, lane, in, out);
              });
  }
  void submit_rows(runtime& rt, std::size_t signal, std::size_t lane) {
    rt.submit(named("rows"), cycles(work(shape_.columns)), pop(rows_[lane], shape_.each()),
              push(done_[lane], shape_.each()), [this, signal, lane](points in, std::span<point> out) {
                count_body(2, signal, lane);
                transform_rows(shape_, roots_, in, out);
              });
    rt.submit(named("store"), cycles(cycles_to_store * static_cast<double>(shape_.each())),
              pop(done_[lane], shape_.each()), [this, signal, lane](points in) {
                count_body(3, signal, lane);
                store(shape_, lane, in, spectrum(signal));
                if (lane == 0) bar_.report(static_cast<double>(signal + 1) / static_cast<double>(signals_));
              });
  }

  [[nodiscard]] check compare_definition() const;
  [[nodiscard]] check compare_energy() const;
  [[nodiscard]] check compare_inverse() const;
  [[nodiscard]] check compare_bits() const;

  const shape shape_;
  const std::size_t signals_;
  const std::vector<point> roots_;
  std::vector<point> spectra_;
  std::vector<std::uint8_t> ran_;
  std::vector<stream<point>> columns_, rows_, done_;
  progress& bar_;
};

// Each value of small spectra, and some of others: the sum has as many terms as there are points.
check transforms::compare_definition() const {
  constexpr std::size_t all_up_to = 512, of_others = 4;
  const std::size_t n = shape_.count, tried = n <= all_up_to ? n : of_others;
  double worst = 0;
  for (std::size_t signal = 0; signal < signals_; ++signal)
    for (std::size_t t = 0; t < tried; ++t) {
      const std::size_t k = tried == n ? t : static_cast<std::size_t>(near::noise(signal * tried + t) * double(n));
      point sum{0, 0};
      for (std::size_t i = 0; i < n; ++i) sum = plus(sum, times(sample(signal, i), roots_[k * i % n]));
      worst = std::max(worst, std::sqrt(energy(minus(sum, spectrum(signal)[k]))));
    }
  return pipeline::at_most("as_defined", worst, 1e-14 * std::sqrt(double(n)) + 1e-15 * double(n));
}

check transforms::compare_energy() const {
  double worst = 0;
  for (std::size_t signal = 0; signal < signals_; ++signal) {
    double before = 0, after = 0;
    for (std::size_t i = 0; i < shape_.count; ++i) before += energy(sample(signal, i));
    for (const point x : spectrum(signal)) after += energy(x);
    worst = std::max(worst, std::abs(after / static_cast<double>(shape_.count) / before - 1));
  }
  return pipeline::at_most("energy_as_parseval_says", worst, 1e-12);
}

check transforms::compare_inverse() const {
  const auto n = static_cast<double>(shape_.count);
  double worst = 0;
  std::vector<point> x(shape_.count);
  for (std::size_t signal = 0; signal < signals_; ++signal) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = {spectrum(signal)[k].re, -spectrum(signal)[k].im};
    transform(x, roots_);
    for (std::size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, std::sqrt(energy(minus({x[i].re / n, -x[i].im / n}, sample(signal, i)))));
  }
  return pipeline::at_most("inverse_gives_signal", worst, 1e-13);
}

check transforms::compare_bits() const {
  const shape& s = shape_;
  std::vector<point> columns(s.count), rows(s.count), done(s.each()), expected(s.count);
  // The piece of each stream that one lane pushes, where a vector has all of a stream in a row.
  const auto pieces_in = [&s](std::vector<point>& all, std::size_t lane) {
    std::vector<std::span<point>> found;
    for (std::size_t to = 0; to < s.lanes; ++to)
      found.push_back(std::span(all).subspan(to * s.each() + lane * s.piece(), s.piece()));
    return found;
  };
  std::size_t different = 0;
  for (std::size_t signal = 0; signal < signals_; ++signal) {
    for (std::size_t lane = 0; lane < s.lanes; ++lane) load(s, signal, lane, pieces_in(columns, lane));
    for (std::size_t lane = 0; lane < s.lanes; ++lane)
      transform_columns(s, roots_, lane, std::span(columns).subspan(lane * s.each(), s.each()), pieces_in(rows, lane));
    for (std::size_t lane = 0; lane < s.lanes; ++lane) {
      transform_rows(s, roots_, std::span(rows).subspan(lane * s.each(), s.each()), done);
      store(s, lane, done, expected);
    }
    for (std::size_t k = 0; k < s.count; ++k) {
      const point a = expected[k], b = spectrum(signal)[k];
      different += a.re != b.re || a.im != b.im;
    }
  }
  return {"bits_of_a_loop", different == 0,
          std::to_string(different) + " of " + std::to_string(spectra_.size()) + " values differ"};
}

void refuse(const parameters& p) {
  for (const auto& [name, value] : {std::pair{"points", p.count}, {"lanes", p.lanes}})
    if (!std::has_single_bit(value))
      throw error("fft: --" + std::string(name) + " " + std::to_string(value) + " is no power of two; take " +
                  std::to_string(std::bit_floor(value)) + " or " + std::to_string(std::bit_ceil(value + 1)));
  if (p.count < p.lanes * p.lanes)
    throw error("fft: --points " + std::to_string(p.count) + " are too few for " + std::to_string(p.lanes) +
                " lanes, of which each has rows and columns of its own: at least " + std::to_string(p.lanes * p.lanes) +
                ", or fewer --lanes");
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  refuse(p);
  require_memory("fft", sizeof(point) * static_cast<double>(p.count) * (static_cast<double>(p.signals) + 8));
  runtime rt(opt);
  transforms work(p, bar);
  const double start = rt.now_ns();
  for (std::size_t i = 0; i < p.signals; ++i) work.submit(rt, i);
  rt.wait();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  r.describe(rt);
  r.add("points", std::uint64_t{p.count});
  r.add("lanes", std::uint64_t{p.lanes});
  r.add("signals", std::uint64_t{p.signals});
  r.add("buffers_peak_bytes", std::uint64_t{node_memory().peak});
  r.add("ns_per_point", r.seconds * 1e9 / static_cast<double>(p.count * p.signals));
  r.checks = work.checks();
  return r;
}

}  // namespace

app fft_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "fft",
          .summary = "Fourier transforms in four steps, between which streams transpose",
          .example = "fft --points 65536 --signals 32",
          .options = {{"points", "of a signal, a power of two", &p->count, 1, std::size_t{1} << 26},
                      {"lanes", "tasks of a step of a signal, a power of two", &p->lanes, 1, lanes_max},
                      {"signals", "to transform", &p->signals, 1, 100'000}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
