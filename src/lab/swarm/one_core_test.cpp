#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>

#include "lab/swarm/test_bench.hpp"

using namespace weft::swarm::testing;

TEST_CASE("swarm: without task units a core runs the serial program, on the same caches") {
  const auto memory = pages(64);
  const auto run = [&](const weft::swarm_options& chip, std::uint64_t work) {
    bench b(chip);
    for (std::uint64_t i = 0; i < 500; ++i) b.q.at(i, increment, &memory[i % 64].of[0], work);
    const weft::swarm_statistics s = b.run();
    CHECK(s.tasks.committed == 500);
    CHECK(b.q.counts().started == 500);
    return s;
  };
  const weft::swarm_statistics one = run({.cores = 1, .task_units = 0}, 50);
  CHECK(one.core_cycles.committed == one.cycles);
  CHECK(run({.cores = 1, .task_units = 0}, 150).cycles == one.cycles + 500 * 100);
  const weft::swarm_statistics large = run({.cores = 64, .task_units = 0}, 50);
  CHECK(large.core_cycles.empty == 63 * large.cycles);
  CHECK(one.checks.bloom == 0);
  CHECK(memory[0].of[0] == 3 * 8);

  bench thrown({.cores = 4, .task_units = 0});
  thrown.q.at(1, [](weft::ordered_context&, std::uint64_t) { throw std::runtime_error("no"); });
  thrown.q.at(2, increment, &memory[0].of[0], std::uint64_t{1});
  CHECK_THROWS_WITH(thrown.q.run(), "no");
  CHECK(memory[0].of[0] == 3 * 8);
  thrown.q.at(2, increment, &memory[0].of[0], std::uint64_t{1});
  thrown.q.run();
  CHECK(memory[0].of[0] == 3 * 8 + 1);
}
