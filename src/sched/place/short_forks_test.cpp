// Whether thieves get something of the main thread's forks: they do unless these are short and over sooner without
// them, unless the same forks last longer than a search, and unless nobody would come by again.
#include "sched/place/short_forks.hpp"

#include <doctest/doctest.h>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;

struct fixture {
  notes machine;
  testing::scheduler<notes> s{machine, 3};
  short_forks<notes> forks{machine, s.sleep};
  worker<notes>& main = s.crew.main();
  unsigned asks = 0, refusals = 0;

  [[nodiscard]] bool asked() {
    main.asked.raw = 1;
    ++asks;
    const bool refused = forks.turns_down(main);
    refusals += refused ? 1 : 0;
    CHECK(main.asked.raw == (refused ? 0 : 1));
    return refused;
  }
  // n forks, at each of which thieves ask; it takes so long if they get something, and else so long.
  void fork(unsigned n, std::uint64_t shared_ns, std::uint64_t alone_ns) {
    asks = refusals = 0;
    for (unsigned i = 0; i < n; ++i) {
      machine.clock_ps += (asked() ? alone_ns : shared_ns) * 1000;
      forks.over(main);
    }
  }
};

}  // namespace

TEST_CASE("short forks: thieves are turned down where that is faster") {
  fixture f;
  CHECK(!f.asked());
  f.fork(2'000, 10'000, 1'000);
  f.fork(2'000, 10'000, 1'000);
  CHECK(f.refusals > 1'800);
}

TEST_CASE("short forks: thieves get something where that is faster, or as fast") {
  fixture f;
  f.fork(4'000, 5'000, 10'000);
  f.fork(4'000, 5'000, 10'000);
  CHECK(f.refusals < 400);
  fixture even;
  even.fork(4'000, 5'000, 5'000);
  even.fork(4'000, 5'000, 5'000);
  CHECK(even.refusals < 400);
}

TEST_CASE("short forks: of those that are long nothing is tried, and what was found out is over") {
  fixture f;
  f.fork(1'000, 1'000'000, 1'000);
  CHECK(f.refusals == 0);
  f.fork(4'000, 10'000, 1'000);
  CHECK(f.asked());
  for (unsigned i = 0; i < rules::usual()[by::fork_trial]; ++i) {
    f.machine.clock_ps += 1'000'000'000;
    f.forks.over(f.main);
  }
  CHECK(!f.asked());
}

TEST_CASE("short forks: where none is too long the first look finds none, days after the clock began") {
  fixture f;
  const rules off("brief_forks=off");
  short_forks<notes> forks(f.machine, f.s.sleep, off);
  f.machine.clock_ps = 500'000'000'000'000'000;
  for (unsigned i = 0; i < rules::usual()[by::fork_trial]; ++i) forks.over(f.main);
  std::uint64_t decided[rules::count] = {};
  f.main.counted.decided.add_to(decided);
  CHECK(decided[static_cast<std::size_t>(by::brief_forks)] == 0);
}

TEST_CASE("short forks: who asks twice at the same forks gets something") {
  fixture f;
  f.fork(4'000, 10'000, 1'000);
  f.forks.over(f.main);
  CHECK(f.asked());
  CHECK(!f.asked());
  f.forks.over(f.main);
  CHECK(f.asked());
}

TEST_CASE("short forks: nobody is turned down who would not come by again") {
  fixture f;
  f.fork(4'000, 10'000, 1'000);
  static_cast<void>(f.s.sleep.announce(1));
  CHECK(!f.asked());  // one sleeps, and nobody searches
  REQUIRE(f.s.sleep.begin_search());
  f.forks.over(f.main);
  CHECK(f.asked());
}

TEST_CASE("short forks: tasks in the deque, and forks in tasks, are shared when thieves ask") {
  fixture f;
  f.fork(4'000, 10'000, 1'000);
  testing::task t(detail::record_state::ready);
  deque<notes>::push(f.main, &t.r);
  f.forks.over(f.main);
  CHECK(!f.asked());
  CHECK(deque<notes>::pop(f.main) == &t.r);
  CHECK(f.asked());
  f.forks.over(f.main);
  f.main.current = &t.r;
  CHECK(!f.asked());
  f.main.current = nullptr;
}

}  // namespace weft::sched
