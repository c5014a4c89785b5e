// What a trace and an order of tasks show of graphs that run again: their nodes, as tasks that were submitted where the
// run was.
#include <string>
#include <vector>

#include "../trace_file.hpp"
#include "everywhere.hpp"
#include "weft/weft.hpp"

namespace {

void run_some(weft::runtime& rt) {
  weft::handle<long> a{0}, b{0}, c{0};
  a.name("a");
  b.name("b");
  weft::graph g(rt, [&](weft::recorder& r) {
    r.submit(weft::named("make"), weft::write(a), weft::cost(1000), [](long& x) { ++x; });
    for (int i = 0; i < 3; ++i)
      r.submit(weft::named("use"), weft::read(a), weft::add(b), weft::cost(500),
               [](const long& x, long& y) { y += x; });
    r.submit(weft::named("end"), weft::write(a), weft::read(b), weft::cost(500), [](long& x, const long& y) { x = y; });
    r.submit(weft::named("apart"), weft::read(c), [](const long&) {});
  });
  g.name("step");
  rt.submit(weft::named("before"), weft::write(a), [](long& x) { x = 1; });
  for (int i = 0; i < 3; ++i) rt.submit(g);
  rt.submit(weft::named("between"), weft::write(b), [](long& x) { ++x; });
  g.run();
  rt.submit(weft::named("in a task"), [&] { g.run(); });
  rt.wait();
}

void check_trace(const std::string& path) {
  const trace_file trace(path);
  CHECK(trace.verdict() == "");
  CHECK(trace.text("SELECT n.name, count(*) FROM tasks t JOIN names n ON n.id = t.name GROUP BY 1 ORDER BY 1") ==
        "apart|5 before|1 between|1 end|5 in a task|1 make|5 step|5 use|15");
  CHECK(trace.number("SELECT count(*) FROM tasks WHERE started_ns IS NULL") == 0);
  // A handle's accesses are counted on from run to run, and from task to task between them.
  CHECK(trace.text("SELECT x.version FROM accesses x JOIN handles h ON h.id = x.handle"
                   " WHERE h.name = 'b' AND x.kind = 'read' ORDER BY 1") == "3 7 11 16 20");
}

}  // namespace

TEST_CASE("graph: a trace shows the nodes of each run as tasks, with names, accesses and versions") {
  for (const unsigned workers : {1u, 2u, 4u})
    for (const char* machine : both_machines) {
      INFO(machine << ", " << workers << " workers");
      const trace_place place;
      {
        weft::runtime rt({.workers = workers, .machine = machine, .trace = place.path().c_str()});
        run_some(rt);
      }
      check_trace(place.path());
    }
}

TEST_CASE("graph: the same where tasks are created by one worker") {
  for (const char* machine : both_machines) {
    const trace_place place;
    {
      weft::runtime rt({.workers = 3, .machine = machine, .creation = "decoupled", .trace = place.path().c_str()});
      run_some(rt);
    }
    check_trace(place.path());
  }
}

TEST_CASE("graph: where the order of tasks is drawn, each node is one of them") {
  for (const char* schedule : {"pct", "tasks"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      INFO(schedule << ", seed " << seed);
      weft::runtime rt({.workers = 3, .machine = "virtual", .seed = seed, .model = {.schedule = schedule}});
      std::vector<int> order;
      weft::handle<int> a{0};
      weft::graph g(rt, [&](weft::recorder& r) {
        for (int i = 0; i < 4; ++i) r.submit([&order, i] { order.push_back(i); });
        r.submit(weft::write(a), [](int& x) { ++x; });
        r.submit(weft::read(a), [&](int x) { order.push_back(10 * x); });
      });
      for (int i = 0; i < 3; ++i) g.run();
      CHECK(order.size() == 15);
      CHECK(rt.get(a) == 3);
    }
}
