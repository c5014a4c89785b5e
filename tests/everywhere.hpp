// One check on every kind of machine: host and virtual, 1 to 7 workers, in order of time and in ten random orders.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "weft/runtime.hpp"

// Calls check(runtime) on each.
template <class Check> void everywhere(Check check) {
  for (unsigned workers : {1u, 2u, 3u, 7u}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      INFO("WEFT_MACHINE=virtual WEFT_SCHEDULE=random WEFT_WORKERS=" << workers << " WEFT_SEED=" << seed);
      weft::runtime rt({.workers = workers, .machine = "virtual", .seed = seed, .schedule = "random"});
      check(rt);
    }
    for (const char* machine : {"host", "virtual"}) {
      INFO("WEFT_MACHINE=" << std::string(machine) << " WEFT_WORKERS=" << workers);
      weft::runtime rt({.workers = workers, .machine = machine, .schedule = "time"});
      check(rt);
    }
  }
}
