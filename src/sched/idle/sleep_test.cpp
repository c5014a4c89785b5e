// Who sleeps, step by step: the one who is woken is the one who slept, also where there are more than a word has bits.
// Interleavings: sleep_model_test.cpp.
#include "sched/idle/sleep.hpp"

#include <doctest/doctest.h>

#include <set>
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

TEST_CASE("sleep: the lowest number is woken, or each now and then") {
  const std::vector<unsigned> asleep{2, 40, 64, 100, 149};
  for (const bool by_chance : {false, true}) {
    testing::notes machine;
    sleep<testing::notes> sleepers;
    sleepers.open(150, false);
    if (by_chance) sleepers.wake_by_chance();
    std::set<unsigned> woken;
    for (const unsigned id : asleep) static_cast<void>(sleepers.announce(id));
    for (int i = 0; i < 100; ++i) {
      sleepers.notify(machine);
      const std::vector<unsigned> now = machine.take_woken();
      REQUIRE(now.size() == 1);
      woken.insert(now[0]);
      sleepers.give_up();  // its search, and it sleeps again
      static_cast<void>(sleepers.announce(now[0]));
    }
    CHECK(woken == (by_chance ? std::set<unsigned>(asleep.begin(), asleep.end()) : std::set<unsigned>{2}));
  }
}

}  // namespace weft::sched
