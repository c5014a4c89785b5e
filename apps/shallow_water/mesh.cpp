// Weights of one node: let V be the values of 15 monomials at its 31 neighbours, W their importance. The derivative d
// of the polynomial that fits values f best is d (V'WV)^-1 V'W f, so the weights are W V (V'WV)^-1 d'. Computed by
// orthogonalising the columns of sqrt(W) V (Gram-Schmidt twice, which is as good as Householder), never by inverting.
#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace weft::apps::shallow_water {

namespace {

constexpr double jitter = 0.2;  // of a cell, either way
constexpr int reach = 5;        // cells to look at each way; the 31 nearest lie within 3 to 4
// Cells. A neighbour 3 cells away then counts exp(-9) of the centre, yet degree 4 stays well determined. With a width
// of 3 all neighbours count about the same, and grid noise grows whatever the filter.
constexpr double importance_width = 1;

constexpr int degree = 4;
constexpr std::size_t monomials = (degree + 1) * (degree + 2) / 2;

// Coefficients are found for monomials x^a y^b in this order: by a + b, then by b.
constexpr std::size_t index_of(int a, int b) noexcept {
  return static_cast<std::size_t>((a + b) * (a + b + 1) / 2 + b);
}

struct neighbour {
  std::uint32_t node;
  double x, y;  // from the centre, in cells
  [[nodiscard]] double square() const noexcept { return x * x + y * y; }
};

double symmetric(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; }

double around(double d) noexcept { return d - std::round(d); }  // the short way on a circle of length 1

std::array<neighbour, stencil_size> nearest(const mesh& m, std::size_t node) {
  const int side = static_cast<int>(m.side);
  const int column = static_cast<int>(node % m.side), line = static_cast<int>(node / m.side);
  std::vector<neighbour> found;
  for (int j = line - reach; j <= line + reach; ++j)
    for (int i = column - reach; i <= column + reach; ++i) {
      const auto n = static_cast<std::uint32_t>((j + side) % side * side + (i + side) % side);
      found.push_back(
          {n, around(m.nodes[n].x - m.nodes[node].x) * side, around(m.nodes[n].y - m.nodes[node].y) * side});
    }
  std::partial_sort(found.begin(), found.begin() + stencil_size, found.end(),
                    [](const neighbour& a, const neighbour& b) {
                      return a.square() != b.square() ? a.square() < b.square() : a.node < b.node;
                    });
  std::array<neighbour, stencil_size> near;
  std::copy_n(found.begin(), stencil_size, near.begin());
  std::sort(near.begin(), near.end(), [](const neighbour& a, const neighbour& b) { return a.node < b.node; });
  return near;
}

using column = std::array<double, stencil_size>;
using coefficients = std::array<double, monomials>;

double dot(const column& a, const column& b) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < stencil_size; ++i) sum += a[i] * b[i];
  return sum;
}

// q r = sqrt(W) V.
struct factors {
  std::array<column, monomials> q;
  std::array<coefficients, monomials> r{};  // by column; entries below the diagonal stay 0
  column importance;                        // sqrt(W)
};

factors factorize(const std::array<neighbour, stencil_size>& near) {
  factors f;
  for (std::size_t i = 0; i < stencil_size; ++i) {
    const double w = std::exp(-near[i].square() / (2 * importance_width * importance_width));
    f.importance[i] = w;
    for (int power = 0; power <= degree; ++power)
      for (int b = 0; b <= power; ++b)
        f.q[index_of(power - b, b)][i] = w * std::pow(near[i].x, power - b) * std::pow(near[i].y, b);
  }
  for (std::size_t k = 0; k < monomials; ++k) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t j = 0; j < k; ++j) {
        const double s = dot(f.q[j], f.q[k]);
        f.r[k][j] += s;
        for (std::size_t i = 0; i < stencil_size; ++i) f.q[k][i] -= s * f.q[j][i];
      }
    f.r[k][k] = std::sqrt(dot(f.q[k], f.q[k]));
    for (double& value : f.q[k]) value /= f.r[k][k];
  }
  return f;
}

// The stencil of a functional that takes a polynomial's coefficients c to functional . c.
column stencil_of(const factors& f, const coefficients& functional) {
  coefficients y{};  // r' y = functional, by forward substitution
  for (std::size_t k = 0; k < monomials; ++k) {
    double rest = functional[k];
    for (std::size_t j = 0; j < k; ++j) rest -= f.r[k][j] * y[j];
    y[k] = rest / f.r[k][k];
  }
  column w{};
  for (std::size_t k = 0; k < monomials; ++k)
    for (std::size_t i = 0; i < stencil_size; ++i) w[i] += f.q[k][i] * y[k];
  for (std::size_t i = 0; i < stencil_size; ++i) w[i] *= f.importance[i];
  return w;
}

}  // namespace

mesh scatter(std::size_t side, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  mesh m{side, {}};
  for (std::size_t j = 0; j < side; ++j)
    for (std::size_t i = 0; i < side; ++i) {
      const double x = (static_cast<double>(i) + 0.5 + jitter * symmetric(random)) * m.spacing();
      m.nodes.push_back({x, (static_cast<double>(j) + 0.5 + jitter * symmetric(random)) * m.spacing()});
    }
  return m;
}

row weights(const mesh& m, std::size_t node) {
  const std::array<neighbour, stencil_size> near = nearest(m, node);
  const factors f = factorize(near);
  coefficients dx{}, dy{}, biharmonic{};
  dx[index_of(1, 0)] = 1;
  dy[index_of(0, 1)] = 1;
  biharmonic[index_of(4, 0)] = biharmonic[index_of(0, 4)] = 24;
  biharmonic[index_of(2, 2)] = 8;
  const column x = stencil_of(f, dx), y = stencil_of(f, dy), b = stencil_of(f, biharmonic);
  const double per_cell = static_cast<double>(m.side);  // derivatives were taken in cells
  row r;
  for (std::size_t i = 0; i < stencil_size; ++i)
    r[i] = {near[i].node, x[i] * per_cell, y[i] * per_cell, -b[i] * per_cell};  // cells^-4 spacing^3
  return r;
}

std::vector<row> assemble(const mesh& m) {
  std::vector<row> rows;
  rows.reserve(m.nodes.size());
  for (std::size_t node = 0; node < m.nodes.size(); ++node) rows.push_back(weights(m, node));
  return rows;
}

}  // namespace weft::apps::shallow_water
