// Work lists of threads on a modelled chip: each item comes to one thread once, and all threads are told of the end.
#include "work_chunks.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace weft::apps::order {

namespace {

// Item n brings forth items up to `count`, as a tree of that fan-out has them. Returns how often each was taken.
struct outcome {
  std::vector<unsigned> taken;
  std::uint64_t cycles = 0;
};
outcome grow(std::uint32_t cores, std::uint64_t count, std::uint64_t fan_out, std::uint64_t instructions) {
  alignas(page_bytes) work_chunks all;
  outcome o{std::vector<unsigned>(count), 0};
  const swarm_options chip{.cores = cores};
  o.cycles = run_chip_threads(
                 [&](chip_thread& t) {
                   work_thread mine(t, all);
                   if (t.rank() == t.count() / 2 && count != 0) mine.put(0);
                   for (std::uint64_t at = mine.take(); at != work_chunks::none; at = mine.take()) {
                     ++o.taken[at];
                     t.work(instructions);
                     for (std::uint64_t i = at * fan_out + 1; i <= (at + 1) * fan_out && i < count; ++i) mine.put(i);
                   }
                 },
                 &chip)
                 .cycles;
  return o;
}

}  // namespace

TEST_CASE("order, work_chunks: each item is taken once, whatever the threads and the shape of the work") {
  for (const std::uint32_t cores : {1u, 2u, 4u, 12u, 16u, 64u, 256u})
    for (const std::uint64_t count : {0u, 1u, 2u, 9u, 700u})
      for (const std::uint64_t fan_out : {1u, 2u, 30u}) {
        CAPTURE(cores);
        CAPTURE(count);
        CAPTURE(fan_out);
        CHECK(grow(cores, count, fan_out, 100).taken == std::vector<unsigned>(count, 1));
      }
}

TEST_CASE("order, work_chunks: work spreads to the threads of all tiles") {
  const std::uint64_t one = grow(1, 6000, 20, 500).cycles;
  CHECK(grow(4, 6000, 20, 500).cycles * 3 < one);
  CHECK(grow(64, 6000, 20, 500).cycles * 6 < one);
}

}  // namespace weft::apps::order
