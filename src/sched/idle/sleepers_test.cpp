// Who wakes the sleepers of a team: each the next, and nobody before they are known. Under all schedules:
// sleepers_model_test.cpp; in virtual time: tests/conformance/teams.cpp.
#include "sched/idle/sleepers.hpp"

#include <doctest/doctest.h>

#include "machine/host/host.hpp"

namespace weft::sched {

TEST_CASE("sleepers: each is taken on by whoever comes next, and none before they are known") {
  sleepers<machine::host> s;
  for (int round = 0; round < 2; ++round) {
    s.open(3);
    std::vector<int> woken;
    const auto wake = [&](std::uint16_t id) { woken.push_back(id); };
    s.wake(wake);
    CHECK(woken.empty());
    for (const std::uint16_t id : std::initializer_list<std::uint16_t>{7, 3, 9}) s.list().emplace_back().write() = id;
    s.wake(wake);
    CHECK(woken.empty());
    s.publish();
    // The first that is woken takes on the others before whoever woke it comes back.
    s.wake([&](std::uint16_t id) {
      wake(id);
      if (id == 7) s.wake(wake);
    });
    CHECK(woken == std::vector<int>{7, 3, 9});
    s.wake(wake);
    CHECK(woken.size() == 3);
  }
}

TEST_CASE("sleepers: where nobody sleeps nobody is woken") {
  sleepers<machine::host> s;
  s.open(4);
  s.publish();
  s.wake([](std::uint16_t) { FAIL("nobody sleeps"); });
}

}  // namespace weft::sched
