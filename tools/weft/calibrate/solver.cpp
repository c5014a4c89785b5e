// See solver.hpp. Normal equations and Gauss's elimination with pivots: there are at most ten unknowns, and the counts
// are small whole numbers, so nothing here is badly conditioned that is determined at all. Negative costs are excluded
// one by one, the most negative first, and the rest is solved again.
#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::tool::calibrate {

namespace {

constexpr double pivot_min = 1e-9;  // of a matrix scaled to a diagonal of ones: below this a column depends on others

struct system {
  std::vector<std::vector<double>> a;  // n rows of n + 1: the right side is last
  std::vector<double> scale;
};

system normal_equations(const std::vector<equation>& equations, const std::vector<std::size_t>& unknowns) {
  const std::size_t n = unknowns.size();
  system s{std::vector<std::vector<double>>(n, std::vector<double>(n + 1)), std::vector<double>(n, 1.0)};
  for (const equation& e : equations)
    for (std::size_t i = 0; i < n; ++i) {
      const double left = e.weight * e.counts[unknowns[i]];
      for (std::size_t j = 0; j < n; ++j) s.a[i][j] += left * e.counts[unknowns[j]];
      s.a[i][n] += left * e.value;
    }
  for (std::size_t i = 0; i < n; ++i)
    if (s.a[i][i] > 0) s.scale[i] = 1 / std::sqrt(s.a[i][i]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= n; ++j) s.a[i][j] *= s.scale[i] * (j < n ? s.scale[j] : 1);
  return s;
}

// Makes the rows below `row` zero in column `row`, after the largest of them has come to the top. Returns whether it is
// large enough to divide by.
bool eliminate(std::vector<std::vector<double>>& a, std::size_t row) {
  std::size_t best = row;
  for (std::size_t i = row + 1; i < a.size(); ++i)
    if (std::fabs(a[i][row]) > std::fabs(a[best][row])) best = i;
  if (std::fabs(a[best][row]) < pivot_min) return false;
  std::swap(a[row], a[best]);
  for (std::size_t i = row + 1; i < a.size(); ++i) {
    const double factor = a[i][row] / a[row][row];
    for (std::size_t j = row; j < a[i].size(); ++j) a[i][j] -= factor * a[row][j];
  }
  return true;
}

// The unknowns' values; the index of the first that is not determined goes to `undetermined`, then there are none.
std::vector<double> solve(system s, std::size_t& undetermined) {
  const std::size_t n = s.a.size();
  for (std::size_t row = 0; row < n; ++row)
    if (!eliminate(s.a, row)) {
      undetermined = row;
      return {};
    }
  std::vector<double> x(n);
  for (std::size_t i = n; i-- > 0;) {
    double sum = s.a[i][n];
    for (std::size_t j = i + 1; j < n; ++j) sum -= s.a[i][j] * x[j];
    x[i] = sum / s.a[i][i];
  }
  for (std::size_t i = 0; i < n; ++i) x[i] *= s.scale[i];
  return x;
}

}  // namespace

solution solve_costs(const std::vector<equation>& equations) {
  const std::size_t all = equations.empty() ? 0 : equations[0].counts.size();
  solution found{std::vector<double>(all, 0.0), std::vector<bool>(all, false)};
  std::vector<std::size_t> unknowns;
  for (std::size_t i = 0; i < all; ++i) unknowns.push_back(i);
  const auto drop = [&](std::size_t place) { unknowns.erase(unknowns.begin() + static_cast<std::ptrdiff_t>(place)); };
  while (!unknowns.empty()) {
    std::size_t undetermined = 0;
    const std::vector<double> x = solve(normal_equations(equations, unknowns), undetermined);
    if (x.empty()) {
      drop(undetermined);
      continue;
    }
    for (const std::size_t u : unknowns) found.determined[u] = true;  // and stays so where it is then excluded
    const auto worst = std::min_element(x.begin(), x.end());
    if (*worst < 0) {
      drop(static_cast<std::size_t>(worst - x.begin()));
      continue;
    }
    for (std::size_t i = 0; i < unknowns.size(); ++i) found.values[unknowns[i]] = x[i];
    break;
  }
  return found;
}

}  // namespace weft::tool::calibrate
