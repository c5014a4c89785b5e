// Whether the others keep away from the main thread's short tasks: only where it is in doubt, and as more is done.
#include "sched/place/trial.hpp"

#include <doctest/doctest.h>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;

struct fixture {
  notes machine;
  testing::scheduler<notes> s;
  trial<notes> t{machine, s.crew, s.tempo};
  explicit fixture(unsigned workers) : s(machine, workers) {}

  void bodies_take(std::uint64_t ns) {
    pace p;
    for (unsigned i = 0; i < 400; ++i) s.tempo.ran(p, ns * 1000);
  }
  // The main thread submits n tasks, which takes it so long each by the way that is taken.
  void submit(std::uint64_t n, std::uint64_t beside_ns, std::uint64_t alone_ns) {
    worker<notes>& main = s.crew.main();
    for (std::uint64_t i = 0; i < n; ++i) {
      t.submits(main);
      detail::poke(main.created, detail::peek(main.created) + 1);
      count_one(s.crew[1].tasks);
      machine.clock_ps += (s.tempo.tiny() ? alone_ns : beside_ns) * 1000;
      tiny += s.tempo.tiny() ? 1 : 0;
    }
  }
  unsigned tiny = 0;
};

}  // namespace

TEST_CASE("trial: the others keep away where more is done without them") {
  fixture f(2);
  f.bodies_take(200);
  REQUIRE(f.s.tempo.doubtful());
  CHECK(!f.s.tempo.tiny());
  f.submit(100'000, 400, 50);
  f.tiny = 0;
  f.submit(1'000'000, 400, 50);
  CHECK(f.tiny > 900'000);
}

TEST_CASE("trial: they come where more is done with them, and hardly a task is tried without") {
  fixture f(2);
  f.bodies_take(200);
  f.submit(100'000, 50, 400);
  f.tiny = 0;
  f.submit(1'000'000, 50, 400);
  CHECK(f.tiny < 30'000);
  CHECK(f.tiny > 0);
}

TEST_CASE("trial: a phase with other tasks is judged by itself") {
  fixture f(2);
  f.bodies_take(200);
  f.submit(100'000, 400, 50);
  f.tiny = 0;
  f.submit(100'000, 400, 50);
  CHECK(f.tiny > 60'000);
  f.bodies_take(1'000'000);  // long ones: nobody keeps away, whatever was found out
  CHECK(!f.s.tempo.tiny());
  f.submit(1'000, 400, 50);
  f.bodies_take(500);
  f.tiny = 0;
  f.submit(100'000, 50, 400);
  CHECK(f.tiny < 60'000);  // first it is found out
  f.tiny = 0;
  f.submit(100'000, 50, 400);
  CHECK(f.tiny < 10'000);
}

TEST_CASE("trial: tasks that get longer are not left alone for long") {
  fixture f(2);
  f.bodies_take(200);
  f.submit(3'000'000, 400, 50);
  f.bodies_take(900);
  f.tiny = 0;
  f.submit(100'000, 100, 1'000);
  CHECK(f.tiny < 30'000);
}

TEST_CASE("trial: a program that is over soon pays nothing") {
  fixture f(2);
  f.bodies_take(200);
  f.submit(base::turns_min * rules::usual()[by::trial], 50, 400);
  CHECK(f.tiny == 0);
}

TEST_CASE("trial: with long bodies nothing is tried") {
  fixture f(2);
  f.bodies_take(10'000);
  CHECK(!f.s.tempo.doubtful());
  f.submit(50'000, 400, 50);
  CHECK(f.tiny == 0);
}

TEST_CASE("trial: one worker alone, others than the main thread, and bodies try nothing") {
  fixture alone(1), two(2);
  for (fixture* f : {&alone, &two}) {
    f->bodies_take(200);
    worker<notes>& who = f == &alone ? f->s.crew[0] : f->s.crew[1];
    for (unsigned i = 0; i < 50'000; ++i) {
      f->t.submits(who);
      detail::poke(who.created, detail::peek(who.created) + 1);
      f->machine.clock_ps += 50'000;
    }
    CHECK(!f->s.tempo.tiny());
  }
  detail::record body{};
  two.s.crew.main().current = &body;
  two.submit(50'000, 400, 50);
  CHECK(two.tiny == 0);
}

}  // namespace weft::sched
