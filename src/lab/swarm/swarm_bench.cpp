// How fast the model is: shortest paths on a grid of random lengths, tasks of some 30 instructions, as in the paper's
// sssp.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include "base/random.hpp"
#include "weft/lab/swarm.hpp"
#include "weft/weft.hpp"

namespace {

struct grid {
  static constexpr std::uint32_t side = 200;
  struct alignas(4096) block {
    std::uint64_t of[512];
  };
  std::vector<block> distances;
  std::vector<std::uint32_t> lengths;  // right, and down, of each node

  grid() : distances(side * side / 512 + 1) {
    weft::base::random draw(7);
    for (block& b : distances)
      for (std::uint64_t& d : b.of) d = UINT64_MAX;
    for (std::uint32_t i = 0; i < 2 * side * side; ++i)
      lengths.push_back(draw.below(100) < 62 ? 1 + draw.below(1000) : 0);
  }
  std::uint64_t& distance(std::uint32_t v) { return distances[v / 512].of[v % 512]; }
};

void visit(weft::ordered_context& x, std::uint64_t now, grid* g, std::uint32_t v) {
  x.work(11);
  if (x.load(g->distance(v)) != UINT64_MAX) return;
  x.store(g->distance(v), now);
  const auto along = [&](std::uint32_t road, std::uint32_t to) {
    x.work(18);
    if (const std::uint32_t length = x.read(g->lengths[road]); length != 0) x.at(now + length, visit, g, to);
  };
  if (v % grid::side + 1 != grid::side) along(2 * v, v + 1);
  if (v % grid::side != 0) along(2 * (v - 1), v - 1);
  if (v + grid::side < grid::side * grid::side) along(2 * v + 1, v + grid::side);
  if (v >= grid::side) along(2 * (v - grid::side) + 1, v - grid::side);
}

// Returns tasks for each second of this process.
double speed_of(std::uint32_t cores, std::uint64_t& cycles) {
  weft::runtime rt({.workers = 1});
  const weft::swarm_options chip{.cores = cores};
  grid g;
  weft::ordered q(rt, {.executor = "swarm", .swarm = &chip});
  q.at(0, visit, &g, grid::side * grid::side / 2 + grid::side / 2);
  const std::clock_t begin = std::clock();
  q.run();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  cycles = weft::statistics_of(q).cycles;
  return static_cast<double>(q.counts().committed) / seconds;
}

}  // namespace

int main() {
  for (const std::uint32_t cores : {1u, 4u, 16u, 64u}) {
    std::uint64_t cycles = 0;
    double best = 0;
    for (int run = 0; run < 5; ++run) best = std::max(best, speed_of(cores, cycles));
    std::printf("%3u cores: %9llu cycles, %.2f million tasks a second\n", cores,
                static_cast<unsigned long long>(cycles), best / 1e6);
  }
}
