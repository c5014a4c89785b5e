// What the option schedule takes and what it refuses.
#include "runtime/schedule.hpp"

#include <doctest/doctest.h>

#include "weft/error.hpp"

namespace weft {

TEST_CASE("schedule: names and numbers") {
  using enum schedule::kind;
  CHECK(parse_schedule("time").how == time);
  CHECK(parse_schedule("random").how == random);
  const schedule p = parse_schedule("pct:2:5000");
  CHECK(p.how == pct);
  CHECK(p.depth == 2);
  CHECK(p.length == 5000);
  const schedule t = parse_schedule("tasks");
  CHECK(t.how == tasks);
  CHECK(t.depth == 3);
  CHECK(t.length == 1000);
  CHECK(parse_schedule("tasks:0").depth == 0);
  const schedule o = parse_schedule("order:a:b.order");
  CHECK(o.how == order);
  CHECK(o.file == "a:b.order");
}

TEST_CASE("schedule: what cannot be") {
  for (const char* bad : {"", "fifo", "time:1", "random:3", "pct:", "pct:x", "pct:1001", "pct:3:", "pct:3:0",
                          "pct:3:4:5", "tasks:-1", "order", "order:", "Tasks"})
    CHECK_THROWS_AS(static_cast<void>(parse_schedule(bad)), error);
}

}  // namespace weft
