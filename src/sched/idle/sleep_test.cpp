// Who sleeps, step by step: the one who is woken is the one who slept, also where there are more than a word has bits.
// Interleavings: sleep_model_test.cpp.
#include "sched/idle/sleep.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "scheduler.hpp"

namespace weft::sched {

TEST_CASE("sleep: of many workers the one is woken that sleeps") {
  for (const unsigned id : {0u, 63u, 64u, 66u, 128u, 149u}) {
    testing::notes machine;
    sleep<testing::notes> sleepers;
    sleepers.open(150, false);
    static_cast<void>(sleepers.announce(id));
    sleepers.notify(machine);
    CHECK(machine.take_woken() == std::vector{id});
  }
}

}  // namespace weft::sched
