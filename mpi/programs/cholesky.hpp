// A Cholesky factorisation on ranks: the tiles of the lower half belong to rank (i * n + j) mod P, columns are finished
// from left to right, and each tile takes from the left what it needs when its turn comes. Nothing in here says who
// sends what to whom.
#pragma once
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "weft/cluster.hpp"

namespace weft::programs {

// b x b, by rows.
struct tile {
  explicit tile(std::size_t side) : b(side), a(side * side) {}
  using value_type = double;
  [[nodiscard]] double* data() noexcept { return a.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return a.size(); }
  [[nodiscard]] double& at(std::size_t i, std::size_t j) noexcept { return a[i * b + j]; }
  [[nodiscard]] double at(std::size_t i, std::size_t j) const noexcept { return a[i * b + j]; }
  std::size_t b;
  std::vector<double> a;
};

// What is done with tiles. Another set is as good, if it gives the same bits on every rank.
struct plain_kernels {
  static void potrf(tile& d) {
    for (std::size_t j = 0; j < d.b; ++j) {
      for (std::size_t k = 0; k < j; ++k) d.at(j, j) -= d.at(j, k) * d.at(j, k);
      if (!(d.at(j, j) > 0)) throw std::runtime_error("the matrix is not positive definite");
      d.at(j, j) = std::sqrt(d.at(j, j));
      for (std::size_t i = j + 1; i < d.b; ++i) {
        for (std::size_t k = 0; k < j; ++k) d.at(i, j) -= d.at(i, k) * d.at(j, k);
        d.at(i, j) /= d.at(j, j);
      }
    }
  }
  static void trsm(const tile& d, tile& x) {
    for (std::size_t i = 0; i < x.b; ++i)
      for (std::size_t j = 0; j < x.b; ++j) {
        for (std::size_t k = 0; k < j; ++k) x.at(i, j) -= x.at(i, k) * d.at(j, k);
        x.at(i, j) /= d.at(j, j);
      }
  }
  static void gemm(const tile& l, const tile& r, tile& x) {  // x -= l r^T
    for (std::size_t i = 0; i < x.b; ++i)
      for (std::size_t j = 0; j < x.b; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < x.b; ++k) sum += l.at(i, k) * r.at(j, k);
        x.at(i, j) -= sum;
      }
  }
};

class tiled_matrix {
 public:
  // n x n tiles of b x b.
  tiled_matrix(cluster& w, std::size_t n, std::size_t b) : tiled_matrix(w, n, b, cyclic{n}) {}
  // owner(i, j, ranks) has tile i, j.
  template <class Owner>
  tiled_matrix(cluster& w, std::size_t n, std::size_t b, Owner owner) : n_(n), b_(b), tiles_(n * n) {
    const auto ranks = static_cast<std::size_t>(w.size());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        tiles_[i * n + j] = std::make_unique<cluster_handle<tile>>(w, static_cast<int>(owner(i, j, ranks)), b);
  }
  // One after the other, by rows.
  struct cyclic {
    std::size_t n;
    std::size_t operator()(std::size_t i, std::size_t j, std::size_t ranks) const noexcept {
      return (i * n + j) % ranks;
    }
  };
  // Ranks stand in a grid that is as square as can be, so a row or a column of tiles is with few of them.
  struct grid {
    std::size_t operator()(std::size_t i, std::size_t j, std::size_t ranks) const noexcept {
      std::size_t rows = 1;
      for (std::size_t r = 1; r * r <= ranks; ++r)
        if (ranks % r == 0) rows = r;
      const std::size_t columns = ranks / rows;
      return i % rows * columns + j % columns;
    }
  };
  [[nodiscard]] cluster_handle<tile>& at(std::size_t i, std::size_t j) { return *tiles_[i * n_ + j]; }
  [[nodiscard]] std::size_t n() const noexcept { return n_; }
  [[nodiscard]] std::size_t b() const noexcept { return b_; }

 private:
  std::size_t n_, b_;
  std::vector<std::unique_ptr<cluster_handle<tile>>> tiles_;
};

// A matrix that is positive definite, the same on any number of ranks.
inline void fill(cluster& w, tiled_matrix& m) {
  for (std::size_t i = 0; i < m.n(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      w.submit(write(m.at(i, j)), named("fill"), [i, j, side = m.n() * m.b()](tile& t) {
        for (std::size_t r = 0; r < t.b; ++r)
          for (std::size_t c = 0; c < t.b; ++c) {
            const std::size_t row = i * t.b + r, column = j * t.b + c;
            const std::size_t low = row < column ? row : column, high = row < column ? column : row;
            t.at(r, c) = static_cast<double>((low * 131 + high * 37) % 1000) / 1000;
            if (row == column) t.at(r, c) += static_cast<double>(side);
          }
      });
}

template <class Kernels = plain_kernels> void cholesky(cluster& w, tiled_matrix& m) {
  for (std::size_t j = 0; j < m.n(); ++j)
    for (std::size_t i = j; i < m.n(); ++i) {
      for (std::size_t k = 0; k < j; ++k)
        w.submit(read(m.at(i, k)), read(m.at(j, k)), write(m.at(i, j)), named("gemm"), &Kernels::gemm);
      if (i == j)
        w.submit(write(m.at(j, j)), named("potrf"), &Kernels::potrf);
      else
        w.submit(read(m.at(j, j)), write(m.at(i, j)), named("trsm"), &Kernels::trsm);
    }
}

// Sum of the bits of all tiles: the same on all ranks, and for any number of them.
inline std::uint64_t checksum(cluster& w, tiled_matrix& m) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < m.n(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      for (const double x : w.get(m.at(i, j)).a) sum = (sum ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3u;
  return sum;
}

}  // namespace weft::programs
