#include <doctest/doctest.h>

#include <cstdint>

#include "lab/swarm/test_bench.hpp"

using namespace weft::swarm::testing;

TEST_CASE("swarm: an L1 that is written through has all stores checked at the L2; loads that hit it are not") {
  for (const std::uint32_t through : {0u, 1u}) {
    const auto memory = pages(1);
    bench b({.cores = 1, .l1_written_through = through, .audit = 1});
    const auto add = [](weft::ordered_context& x, std::uint64_t, std::uint64_t* at) {
      for (std::uint64_t i = 0; i < 10; ++i) x.store(*at, x.load(*at) + i);
    };
    b.q.at(0, add, &memory[0].of[0]);
    const weft::swarm_statistics& s = b.run();
    CHECK(s.checks.accesses == 20);
    CHECK(s.checks.l1 == (through != 0 ? 9 : 18));  // after the first of each
    CHECK(memory[0].of[0] == 45);
  }
}
