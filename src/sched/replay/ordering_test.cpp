// Where an order of tasks is written down or decided: nothing on real machines; on modelled ones all that is ready goes
// to one pool, from which each worker gets what the rule says and what it may run.
#include "sched/replay/ordering.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::modelled_notes;
using testing::notes;
using testing::task;

struct ordered {
  modelled_notes machine;
  testing::scheduler<modelled_notes> s{machine, 3};
  explicit ordered(task_order::setup how) {
    s.ordering.begin(std::make_unique<task_order>(how));
    s.open_with_policy();
  }
  // t is submitted as the n-th of the program and placed on worker 0.
  void make_ready(task& t, std::uint64_t n) {
    t.r.order = n;
    s.ordering.submitted(t.r);
    s.placement.place(s.crew[0], &t.r);
  }
};
const task_order::setup drawn{.how = task_order::rule::drawn, .seed = 3, .depth = 0};

}  // namespace

TEST_CASE("ordering: without an order nothing is chosen, on any machine") {
  notes real;
  sched::sleep<notes> sleep;
  ordering<notes> none(real, sleep);
  CHECK(!none.chooses());
  modelled_notes modelled;
  sched::sleep<modelled_notes> sleep_too;
  ordering<modelled_notes> also_none(modelled, sleep_too);
  CHECK(!also_none.chooses());
  task t;
  also_none.submitted(t.r);  // goes nowhere
  also_none.step(&t.r);
  also_none.ended(t.r);
}

TEST_CASE("ordering: what is only written down is decided as always") {
  ordered o({.how = task_order::rule::free});
  CHECK(!o.s.ordering.chooses());
  task t;
  o.make_ready(t, 1);
  CHECK(o.s.policy.asked.size() == 1);
  CHECK(o.s.own(0).size() == 1);
}

TEST_CASE("ordering: a chosen order takes every ready task, pinned and urgent too, and asks no policy") {
  ordered o(drawn);
  CHECK(o.s.ordering.chooses());
  task plain, pinned, hurried;
  pinned.r.pin = 2;
  hurried.r.urgent = true;
  CHECK(o.s.ordering.has_none());
  o.make_ready(plain, 1);
  o.make_ready(pinned, 2);
  o.make_ready(hurried, 3);
  CHECK(!o.s.ordering.has_none());
  CHECK(o.s.policy.asked.empty());
  CHECK(!o.s.attention.called());
  CHECK(!o.s.placement.follows(o.s.crew[0], plain.r));  // nor does any run at once
}

TEST_CASE("ordering: each worker gets what it may run, and everything is got once") {
  ordered o(drawn);
  task plain, pinned;
  pinned.r.pin = 2;
  o.make_ready(pinned, 1);
  CHECK((!o.s.ordering.visible(o.s.crew[0]) && o.s.ordering.visible(o.s.crew[2])));
  CHECK(o.s.ordering.take(o.s.crew[0]) == nullptr);
  o.make_ready(plain, 2);
  CHECK(o.s.ordering.take(o.s.crew[1]) == &plain.r);
  CHECK(o.s.ordering.take(o.s.crew[1]) == nullptr);
  CHECK(o.s.ordering.take(o.s.crew[2]) == &pinned.r);
  CHECK(o.s.ordering.has_none());
}

TEST_CASE("ordering: who may run it is woken, nobody who may not") {
  ordered o(drawn);
  for (unsigned id = 1; id < 3; ++id) static_cast<void>(o.s.sleep.announce(id));
  task pinned, plain, mine;
  pinned.r.pin = 2;
  o.make_ready(pinned, 1);
  CHECK(o.machine.take_woken() == std::vector<unsigned>{2});
  o.s.sleep.give_up();
  mine.r.pin = 0;
  o.make_ready(mine, 2);
  CHECK(o.machine.take_woken().empty());
  o.make_ready(plain, 3);
  CHECK(o.machine.take_woken() == std::vector<unsigned>{1});
}

TEST_CASE("ordering: an add that is chosen queues for its handle if it cannot have it, and the next is asked") {
  ordered o(drawn);
  detail::handle_state h;
  h.exclusive_taken = true;
  task add, plain;
  add.uses(h, detail::kind_add);
  add.r.exclusives = 1;
  add.r.waits_exclusive = true;
  add.r.waiting.cursor = 1;  // its version is there
  CHECK(o.s.ordering.chooses_among_adds(add.r));
  CHECK(!o.s.ordering.chooses_among_adds(plain.r));
  o.make_ready(add, 1);
  o.make_ready(plain, 2);
  CHECK(o.s.ordering.take(o.s.crew[0]) == &plain.r);
  CHECK(o.s.ordering.take(o.s.crew[0]) == nullptr);
  CHECK(h.waiters_head == &add.r);
  h.waiters_head = h.waiters_tail = nullptr;
}

}  // namespace weft::sched
