// Gangs that wait for the main thread: who is told when it goes, and who is not.
#include "sched/place/main_seats.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using g = gang<machine::host>;

struct seats {
  machine::host machine;
  main_seats<machine::host> of_main{machine};
  g with_main, without;
  seats() {
    static_cast<void>(machine.start(1, nullptr, nullptr, {}));
    with_main.make(std::vector<std::uint16_t>{0, 2});
    without.make(std::vector<std::uint16_t>{1, 2});
    of_main.expect(with_main);
    of_main.expect(without);
  }
};

}  // namespace

TEST_CASE("main seats: a gang that waits for the main thread goes on without it, led by the first that is held") {
  seats x;
  CHECK(x.with_main.answers(1, g::answer::held) == g::step::others_missing);
  x.of_main.empty();
  CHECK(!x.with_main.is_held(0));
  CHECK(x.with_main.await(x.machine, 1, 0) == g::call::host);  // told, so this does not sleep
  CHECK(x.with_main.answers(0, g::answer::held) == g::step::too_late);
}

TEST_CASE("main seats: a gang that is not complete yet is completed by its last answer, and told once") {
  seats x;
  x.of_main.empty();
  x.of_main.empty();
  CHECK(x.with_main.answers(1, g::answer::held) == g::step::complete);
}

TEST_CASE("main seats: a gang that went on without the main thread and serves again is asked no more") {
  seats x;
  x.of_main.empty();
  x.with_main.make(std::vector<std::uint16_t>{1, 2});
  x.of_main.empty();
  CHECK(x.with_main.answers(0, g::answer::held) == g::step::others_missing);
}

TEST_CASE("main seats: a seat that is taken, and a gang without the main thread, are left alone") {
  seats x;
  x.of_main.taken(x.with_main);
  x.of_main.empty();
  CHECK(x.with_main.answers(0, g::answer::held) == g::step::others_missing);
  CHECK(x.without.answers(0, g::answer::held) == g::step::others_missing);
}

}  // namespace weft::sched
