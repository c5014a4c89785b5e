// std::async: a fan-out with results. Pi as the sum of the integrals of 4 / (1 + x^2) over pieces of [0, 1].
#include <cmath>
#include <cstdio>
#include <future>
#include <vector>

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
  std::vector<std::future<double>> parts;
  for (int i = 0; i < pieces; ++i) parts.push_back(std::async(std::launch::async, integral, i));
  double pi = 0;
  for (auto& part : parts) pi += part.get();
  std::printf("%.10f\n", pi);
  return std::abs(pi - std::acos(-1.0)) < 1e-10 ? 0 : 1;
}
