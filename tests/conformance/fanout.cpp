// More workers are never slower. One thread submits independent tasks, the hardest case for thieves: all that there is
// to do begins in one deque. In virtual time, so the figures are the same everywhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "weft/weft.hpp"

namespace {

// How many cores' worth of bodies were run, from the first submission to the end of the wait.
double cores_used(const char* machine, unsigned workers, unsigned tasks, double body_ns) {
  weft::runtime rt({.workers = workers, .machine = machine});
  const double start = rt.now_ns();
  for (unsigned i = 0; i < tasks; ++i) rt.submit(weft::cost(body_ns), [] {});
  rt.wait();
  return tasks * body_ns / (rt.now_ns() - start);
}

// What one thread takes to create a task whose record nobody has used before, as most are here.
double creation_ns(const char* machine) {
  constexpr unsigned tasks = 4096;
  weft::runtime rt({.workers = 1, .machine = machine});
  const double start = rt.now_ns();
  for (unsigned i = 0; i < tasks; ++i) rt.submit(weft::cost(1), [] {});
  return (rt.now_ns() - start) / tasks;
}

struct expected {
  unsigned workers;
  unsigned tasks_each;
  double body_ns;
  double efficiency;  // of the least of cores and what the submitter can feed
};

void check(const char* machine, const std::vector<expected>& rows) {
  const double creation = creation_ns(machine);
  double before = 0;
  for (const expected& e : rows) {
    const double used = cores_used(machine, e.workers, e.tasks_each * e.workers, e.body_ns);
    const double possible = std::min<double>(e.workers, e.body_ns / creation);
    CAPTURE(machine);
    CAPTURE(e.workers);
    CAPTURE(e.body_ns);
    CAPTURE(creation);
    CAPTURE(used);
    CHECK(used >= e.efficiency * possible);
    CHECK(used >= 0.95 * before);
    before = used;
  }
}

}  // namespace

TEST_CASE("fan-out: all workers of a flat machine are fed by one submitter") {
  check("virtual",
        {{1, 400, 1e5, 0.98}, {16, 40, 1e5, 0.9}, {64, 40, 1e5, 0.9}, {256, 40, 1e5, 0.9}, {512, 40, 1e5, 0.9}});
}
TEST_CASE("fan-out: and of one with memory nodes") {
  check("epyc-7551-32", {{1, 400, 1e4, 0.98}, {8, 40, 1e4, 0.9}, {16, 40, 1e4, 0.9}, {32, 40, 1e4, 0.87}});
}
// Nine tenths, but for how a run begins and ends: docs/decisions/0053-one-thief-at-a-time.md.
TEST_CASE("fan-out: with bodies ten times as short more workers are no slower") {
  check("virtual",
        {{1, 400, 1e4, 0.98}, {16, 100, 1e4, 0.92}, {64, 100, 1e4, 0.9}, {256, 100, 1e4, 0.78}, {512, 100, 1e4, 0.8}});
}
