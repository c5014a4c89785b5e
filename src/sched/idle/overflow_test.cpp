// What deques had no room for: the oldest first, at most half at a time, and somebody is told.
#include "sched/idle/overflow.hpp"

#include <doctest/doctest.h>

#include "scheduler.hpp"

namespace weft::sched {

TEST_CASE("overflow: what comes is visible and has somebody woken, and goes out in its order") {
  testing::notes machine;
  sleep<testing::notes> sleepers;
  sleepers.open(3);
  overflow<testing::notes> all(machine, sleepers);
  CHECK((all.empty() && all.pop_some(1) == nullptr));
  static_cast<void>(sleepers.announce(2));
  detail::record r[3] = {};
  r[0].waiting.next = &r[1];
  r[1].waiting.next = &r[2];
  detail::deque_overflow& from_deque = all;
  from_deque.take_over(&r[0], &r[2], 3);
  CHECK(!sleepers.is_asleep(2));
  CHECK(!all.empty());
  detail::record* const first = all.pop_some(100);
  CHECK((first == &r[0] && first->waiting.next == &r[1] && r[1].waiting.next == nullptr));
  CHECK(all.pop_some(100) == &r[2]);
  CHECK((all.empty() && all.pop_some(1) == nullptr));
}

}  // namespace weft::sched
