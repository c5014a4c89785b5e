// Events that come at a time: the earliest first, none twice, and the machine is told when to wake a worker.
#include "sched/idle/timers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

constexpr std::uint64_t at_no_time = event_board::at_no_time;

// Its clock stands where the test puts it.
struct clock_only : testing::modelled_notes {
  void alarm(std::uint64_t at_ps) noexcept { alarm_ps = at_ps; }
  [[nodiscard]] std::uint64_t now_ps() const noexcept { return now; }
  std::uint64_t now = 0;
  std::uint64_t alarm_ps = at_no_time;
};

struct fixture {
  clock_only machine;
  event_board board;
  // An event that belongs to no runtime concerns nobody: what is looked at is which one has come.
  struct settler final : timers<clock_only>::settler {
    unsigned settled = 0;
    void settle_on(worker<clock_only>&, const event_end&) override { ++settled; }
  } engine;
  timers<clock_only> times{machine, board, engine};
  worker<clock_only> w;
  event_state a, b, c;
};

}  // namespace

TEST_CASE("timers: nothing before its time, and then the earliest first") {
  fixture f;
  f.times.set(f.a, 300);
  f.times.set(f.b, 100);
  f.times.set(f.c, 200);
  CHECK(f.machine.alarm_ps == 100);
  CHECK(f.board.any_timed());
  CHECK(!f.times.visible(f.w));
  CHECK(f.times.take(f.w) == nullptr);
  CHECK(f.engine.settled == 0);
  f.machine.now = 200;
  CHECK(f.times.visible(f.w));
  CHECK(f.times.take(f.w) == nullptr);
  CHECK((!f.a.over.raw && f.b.over.raw && f.c.over.raw));
  CHECK(f.engine.settled == 2);
  CHECK(f.w.look.has_own());  // what became ready stands in a queue: the worker looks there before it sleeps
  CHECK(f.machine.alarm_ps == 300);
  CHECK(!f.times.visible(f.w));
}

TEST_CASE("timers: an event has one time, the one it was given last, or none") {
  fixture f;
  f.times.set(f.a, 100);
  f.times.set(f.a, 500);
  f.machine.now = 100;
  CHECK(f.times.take(f.w) == nullptr);
  CHECK(!f.a.over.raw);
  CHECK(f.machine.alarm_ps == 500);
  f.times.set(f.a, at_no_time);
  CHECK(!f.times.pending());
  CHECK((!f.board.any_timed() && !f.a.timed));
  CHECK(f.machine.alarm_ps == at_no_time);
  f.machine.now = 1000;
  CHECK(!f.times.visible(f.w));
}

TEST_CASE("timers: of two at the same time the one that was asked for first comes first") {
  fixture f;
  struct noting final : timers<clock_only>::settler {
    fixture& f;
    std::vector<event_state*> over;
    explicit noting(fixture& of) : f(of) {}
    void settle_on(worker<clock_only>&, const event_end&) override {
      for (event_state* s : {&f.a, &f.b, &f.c})
        if (s->over.raw && std::find(over.begin(), over.end(), s) == over.end()) over.push_back(s);
    }
  } notes(f);
  timers<clock_only> times(f.machine, f.board, notes);
  times.set(f.b, 100);
  times.set(f.a, 100);
  times.set(f.c, 100);
  times.set(f.b, 100);  // asked for again: now the last
  f.machine.now = 100;
  CHECK(times.take(f.w) == nullptr);
  CHECK(notes.over == std::vector<event_state*>{&f.a, &f.c, &f.b});
}

TEST_CASE("timers: at the end of the runtime none is left") {
  fixture f;
  f.times.set(f.a, 100);
  f.times.close();
  f.machine.now = 100;
  CHECK(!f.times.visible(f.w));
  CHECK((!f.a.timed && !f.a.over.raw));
  CHECK(!f.board.any_timed());
  CHECK(f.machine.alarm_ps == at_no_time);
}

}  // namespace weft::sched
