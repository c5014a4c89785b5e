// A chip in a test: its statistics are checked for what always holds.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

#include "weft/lab/swarm.hpp"
#include "weft/weft.hpp"

namespace weft::swarm::testing {

struct alignas(4096) page {
  std::uint64_t of[512] = {};
};

// On a page of its own, so that every run has the same lines.
inline std::unique_ptr<page[]> pages(std::size_t n) { return std::make_unique<page[]>(n); }

struct bench {
  weft::runtime rt{{.workers = 1}};
  weft::swarm_options chip;
  weft::ordered q;
  explicit bench(const weft::swarm_options& options) : chip(options), q(rt, {.executor = "swarm", .swarm = &chip}) {}
  const weft::swarm_statistics& run() {
    q.run();
    const weft::swarm_statistics& s = weft::statistics_of(q);
    const auto& c = s.core_cycles;
    CHECK(c.committed + c.aborted + c.spill + c.stall + c.empty == s.cores * s.cycles);
    CHECK(s.tasks.started == s.tasks.committed + s.tasks.helpers + s.aborts.all());
    CHECK(s.checks.accesses == s.checks.l1 + s.checks.tile + s.checks.global);
    return s;
  }
};

inline void increment(weft::ordered_context& x, std::uint64_t, std::uint64_t* counter, std::uint64_t work) {
  const std::uint64_t value = x.load(*counter);
  x.work(work);
  x.store(*counter, value + 1);
}

}  // namespace weft::swarm::testing
