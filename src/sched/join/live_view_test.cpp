// What who looks from outside is told: the counters of each seat, what it does and since when, and a lower bound for
// the body it is in.
#include "sched/join/live_view.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;
using trace::live_does;
using trace::live_role;

struct fixture {
  notes machine;
  testing::scheduler<notes> s{machine, 2, true};
  live_view<notes> view{s};
  trace::live_head head{};
  std::vector<trace::live_row> rows{3};

  fixture() {
    s.open();
    s.worker_time.open(s.crew, true);
  }
  void look() { view.look(head, rows); }
  void begins(worker<notes>& w, const char* name) {
    count_one(w.tasks);
    detail::poke(w.body_name, name);
  }
};

}  // namespace

TEST_CASE("live_view: counters, roles and what each does") {
  fixture f;
  worker<notes>& w = f.s.crew[1];
  f.s.worker_time.turns(w, spends::searching);
  for (int i = 0; i < 3; ++i) f.begins(w, "x");
  count_some(w.counted.steals, 5);
  count_some(w.counted.sleeps, 6);
  count_some(w.counted.called, 7);
  f.look();
  CHECK(f.rows[0].does == live_does::outside);
  CHECK(f.rows[1].does == live_does::searching);
  CHECK(f.rows[1].worker == 1);
  CHECK(f.rows[1].role == live_role::ordinary);
  CHECK(f.rows[2].role == live_role::reserve);
  CHECK(f.rows[1].tasks == 3);
  CHECK(f.rows[1].steals == 5);
  CHECK(f.rows[1].sleeps == 6);
  CHECK(f.rows[1].called == 7);
  CHECK(f.rows[1].body_ns == 0);
  CHECK(f.head.live == 0);
  CHECK(f.head.now_ns == f.machine.clock_ps / 1000);
}

TEST_CASE("live_view: tasks in a deque, and those that are not done") {
  fixture f;
  task t[3];
  for (task& one : t) {
    f.s.quiescence.created(f.s.crew[1], one.r);
    deque<notes>::push(f.s.crew[1], &one.r);
  }
  f.look();
  CHECK(f.rows[1].queued == 3);
  CHECK(f.rows[0].queued == 0);
  CHECK(f.head.live == 3);
  CHECK(f.s.own(1).size() == 3);
  f.look();
  CHECK(f.rows[1].queued == 0);
}

TEST_CASE("live_view: a body goes on for at least as long as it was seen to") {
  fixture f;
  worker<notes>& w = f.s.crew[1];
  f.s.worker_time.turns(w, spends::busy);
  f.look();
  CHECK(f.rows[1].body_ns == 0);  // it has run nothing
  f.begins(w, "gemm");
  f.look();
  const std::uint64_t first = f.head.now_ns;
  CHECK(std::string(f.rows[1].body) == "gemm");
  CHECK(f.rows[1].body_ns == 0);
  f.machine.clock_ps += 5'000'000;
  f.look();
  CHECK(f.rows[1].body_ns == f.head.now_ns - first);
  f.begins(w, nullptr);  // another one, without a name
  f.look();
  CHECK(f.rows[1].body_ns == 0);
  CHECK(f.rows[1].body[0] == '\0');
}

TEST_CASE("live_view: what a worker was in before it looked for work does not go on behind that") {
  fixture f;
  worker<notes>& w = f.s.crew[1];
  f.s.worker_time.turns(w, spends::busy);
  f.begins(w, "gemm");
  f.look();
  f.s.worker_time.turns(w, spends::asleep);
  f.look();
  CHECK(f.rows[1].body_ns == 0);
  CHECK(f.rows[1].body[0] == '\0');
  f.s.worker_time.turns(w, spends::busy);  // a stack that was set aside goes on, say
  f.look();
  f.s.worker_time.turns(w, spends::searching);
  f.s.worker_time.turns(w, spends::busy);
  f.look();
  CHECK(f.rows[1].body_ns == 0);
}

}  // namespace weft::sched
