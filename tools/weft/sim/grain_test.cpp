// What merging and splitting do to tasks, accesses and versions, on runs made by hand.
#include "grain.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>

#include "tools/weft/report/analysis.hpp"
#include "tools/weft/report/made.hpp"
#include "weft/error.hpp"

namespace weft::tool::sim {
namespace {

using report::made;

// Tasks of one name (`made` names by odd and even numbers, so it is overwritten), the main program waits at the end.
trace::file finish(made& m, std::uint32_t name_of_all = 0) {
  m.wait_all(900'000, 1'000'000);
  trace::file f = m.take();
  f.path = "made";
  f.format = 2;
  for (trace::task& t : f.tasks) t.name = name_of_all;
  return f;
}

trace::file with(const trace::file& f, const char* text) { return regrain(f, script(f), grain::parse(text)); }

ns body_sum(const trace::file& f) {
  ns sum = 0;
  for (const trace::task& t : f.tasks) sum += t.finished_ns - t.started_ns;
  return sum;
}

}  // namespace

TEST_CASE("grain: what is meant") {
  CHECK(grain::parse("1").text() == "1");
  CHECK(grain::parse("/1").text() == "1");
  CHECK(grain::parse("8").text() == "8");
  CHECK(grain::parse("/3").text() == "/3");
  for (const char* bad : {"", "/", "0", "-1", "x", "4x", "1000000"}) CHECK_THROWS_AS(grain::parse(bad), error);
}

TEST_CASE("grain: merged accesses are the union, the stronger kind wins, versions follow") {
  made m(2);
  const std::uint32_t x = m.handle(), y = m.handle();
  m.task(0, 100, 110, {{"read", x}});
  m.task(1, 110, 130, {{"write", x}, {"write", y}});  // may join: only the group itself used x
  m.task(2, 130, 160, {{"read", y}});
  const trace::file f = with(finish(m), "2");
  REQUIRE(f.tasks.size() == 2);
  CHECK(f.tasks[0].finished_ns - f.tasks[0].started_ns == 30);
  CHECK(body_sum(f) == 60);
  REQUIRE(f.accesses.size() == 3);
  CHECK(f.kinds[f.accesses[0].kind] == "write");
  CHECK(f.accesses[0].handle == x);
  CHECK(f.accesses[1].handle == y);
  CHECK(f.accesses[2].task == 1);
  CHECK(f.accesses[2].version == f.accesses[1].next_version);
}

TEST_CASE("grain: nothing moves over what it conflicts with") {
  made m(2);
  const std::uint32_t x = m.handle();
  m.task(0, 100, 110, {{"write", x}});
  m.task(1, 110, 120, {{"read", x}});
  m.task(2, 120, 130, {{"write", x}});
  trace::file f = finish(m);
  f.tasks[1].name = 1;  // stands between
  CHECK(with(f, "3").tasks.size() == 3);
  f.tasks[1].name = 0;
  CHECK(with(f, "3").tasks.size() == 1);
}

TEST_CASE("grain: a member's own access hides no other's before it") {
  // 0 (name 0) opens a group; 1 (name 1) reads x; 2 (name 0) reads x and joins; 3 (name 0) writes x: 1 is in the way.
  made m(2);
  const std::uint32_t x = m.handle(), y = m.handle();
  m.task(0, 100, 110, {{"write", y}});
  m.task(1, 110, 120, {{"read", x}});
  m.task(2, 120, 130, {{"read", x}});
  m.task(3, 130, 140, {{"write", x}});
  trace::file f = finish(m);
  f.tasks[1].name = 1;
  const trace::file merged = with(f, "4");
  REQUIRE(merged.tasks.size() == 3);
  CHECK(merged.tasks[0].finished_ns - merged.tasks[0].started_ns == 20);
}

TEST_CASE("grain: parts run side by side, and the next task waits for all of them") {
  made m(2);
  const std::uint32_t x = m.handle();
  for (int i = 0; i < 3; ++i) m.task(i, 100 + 10 * i, 110 + 10 * i, {{"write", x}});
  const trace::file f = with(finish(m), "/4");
  REQUIRE(f.tasks.size() == 12);
  CHECK(body_sum(f) == 30);
  std::set<std::int64_t> versions;
  for (const trace::access& a : f.accesses) {
    versions.insert(a.version);
    CHECK(a.next_version - a.version == 4);
  }
  CHECK(versions == std::set<std::int64_t>{0, 4, 8});
}

TEST_CASE("grain: tasks that submit or wait stay, and their children merge among themselves") {
  made m(1);
  const std::uint32_t parent = m.task(0, 10, 100, {});
  for (int i = 0; i < 4; ++i) m.child(parent, 20 + i, 200 + 10 * i, 210 + 10 * i);
  const trace::file f = with(finish(m), "4");
  REQUIRE(f.tasks.size() == 2);
  CHECK(f.tasks[1].parent == 0);
  CHECK(script(f).of(0).size() == 1);
}

TEST_CASE("grain: random runs keep their work, and every dependency that is left goes forward") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    trace::file f = made::random(seed);
    f.path = "random";
    f.format = 2;
    for (trace::task& t : f.tasks) t.name = t.name == none ? none : 0;
    const script s(f);
    ns work = 0;
    for (std::size_t t = 0; t < f.tasks.size(); ++t)
      if (s.of(t).empty()) work += s.rest(t);
    for (const char* text : {"2", "5", "/3"}) {
      CAPTURE(seed);
      CAPTURE(text);
      const trace::file g = with(f, text);
      const script after(g);
      ns left = 0;
      for (std::size_t t = 0; t < g.tasks.size(); ++t)
        if (after.of(t).empty()) left += after.rest(t);
      CHECK(left == work);
      for (const trace::access& a : g.accesses)
        if (a.next_version != trace::no_version) CHECK(a.next_version > a.version);
    }
  }
}

}  // namespace weft::tool::sim
