// Recorded programs once more, on more or fewer workers. Bodies are milliseconds; what the modelled runtime adds are
// steps below a microsecond and a few wakes of 13 us in a row, and for that there is a margin of a fifth of a
// millisecond.
#include "replay.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "sim_made.hpp"
#include "tools/weft/report/analysis.hpp"

namespace weft::tool::sim {
namespace {

constexpr double ms = 1e6;

// In units of a millisecond, rounded up only by what the runtime itself took.
void takes(const replayed& r, double milliseconds) {
  const double found = static_cast<double>(r.makespan_ps) / 1e9;
  CHECK(found >= milliseconds);
  CHECK(found <= milliseconds + 0.2);
}

void independent(runtime& rt, int n) {
  for (int i = 0; i < n; ++i) rt.submit(cost(ms), named("part"), [] {});
  rt.wait();
}

}  // namespace

TEST_CASE("replay: independent tasks take the work over the workers") {
  const recorded run(3, [](runtime& rt) { independent(rt, 24); });
  takes(run.on(1), 24);
  takes(run.on(2), 12);
  takes(run.on(8), 3);
  takes(run.on(24), 1);
  takes(run.on(100), 1);
}

TEST_CASE("replay: a task goes to the memory node that its hints wanted when it was recorded") {
  const recorded run(
      32,
      [](runtime& rt) {
        std::vector<double> all(400 * 64);
        place_memory(all.data(), all.size() * sizeof(double), memory_placement::blocked());
        for (unsigned i = 0; i < 400; ++i)
          rt.submit(near(all.data() + i * 64, 64 * sizeof(double)), cost(ms / 10), [] {});
        rt.submit(near(all.data(), all.size() * sizeof(double)), [] {});
        rt.wait();
        place_memory(all.data(), all.size() * sizeof(double), memory_placement::first_touch());
      },
      "epyc-7551-32");
  REQUIRE(run.file.tasks.size() == 401);
  CHECK(run.file.tasks[0].near == 0);
  CHECK(run.file.tasks[399].near == 3);
  CHECK(run.file.tasks[400].near == trace::spans_nodes);
  const replayed r = run.on(32, false, 1, "pufferfish");
  int elsewhere = 0;
  for (std::size_t t = 0; t < 400; ++t) elsewhere += r.tasks[t].from_worker / 8 != run.file.tasks[t].near;
  CHECK(elsewhere == 0);
  takes(run.on(7, false, 1, "near"), 400 * 0.1 / 7);  // a machine with fewer workers serves all nodes
}

TEST_CASE("replay: where a task runs in its submission, the body that submits it waits, and no time is counted twice") {
  const recorded run(
      8,
      [](runtime& rt) {
        rt.submit([&rt] {
          for (int i = 0; i < 200; ++i) rt.submit(near_node(0), cost(ms / 10), [] {});
          charge(ms);
        });
        rt.wait();
      },
      "epyc-7551-32");
  for (const char* policy : {"near", "work_first", "local", "random"}) {
    INFO(policy);
    const replayed r = run.on(8, false, 1, policy);
    const trace::file again = as_trace(run.file, r);
    const report::figures f = report::analyse(again).sums;
    CHECK(f.work >= 21 * static_cast<ns>(ms));
    CHECK(f.work <= 22 * static_cast<ns>(ms));
    const auto& gave_way = f.waits[static_cast<std::size_t>(trace::wait_reason::spawn)];
    const bool is_near = policy == std::string("near");  // eight workers are at one node, where local does not look
    CHECK((gave_way.count != 0) == (is_near || policy == std::string("work_first")));
    CHECK(f.placing.calls == (is_near ? gave_way.count : 0));
  }
}

TEST_CASE("replay: a chain takes its length, whatever the workers") {
  const recorded run(2, [](runtime& rt) {
    handle<int> x(0);
    for (int i = 1; i <= 4; ++i) rt.submit(write(x), cost(i * ms), [](int&) {});
    rt.wait();
  });
  takes(run.on(1), 10);
  takes(run.on(16), 10);
}

TEST_CASE("replay: reads side by side between two writes") {
  const recorded run(1, [](runtime& rt) {
    handle<int> x(0);
    rt.submit(write(x), cost(1 * ms), [](int&) {});
    for (int i = 0; i < 6; ++i) rt.submit(read(x), cost(2 * ms), [](const int&) {});
    rt.submit(write(x), cost(1 * ms), [](int&) {});
    rt.wait();
  });
  takes(run.on(1), 14);
  takes(run.on(3), 6);
  takes(run.on(6), 4);
}

TEST_CASE("replay: adds one at a time, resources as many as there are units, types of the program's own") {
  const recorded run(4, [](runtime& rt) {
    handle<int> x(0), y(0);
    resource two(2);
    using scale = access_type<3, commutative | exclusive>;
    for (int i = 0; i < 4; ++i) rt.submit(add(x), cost(1 * ms), [](int&) {});
    rt.wait();
    for (int i = 0; i < 8; ++i) rt.submit(use(two), cost(1 * ms), [] {});
    rt.wait();
    for (int i = 0; i < 4; ++i) rt.submit(with_access<scale>(y), cost(1 * ms), [](int&) {});
    rt.wait();
    for (int i = 0; i < 8; ++i) rt.submit(concurrent(y), cost(1 * ms), [](int&) {});
    rt.wait();
  });
  takes(run.on(8), 4 + 4 + 4 + 1);
  takes(run.on(1), 24);
}

TEST_CASE("replay: bodies submit at the time they did, and wait where they did") {
  const recorded run(1, [](runtime& rt) {
    rt.submit([&rt] {
      charge(1 * ms);
      rt.submit(cost(2 * ms), [] {});
      charge(1 * ms);
      for (int i = 0; i < 2; ++i) rt.submit(cost(2 * ms), [] {});
      rt.wait();
      charge(1 * ms);
    });
    rt.wait();
  });
  takes(run.on(1), 2 + 6 + 1);
  takes(run.on(4), 2 + 2 + 1);
  takes(run.on(2), 2 + 3 + 1);  // the second worker begins a millisecond earlier
}

TEST_CASE("replay: a join that had nothing to wait for when recorded joins where it must") {
  // Recorded so that the child has ended long before its parent waits.
  const recorded run(2, [](runtime& rt) {
    rt.submit([&rt] {
      rt.submit(cost(1 * ms), [] {});
      charge(10 * ms);
      rt.wait();
      charge(1 * ms);
    });
    rt.wait();
  });
  REQUIRE(run.file.passed.size() == 2);  // and the end of the runtime
  takes(run.on(2), 11);
  takes(run.on(1), 12);  // the child comes between
}

TEST_CASE("replay: subtasks, priority and pins are there again") {
  const recorded held(2, [](runtime& rt) {
    handle<int> x(0);
    rt.submit(write(x), subtasks(), [&rt](int&) {
      rt.submit(cost(5 * ms), [] {});
      charge(1 * ms);
    });
    rt.submit(read(x), cost(1 * ms), [](const int&) {});
    rt.wait();
  });
  takes(held.on(2), 6);
  const recorded pinned(4, [](runtime& rt) {
    for (int i = 0; i < 4; ++i) rt.submit(pin(2), cost(1 * ms), [] {});
    rt.wait();
  });
  takes(pinned.on(4), 4);
  const replayed moved = pinned.on(2);
  takes(moved, 4);
  CHECK(moved.notes.size() == 1);
  for (const task_run& t : moved.tasks) CHECK(t.from_worker == 0);
  const recorded urgent(1, [](runtime& rt) {
    rt.submit(cost(1 * ms), named("first"), [] {});
    for (int i = 0; i < 10; ++i) rt.submit(cost(1 * ms), [] {});
    rt.submit(priority(1), cost(1 * ms), named("urgent"), [] {});
    rt.wait();
  });
  const replayed r = urgent.on(1);
  CHECK(r.tasks.back().from_ps < std::uint64_t{2'000'000'000});
}

TEST_CASE("replay: a reduction is applied once more, by the runtime, for as long as it took") {
  struct slow {
    using buffer = long;
    static long create(const int&) { return 0; }
    static void merge(long& into, long from) { into += from; }
    static void apply(int& target, long from) {
      target += static_cast<int>(from);
      charge(3 * ms);
    }
  };
  const recorded run(2, [](runtime& rt) {
    reduction<int, slow> sum(0);
    for (int i = 0; i < 4; ++i) rt.submit(reduce(sum), cost(1 * ms), [](long& part) { part += 1; });
    rt.submit(read(sum), cost(1 * ms), [](const int&) {});
    rt.wait();
  });
  const std::size_t recorded_tasks = run.file.tasks.size();
  CHECK(recorded_tasks == 6);  // the application is one
  CHECK(script(run.file).tasks() == 5);
  takes(run.on(4), 1 + 3 + 1);
  takes(run.on(1), 4 + 3 + 1);
}

TEST_CASE("replay: the main program waits for a handle, and its own time counts only if asked for") {
  const recorded run(2, [](runtime& rt) {
    handle<int> x(0), y(0);
    rt.submit(write(y), cost(5 * ms), [](int&) {});
    rt.submit(write(x), cost(2 * ms), [](int&) {});  // the newest: worker 0 runs it while it waits
    rt.wait(x);
    rt.charge(4 * ms);
    rt.submit(cost(1 * ms), [] {});
    rt.charge(2 * ms);
    rt.submit(cost(1 * ms), [] {});
    rt.wait();
  });
  takes(run.on(2), 5);
  takes(run.on(2, true), 2 + 4 + 2 + 1);
}

TEST_CASE("replay: bodies twice as fast") {
  const recorded run(1, [](runtime& rt) { independent(rt, 8); });
  takes(run.on(2, false, 2), 2);
}

TEST_CASE("replay: the same twice, and another with another seed or policy") {
  const recorded run(2, [](runtime& rt) {
    std::vector<std::unique_ptr<handle<int>>> all;
    for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<handle<int>>(0));
    for (unsigned i = 0; i < 400; ++i)
      rt.submit(write(*all[i * 7 % 8]), read(*all[(i * 5 + 1) % 8 == i * 7 % 8 ? (i * 5 + 2) % 8 : (i * 5 + 1) % 8]),
                cost(1000.0 + 37 * (i % 13)), [](int&, const int&) {});
    rt.wait();
  });
  const std::uint64_t first = run.on(7).digest();
  CHECK(run.on(7).digest() == first);
  CHECK(run.on(6).digest() != first);
  CHECK(run.on(7, false, 1, "central").digest() != first);
}

TEST_CASE("replay: the same tasks in the same order as recorded, on the machine of the record") {
  const auto program = [](runtime& rt) {
    handle<int> x(0);
    for (int i = 0; i < 50; ++i) {
      rt.submit(write(x), cost(700), named("a"), [](int&) {});
      for (int k = 0; k < 3; ++k) rt.submit(read(x), cost(900), named("b"), [](const int&) {});
    }
    rt.wait();
  };
  const recorded run(4, program);
  const trace::file again = as_trace(run.file, run.on(4));
  REQUIRE(again.tasks.size() == run.file.tasks.size());
  const report::analysis before = report::analyse(run.file), after = report::analyse(again);
  CHECK(after.sums.work == before.sums.work);
  CHECK(after.sums.makespan >= before.sums.makespan * 85 / 100);
  CHECK(after.sums.makespan <= before.sums.makespan * 115 / 100);
}

TEST_CASE("replay: what cannot be followed is refused") {
  const recorded run(1, [](runtime& rt) { independent(rt, 2); });
  trace::file f = run.file;
  f.lost = 7;
  CHECK_THROWS_WITH_AS(script{f}, doctest::Contains("7 records of this run were overwritten"), error);
  f.lost = 0;
  f.meta["schedule"] = "random";
  CHECK_THROWS_WITH_AS(script{f}, doctest::Contains("random schedule"), error);
  f.meta["schedule"] = "time";
  f.tasks.clear();
  CHECK_THROWS_WITH_AS(script{f}, doctest::Contains("no task ran"), error);
}

TEST_CASE("replay: a task that pops from a stream before anybody pushes comes behind those that feed it") {
  const recorded run(2, [](runtime& rt) {
    stream<int> s;
    for (int i = 0; i < 3; ++i) rt.submit(pop(s, 4), cost(2 * ms), [](std::span<const int>) {});
    for (int i = 0; i < 6; ++i) rt.submit(push(s, 2), cost(ms), [](std::span<int>) {});
    rt.wait();
  });
  takes(run.on(1), 12);
  takes(run.on(2), 7);   // each pop beside the two pushes of the next one
  takes(run.on(12), 3);  // all pushes, all pops
}

}  // namespace weft::tool::sim
