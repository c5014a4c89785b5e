// Coming from std::async: a fan-out with results. Pi as the sum of the integrals of 4 / (1 + x^2) over pieces of [0,
// 1].
#include <cmath>
#include <cstdio>
#include <weft/weft.hpp>

namespace {

constexpr int pieces = 64, steps = 2'000'000;

double integral(int piece) {
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double x = (piece + (i + 0.5) / steps) / pieces;
    sum += 4 / (1 + x * x);
  }
  return sum / (1.0 * pieces * steps);
}

}  // namespace

int main() {
  weft::runtime rt;
  double pi = 0;
  for (const double part : weft::collect(0, pieces, integral)) pi += part;
  std::printf("%.10f\n", pi);
  return std::abs(pi - std::acos(-1.0)) < 1e-10 ? 0 : 1;
}
