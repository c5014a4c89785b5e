// What a worker's time goes into, on a clock that the test moves: each picosecond is counted once, and nobody looks at
// the clock where it is off.
#include "sched/idle/worker_time.hpp"

#include <doctest/doctest.h>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

constexpr std::uint64_t look_ps = 1'000'000;  // notes' clock advances so far with each look

struct fixture {
  testing::notes machine;
  testing::scheduler<testing::notes> s;
  worker_time<testing::notes>& times = s.worker_time;
  worker<testing::notes>& w = s.crew[1];
  explicit fixture(bool with_reserve = false) : s(machine, 2, with_reserve) {}

  [[nodiscard]] std::uint64_t of(const worker<testing::notes>& who, spends what) const {
    return times.of(who, machine.clock_ps)[static_cast<std::size_t>(what)];
  }
};

}  // namespace

TEST_CASE("worker_time: off, the clock is not looked at and nothing is counted") {
  fixture f;
  f.times.open(f.s.crew, false);
  {
    const worker_time<testing::notes>::during searching(f.times, f.w, spends::searching);
    f.times.turns(f.w, spends::asleep);
  }
  CHECK(!f.times.on());
  CHECK(f.machine.clock_ps == 0);
  CHECK(f.times.of(f.w, 0) == worker_time<testing::notes>::sums{});
}

TEST_CASE("worker_time: what is spent adds up to what has passed, what goes on included") {
  fixture f;
  f.times.open(f.s.crew, true);
  const std::uint64_t began = f.machine.clock_ps;
  f.machine.clock_ps += 5 * look_ps;
  f.times.turns(f.w, spends::busy);
  f.machine.clock_ps += 7 * look_ps;
  {
    const worker_time<testing::notes>::during searching(f.times, f.w, spends::searching);
    f.machine.clock_ps += 2 * look_ps;
    {
      const worker_time<testing::notes>::during asleep(f.times, f.w, spends::asleep);
      f.machine.clock_ps += 11 * look_ps;
    }
    f.machine.clock_ps += 3 * look_ps;
    CHECK(f.of(f.w, spends::searching) == 2 * look_ps + look_ps + 3 * look_ps);
  }
  f.machine.clock_ps += 4 * look_ps;
  // Each turn takes a look, which is of what ends with it.
  CHECK(f.of(f.w, spends::asleep) == (5 + 1 + 11 + 1) * look_ps);
  CHECK(f.of(f.w, spends::busy) == (7 + 1 + 4) * look_ps);
  CHECK(f.of(f.w, spends::outside) == 0);
  std::uint64_t all = 0;
  for (const std::uint64_t ps : f.times.of(f.w, f.machine.clock_ps)) all += ps;
  CHECK(all == f.machine.clock_ps - began);
}

TEST_CASE("worker_time: the main thread begins in the program where it may be away, the others asleep") {
  for (const bool with_reserve : {true, false}) {
    fixture f(with_reserve);
    f.times.open(f.s.crew, true);
    f.machine.clock_ps += look_ps;
    CHECK(f.of(f.s.crew[0], with_reserve ? spends::outside : spends::asleep) == look_ps);
    CHECK(f.of(f.s.crew[1], spends::asleep) == look_ps);
    if (with_reserve) CHECK(f.of(f.s.crew.reserve(), spends::asleep) == look_ps);
  }
}

}  // namespace weft::sched
