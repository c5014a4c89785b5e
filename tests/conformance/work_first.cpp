// The policy work_first: a task runs where it is submitted, before the rest of the body, and that rest is what thieves
// find.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "capture.hpp"
#include "replay.hpp"
#include "trace_file.hpp"
#include "weft/weft.hpp"

namespace {

weft::options child_first(weft::options o) {
  o.policy = "work_first";
  return o;
}
template <class Check> void child_first_on_both(Check check) {
  on_both_machines([&](const weft::options& o) { check(child_first(o)); });
}
weft::options alone(const char* machine) { return child_first({.workers = 1, .machine = machine}); }
template <class Check> void child_first_alone(Check check) {
  for (const char* machine : both_machines) {
    INFO(std::string(machine));
    check(alone(machine));
  }
}

int fib(weft::here& at, int n) {
  if (n < 2) return n;
  int a = 0, b = 0;
  weft::finish(at, [&](weft::here& x) {
    weft::async(x, [&a, n](weft::here& y) { a = fib(y, n - 1); });
    b = fib(x, n - 2);
  });
  return a + b;
}

// In which order one worker does what is in a task.
std::string order_of(const weft::options& o, const std::function<void(weft::runtime&, std::string&)>& body) {
  weft::runtime rt(o);
  std::string log;
  rt.submit([&] { body(rt, log); });
  rt.wait();
  return log;
}

std::uintptr_t stack_of_caller() {
  const char here = 0;
  return reinterpret_cast<std::uintptr_t>(&here) >> 16;  // smaller than a stack
}

}  // namespace

TEST_CASE("work_first: one worker runs a program in its serial order") {
  child_first_alone([](const weft::options& o) {
    CHECK(order_of(o, [](weft::runtime& rt, std::string& log) {
            log += "(";
            weft::async([&log] {
              log += "a";
              weft::async([&log] { log += "b"; });
              log += "c";
            });
            log += "d";
            rt.submit([&log] { log += "e"; });
            weft::finish([&] {
              weft::async([&log] { log += "f"; });
              log += "g";
            });
            log += ")";
          }) == "(abcdefg)");
  });
}

TEST_CASE("work_first: a task that is not ready waits, and so do those that clauses send elsewhere") {
  child_first_alone([](const weft::options& o) {
    CHECK(order_of(o, [](weft::runtime& rt, std::string& log) {
            weft::handle<int> x(0);
            rt.submit(weft::pin(0), weft::write(x), [&log](int&) { log += "p"; });
            rt.submit(weft::read(x), [&log](int) { log += "x"; });
            log += "1";
            rt.wait();
            rt.submit(weft::priority(1), [&log] { log += "u"; });
            log += "2";
            rt.wait();
          }) == "1px2u");
  });
}

TEST_CASE("work_first: the rest of a body goes on elsewhere while its child runs") {
  weft::runtime rt(child_first({.workers = 2, .machine = "host"}));
  std::atomic<bool> went_on = false;
  bool same_place = false;
  rt.submit([&] {
    weft::finish([&](weft::here& at) {
      weft::async(at, [&] {
        while (!went_on) std::this_thread::yield();
      });
      went_on = true;
      same_place = at.on == weft::detail::self();
      weft::async(at, [] {});
    });
  });
  rt.wait();
  CHECK(same_place);
  CHECK(rt.statistics().steals != 0);
}

TEST_CASE("work_first: on a modelled machine thieves take what is left of bodies, and all cores work") {
  weft::runtime rt(child_first({.workers = 8, .machine = "virtual"}));
  rt.submit([&] {
    for (int i = 0; i < 80; ++i) rt.submit(weft::cost(100'000), [] {});
  });
  rt.wait();
  CHECK(rt.now_ns() < 1.3 * 80 * 100'000 / 8);
  CHECK(rt.statistics().steals >= 7);
}

TEST_CASE("work_first: asyncs of the main thread wait in its deque, as under other policies") {
  child_first_alone([](const weft::options& o) {
    weft::runtime rt(o);
    std::string log;
    weft::finish([&] {
      weft::async([&log] {
        log += "a";
        weft::async([&log] { log += "b"; });
        log += "c";
      });
      log += "m";
    });
    CHECK(log == "mabc");
  });
}

TEST_CASE("work_first: nested finishes, with more workers than cores, too") {
  const int n = sanitized ? 10 : 16, expected = sanitized ? 55 : 987;
  child_first_on_both([&](const weft::options& o) {
    weft::runtime rt(o);
    CHECK(weft::finish([&](weft::here& at) { return fib(at, n); }) == expected);
    int of_task = 0;
    rt.submit([&] { of_task = weft::finish([&](weft::here& at) { return fib(at, n); }); });
    rt.wait();
    CHECK(of_task == expected);
  });
  weft::runtime many(child_first({.workers = 32, .machine = "host"}));
  CHECK(weft::finish([&](weft::here& at) { return fib(at, n); }) == expected);
}

TEST_CASE("work_first: a loop of many asyncs holds a few stacks") {
  const int n = sanitized ? 2'000 : 100'000;
  for (const char* machine : both_machines)
    for (const unsigned workers : {1u, 4u}) {
      INFO(std::string(machine) << " " << workers);
      weft::runtime rt(child_first({.workers = workers, .machine = machine, .window = 64}));
      std::vector<std::atomic<std::uintptr_t>> seen(64);
      std::atomic<int> ran = 0;
      const auto note = [&] {
        ++ran;
        const std::uintptr_t mine = stack_of_caller();
        for (auto& x : seen) {
          std::uintptr_t before = x;
          if (before == mine || (before == 0 && (x.compare_exchange_strong(before, mine) || before == mine))) return;
        }
      };
      rt.submit([&] {
        weft::finish([&](weft::here& at) {
          for (int i = 0; i < n; ++i) weft::async(at, note);
        });
      });
      rt.wait();
      CHECK(ran == n);
      // A loop has a depth of two: Cilk's bound is two stacks a worker. The loops of the workers have one each.
      const auto stacks = std::count_if(seen.begin(), seen.end(), [](const auto& x) { return x != 0; });
      CHECK(stacks <= static_cast<long>(3 * workers));
    }
}

TEST_CASE("work_first: a chain of tasks that is deeper than there are stacks comes to its end") {
  const int depth = sanitized ? 5'000 : 50'000;
  child_first_alone([&](const weft::options& o) {
    weft::runtime rt(o);
    int reached = 0;
    std::function<void()> down = [&] {
      if (++reached < depth) rt.submit([&] { down(); });
    };
    rt.submit([&] { down(); });
    rt.wait();
    CHECK(reached == depth);
  });
}

TEST_CASE("work_first: the first exception in program order") {
  child_first_on_both([](const weft::options& o) {
    weft::runtime rt(o);
    std::string told;
    rt.submit([&] {
      try {
        throw std::logic_error("handled");
      } catch (const std::logic_error& outer) {
        try {
          weft::finish([&] {
            weft::async([] {});
            weft::async([] { throw std::runtime_error("second"); });
            weft::async([] { throw std::runtime_error("third"); });
            throw std::runtime_error("of the body");
          });
        } catch (const std::runtime_error& e) {
          told = e.what();
        }
        told += std::string(", ") + outer.what();
      }
    });
    rt.wait();
    CHECK(told == "second, handled");
  });
}

TEST_CASE("work_first: what is submitted in a cancelled finish is skipped, and the rest of the body is not") {
  child_first_on_both([](const weft::options& o) {
    weft::runtime rt(o);
    int ran = 0;
    bool to_the_end = false;
    rt.submit([&] {
      weft::cancellation stop;
      weft::finish(stop, [&] {
        weft::async([&] {
          ++ran;
          stop.cancel();
        });
        while (!stop.cancelled()) weft::yield();
        for (int i = 0; i < 10; ++i) weft::async([&] { ++ran; });
        to_the_end = true;
      });
    });
    rt.wait();
    CHECK(ran == 1);
    CHECK(to_the_end);
  });
}

TEST_CASE("work_first: forks beside asyncs, and data between tasks") {
  child_first_on_both([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<long> sum(0);
    rt.submit([&] {
      weft::fork_join(
          [&] {
            for (int i = 0; i < 50; ++i) rt.submit(weft::add(sum), [](long& s) { s += 1; });
          },
          [&] {
            for (int i = 0; i < 50; ++i) rt.submit(weft::add(sum), [](long& s) { s += 100; });
          });
      rt.wait();
      for (int i = 0; i < 50; ++i) rt.submit(weft::write(sum), [](long& s) { s = 3 * s % 1'000'003; });
    });
    long expected = 5050;
    for (int i = 0; i < 50; ++i) expected = 3 * expected % 1'000'003;
    rt.wait();
    CHECK(rt.get(sum) == expected);
  });
}

TEST_CASE("work_first: in a trace the time of a child is not its parent's, and the same seed gives the same times") {
  const trace_place place;
  const std::string path = place.path();
  const auto run = [&](const char* file) {
    weft::runtime rt(child_first({.workers = 4, .machine = "virtual", .trace = file}));
    rt.submit(weft::named("parent"), [&] {
      weft::charge(1'000);
      for (int i = 0; i < 20; ++i) weft::async(weft::named("child"), weft::cost(10'000), [] {});
    });
    rt.wait();
    return rt.now_ns();
  };
  const double time = run(path.c_str());
  CHECK(run(nullptr) == time);
  const trace_file file(path);
  CHECK(file.verdict(true) == "");
  CHECK(file.number("SELECT count(*) FROM waits WHERE why = 'spawn'") == 20);
  CHECK(file.number("SELECT sum(s.to_ns - s.from_ns) FROM segments s JOIN tasks t ON t.id = s.task JOIN names n ON "
                    "n.id = t.name WHERE n.name = 'parent'") < 10'000);
}
