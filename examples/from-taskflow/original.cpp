// Taskflow: a graph with a condition. Points are assigned to their nearest centres, block by block; the centres move to
// the mean of their points; and again, until they hardly move.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <taskflow/taskflow.hpp>
#include <vector>

namespace {

constexpr std::size_t k = 8, blocks = 8, block_points = 50'000;

struct sums {
  std::array<double, k> sum{}, count{};
};
using centres = std::array<double, k>;

// The points of a block lie evenly between 0 and 1.
sums assigned(std::size_t block, const centres& c) {
  sums s;
  for (std::size_t i = block; i < blocks * block_points; i += blocks) {
    const double x = (static_cast<double>(i) + 0.5) / (blocks * block_points);
    const auto nearer = [x](double a, double b) { return std::abs(x - a) < std::abs(x - b); };
    const auto at = static_cast<std::size_t>(std::min_element(c.begin(), c.end(), nearer) - c.begin());
    s.sum[at] += x, s.count[at] += 1;
  }
  return s;
}

// Returns how far the centre went that went farthest.
template <class Blocks> double move(centres& c, const Blocks& all) {
  double farthest = 0;
  for (std::size_t i = 0; i < k; ++i) {
    double sum = 0, count = 0;
    for (const sums& s : all) sum += s.sum[i], count += s.count[i];
    farthest = std::max(farthest, std::abs(sum / count - c[i]));
    c[i] = sum / count;
  }
  return farthest;
}

// Even points have even centres.
bool is_right(const centres& c) {
  double off = 0;
  for (std::size_t i = 0; i < k; ++i) off = std::max(off, std::abs(c[i] - (static_cast<double>(i) + 0.5) / k));
  return off < 0.01;
}

}  // namespace

int main() {
  centres c{0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08};
  std::vector<sums> all(blocks);
  int rounds = 0;
  tf::Executor executor;
  tf::Taskflow flow;
  tf::Task begin = flow.emplace([] {}), again = flow.emplace([] {}), done = flow.emplace([] {});
  tf::Task moved = flow.emplace([&] { return ++rounds, move(c, all) > 1e-4 ? 0 : 1; });
  for (std::size_t b = 0; b < blocks; ++b)
    flow.emplace([&, b] { all[b] = assigned(b, c); }).succeed(again).precede(moved);
  begin.precede(again);
  moved.precede(again, done);
  executor.run(flow).wait();
  std::printf("%d rounds, the last centre is at %.4f\n", rounds, c[k - 1]);
  return is_right(c) ? 0 : 1;
}
