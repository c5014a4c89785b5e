#include <doctest/doctest.h>

#include <cstdint>

#include "lab/swarm/test_bench.hpp"

using namespace weft::swarm::testing;

TEST_CASE("swarm: samples add up to what the chip did, tile by tile") {
  const auto memory = pages(64);
  bench b({.cores = 16, .sample_period = 100, .sample_from = 0, .sample_count = 1 << 20});
  for (std::uint64_t i = 0; i < 3000; ++i) b.q.at(i, increment, &memory[i % 64].of[i / 64 % 64 * 8], std::uint64_t{50});
  const weft::swarm_statistics& s = b.run();
  const auto all = weft::samples_of(b.q);
  REQUIRE(all.size() >= 4 * (s.cycles / 100 - 1));
  std::uint64_t cycle = 0, commits = 0, aborts = 0, spent = 0, queued = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].tile == i % 4);
    CHECK(all[i].cycle >= cycle);
    CHECK((all[i].task_queue <= 256 && all[i].commit_queue <= 64));
    cycle = all[i].cycle;
    commits += all[i].commits;
    aborts += all[i].aborts;
    queued += all[i].task_queue;
    spent += all[i].core_cycles.task + all[i].core_cycles.spill + all[i].core_cycles.stall + all[i].core_cycles.empty;
  }
  CHECK(queued > 0);
  CHECK(commits <= s.tasks.committed + s.tasks.helpers);
  CHECK(commits > s.tasks.committed * 9 / 10);  // but for the first hundred cycles and the last
  CHECK(aborts <= s.aborts.all());
  CHECK(spent <= s.cores * s.cycles);
  CHECK(spent > s.cores * s.cycles * 9 / 10);

  bench none({.cores = 4});
  none.q.at(0, increment, &memory[0].of[0], std::uint64_t{1});
  none.run();
  CHECK(weft::samples_of(none.q).empty());
}
