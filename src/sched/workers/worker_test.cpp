// What the scheduler keeps of a worker: a waiter is found from its record, and the main thread is at its own end of the
// deque only where it has to be.
#include "sched/workers/worker.hpp"

#include <doctest/doctest.h>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using M = machine::host;

// Worker 0 of a runtime, whose thread is in the program.
struct at_home {
  fiber program;
  worker<M> w;
  at_home() { w.stacks.running = w.stacks.home = &program; }
};

}  // namespace

TEST_CASE("worker: a waiter is where its record is, with its access behind it") {
  waiter x;
  x.r.kind = detail::record_kind::external;
  CHECK(&waiter::of(&x.r) == &x);
  CHECK(x.r.accesses() == &x.a);
  CHECK((!x.stalled && x.awaited == nullptr && detail::peek(x.signal) == 0));
}

TEST_CASE("worker: only ordinary ones are not special") {
  worker<M> w;
  CHECK(!w.is_special());
  for (const role r : {role::reserve, role::creator, role::guest}) {
    w.role = r;
    CHECK(w.is_special());
  }
}

TEST_CASE("worker: the program's stack is that of worker 0's thread") {
  at_home h;
  CHECK(h.w.on_program_stack());
  fiber other;
  h.w.stacks.running = &other;
  CHECK(!h.w.on_program_stack());
  h.w.stacks.running = h.w.stacks.home;
  h.w.id = 1;
  CHECK(!h.w.on_program_stack());
}

TEST_CASE("worker: where it moves, the stack knows") {
  at_home h;
  fiber other;
  h.w.moves_to(other);
  CHECK(h.w.stacks.running == &other);
  CHECK(h.w.where == &other.where);
  CHECK(other.where.on == &h.w);
}

}  // namespace weft::sched
