// A symmetric matrix as LAPACK's lower storage has it: column after column, n doubles each, and only entries on and
// below the diagonal mean anything. The same storage holds A before and L after a factorization, so that dpotrf_ and
// the tiled code start from and end in the same bytes and can be timed against each other fairly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../app.hpp"

namespace weft::apps::cholesky {

// BLAS counts rows in int; and n above this would not fit in the memory of any machine we know (32 TiB).
inline constexpr std::size_t order_max = std::size_t{1} << 21;

struct matrix {
  std::size_t n = 0;
  std::vector<double> values;

  matrix() = default;
  explicit matrix(std::size_t order, double fill = 0) : n(order), values(order * order, fill) {}

  [[nodiscard]] double& at(std::size_t row, std::size_t column) noexcept { return values[row + column * n]; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const noexcept { return values[row + column * n]; }
};

// FNV-1a over the bits of the lower triangle: equal digests mean equal factors, bit for bit.
[[nodiscard]] std::uint64_t digest(const matrix& l) noexcept;

// A = B + B^T + n I with entries of B + B^T in (-1, 1). Every row's other entries sum to less than its diagonal, so A
// is positive definite whatever the seed (Gershgorin). Same n and seed, same matrix, on every machine.
[[nodiscard]] matrix random_spd(std::size_t n, std::uint64_t seed);

// Square root of the sum of all squares, the upper half counted by symmetry.
[[nodiscard]] double frobenius_norm(const matrix& a);

// How wrong L is, in units of rounding: the relative size of A - L L^T over n * epsilon.
//   n <= full_residual_max  ||A - L L^T||_F / (||A||_F n eps), every entry looked at: n^3 operations
//   larger                  ||A x - L (L^T x)|| / (||A||_F ||x|| n eps), the largest over probe_vectors seeded vectors
//   of
//                           +-1: n^2 operations. A wrong entry hides only if it is orthogonal to every probe.
// NaN if anything is NaN; compare with `!(residual <= residual_max)`.
[[nodiscard]] double residual(const matrix& a, const matrix& l, std::uint64_t seed);
inline constexpr std::size_t full_residual_max = 1024;
inline constexpr int probe_vectors = 4;
// LAPACK's own test suite accepts 30 for this quotient. A right factorization stays below 1 and one tile that missed
// one update exceeds 1000, so the exact value does not matter.
inline constexpr double residual_max = 30;

// The two halves of residual(), for the tests that hold one against the other.
[[nodiscard]] double residual_full(const matrix& a, const matrix& l);
[[nodiscard]] double residual_probed(const matrix& a, const matrix& l, std::uint64_t seed);

}  // namespace weft::apps::cholesky
