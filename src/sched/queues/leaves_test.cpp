// What workers at one cache know of each other: who pushed, and whether somebody starves.
#include "sched/queues/leaves.hpp"

#include <doctest/doctest.h>

#include "scheduler.hpp"

namespace weft::sched {

TEST_CASE("leaves: busy from a push until a thief found nothing, calm from one more than enough until a thief failed") {
  const place::tree places = testing::places_of(4);  // two at each cache
  leaves<testing::notes> all;
  CHECK(!all.are_used());
  all.open(places);
  CHECK(all.are_used());
  CHECK((!all.busy(0) && !all.busy(1) && !all.calm(0)));
  all.pushed(1, 1);
  CHECK((all.busy(0) && !all.busy(1)));
  CHECK(!all.calm(0));
  all.pushed(0, leaves<testing::notes>::enough);
  CHECK(!all.calm(1));
  all.pushed(0, leaves<testing::notes>::enough + 1);
  CHECK((all.calm(0) && all.calm(1) && !all.calm(2)));
  all.found_empty(0);
  CHECK((!all.busy(0) && all.calm(0)));
  all.found_task(0);
  CHECK(all.busy(0));
  all.starves(1);
  CHECK(all.calm(0));
  all.starves(0);
  CHECK((!all.calm(0) && all.busy(0)));
}

}  // namespace weft::sched
