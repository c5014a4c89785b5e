// Who is expected, what brings about what it waits for, and to whom it may leave the rest.
#include "sched/idle/expected.hpp"

#include <doctest/doctest.h>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct fixture {
  notes machine;
  testing::scheduler<notes> s{machine, 3};
  worker<notes>& main = s.crew[0];
  detail::handle_state datum;
};

}  // namespace

TEST_CASE("expected: a wait for everything, or for room, is no wait for one thing") {
  fixture f;
  waiter x;
  CHECK(!expected<notes>::waits_for_one(f.main, x));
  x.awaited = &f.datum;
  CHECK(expected<notes>::waits_for_one(f.main, x));
  f.s.crew[2].role = role::creator;
  CHECK(!expected<notes>::waits_for_one(f.s.crew[2], x));
}

TEST_CASE("expected: from the first stack that waits to the last that goes on") {
  fixture f;
  waiter program, pinned;
  program.awaited = &f.datum;
  pinned.awaited = &f.datum;
  for (unsigned id = 0; id < 3; ++id) f.s.sleep.set_busy(id, false);
  expected<notes>::begin(f.s.sleep, f.main, program, true);
  CHECK(f.main.expects.looks_apart);
  CHECK(f.main.expects.program == &program);
  expected<notes>::begin(f.s.sleep, f.main, pinned, false);
  expected<notes>::end(f.s.sleep, f.main, true);
  CHECK(f.main.expects.looks_apart);
  CHECK(f.main.expects.program == nullptr);
  expected<notes>::end(f.s.sleep, f.main, false);
  CHECK(!f.main.expects.looks_apart);
  CHECK(f.main.expects.stacks == 0);
}

TEST_CASE("expected: work is left to who has nothing to do, but not to worker 0 or to another that is expected") {
  fixture f;
  waiter x;
  x.awaited = &f.datum;
  f.s.sleep.set_busy(0, false);
  f.s.sleep.set_busy(1, true);
  f.s.sleep.set_busy(2, false);
  CHECK(f.s.sleep.somebody_else_is_free(1));
  CHECK(!f.s.sleep.somebody_else_is_free(2));
  expected<notes>::begin(f.s.sleep, f.s.crew[2], x, false);
  CHECK(!f.s.sleep.somebody_else_is_free(1));
  expected<notes>::end(f.s.sleep, f.s.crew[2], false);
  CHECK(f.s.sleep.somebody_else_is_free(1));
}

TEST_CASE("expected: who has never looked for anything is free until it takes its first task") {
  fixture f;
  CHECK(f.s.sleep.somebody_else_is_free(0));
  f.s.sleep.takes(1);
  CHECK(f.s.sleep.somebody_else_is_free(0));
  f.s.sleep.takes(2);
  CHECK(!f.s.sleep.somebody_else_is_free(0));
  f.s.sleep.set_busy(2, false);
  CHECK(f.s.sleep.somebody_else_is_free(0));
}

TEST_CASE("expected: a child of the body that waits for its children brings the end about, a stranger does not") {
  fixture f;
  task parent, child, stranger;
  child.r.parent = &parent.r;
  waiter x;
  x.children_of = &parent.r;
  CHECK(!expected<notes>::brings_about(f.main, child.r));
  expected<notes>::begin(f.s.sleep, f.main, x, true);
  CHECK(expected<notes>::brings_about(f.main, child.r));
  CHECK(!expected<notes>::brings_about(f.main, stranger.r));
  expected<notes>::end(f.s.sleep, f.main, true);
}

}  // namespace weft::sched
