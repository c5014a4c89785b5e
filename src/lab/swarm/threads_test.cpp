#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "weft/error.hpp"
#include "weft/lab/chip_threads.hpp"

namespace {

struct alignas(4096) page {
  std::uint64_t of[512] = {};
};

weft::swarm_options chip_of(std::uint32_t cores) { return {.cores = cores}; }

template <class Body> weft::swarm_statistics run(std::uint32_t cores, const Body& body) {
  const weft::swarm_options chip = chip_of(cores);
  const weft::swarm_statistics s = weft::run_chip_threads(body, &chip);
  const auto& c = s.core_cycles;
  CHECK(c.committed + c.aborted + c.spill + c.stall + c.empty == s.cores * s.cycles);
  CHECK(c.aborted + c.spill == 0);
  return s;
}

constexpr std::uint32_t sizes[] = {1, 2, 4, 8, 16, 64, 256};

}  // namespace

TEST_CASE("chip threads: instructions take a cycle each, and what all count on takes one after the other") {
  const auto pages = std::make_unique<page[]>(2);
  CHECK(run(4, [](weft::chip_thread& t) { t.work(1000); }).cycles == 1000);
  const weft::swarm_statistics uneven = run(4, [](weft::chip_thread& t) { t.work(t.rank() == 3 ? 900 : 100); });
  CHECK(uneven.cycles == 900);
  CHECK(uneven.core_cycles.committed == 3 * 100 + 900);
  CHECK(uneven.core_cycles.empty == 3 * 800);
  for (const std::uint32_t cores : sizes) {
    CAPTURE(cores);
    std::uint64_t& shared = pages[0].of[0];
    shared = 0;
    const weft::swarm_statistics s = run(cores, [&](weft::chip_thread& t) {
      for (int i = 0; i < 20; ++i) t.fetch_add(shared, 1);
    });
    CHECK(shared == 20 * cores);
    if (cores < 16) continue;
    // Each change of tile is a way to the directory and on to who has the line, and they do not overlap.
    CHECK(s.cycles > 10 * cores * 20);
    const auto own = std::make_unique<page[]>(cores);
    const weft::swarm_statistics apart = run(cores, [&](weft::chip_thread& t) {
      for (int i = 0; i < 20; ++i) t.fetch_add(own[t.rank()].of[0], 1);
    });
    CHECK(apart.cycles < 400);
  }
}

TEST_CASE("chip threads: a lock lets one in at a time, and a barrier nobody out before all are in") {
  const auto pages = std::make_unique<page[]>(2);
  for (const std::uint32_t cores : sizes) {
    CAPTURE(cores);
    weft::chip_lock lock;
    weft::chip_barrier barrier;
    std::uint64_t inside = 0, most = 0, arrived = 0;
    pages[0] = {};
    run(cores, [&](weft::chip_thread& t) {
      for (std::uint64_t round = 1; round <= 5; ++round) {
        t.work(t.rank() * 37 % 101);
        lock.lock(t);
        most = std::max(most, ++inside);
        t.store(pages[0].of[0], t.load(pages[0].of[0]) + 1);
        t.work(300);
        --inside;
        lock.unlock(t);
        ++arrived;
        barrier.arrive_and_wait(t);
        CHECK(arrived == round * cores);
        barrier.arrive_and_wait(t);
      }
    });
    CHECK(most == 1);
    CHECK(pages[0].of[0] == 5 * cores);
  }
}

TEST_CASE("chip threads: atomic operations do what they say") {
  const auto pages = std::make_unique<page[]>(2);
  run(4, [&](weft::chip_thread& t) {
    if (t.rank() != 0) return;
    std::uint64_t& word = pages[0].of[8];
    t.atomic_store(word, 5);
    CHECK(t.atomic_load(word) == 5);
    CHECK(t.fetch_add(word, 2) == 5);
    CHECK(t.exchange(word, 9) == 7);
    CHECK_FALSE(t.compare_exchange(word, 7, 1));
    CHECK(t.compare_exchange(word, 9, 1));
    CHECK(word == 1);
    weft::chip_lock lock;
    CHECK(lock.try_lock(t));
    CHECK_FALSE(lock.try_lock(t));
    lock.unlock(t);
    CHECK(lock.try_lock(t));
    auto* const memory = t.allocate<std::uint64_t>(100);
    t.store(memory[99], 3);
    CHECK(t.load(memory[99]) == 3);
    t.release(memory, 100);
  });
}

TEST_CASE("chip threads: a wait takes the line's way to who waits, and the time is stalled") {
  const auto pages = std::make_unique<page[]>(2);
  std::uint64_t came = 0;
  const weft::swarm_statistics s = run(8, [&](weft::chip_thread& t) {
    if (t.rank() == 0) {
      t.work(5000);
      t.store(pages[0].of[0], 7);
    } else if (t.rank() == 7) {
      CHECK(t.wait(pages[0].of[0], 0) == 7);
      came = t.cycle();
    }
  });
  CHECK(came > 5000);
  CHECK(came < 5200);
  CHECK(s.core_cycles.stall > 4500);
  CHECK(s.core_cycles.stall < 5200);
}

TEST_CASE("chip threads: the same run to the cycle, each time") {
  const auto pages = std::make_unique<page[]>(64);
  const auto once = [&] {
    for (int i = 0; i < 64; ++i) pages[i] = {};
    const auto own = std::make_unique<weft::chip_barrier>();
    return run(16, [&](weft::chip_thread& t) {
      std::uint64_t at = t.rank();
      for (int i = 0; i < 300; ++i) {
        at = (at * 6364136223846793005u + 1442695040888963407u);
        t.fetch_add(pages[at >> 58].of[at >> 50 & 255], at >> 40 & 7);
        if (i % 100 == 0) own->arrive_and_wait(t);
      }
    });
  };
  CHECK(once() == once());
}

TEST_CASE("chip threads: what a body throws ends all, and threads that wait for nobody are told") {
  std::uint64_t word = 0;
  CHECK_THROWS_WITH(run(4,
                        [&](weft::chip_thread& t) {
                          if (t.rank() == 2) throw std::runtime_error("no");
                          if (t.rank() == 3)
                            for (;;) t.work(1);
                          t.wait(word, 0);
                        }),
                    "no");
  weft::chip_barrier barrier;
  CHECK_THROWS_WITH_AS(run(4,
                           [&](weft::chip_thread& t) {
                             if (t.rank() != 1) barrier.arrive_and_wait(t);
                           }),
                       doctest::Contains("wait for a store"), weft::error);
  const weft::swarm_options wrong{.cores = 6};
  CHECK_THROWS_AS(weft::run_chip_threads([](weft::chip_thread&) {}, &wrong), weft::error);
}
