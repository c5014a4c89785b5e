// A symmetric matrix in lower storage cut into tiles, each under a handle of its own: the datum that tasks name. The
// tiles lie where the matrix has them, so nothing is copied in or out. They are tall: a dgemm call packs its right
// factor anew, which costs as much as about 100 rows more would, so calls with many rows are the fast ones. (Columns a
// large power of two apart cost nothing: packing evens that out.)
//
// The matrix is cut into block columns of `width` columns, and they into a diagonal block and what lies below it. That
// part is cut where the matrix is cut into block rows: at the first start of a block column that is `height` or more
// after the last cut. Cuts between block columns only, so each diagonal block lies in one block row.
//
// Failure is data too. A diagonal task that meets a pivot it cannot take the root of marks its tile void, and each task
// that reads a void tile marks what it would have written. So the mark travels along exactly the edges that order the
// tasks: nothing is shared, nothing races, and everything that does not depend on the bad pivot stays right. Diagonal
// tasks depend on each other in order, therefore exactly one meets a bad pivot in a tile that is not yet void, and it
// meets the smallest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../app.hpp"
#include "matrix.hpp"

namespace weft::apps::cholesky {

struct tile_shape {
  std::size_t width;   // columns
  std::size_t height;  // rows
};

// The shape for so many workers. Width: n over the square root of 96 workers, rounded up to a multiple of 64, but at
// most 512, where kernels are near their best; a width that is given stays as it is. Height: 8 times the width for up
// to 4 workers, 4 times for more, which must share the solve of a block column.
[[nodiscard]] tile_shape choose_shape(std::size_t n, unsigned workers, std::size_t width = 0) noexcept;

// Part of a matrix that somebody else owns.
struct tile {
  double* data = nullptr;
  int rows = 0;
  int columns = 0;
  int distance = 0;  // from one column to the next
  bool valid = true;
};

class tiled_matrix {
 public:
  // What is left over at the end of a row or column makes smaller tiles. width >= 1.
  tiled_matrix(std::size_t n, tile_shape shape);

  [[nodiscard]] std::size_t n() const noexcept { return n_; }
  [[nodiscard]] tile_shape shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t columns() const noexcept { return column_starts_.size() - 1; }
  [[nodiscard]] std::size_t rows() const noexcept { return row_starts_.size() - 1; }
  // The block row in which diagonal block j lies.
  [[nodiscard]] std::size_t home(std::size_t j) const noexcept { return homes_[j]; }
  [[nodiscard]] std::size_t first_column(std::size_t j) const noexcept { return column_starts_[j]; }
  // Of at(i, j).
  [[nodiscard]] std::size_t first_row(std::size_t i, std::size_t j) const noexcept;

  [[nodiscard]] handle<tile>& diagonal(std::size_t j) noexcept { return diagonal_[j]; }
  // Block column j below its diagonal block, as far as block row i >= home(j) has it. May have no rows if i == home(j).
  [[nodiscard]] handle<tile>& at(std::size_t i, std::size_t j) noexcept { return below_[i * columns() + j]; }

  // Makes the tiles parts of this matrix, all valid. Who: nobody may be using them.
  void lay_over(matrix& a);

  // Tasks that factorize() submits, without panel_team.
  [[nodiscard]] std::uint64_t task_count() const noexcept;

 private:
  static void lay(handle<tile>& h, const tile& t);
  [[nodiscard]] tile part(matrix& a, std::size_t row, std::size_t row_end, std::size_t j) const noexcept;

  std::size_t n_;
  tile_shape shape_;
  std::vector<std::size_t> column_starts_;  // and n
  std::vector<std::size_t> row_starts_;     // and n; each is the start of a block column too
  std::vector<std::size_t> homes_;          // by block column
  std::vector<handle<tile>> diagonal_;
  std::vector<handle<tile>> below_;
};

// A pivot that is zero or negative. `index` counts from 1 over the whole matrix, as dpotrf_ counts. (A NaN is not
// caught here, as LAPACK does not catch it either: the residual is NaN then.)
struct bad_pivot {
  std::size_t index;
  double value;
};

// Factorizes `a` in place by tasks on the tiles of `t`, which is of matching size, and waits for them. While it runs,
// BLAS calls use one thread each: the runtime is the only one that spreads work. Returns the smallest bad pivot if
// there is one; then `a` is half overwritten and of no use.
// panel_team: not 0: each diagonal block and all that lies below it is one task of a team of so many workers, in which
// BLAS is a guest and has a thread for each. On real machines this must be all workers: how many threads OpenBLAS has
// is one number for the process, and calls of other tasks would have as many. learned: up to so many, as teams learn.
[[nodiscard]] std::optional<bad_pivot> factorize(runtime& rt, matrix& a, tiled_matrix& t, progress& bar,
                                                 unsigned panel_team = 0, bool learned = false);

// The same by OpenBLAS's dpotrf_ with this many threads.
[[nodiscard]] std::optional<bad_pivot> factorize_openblas(matrix& a, unsigned threads);

}  // namespace weft::apps::cholesky
