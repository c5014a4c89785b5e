// The queue of units step by step: who gets what, who is told, who is woken. Programs: tests/conformance/
// team_schedulers.cpp.
#include "sched/queues/unit_queue.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using queue = unit_queue<machine::host>;
using detail::no_unit, detail::unit_threw, detail::units_failed, detail::units_over;

// Two units, and a third behind both.
struct two_then_one {
  std::vector<std::uint32_t> before{0, 0, 2}, first{0, 1, 2, 2}, after{2, 2};
  detail::unit_order order{3, before.data(), first.data(), after.data()};
  detail::team_state t{};
  queue q;
};

// What a modelled machine would be told.
struct noting : machine::host {
  static void touch(const void*, std::size_t bytes, bool writes) { (writes ? written : read) += bytes; }
  static inline std::size_t read = 0, written = 0;
};

}  // namespace

TEST_CASE("unit queue: a machine is told of each count that goes down, and of each unit that is read") {
  two_then_one x;
  unit_queue<noting> q;
  noting::read = noting::written = 0;
  for (const std::uint32_t done : {no_unit, no_unit, 1u, 0u, 2u}) static_cast<void>(q.take(x.t, x.order, done));
  CHECK(noting::written == 2 * sizeof(std::uint32_t));
  CHECK(noting::read == 3 * sizeof(std::uint32_t));
}

TEST_CASE("unit queue: the oldest first, and one that waits is ready when the last before it is done") {
  two_then_one x;
  CHECK(x.q.take(x.t, x.order, no_unit).unit == 0);
  CHECK(x.q.take(x.t, x.order, no_unit).unit == 1);
  CHECK(x.q.take(x.t, x.order, no_unit).unit == queue::none_yet);
  CHECK(x.q.take(x.t, x.order, 1).unit == queue::none_yet);
  CHECK(x.q.take(x.t, x.order, 0).unit == 2);
  CHECK(x.q.take(x.t, x.order, no_unit).unit == queue::none_yet);
  CHECK(x.q.take(x.t, x.order, 2).unit == units_over);
  CHECK(x.q.take(x.t, x.order, no_unit).unit == units_over);
}

TEST_CASE("unit queue: what one member takes itself is no news; the end is, and wakes all") {
  two_then_one x;
  detail::record a{}, b{};
  static_cast<void>(x.q.take(x.t, x.order, no_unit));
  static_cast<void>(x.q.take(x.t, x.order, no_unit));
  const queue::answer none = x.q.take(x.t, x.order, no_unit);
  CHECK((x.q.lists(&a, none.seen) && x.q.lists(&b, none.seen)));
  static_cast<void>(x.q.take(x.t, x.order, 0));
  const queue::answer last = x.q.take(x.t, x.order, 1);
  CHECK((last.unit == 2 && last.woken == nullptr && x.q.news() == none.seen));
  const queue::answer over = x.q.take(x.t, x.order, 2);
  CHECK((over.unit == units_over && over.woken == &b && b.waiting.next == &a && a.waiting.next == nullptr));
  CHECK(x.q.news() != none.seen);
  CHECK(!x.q.lists(&a, none.seen));
}

TEST_CASE("unit queue: as many are woken as there are units that the caller leaves") {
  const std::vector<std::uint32_t> before{0, 1, 1, 1}, first{0, 3, 3, 3, 3}, after{1, 2, 3};
  const detail::unit_order order{4, before.data(), first.data(), after.data()};
  detail::team_state t{};
  queue q;
  detail::record a{}, b{}, c{};
  CHECK(q.take(t, order, no_unit).unit == 0);
  const std::uint32_t seen = q.take(t, order, no_unit).seen;
  for (detail::record* r : {&a, &b, &c}) CHECK(q.lists(r, seen));
  const queue::answer first_of_three = q.take(t, order, 0);
  CHECK((first_of_three.unit == 1 && first_of_three.woken == &c && c.waiting.next == &b && b.waiting.next == nullptr));
}

TEST_CASE("unit queue: a member with a graph of another size is told, and nothing is lost") {
  two_then_one x;
  const std::vector<std::uint32_t> before{0}, first{0, 0};
  const detail::unit_order other{1, before.data(), first.data(), nullptr};
  CHECK(x.q.take(x.t, x.order, no_unit).unit == 0);
  CHECK_THROWS_AS(static_cast<void>(x.q.take(x.t, other, no_unit)), weft::error);
  CHECK(x.q.take(x.t, x.order, no_unit).unit == 1);
}

TEST_CASE("unit queue: after a failure nobody gets a unit; after a barrier all begins anew") {
  two_then_one x;
  detail::record a{};
  CHECK(x.q.take(x.t, x.order, no_unit).unit == 0);
  CHECK(x.q.take(x.t, x.order, no_unit).unit == 1);
  CHECK(x.q.lists(&a, x.q.take(x.t, x.order, no_unit).seen));
  const queue::answer thrown = x.q.take(x.t, x.order, unit_threw);
  CHECK((thrown.unit == units_failed && thrown.woken == &a));
  CHECK(x.q.take(x.t, x.order, 0).unit == units_failed);
  base::shared(x.t.next).store(0, base::relaxed);  // as the gate does
  CHECK(x.q.take(x.t, x.order, no_unit).unit == 0);
}

}  // namespace weft::sched
