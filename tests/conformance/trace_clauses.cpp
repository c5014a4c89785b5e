// What a trace says about clauses, and about waits that had nothing to wait for: a replay on another machine goes by
// it.
#include <doctest/doctest.h>

#include "trace_file.hpp"
#include "weft/weft.hpp"

TEST_CASE("trace: clauses, units and flags of kinds") {
  const trace_place place;
  const std::string path = place.path();
  {
    weft::runtime rt({.workers = 2, .machine = "virtual", .trace = path.c_str()});
    weft::handle<int> x(0);
    x.bytes(32768);
    weft::resource disks(3);
    using scale = weft::access_type<5, weft::commutative | weft::exclusive>;
    rt.submit(weft::priority(1), weft::named("urgent"), [] {});
    rt.submit(weft::pin(1), weft::named("pinned"), [] {});
    rt.submit(weft::subtasks(), weft::named("holds"), [&] { rt.submit(weft::named("child"), [] {}); });
    rt.submit(weft::use(disks, 2), weft::named("uses"), [] {});
    rt.submit(weft::use(disks), weft::with_access<scale>(x), weft::named("scales"), [](int&) {});
    rt.wait();
  }
  const trace_file file(path);
  CHECK(
      file.text("SELECT n.name, priority, pin, subtasks FROM tasks t JOIN names n ON n.id = t.name ORDER BY n.name") ==
      "child|0|NULL|0 holds|0|NULL|1 pinned|0|1|0 scales|0|NULL|0 urgent|1|NULL|0 uses|0|NULL|0");
  CHECK(file.text("SELECT bytes, units FROM handles ORDER BY units") == "32768|NULL NULL|3");
  CHECK(file.text("SELECT * FROM kinds ORDER BY kind") == "resource|0|0|0 user 5|0|1|1");
  CHECK(file.text("SELECT value FROM meta WHERE key = 'schedule'") == "time");
}

TEST_CASE("trace: a wait that finds nothing to wait for stands in a table of its own") {
  const trace_place place;
  const std::string path = place.path();
  {
    weft::runtime rt({.workers = 1, .machine = "virtual", .trace = path.c_str()});
    weft::handle<int> x(0);
    rt.submit(weft::write(x), [](int& v) { ++v; });
    rt.wait(x);
    rt.wait(x);
    rt.wait();
    rt.submit([&] {
      rt.wait();  // has no children: nothing to tell
      rt.submit([] {});
      rt.wait();
      rt.wait();
    });
    rt.wait();
  }
  const trace_file file(path);
  CHECK(file.verdict() == "");
  CHECK(file.text("SELECT task, why FROM waits ORDER BY from_ns") == "NULL|handle NULL|all 2|children");
  CHECK(file.text("SELECT task, why, handle IS NULL FROM passed ORDER BY time_ns") ==
        "NULL|handle|0 NULL|all|1 2|children|1 NULL|all|1");  // the last is the runtime's end
}
