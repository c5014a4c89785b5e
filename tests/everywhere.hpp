// One check on every kind of machine: host and virtual, 1 to 7 workers, in order of time and in ten random orders; and
// again with a creator of its own, in three random orders. Under a sanitizer in fewer, or on the host alone. With
// WEFT_TEST_WIDE=1 on 2 to 16 workers.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "sanitized.hpp"
#include "weft/runtime.hpp"

// Whether on many more numbers of workers.
[[nodiscard]] inline bool is_wide() noexcept {
  static const bool is = std::getenv("WEFT_TEST_WIDE") != nullptr;
  return is;
}

template <class Check> void decoupled(unsigned workers, Check check) {
  constexpr std::uint64_t last = real_threads_only ? 0 : 4;
  for (std::uint64_t seed = 0; seed <= last; ++seed) {  // the first on the host, the second in order of time
    const char* const machine = seed == 0 ? "host" : "virtual";
    const char* const schedule = seed <= 1 ? "time" : "random";
    const unsigned creator = seed == 4 ? 1 : 0;
    INFO("WEFT_CREATION=decoupled WEFT_MACHINE=" << std::string(machine) << " WEFT_SCHEDULE=" << std::string(schedule)
                                                 << " WEFT_WORKERS=" << workers << " WEFT_SEED=" << seed + 1
                                                 << (creator == 1 ? " WEFT_CREATOR=1" : ""));
    weft::runtime rt({.workers = workers,
                      .machine = machine,
                      .seed = seed + 1,
                      .model = {.schedule = schedule},
                      .creation = "decoupled",
                      .creator = creator});
    check(rt);
  }
}

// Calls check(runtime) on each, where tasks are created by the thread that submits them.
template <class Check> void everywhere_inline(Check check) {
  for (unsigned workers : {1u, 2u, 3u, 7u, 16u}) {
    if (workers == 16 && !is_wide()) continue;
    constexpr std::uint64_t seeds = real_threads_only ? 0 : sanitized ? 3 : 10;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      INFO("WEFT_MACHINE=virtual WEFT_SCHEDULE=random WEFT_WORKERS=" << workers << " WEFT_SEED=" << seed);
      weft::runtime rt({.workers = workers, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}});
      check(rt);
    }
    for (const char* machine : both_machines) {
      INFO("WEFT_MACHINE=" << std::string(machine) << " WEFT_WORKERS=" << workers);
      weft::runtime rt({.workers = workers, .machine = machine, .model = {.schedule = "time"}});
      check(rt);
    }
  }
}

// Calls check(runtime) on each.
template <class Check> void everywhere(Check check) {
  everywhere_inline(check);
  for (unsigned workers = 2; workers <= 16; ++workers)
    if (is_wide() || workers == 2 || workers == 3 || workers == 7) decoupled(workers, check);
}
