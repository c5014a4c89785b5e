// The sums of a report on runs small enough to add up by hand, and what is said about them.
#include "analysis.hpp"

#include <doctest/doctest.h>

#include "made.hpp"
#include "text.hpp"

namespace weft::tool::report {

// Worker 0: the main program 0-10, a task 20-60 (submitted 5), the main program waits from 10 to 100.
// Worker 1: asleep 0-30, a task 40-100 (submitted 10).
static trace::file two_workers() {
  made m(2);
  m.task(0, 20, 60, {});
  m.task(10, 40, 100, {});
  m.sleep(1, 0, 30);
  m.wait_all(10, 100);
  return m.take();
}

TEST_CASE("report/analysis: where two workers' time went") {
  const trace::file f = two_workers();
  const figures s = analyse(f).sums;
  CHECK(s.makespan == 100);
  CHECK(s.work == 100);
  CHECK(s.program == 10);
  CHECK(s.utilisation == doctest::Approx(0.55));
  CHECK(s.span == 70);  // 10 of the main program, then the second task
  CHECK(s.path_program == 10);
  CHECK(s.parallelism == doctest::Approx(110.0 / 70));
  // Free: worker 0 in 10-20 and 60-100, worker 1 in 30-40. Ready: the first task 0-20, the second 10-40.
  CHECK(s.overhead == 20);
  CHECK(s.searching == 40);
  CHECK(s.asleep == 30);
  CHECK(s.overhead_per_task() == doctest::Approx(10));
  REQUIRE(s.workers.size() == 2);
  CHECK(s.workers[0].bodies == 40);
  CHECK(s.workers[0].program == 10);
  CHECK(s.workers[0].rest == 50);
  CHECK(s.workers[1].asleep == 30);
  CHECK(s.workers[1].rest == 10);
  CHECK(s.waits[static_cast<std::size_t>(trace::wait_reason::all)].total == 90);
}

TEST_CASE("report/analysis: where tasks with hints began, calls, and what was stolen") {
  made m(2);
  for (int i = 0; i < 5; ++i) m.task(0, 10 * i + 10, 10 * i + 20, {});
  m.wait_all(0, 100);
  trace::file f = m.take();
  f.format = 4;
  for (std::size_t t : {0u, 1u, 2u}) f.tasks[t].near = 1, f.tasks[t].at_near = t == 1 ? 0 : 1;
  f.tasks[3].near = trace::spans_nodes;
  f.tasks[4].is_call = true;
  f.steals = {{5, 1, 0, none, trace::booty::branch}, {6, 1, 0, none, trace::booty::stack}};
  const analysis a = analyse(f);
  const placing_figures& p = a.sums.placing;
  CHECK((p.hinted == 3 && p.at_near == 2 && p.spanning == 1 && p.calls == 1));
  REQUIRE(a.sums.names.size() == 2);
  const name_figures& even = a.sums.names[f.names[a.sums.names[0].name] == "even" ? 0 : 1];
  CHECK((even.hinted == 2 && even.at_near == 2));
  const std::string told = text(f, a, false);
  CHECK(told.find("of 3 tasks with hints began at the memory node they want; 1 more have data on several") !=
        std::string::npos);
  CHECK(told.find("of these 1 stacks that go on, 1 branches of forks") != std::string::npos);
  CHECK(told.find("tasks were called in the body that submitted them") != std::string::npos);
  CHECK(to_json(f, a)["placing"].text(-1, true) ==
        R"({"hinted":3,"at_near":2,"spanning":1,"calls":1,"stolen":{"task":0,"stack":1,"branch":1}})");
  f.format = 3;
  CHECK(to_json(f, a)["placing"].text(-1, true) == "null");
}

TEST_CASE("report/analysis: where data lay, of all tasks and by name; nothing is said where nothing is known") {
  made m(2);
  for (int i = 0; i < 3; ++i) m.task(0, 10 * i + 10, 10 * i + 20, {});
  m.wait_all(0, 100);
  trace::file f = m.take();
  const analysis without = analyse(f);
  CHECK(text(f, without, false).find("local") == std::string::npos);
  f.located = {{0, 3 << 20, 0}, {1, 0, 1 << 20}, {2, 2 << 20, 2 << 20}};
  const analysis a = analyse(f);
  CHECK((a.sums.data.local == 5 << 20 && a.sums.data.remote == 3 << 20));
  REQUIRE(a.sums.names.size() == 2);
  const name_figures& even = a.sums.names[f.names[a.sums.names[0].name] == "even" ? 0 : 1];
  CHECK((even.data.local == 5 << 20 && even.data.remote == 2 << 20));
  const std::string told = text(f, a, false);
  CHECK(told.find("of 8.00 MiB that tasks named lay on the memory node") != std::string::npos);
  CHECK(told.find("7.00 MiB   71 %") != std::string::npos);
  CHECK(told.find("1.00 MiB    0 %") != std::string::npos);
  CHECK(to_json(f, a)["data"].text(-1, true) == R"({"local_bytes":5242880.0,"remote_bytes":3145728.0})");
}

TEST_CASE("report/analysis: names, medians and waits") {
  made m(1);
  const auto a = m.handle();
  ns now = 1;
  for (int i = 0; i < 40; ++i) {  // names even, odd; bodies 1, 2, ..., 40
    m.task(0, now, now + i + 1, {{"write", a}});
    now += i + 3;
  }
  m.wait_all(0, now);
  const trace::file f = m.take();
  const figures s = analyse(f).sums;
  REQUIRE(s.names.size() == 2);
  const name_figures& odd = s.names[0];  // 2, 4, ..., 40
  CHECK(f.names[odd.name] == "odd");
  CHECK(odd.count == 20);
  CHECK(odd.body.total == 420);
  CHECK(odd.body.min == 2);
  CHECK(odd.body.median == 20);
  CHECK(odd.body.p95 == 38);
  CHECK(odd.body.max == 40);
  CHECK(odd.waited_for_worker == 2 * 20);  // each began 2 after the one before it was done
  CHECK(odd.on_path == 20);
  CHECK(s.span == 820);
  CHECK(s.overhead == s.makespan - 820 - 2);  // after the last task nothing is ready
}

TEST_CASE("report/analysis: a body that waited counts without the wait, on the worker where each piece ran") {
  made m(2);
  const auto t = m.task(0, 0, 100, {});
  m.child(t, 10, 20, 80);
  m.wait(t, trace::wait_reason::children, 20, 90);
  m.wait_all(0, 100);
  trace::file f = m.take();
  f.waits[0].to_worker = 1;
  const figures s = analyse(f).sums;
  CHECK(s.work == 20 + 10 + 60);
  CHECK(s.workers[0].bodies == 20);
  CHECK(s.workers[1].bodies == 10 + 60);
  CHECK(s.workers[0].tasks == 1);
  CHECK(s.workers[1].tasks == 1);
}

TEST_CASE("report/analysis: tasks that did not run are counted and nothing else") {
  made m(1);
  m.task(0, 5, 10, {});
  const auto t = m.task(1, 0, 0, {});
  m.wait_all(2, 12);
  trace::file f = m.take();
  f.tasks[t].worker = none;
  f.tasks[t].started_ns = f.tasks[t].finished_ns = trace::no_time;
  f.tasks[t].result = trace::outcome::not_run;
  const analysis a = analyse(f);
  CHECK(a.sums.ran() == 1);
  CHECK(a.sums.work == 5);
  CHECK(text(f, a, false).find("1 not run") != std::string::npos);
}

// Two workers; a task 5-20 (submitted 0) on worker 0 of the others, and the main program computes until its wait at
// 100, which finds nothing to wait for; the end of the runtime comes at 500.
TEST_CASE("report/analysis: the main program is the run's until its wait for all, also if that finds nothing") {
  using enum trace::wait_reason;
  made m(2);
  m.task(0, 5, 20, {});
  trace::file f = m.take();
  f.format = 7;
  f.tasks[0].own_ns = 0;
  f.tasks[0].worker = 1;
  f.passed = {{none, all, none, 100, 98}, {none, all, none, 500, 400}};
  const figures s = analyse(f).sums;
  CHECK(s.makespan == 100);
  CHECK(s.program == 100);
  CHECK(s.program_own == 98);
  CHECK(s.utilisation == doctest::Approx(115.0 / 200));
  CHECK(s.searching == 80);  // worker 1 alone, from 20 on; 0 to 5 its task was ready
  // It asks for a result first, which is there.
  f.passed = {{none, handle, none, 60, 58}, {none, all, none, 100, 40}, {none, all, none, 500, 400}};
  CHECK(analyse(f).sums.makespan == 100);
  // A wait that did wait for all is the last; and one for a handle is not.
  f.passed = {{none, all, none, 500, 400}};
  f.waits = {{none, all, none, 0, 0, 10, 30}};
  CHECK(analyse(f).sums.makespan == 30);
  f.waits[0].why = handle;
  CHECK(analyse(f).sums.makespan == 500);
}

TEST_CASE("report/analysis: nothing at all") {
  const trace::file f = made(2).take();
  const analysis a = analyse(f);
  CHECK(a.sums.makespan == 0);
  CHECK(text(f, a, false).find("tasks") != std::string::npos);
  CHECK(to_json(f, a)["names"].empty());
}

TEST_CASE("report/analysis: the parts of every random run add up") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const trace::file f = made::random(seed);
    const figures s = analyse(f).sums;
    ns names = 0, on_path = s.path_program;
    for (const name_figures& n : s.names) {
      names += n.body.total;
      on_path += n.path_time;
    }
    CHECK(names == s.work);
    CHECK(on_path == s.span);
    CHECK(s.span <= s.work + s.program);
    CHECK(s.span <= s.makespan);
  }
}

TEST_CASE("report/advice: small tasks are named with their figures, large ones are not") {
  for (const ns body : {400, 40'000}) {
    made m(1);
    ns now = 10;
    for (int i = 0; i < 200; ++i) {
      m.task(0, now + 300, now + 300 + body, {});
      now += 300 + body;
    }
    m.wait_all(10, now);
    const trace::file f = m.take();
    const std::vector<advice> all = advise(f, analyse(f).sums);
    if (body == 400) {
      REQUIRE(all.size() == 2);
      CHECK(all[0].text == "tasks named \"even\" take 400 ns and the runtime spends 300 ns on each: make them larger");
    } else {
      CHECK(all.empty());
    }
  }
}

TEST_CASE("report/advice: of busy workers the name with most of the work, if one has more than half") {
  for (const ns odd : {900, 1000}) {
    made m(1);
    ns now = 10;
    for (int i = 0; i < 20; ++i) {
      const ns body = i % 2 == 0 ? 1000 : odd;
      m.task(0, now, now + body, {});
      now += body;
    }
    m.wait_all(10, now);
    const trace::file f = m.take();
    const std::vector<advice> all = advise(f, analyse(f).sums);
    CHECK(all.size() == (odd == 900 ? 1 : 0));
    if (odd == 900 && all.size() == 1)
      CHECK(all[0].text ==
            "the workers are busy 100 % of the time, and 53 % of that are tasks named \"even\": make those "
            "faster, or have more workers");
  }
}

TEST_CASE("report/advice: a chain on two workers") {
  made m(2);
  const auto a = m.handle();
  for (int i = 0; i < 10; ++i) m.task(0, 10 + 100 * i, 110 + 100 * i, {{"write", a}});
  m.wait_all(0, 1010);
  const trace::file f = m.take();
  const std::vector<advice> all = advise(f, analyse(f).sums);
  REQUIRE(all.size() == 1);
  CHECK(std::string(all[0].kind) == "narrow_graph");
  CHECK(all[0].text.find("1.00 of 2 workers") != std::string::npos);
}

TEST_CASE("report/text: times and names for people") {
  CHECK(duration(0) == "0 ns");
  CHECK(duration(999) == "999 ns");
  CHECK(duration(0.25) == "0.2 ns");
  CHECK(duration(1234) == "1.23 us");
  CHECK(duration(999'600) == "1.00 ms");
  CHECK(duration(5e9) == "5.00 s");
  CHECK(printable("plain", 10) == "plain");
  CHECK(printable("a\033[31m\nb\x7f", 20) == "a?[31m?b?");
  CHECK(printable("\xc2\x9b"
                  "x",
                  20) == "?x");  // the one-character form of ESC [
  CHECK(printable("\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9", 2) == "\xc3\xa9\xf0\x9f\x98\x80...");
  CHECK(printable(std::string(10'000, 'x'), 40) == std::string(40, 'x') + "...");
}

TEST_CASE("report/text: lost records are said first, in JSON too") {
  trace::file f = two_workers();
  f.lost = 12;
  const analysis a = analyse(f);
  CHECK(text(f, a, false).find("\n12 RECORDS WERE LOST") < 200);
  CHECK(to_json(f, a)["lost"] == 12);
}

}  // namespace weft::tool::report
