// The lock of Python, as a counter of tasks.
#include "gil.hpp"

#include <doctest/doctest.h>

#include "made.hpp"

namespace weft::tool::report {
namespace {

trace::file two_tasks(const char* counter) {
  made run(2);
  run.task(0, 0, 100, {});
  run.task(0, 100, 400, {});
  run.wait_all(0, 400);
  trace::file f = run.take();
  f.counter_names = {"cycles", counter};
  f.counters = {{0, 0, 999}, {0, 1, 60}, {1, 0, 999}, {1, 1, 140}};
  return f;
}

}  // namespace

TEST_CASE("report: the share of bodies' time that is a wait for Python's lock") {
  const trace::file f = two_tasks("gil_wait_ns");
  CHECK(gil_waits(f) == std::vector<ns>{60, 140});
  CHECK(gil_share(f) == doctest::Approx(0.5));
  REQUIRE(gil_advice(f).size() == 1);
  CHECK(gil_advice(f)[0].text.starts_with("50 % of the time in bodies"));
}

TEST_CASE("report: a wait is no longer than its body, and less than none is none") {
  trace::file f = two_tasks("gil_wait_ns");
  f.counters[1].value = 1000;
  f.counters[3].value = -5;
  CHECK(gil_share(f) == doctest::Approx(0.25));
}

TEST_CASE("report: of other counters nothing is said") {
  const trace::file f = two_tasks("instructions");
  CHECK(gil_waits(f).empty());
  CHECK(gil_share(f) == 0);
  CHECK(gil_advice(f).empty());
}

}  // namespace weft::tool::report
