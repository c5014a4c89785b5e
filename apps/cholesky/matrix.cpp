// Making matrices and judging factors. Both are outside of every timed region, yet both must stay O(n^2) for large n,
// or checking a run would take longer than the run.
#include "matrix.hpp"

#include <cblas.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace weft::apps::cholesky {

namespace {

// splitmix64: a bijection that turns neighbouring keys into unrelated bits, so each entry needs no predecessor.
std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Strictly between -1 and 1: 53 random bits, moved to the middle of their interval.
double symmetric_unit(std::uint64_t key) noexcept {
  return (static_cast<double>(mix(key) >> 11) + 0.5) * 0x1p-52 - 1.0;
}

double norm(const std::vector<double>& v) { return cblas_dnrm2(static_cast<int>(v.size()), v.data(), 1); }

}  // namespace

matrix random_spd(std::size_t n, std::uint64_t seed) {
  matrix a(n);
  const std::uint64_t stream = mix(seed);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) a.at(i, j) = symmetric_unit(stream ^ (i << 32 | j));
    a.at(j, j) += static_cast<double>(n);
  }
  return a;
}

std::uint64_t digest(const matrix& l) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t j = 0; j < l.n; ++j)
    for (std::size_t i = j; i < l.n; ++i) hash = (hash ^ std::bit_cast<std::uint64_t>(l.at(i, j))) * 0x100000001b3u;
  return hash;
}

double frobenius_norm(const matrix& a) {
  double sum = 0;
  for (std::size_t j = 0; j < a.n; ++j) {
    double below = 0;
    for (std::size_t i = j + 1; i < a.n; ++i) below += a.at(i, j) * a.at(i, j);
    sum += a.at(j, j) * a.at(j, j) + 2 * below;
  }
  return std::sqrt(sum);
}

double residual_full(const matrix& a, const matrix& l) {
  const int n = static_cast<int>(a.n);
  matrix triangle(a.n);
  for (std::size_t j = 0; j < a.n; ++j)
    for (std::size_t i = j; i < a.n; ++i) triangle.at(i, j) = l.at(i, j);
  matrix difference = a;  // becomes A - L L^T; its upper half is never read
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1.0, triangle.values.data(), n, 1.0,
              difference.values.data(), n);
  const double unit = std::numeric_limits<double>::epsilon() * static_cast<double>(a.n);
  return frobenius_norm(difference) / (frobenius_norm(a) * unit);
}

double residual_probed(const matrix& a, const matrix& l, std::uint64_t seed) {
  const int n = static_cast<int>(a.n);
  const double unit = std::numeric_limits<double>::epsilon() * static_cast<double>(a.n) * frobenius_norm(a);
  double worst = 0;
  for (int probe = 0; probe < probe_vectors; ++probe) {
    std::vector<double> x(a.n), y(a.n);
    const std::uint64_t stream = mix(seed + static_cast<std::uint64_t>(probe));
    for (std::size_t i = 0; i < a.n; ++i) x[i] = (mix(stream ^ i) & 1) != 0 ? 1.0 : -1.0;
    cblas_dsymv(CblasColMajor, CblasLower, n, 1.0, a.values.data(), n, x.data(), 1, 0.0, y.data(), 1);
    const double x_norm = norm(x);
    cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, l.values.data(), n, x.data(), 1);
    cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, l.values.data(), n, x.data(), 1);
    for (std::size_t i = 0; i < a.n; ++i) y[i] -= x[i];
    const double here = norm(y) / (x_norm * unit);
    if (!(here <= worst)) worst = here;
    if (std::isnan(worst)) return worst;
  }
  return worst;
}

double residual(const matrix& a, const matrix& l, std::uint64_t seed) {
  return a.n <= full_residual_max ? residual_full(a, l) : residual_probed(a, l, seed);
}

}  // namespace weft::apps::cholesky
