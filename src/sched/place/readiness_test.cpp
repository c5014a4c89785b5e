// What follows from a condition being met: who has none left is placed, who has another is listed for that, and where a
// body has just ended the first that may stay runs at once.
#include "sched/place/readiness.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "little_engine.hpp"

namespace weft::sched {
namespace {

using detail::kind_add;
using detail::kind_read;
using detail::kind_write;
using testing::notes;
using testing::task;
using records = std::vector<detail::record*>;

struct fixture {
  notes machine;
  testing::little_engine<notes> s{machine, 2};
  fixture() { s.open(); }
};

}  // namespace

TEST_CASE("readiness: of what a body's end made ready, one runs at once and the rest is queued there") {
  fixture f;
  detail::handle_state h;
  task first, a, b, c;
  CHECK(f.s.submit(0, first.uses(h, kind_write)));
  for (task* t : {&a, &b, &c}) CHECK(!f.s.submit(0, t->uses(h, kind_read)));
  CHECK(f.s.own(0) == records{&first.r});
  CHECK(f.s.finish(1, first) == &a.r);
  CHECK(a.r.state == detail::record_state::ready);
  CHECK(f.s.own(0).empty());
  CHECK(f.s.own(1).size() == 2);  // beside the worker that has their data
}

TEST_CASE("readiness: a task that waits for two data is ready with the later one") {
  fixture f;
  detail::handle_state h, k;
  task first, second, both;
  f.s.submit(0, first.uses(h, kind_write));
  f.s.submit(0, second.uses(k, kind_write));
  CHECK(!f.s.submit(0, both.uses(h, kind_read).uses(k, kind_read)));
  CHECK(f.s.finish(0, first) == nullptr);
  CHECK(both.r.state == detail::record_state::blocked);
  CHECK(f.s.finish(0, second) == &both.r);
}

TEST_CASE("readiness: what is pinned or urgent does not run at once but goes where it must") {
  fixture f;
  detail::handle_state h;
  task first, pinned, hurried, plain;
  f.s.submit(0, first.uses(h, kind_write));
  pinned.r.pin = 1;
  hurried.r.urgent = true;
  CHECK(!f.s.submit(0, pinned.uses(h, kind_read)));
  CHECK(!f.s.submit(0, hurried.uses(h, kind_read)));
  CHECK(!f.s.submit(0, plain.uses(h, kind_read)));
  CHECK(f.s.finish(0, first) == &plain.r);
  CHECK(f.s.content(f.s.crew[1].box) == records{&pinned.r});
  CHECK(f.s.content(f.s.placement.urgent()) == records{&hurried.r});
}

TEST_CASE("readiness: of adds on one handle one at a time goes on") {
  fixture f;
  detail::handle_state h;
  task a, b;
  CHECK(f.s.submit(0, a.uses(h, kind_add)));
  CHECK(!f.s.submit(0, b.uses(h, kind_add)));
  CHECK(f.s.finish(0, a) == &b.r);
  CHECK(f.s.finish(0, b) == nullptr);
  CHECK(!h.exclusive_taken);
}

TEST_CASE("readiness: without a body that ended, everything that is ready is placed") {
  fixture f;
  detail::handle_state h;
  task first, a, b;
  f.s.submit(0, first.uses(h, kind_write));
  f.s.submit(0, a.uses(h, kind_read));
  f.s.submit(0, b.uses(h, kind_read));
  access::woken list;
  access::settle<notes>(first.r, list);
  f.s.readiness.all(f.s.crew[1], list);
  CHECK(f.s.own(1).size() == 2);
}

TEST_CASE("readiness: the policy is asked about the one that would run at once, and decides") {
  notes machine;
  testing::little_engine<notes> s(machine, 2);
  s.open_with_policy();
  detail::handle_state h;
  task first, a;
  s.submit(0, first.uses(h, kind_write));
  s.submit(0, a.uses(h, kind_read));
  s.policy.asked.clear();
  s.policy.next = destination::worker(0);
  CHECK(s.finish(1, first) == nullptr);
  CHECK(!s.policy.asked.empty());
  CHECK(s.content(s.crew[0].box) == records{&a.r});
}

TEST_CASE(
    "readiness: of several that the policy names this worker for, those that do not run at once wait in its inbox") {
  notes machine;
  testing::little_engine<notes> s(machine, 2);
  s.open_with_policy();
  s.policy.next = destination::worker(1);
  detail::handle_state h;
  task first, a, b;
  s.submit(1, first.uses(h, kind_write));
  s.submit(1, a.uses(h, kind_read));
  s.submit(1, b.uses(h, kind_read));
  CHECK(s.content(s.crew[1].box) == records{&first.r});
  CHECK(s.finish(1, first) == &a.r);
  CHECK(s.own(1).empty());  // where a thief would find it
  CHECK(s.content(s.crew[1].box) == records{&b.r});
}

TEST_CASE("readiness: who waits for the end of everything goes on with it") {
  fixture f;
  task t;
  waiter x;
  x.r.kind = detail::record_kind::external;
  f.s.quiescence.await(x);
  f.s.submit(0, t);
  f.s.readiness.quiescent(f.s.crew[0]);
  CHECK(detail::peek(x.signal) == 0);
  f.s.finish(0, t);
  f.s.readiness.quiescent(f.s.crew[0]);
  CHECK(detail::peek(x.signal) != 0);
}

TEST_CASE("readiness: only a body that may hold exclusive access counts as one that waits with it") {
  fixture f;
  worker<notes>& w = f.s.crew[0];
  task with, without;
  with.r.exclusives = 1;
  {
    w.current = &without.r;
    const readiness<notes>::exclusive_wait none(f.s.readiness, w);
    w.current = &with.r;
    const readiness<notes>::exclusive_wait one(f.s.readiness, w);
    f.s.readiness.wait_ends();  // would trip an assertion if nobody waited
    access::woken list;
    f.s.readiness.wait_begins(list);
    CHECK(list.head == nullptr);
  }
  w.current = nullptr;
}

}  // namespace weft::sched
