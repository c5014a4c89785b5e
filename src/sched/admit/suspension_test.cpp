// Setting a stack aside and entering it again, with real stacks on one thread: others hear of a waiting stack only when
// it is saved, what was the worker's is the worker's again when it goes on, and stacks are used again.
#include "sched/admit/suspension.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "little_engine.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

// Worker 0 is this thread. Its loop takes records from a list, and enters the stack that each stands for.
struct fixture {
  notes machine;
  testing::little_engine<notes> s{machine, 2};
  sched::stacks<notes> stacks{std::size_t{128} << 10, &fixture::enter, this};
  suspension<notes> away{machine, s.sleep, stacks, s.recording, s.readiness, s.quiescence};
  worker<notes>& w = s.crew[0];
  std::vector<detail::record*> due;
  std::vector<fiber*> loops;  // one entry each time that a loop goes on
  detail::worker* const before = current_worker();

  fixture() {
    s.open();
    away.open(w);
    set_current_worker(&w);
  }
  ~fixture() { set_current_worker(before); }

  static void enter(void* self) { static_cast<fixture*>(self)->loop(); }
  void loop() {
    for (;;) {
      loops.push_back(w.stacks.running);
      WEFT_ASSERT(!due.empty());  // on this stack nothing may be thrown
      detail::record* r = due.back();
      due.pop_back();
      away.resume(w, waiter::of(r));
    }
  }
  // Waits for whoever empties `due`, which is the loop, at once.
  void wait(waiter& self, trace::why why = trace::why::all) {
    away.suspend(w, self, trace::reason{why}, [this, &self](worker<notes>& here) {
      CHECK(&here == &w);
      CHECK(w.stacks.running != self.stack);  // told on the next stack
      due.push_back(&self.r);
    });
  }
};

}  // namespace

TEST_CASE("suspension: a stack goes on where it was left, and its worker is as before") {
  fixture f;
  waiter self;
  CHECK(f.w.on_program_stack());
  f.wait(self);
  CHECK(f.w.on_program_stack());
  CHECK(f.loops.size() == 1);
  CHECK(f.loops[0] != f.w.stacks.home);
  CHECK(detail::peek(f.w.counted.suspends) == 1);
}

TEST_CASE("suspension: the loop that entered a waiting stack leaves its own for the next wait") {
  fixture f;
  for (unsigned i = 0; i < 5; ++i) {
    waiter self;
    f.wait(self);
    CHECK(f.w.stacks.idle.size() == 1);
  }
  CHECK(f.loops.size() == 5);
  for (const fiber* stack : f.loops) CHECK(stack == f.loops[0]);
}

TEST_CASE("suspension: the main thread comes back as itself, and is known to wait while it does") {
  fixture f;
  waiter self;
  const auto publish = [&](worker<notes>& here) {
    CHECK(f.away.program_waiter() == &self);
    CHECK(self.r.kind == detail::record_kind::resume);
    CHECK(self.r.pin == 0);
    CHECK(here.current == nullptr);
    f.due.push_back(&self.r);
  };
  CHECK(f.away.program_waiter() == nullptr);
  f.away.suspend(f.w, self, {trace::why::all}, publish);
  CHECK(f.away.program_waiter() == nullptr);
}

TEST_CASE("suspension: a body has waited, and is the worker's current task again afterwards") {
  fixture f;
  task body(detail::record_state::running);
  waiter self;
  f.w.current = &body.r;
  f.wait(self, trace::why::children);
  CHECK(f.w.current == &body.r);
  CHECK(bool{body.r.has_waited});
  CHECK(self.r.parent == &body.r);
  f.w.current = nullptr;
}

TEST_CASE("suspension: while a body with exclusive access waits nobody reserves") {
  fixture f;
  task body(detail::record_state::running);
  body.r.exclusives = 1;
  waiter self;
  f.w.current = &body.r;
  const auto publish = [&](worker<notes>&) {
    f.s.readiness.wait_ends();  // would trip an assertion if it had not been announced
    access::woken list;
    f.s.readiness.wait_begins(list);
    f.due.push_back(&self.r);
  };
  f.away.suspend(f.w, self, {trace::why::children}, publish);
  f.w.current = nullptr;
}

TEST_CASE("suspension: the main thread does not go on past threads that wait for the end") {
  fixture f;
  waiter outside, self;
  outside.r.kind = detail::record_kind::external;
  const auto publish = [&](worker<notes>&) {
    f.s.quiescence.await(outside);
    f.due.push_back(&self.r);
  };
  f.away.suspend(f.w, self, {trace::why::handle}, publish);
  CHECK(detail::peek(outside.signal) != 0);
}

TEST_CASE("suspension: set aside without a wait, a stack is told and entered the same") {
  fixture f;
  waiter self;
  f.away.set_aside(f.w, self, [&](worker<notes>&) { f.due.push_back(&self.r); });
  CHECK(f.w.on_program_stack());
  CHECK(detail::peek(f.w.counted.suspends) == 0);
}

}  // namespace weft::sched
