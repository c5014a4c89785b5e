// The lower half of a symmetric matrix cut into tiles, each contiguous and under a handle of its own: the datum that
// tasks name. Contiguous tiles are what makes the tile kernels fast (no two tiles share a page or a cache line, and the
// leading dimension is no power of two times the page size); the price is the copy in and out, which is timed.
//
// Failure is data too. A diagonal task that meets a pivot it cannot take the root of marks its tile void, and each task
// that reads a void tile marks what it would have written. So the mark travels along exactly the edges that order the
// tasks: nothing is shared, nothing races, and everything that does not depend on the bad pivot stays right. Diagonal
// tasks depend on each other in order, therefore exactly one meets a bad pivot in a tile that is not yet void, and it
// meets the smallest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "../app.hpp"
#include "matrix.hpp"

namespace weft::apps::cholesky {

class tile {
 public:
  void place(double* data, std::size_t rows, std::size_t columns) noexcept;
  [[nodiscard]] double* data() noexcept { return data_; }
  [[nodiscard]] const double* data() const noexcept { return data_; }
  [[nodiscard]] int rows() const noexcept { return rows_; }  // also the leading dimension
  [[nodiscard]] int columns() const noexcept { return columns_; }
  [[nodiscard]] bool valid() const noexcept { return valid_; }
  void valid(bool v) noexcept { valid_ = v; }

 private:
  double* data_ = nullptr;
  int rows_ = 0;
  int columns_ = 0;
  bool valid_ = true;
};

class tiled_matrix {
 public:
  // Tiles of `edge` rows and columns; those of the last row and column are smaller if edge does not divide n. The
  // memory is not touched yet: the task that copies a tile in is the first to, which puts it near the worker that does.
  tiled_matrix(std::size_t n, std::size_t edge);

  [[nodiscard]] std::size_t n() const noexcept { return n_; }
  [[nodiscard]] std::size_t edge() const noexcept { return edge_; }
  [[nodiscard]] std::size_t tiles() const noexcept { return tiles_; }  // per side
  // Row >= column.
  [[nodiscard]] handle<tile>& at(std::size_t row, std::size_t column) noexcept {
    return handles_[row * (row + 1) / 2 + column];
  }

 private:
  struct release {
    void operator()(double* p) const noexcept;
  };
  std::size_t n_;
  std::size_t edge_;
  std::size_t tiles_;
  std::unique_ptr<double[], release> storage_;
  std::vector<handle<tile>> handles_;  // after the storage: their destructors wait for tasks that may use it
};

// A pivot that is zero or negative. `index` counts from 1 over the whole matrix, as dpotrf_ counts. (A NaN is not
// caught here, as LAPACK does not catch it either: the residual is NaN then.)
struct bad_pivot {
  std::size_t index;
  double value;
};

// Submits the factorization of `a` in place, from copying in to copying out, and waits. `t` is scratch space of
// matching size. While it runs, BLAS calls use one thread each: the runtime is the only one that spreads work. Returns
// the smallest bad pivot if there is one; then `a` is half overwritten and of no use.
[[nodiscard]] std::optional<bad_pivot> factorize(runtime& rt, matrix& a, tiled_matrix& t, progress& bar);

// The same by OpenBLAS's dpotrf_ with this many threads.
[[nodiscard]] std::optional<bad_pivot> factorize_openblas(matrix& a, unsigned threads);

// Tasks that factorize() submits for so many tiles per side.
[[nodiscard]] std::uint64_t task_count(std::size_t tiles) noexcept;

// The largest edge that still leaves work for all: large tiles make fast kernels, but the graph is only as wide as the
// square of the tiles per side, and 8 per side is what two workers need.
[[nodiscard]] std::size_t default_edge(std::size_t n, unsigned workers) noexcept;

}  // namespace weft::apps::cholesky
