// The task graph of SuperGlue's Listing 1 on tall tiles: nobody writes down an edge, each task says which tiles it
// reads and writes. Updates use write, not add: adds could run in any order, and then the last bits of the result would
// depend on the schedule. With write every run on every machine gives the same bits.
#include "tiled.hpp"

#include <cblas.h>
#include <lapack.h>
#include <weft/openblas.hpp>

#include <algorithm>
#include <cmath>

namespace weft::apps::cholesky {

namespace {

// Modelled speed of one Zen 4 core in the cost clauses, for virtual runs to mean something: a peak in flops per
// nanosecond, and what packing and short loops cost in units of more rows or columns. Within 6 per cent of the rates
// measured for the shapes that occur (docs/guide/07-performance.md has the table); potrf, less than a hundredth of the
// work, within 15.
constexpr double peak_gflops = 56.5;

double gemm_ns(double rows, double columns, double depth) noexcept {
  return rows > 0 ? 2 * (rows + 100) * (columns + 16) * depth / peak_gflops : 0;
}
double syrk_ns(double columns, double depth) noexcept { return columns * (columns + 160) * depth / peak_gflops; }
double trsm_ns(double rows, double columns) noexcept { return rows * columns * (columns + 160) / peak_gflops; }
double potrf_ns(double columns) noexcept { return columns * columns * (columns + 300) / 3 / peak_gflops; }

// OpenBLAS's triangular solve reaches 17 GFLOP/s with 64 columns, its dgemm 46 with 128 and 50 with 256: so the solve
// is left to dgemm down to blocks this narrow.
constexpr int solve_columns = 32;

// Threads are a property of the whole process in OpenBLAS, so this may exist once at a time.
class blas_threads {
 public:
  explicit blas_threads(int n) : before_(openblas_get_num_threads()) { openblas_set_num_threads(n); }
  ~blas_threads() { openblas_set_num_threads(before_); }
  blas_threads(const blas_threads&) = delete;
  blas_threads& operator=(const blas_threads&) = delete;

 private:
  int before_;
};

const openblas blas{.set_num_threads = openblas_set_num_threads,
                    .get_num_threads = openblas_get_num_threads,
                    .set_affinity = openblas_setaffinity,
                    .get_affinity = openblas_getaffinity};

double cube(double x) noexcept { return x * x * x; }

double* column(double* a, int distance, int j) noexcept { return a + std::ptrdiff_t{j} * distance; }
const double* column(const double* a, int distance, int j) noexcept { return a + std::ptrdiff_t{j} * distance; }

// c -= a b^T, on `rows` rows of a and c and `columns` rows of b; all three lie in the same matrix.
void subtract_product(int rows, int columns, int depth, const double* a, const double* b, double* c, int distance) {
  if (rows == 0) return;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, depth, -1.0, a, distance, b, distance, 1.0, c,
              distance);
}

// Solves x l^T = x in place. First the left half of the columns, whose product then leaves the right half.
void solve(int rows, int columns, const double* l, double* x, int distance) {
  if (rows == 0) return;
  if (columns <= solve_columns)
    return cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, columns, 1.0, l, distance,
                       x, distance);
  const int left = columns / 2;
  const int right = columns - left;
  double* const x_right = column(x, distance, left);
  solve(rows, left, l, x, distance);
  subtract_product(rows, right, left, x, l + left, x_right, distance);
  solve(rows, right, column(l, distance, left) + left, x_right, distance);
}

// One factorization: what its tasks share. Lives until the wait that ends it.
class factorization {
 public:
  factorization(runtime& rt, matrix& a, tiled_matrix& t, progress& bar, unsigned panel_team, bool learned)
      : rt_(rt), t_(t), bar_(bar), panel_team_(panel_team), learned_(learned) {
    t.lay_over(a);
  }

  std::optional<bad_pivot> run() {
    if (panel_team_ != 0) rt_.pause();  // until the main thread waits, and so can be in a team: all panels are as wide
    for (std::size_t k = 0; k < t_.columns(); ++k) {
      if (panel_team_ != 0) {
        submit_panel(k);
      } else {
        submit_potrf(k);
        for (std::size_t i = t_.home(k); i < t_.rows(); ++i) submit_trsm(i, k);
      }
      for (std::size_t j = k + 1; j < t_.columns(); ++j) {
        submit_syrk(j, k);
        for (std::size_t i = t_.home(j); i < t_.rows(); ++i) submit_gemm(i, j, k);
      }
    }
    rt_.wait();
    return bad_;
  }

 private:
  // The next block column goes first: every later step waits for it.
  static auto urgent(std::size_t j, std::size_t k) noexcept { return priority(j <= k + 1 ? 1 : 0); }

  // Shapes are known before the tasks run, and do not change.
  static const tile& shape(handle<tile>& h) noexcept { return h.unguarded(); }

  void submit_potrf(std::size_t k) {
    handle<tile>& d = t_.diagonal(k);
    rt_.submit(write(d), named("potrf"), cost(potrf_ns(shape(d).columns)), urgent(k, k),
               [this, k](tile& t) { potrf(k, t); });
  }

  void submit_trsm(std::size_t i, std::size_t k) {
    handle<tile>& x = t_.at(i, k);
    if (shape(x).rows == 0) return;
    rt_.submit(read(t_.diagonal(k)), write(x), named("trsm"), cost(trsm_ns(shape(x).rows, shape(x).columns)),
               urgent(k, k), [](const tile& d, tile& t) {
                 if (!d.valid) return void(t.valid = false);
                 solve(t.rows, t.columns, d.data, t.data, t.distance);
               });
  }

  // The column from diagonal block k on, whose tiles lie one below the other.
  void submit_panel(std::size_t k) {
    std::vector<handle<tile>*> column{&t_.diagonal(k)};
    double ns = potrf_ns(shape(*column[0]).columns);
    for (std::size_t i = t_.home(k); i < t_.rows(); ++i) {
      handle<tile>& x = t_.at(i, k);
      if (shape(x).rows == 0) continue;
      column.push_back(&x);
      ns += trsm_ns(shape(x).rows, shape(x).columns);
    }
    const auto wide = learned_ ? team(1, panel_team_).learned() : team(panel_team_);
    rt_.submit(wide, write(column), named("panel"), cost(ns), urgent(k, k),
               [this, k](team_context& team, view<tile> tiles) {
                 openblas_guest(team, blas, [&](guest_context&) { panel(k, tiles); });
               });
  }

  // The rows of diagonal block j in the tile of block column k that has them start after so many others.
  [[nodiscard]] std::size_t rows_above(std::size_t j, std::size_t k) const noexcept {
    return t_.first_column(j) - t_.first_row(t_.home(j), k);
  }

  void submit_syrk(std::size_t j, std::size_t k) {
    handle<tile>& p = t_.at(t_.home(j), k);
    handle<tile>& c = t_.diagonal(j);
    rt_.submit(read(p), write(c), named("syrk"), cost(syrk_ns(shape(c).columns, shape(p).columns)), urgent(j, k),
               [above = rows_above(j, k)](const tile& a, tile& t) {
                 if (!a.valid || !t.valid) return void(t.valid = false);
                 cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, t.columns, a.columns, -1.0, a.data + above,
                             a.distance, 1.0, t.data, t.distance);
               });
  }

  void submit_gemm(std::size_t i, std::size_t j, std::size_t k) {
    handle<tile>& p = t_.at(i, k);
    handle<tile>& q = t_.at(t_.home(j), k);
    handle<tile>& c = t_.at(i, j);
    if (shape(c).rows == 0) return;
    const auto ns = cost(gemm_ns(shape(c).rows, shape(c).columns, shape(p).columns));
    const auto body = [below = t_.first_row(i, j) - t_.first_row(i, k),
                       above = rows_above(j, k)](const tile& a, const tile& b, tile& t) {
      if (!a.valid || !b.valid || !t.valid) return void(t.valid = false);
      subtract_product(t.rows, t.columns, a.columns, a.data + below, b.data + above, t.data, t.distance);
    };
    rt_.submit(read(p), read(q), write(c), named("gemm"), ns, urgent(j, k), body);
  }

  void potrf(std::size_t k, tile& t) {
    if (!t.valid) return;
    int info = 0;
    const char lower = 'L';
    LAPACK_dpotrf(&lower, &t.columns, t.data, &t.distance, &info);
    if (info > 0) {
      bad_ = bad_pivot{t_.first_column(k) + static_cast<std::size_t>(info),
                       column(t.data, t.distance, info - 1)[info - 1]};
      t.valid = false;
    }
    // Work still to do after step k falls with the third power of what is left of the matrix.
    bar_.report(1 - cube(static_cast<double>(t_.columns() - k - 1) / static_cast<double>(t_.columns())));
  }

  void panel(std::size_t k, view<tile> tiles) {
    tile& d = tiles[0];
    int rows = 0;
    bool valid = true;
    for (std::size_t i = 1; i < tiles.size(); ++i) {
      rows += tiles[i].rows;
      valid = valid && tiles[i].valid;
    }
    potrf(k, d);
    valid = valid && d.valid;
    if (valid && rows != 0) solve(rows, d.columns, d.data, tiles[1].data, d.distance);
    for (std::size_t i = 1; i < tiles.size(); ++i) tiles[i].valid = valid;
  }

  runtime& rt_;
  tiled_matrix& t_;
  progress& bar_;
  unsigned panel_team_;
  bool learned_;
  std::optional<bad_pivot> bad_;  // written by one task at most (tiled.hpp), read after the wait
};

// What choose_shape aims at. Modelled with the costs above, the best of the other shapes tried was at most 4 per cent
// faster for n = 4096 and 8192 on 2 to 16 workers, and at most 12 for smaller n.
constexpr double width_divisor = 96;
constexpr std::size_t width_step = 64;
constexpr std::size_t width_max = 512;
constexpr std::size_t tall = 8;  // height over width
constexpr std::size_t less_tall = 4;
constexpr unsigned few_workers = 4;

}  // namespace

tiled_matrix::tiled_matrix(std::size_t n, tile_shape shape) : n_(n), shape_(shape) {
  for (std::size_t column = 0; column < n; column += shape_.width) {
    if (column_starts_.empty() || column - row_starts_.back() >= shape_.height) row_starts_.push_back(column);
    column_starts_.push_back(column);
    homes_.push_back(row_starts_.size() - 1);
  }
  row_starts_.push_back(n);
  column_starts_.push_back(n);
  diagonal_ = std::vector<handle<tile>>(columns());
  below_ = std::vector<handle<tile>>(rows() * columns());
}

std::size_t tiled_matrix::first_row(std::size_t i, std::size_t j) const noexcept {
  return std::max(row_starts_[i], column_starts_[j + 1]);
}

tile tiled_matrix::part(matrix& a, std::size_t row, std::size_t row_end, std::size_t j) const noexcept {
  const std::size_t column = column_starts_[j];
  return {.data = a.values.data() + row + column * n_,
          .rows = static_cast<int>(row_end - row),
          .columns = static_cast<int>(column_starts_[j + 1] - column),
          .distance = static_cast<int>(n_)};
}

void tiled_matrix::lay(handle<tile>& h, const tile& t) {
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(t.rows) * static_cast<std::uint64_t>(t.columns) * sizeof(double);
  if (h.bytes() != bytes) h.bytes(bytes);  // tiles are laid again for each run, and then tasks have named them
  h.unguarded() = t;
}

void tiled_matrix::lay_over(matrix& a) {
  for (std::size_t j = 0; j < columns(); ++j) {
    lay(diagonal(j), part(a, column_starts_[j], column_starts_[j + 1], j));
    for (std::size_t i = home(j); i < rows(); ++i) lay(at(i, j), part(a, first_row(i, j), row_starts_[i + 1], j));
  }
}

std::uint64_t tiled_matrix::task_count() const noexcept {
  std::uint64_t count = 0;  // each tile of block column j is factored or solved once, and updated j times
  for (std::size_t j = 0; j < columns(); ++j) {
    const bool full = column_starts_[j + 1] == row_starts_[home(j) + 1];  // nothing of its block row is left below
    count += (j + 1) * (1 + rows() - home(j) - (full ? 1 : 0));
  }
  return count;
}

std::optional<bad_pivot> factorize(runtime& rt, matrix& a, tiled_matrix& t, progress& bar, unsigned panel_team,
                                   bool learned) {
  const blas_threads one(1);
  return factorization(rt, a, t, bar, panel_team, learned).run();
}

std::optional<bad_pivot> factorize_openblas(matrix& a, unsigned threads) {
  const blas_threads all(static_cast<int>(threads));
  int n = static_cast<int>(a.n);
  int info = 0;
  const char lower = 'L';
  LAPACK_dpotrf(&lower, &n, a.values.data(), &n, &info);
  if (info <= 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(info - 1);
  return bad_pivot{at + 1, a.at(at, at)};
}

tile_shape choose_shape(std::size_t n, unsigned workers, std::size_t width) noexcept {
  if (width == 0) {
    const double exact = static_cast<double>(n) / std::sqrt(width_divisor * std::max(workers, 1u));
    width = std::min((static_cast<std::size_t>(exact) / width_step + 1) * width_step, width_max);
  }
  return {width, (workers <= few_workers ? tall : less_tall) * width};
}

}  // namespace weft::apps::cholesky
