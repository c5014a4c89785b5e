// When everything is done: who counts what, and who is told of the end. Under random schedules:
// quiescence_model_test.cpp.
#include "sched/idle/quiescence.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct counters {
  notes machine;
  sched::sleep<notes> sleep;
  crew<notes> all;
  weft::task::pool<notes> pool{2};
  guests<notes> outside{machine, sleep, pool};
  quiescence<notes> end{all, outside};
  counters() {
    sleep.open(2);
    all.open(2, false);
  }
};

}  // namespace

TEST_CASE("quiescence: nothing was submitted, so everything is done") {
  counters c;
  CHECK(c.end.reached());
  CHECK((c.end.live() == 0 && c.end.steps() == 0));
  CHECK(!c.end.is_over_for_some());  // nobody waits
}

TEST_CASE("quiescence: a task is submitted on one worker and done on another") {
  counters c;
  task a, b;
  c.end.created(c.all[0], a.r);
  c.end.created(c.all[0], b.r);
  CHECK((a.r.order == 1 && b.r.order == 2));
  CHECK((a.r.parent == nullptr && !c.end.reached()));
  c.end.finished(c.all[1]);
  CHECK((c.end.live() == 1 && !c.end.reached()));
  c.end.finished(c.all[0]);
  CHECK(c.end.reached());
  CHECK(c.end.steps() == 4);
}

TEST_CASE("quiescence: a task inside another is its parent's, not the program's") {
  counters c;
  task parent(detail::record_state::running), child, second;
  c.end.created(c.all[0], parent.r);
  c.all[1].current = &parent.r;
  c.end.created(c.all[1], child.r);
  c.end.created(c.all[1], second.r);
  CHECK((child.r.parent == &parent.r && parent.r.has_children));
  CHECK((child.r.order == 0 && second.r.order == 1));
  CHECK(parent.r.running.children == 2);
  CHECK(c.end.live() == 1);
  c.end.withdraw(c.all[1], second.r);  // refused: it was counted and never will be
  CHECK(detail::peek(parent.r.pending) == detail::record::body_share - 1);
  CHECK(c.end.live() == 1);
}

TEST_CASE("quiescence: what is withdrawn at top level counts as done") {
  counters c;
  task a;
  c.end.created(c.all[0], a.r);
  c.end.withdraw(c.all[0], a.r);
  CHECK(c.end.reached());
}

TEST_CASE("quiescence: an internal task belongs beside the one it comes before") {
  counters c;
  task parent(detail::record_state::running), top, inner, apply_top, apply_inner;
  c.end.created(c.all[0], top.r);
  c.end.created_beside(c.all[1], apply_top.r, top.r);
  CHECK((apply_top.r.parent == nullptr && apply_top.r.order == top.r.order));
  CHECK(c.end.live() == 2);
  c.all[0].current = &parent.r;
  c.end.created(c.all[0], inner.r);
  c.all[0].current = nullptr;
  c.end.created_beside(c.all[1], apply_inner.r, inner.r);
  CHECK((apply_inner.r.parent == &parent.r && apply_inner.r.order == inner.r.order));
  CHECK(parent.r.running.children == 1);
  CHECK(detail::peek(parent.r.pending) == detail::record::body_share + 1);
  CHECK(c.end.live() == 2);
}

TEST_CASE("quiescence: tasks of guests count, and come after all others in program order") {
  counters c;
  task mine, other;
  worker<notes>& g = c.outside.enter(nullptr);
  c.end.created(g, other.r);
  c.end.created(c.all[0], mine.r);
  CHECK(other.r.order > mine.r.order);
  CHECK(c.end.live() == 2);
  c.outside.leave(g);
  c.end.finished(c.all[1]);
  c.end.finished(c.all[1]);
  CHECK(c.end.reached());
}

TEST_CASE("quiescence: those who wait are handed over once, when it is over and not before") {
  counters c;
  task a;
  waiter x, y;
  c.end.created(c.all[0], a.r);
  c.end.await(x);
  c.end.await(y);
  CHECK(!c.end.is_over_for_some());
  CHECK(c.end.take_over().empty());
  c.end.finished(c.all[0]);
  CHECK(c.end.is_over_for_some());
  auto over = c.end.take_over();
  CHECK((over.pop() == &x && over.pop() == &y && over.empty()));
  CHECK(!c.end.is_over_for_some());
  CHECK(c.end.take_over().empty());
}

TEST_CASE("quiescence: who no longer waits is not handed over") {
  counters c;
  waiter x, y;
  c.end.await(x);
  c.end.await(y);
  CHECK(c.end.delist(x));
  CHECK(!c.end.delist(x));
  auto over = c.end.take_over();
  CHECK((over.pop() == &y && over.empty()));
  CHECK(!c.end.delist(y));
}

}  // namespace weft::sched
