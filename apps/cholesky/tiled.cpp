// The task graph of SuperGlue's Listing 1: nobody writes down an edge, each task says which tiles it reads and writes.
// Updates use write, not add: adds could run in any order, and then the last bits of the result would depend on the
// schedule. With write every run on every machine gives the same bits.
#include "tiled.hpp"

#include <cblas.h>
#include <lapack.h>

#include <algorithm>
#include <new>

namespace weft::apps::cholesky {

namespace {

// Modelled speed of one core in the cost clauses, for virtual runs to mean something: tile kernels of 256 to 512 on one
// Zen 4 core measured 43 to 46 GFLOP/s, copies about 10 GB/s. Flops per nanosecond and bytes per nanosecond.
constexpr double kernel_gflops = 45;
constexpr double copy_gbytes = 10;

constexpr std::size_t alignment = 64;

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

void copy_column(const double* from, double* to, int count) noexcept { std::copy(from, from + count, to); }

// Copies between a tile and its place in the whole matrix. Of diagonal tiles the upper half comes along unread.
void copy_in(const matrix& a, std::size_t row, std::size_t column, tile& t) noexcept {
  for (int j = 0; j < t.columns(); ++j)
    copy_column(&a.values[row + (column + static_cast<std::size_t>(j)) * a.n], t.data() + std::ptrdiff_t{j} * t.rows(),
                t.rows());
  t.valid(true);
}

void copy_out(const tile& t, matrix& a, std::size_t row, std::size_t column) noexcept {
  for (int j = 0; j < t.columns(); ++j)
    copy_column(t.data() + std::ptrdiff_t{j} * t.rows(), &a.values[row + (column + static_cast<std::size_t>(j)) * a.n],
                t.rows());
}

double cube(double x) noexcept { return x * x * x; }

// One factorization: what its tasks share. Lives until the wait that ends it.
class factorization {
 public:
  factorization(runtime& rt, matrix& a, tiled_matrix& t, progress& bar) : rt_(rt), a_(a), t_(t), bar_(bar) {}

  std::optional<bad_pivot> run() {
    for (std::size_t i = 0; i < t_.tiles(); ++i)
      for (std::size_t j = 0; j <= i; ++j) submit_copy_in(i, j);
    for (std::size_t k = 0; k < t_.tiles(); ++k) {
      submit_potrf(k);
      for (std::size_t i = k + 1; i < t_.tiles(); ++i) submit_trsm(i, k);
      for (std::size_t i = k + 1; i < t_.tiles(); ++i) {
        for (std::size_t j = k + 1; j < i; ++j) submit_gemm(i, j, k);
        submit_syrk(i, k);
      }
      for (std::size_t i = k; i < t_.tiles(); ++i) submit_copy_out(i, k);
    }
    rt_.wait();
    return bad_;
  }

 private:
  [[nodiscard]] double kernel_ns(double flops_per_cube) const noexcept {
    return flops_per_cube * cube(static_cast<double>(t_.edge())) / kernel_gflops;
  }
  [[nodiscard]] double copy_ns() const noexcept {
    return 2 * sizeof(double) * static_cast<double>(t_.edge()) * static_cast<double>(t_.edge()) / copy_gbytes;
  }

  void submit_copy_in(std::size_t i, std::size_t j) {
    rt_.submit(write(t_.at(i, j)), named("copy in"), cost(copy_ns()),
               [this, i, j](tile& t) { copy_in(a_, i * t_.edge(), j * t_.edge(), t); });
  }

  void submit_copy_out(std::size_t i, std::size_t j) {
    rt_.submit(read(t_.at(i, j)), named("copy out"), cost(copy_ns()),
               [this, i, j](const tile& t) { copy_out(t, a_, i * t_.edge(), j * t_.edge()); });
  }

  void submit_potrf(std::size_t k) {
    rt_.submit(write(t_.at(k, k)), named("potrf"), cost(kernel_ns(1.0 / 3)), [this, k](tile& t) { potrf(k, t); });
  }

  void submit_trsm(std::size_t i, std::size_t k) {
    rt_.submit(read(t_.at(k, k)), write(t_.at(i, k)), named("trsm"), cost(kernel_ns(1)), [](const tile& d, tile& t) {
      if (!d.valid()) return t.valid(false);
      cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, t.rows(), t.columns(), 1.0, d.data(),
                  d.rows(), t.data(), t.rows());
    });
  }

  void submit_syrk(std::size_t i, std::size_t k) {
    rt_.submit(read(t_.at(i, k)), write(t_.at(i, i)), named("syrk"), cost(kernel_ns(1)), [](const tile& p, tile& t) {
      if (!p.valid() || !t.valid()) return t.valid(false);
      cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, t.rows(), p.columns(), -1.0, p.data(), p.rows(), 1.0,
                  t.data(), t.rows());
    });
  }

  void submit_gemm(std::size_t i, std::size_t j, std::size_t k) {
    rt_.submit(read(t_.at(i, k)), read(t_.at(j, k)), write(t_.at(i, j)), named("gemm"), cost(kernel_ns(2)),
               [](const tile& p, const tile& q, tile& t) {
                 if (!p.valid() || !q.valid() || !t.valid()) return t.valid(false);
                 cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, t.rows(), t.columns(), p.columns(), -1.0,
                             p.data(), p.rows(), q.data(), q.rows(), 1.0, t.data(), t.rows());
               });
  }

  void potrf(std::size_t k, tile& t) {
    if (!t.valid()) return;
    int n = t.rows();
    int info = 0;
    const char lower = 'L';
    LAPACK_dpotrf(&lower, &n, t.data(), &n, &info);
    if (info > 0) {
      const auto at = static_cast<std::size_t>(info - 1);
      bad_ = bad_pivot{k * t_.edge() + at + 1, t.data()[at + at * static_cast<std::size_t>(n)]};
      t.valid(false);
    }
    // Work still to do after step k falls with the third power of what is left of the matrix.
    bar_.report(1 - cube(static_cast<double>(t_.tiles() - k - 1) / static_cast<double>(t_.tiles())));
  }

  runtime& rt_;
  matrix& a_;
  tiled_matrix& t_;
  progress& bar_;
  std::optional<bad_pivot> bad_;  // written by one task at most (tiled.hpp), read after the wait
};

}  // namespace

void tile::place(double* data, std::size_t rows, std::size_t columns) noexcept {
  data_ = data;
  rows_ = static_cast<int>(rows);
  columns_ = static_cast<int>(columns);
}

void tiled_matrix::release::operator()(double* p) const noexcept {
  ::operator delete[](p, std::align_val_t{alignment});
}

tiled_matrix::tiled_matrix(std::size_t n, std::size_t edge)
    : n_(n), edge_(std::min(edge, n)), tiles_((n + edge_ - 1) / edge_), handles_(tiles_ * (tiles_ + 1) / 2) {
  const std::size_t stride = (edge_ * edge_ + 7) / 8 * 8;  // whole cache lines
  storage_.reset(
      static_cast<double*>(::operator new[](stride* handles_.size() * sizeof(double), std::align_val_t{alignment})));
  const auto extent = [&](std::size_t t) { return std::min(edge_, n_ - t * edge_); };
  for (std::size_t i = 0; i < tiles_; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      at(i, j).unguarded().place(storage_.get() + stride * (i * (i + 1) / 2 + j), extent(i), extent(j));
}

std::optional<bad_pivot> factorize(runtime& rt, matrix& a, tiled_matrix& t, progress& bar) {
  const blas_threads one(1);
  return factorization(rt, a, t, bar).run();
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

std::uint64_t task_count(std::size_t tiles) noexcept {
  const std::uint64_t t = tiles;
  return t * (t + 1) * (t + 2) / 6 + t * (t + 1);  // potrf, trsm, syrk, gemm; and both copies of each tile
}

std::size_t default_edge(std::size_t n, unsigned workers) noexcept {
  // Two workers, GFLOP/s by edge. n = 8192: 384 84, 512 86, 640 89, 768 87. n = 4096: 192 72, 256 73, 384 75, 512 79.
  for (const std::size_t edge : {640u, 512u, 256u}) {
    const std::size_t tiles = n / edge;
    if (tiles * tiles >= std::size_t{32} * workers) return edge;
  }
  return 128;
}

}  // namespace weft::apps::cholesky
