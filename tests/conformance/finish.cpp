// Async and finish, on real and modelled machines: a finish is over when everything below it is, and waits for nothing
// else.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "crews.hpp"
#include "quick.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

int fib(weft::here& at, int n) {
  if (n < 2) return n;
  int a = 0, b = 0;
  weft::finish(at, [&](weft::here& x) {
    weft::async(x, [&a, n](weft::here& y) { a = fib(y, n - 1); });
    b = fib(x, n - 2);
  });
  return a + b;
}
int fib(int n) {
  if (n < 2) return n;
  int a = 0, b = 0;
  weft::finish([&] {
    weft::async([&a, n] { a = fib(n - 1); });
    b = fib(n - 2);
  });
  return a + b;
}

// Asyncs without a finish of their own: one on the outside waits for all of them.
void count(std::vector<std::atomic<int>>& seen, std::size_t from, std::size_t to) {
  if (to - from == 1) {
    ++seen[from];
    return;
  }
  const std::size_t middle = from + (to - from + 4) / 5;
  weft::async([&seen, from, middle] { count(seen, from, middle); });
  weft::async([&seen, middle, to] { count(seen, middle, to); });
}
bool each_once(const std::vector<std::atomic<int>>& seen) {
  return std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; });
}

}  // namespace

TEST_CASE("finish: fib, from the main thread and from a task, with and without the place handed along") {
  const int n = sanitized ? 10 : 17, expected = sanitized ? 55 : 1597;
  on_both_machines([&](const weft::options& o) {
    weft::runtime rt(o);
    CHECK(fib(n) == expected);
    CHECK(weft::finish([&](weft::here& at) { return fib(at, n); }) == expected);
    int of_task = 0, without = 0;
    rt.submit([&] {
      of_task = weft::finish([&](weft::here& at) { return fib(at, n); });
      without = fib(n);
    });
    rt.wait();
    CHECK((of_task == expected && without == expected));
  });
}

TEST_CASE("finish: it ends when all below it have, also those that no finish encloses") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (const std::size_t n : {1, 2, 3, 10, 1000}) {
      std::vector<std::atomic<int>> seen(n), inner(n);
      weft::finish([&] { count(seen, 0, n); });
      CHECK(each_once(seen));
      rt.submit([&] {
        weft::finish([&] { count(inner, 0, n); });
        CHECK(each_once(inner));
      });
      rt.wait();
      CHECK(each_once(inner));
    }
  });
}

TEST_CASE("finish: it does not wait for what was submitted before it") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::event comes;
    bool before = false, inside = false;
    rt.submit([&] {
      rt.submit(weft::completes(comes), [] {});
      rt.submit([&] { comes.wait(), before = true; });
      weft::finish([&] { weft::async([&] { inside = true; }); });
      CHECK((inside && !before));
      comes.fulfil();
      rt.wait();
      CHECK(before);
    });
    rt.wait();
  });
}

TEST_CASE("finish: tasks with data, waits and forks in it") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> x(1), y(2);
    const auto body = [&] {
      const int sum = weft::finish([&](weft::here& at) {
        weft::async(at, weft::write(x), weft::named("double"), [](int& v) { v *= 2; });
        weft::async(at, weft::read(x), weft::write(y), [](weft::here& here, int a, int& b) {
          b += a + weft::fork_join(
                       here, [] { return 1; }, [] { return 2; })
                       .second;
        });
        rt.wait(y);
        CHECK(y.unguarded() >= 6);
        int in_order = 0;
        rt.submit([&] { in_order = 7; });
        rt.wait();  // for what is submitted in the scope
        return in_order;
      });
      CHECK(sum == 7);
    };
    body();
    CHECK((rt.get(x) == 2 && rt.get(y) == 6));
    rt.submit(body);
    rt.wait();
    CHECK((rt.get(x) == 4 && rt.get(y) == 12));
  });
}

TEST_CASE("finish: the first exception in program order, and nothing is left behind") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const auto fails = [](const char* text) { return [text] { throw std::runtime_error(text); }; };
    const auto all = [&] {
      std::atomic<int> ran = 0;
      CHECK(thrown_by([&] {
              weft::finish([&] {
                weft::async([&] {
                  ++ran;
                  weft::charge(5e3);
                  weft::async(fails("below the first"));
                });
                weft::async(fails("second"));
                weft::async([&] { ++ran; });
                throw std::runtime_error("the body itself");
              });
            }) == "below the first");
      CHECK(ran == 2);
      CHECK(thrown_by([&] { weft::finish(fails("alone")); }) == "alone");
      CHECK(thrown_by([&] {
              weft::finish([&] {
                weft::async([] {});
                throw std::runtime_error("beside one that succeeds");
              });
            }) == "beside one that succeeds");
      CHECK(weft::finish([&] {
              weft::async([&] { ++ran; });
              return 3;
            }) == 3);
      CHECK(ran == 3);
    };
    all();
    rt.submit(all);
    rt.wait();
    // Of an async in no finish its task fails.
    rt.submit([&] { weft::async(fails("in a task")); });
    CHECK(thrown_by([&] { rt.wait(); }) == "in a task");
  });
}

TEST_CASE("finish: a task that waits in it for a handle of its own is told, not left waiting") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> x(0);
    std::string in_scope, in_branch;
    const auto told = [&](std::string& text) {
      try {
        rt.wait(x);
      } catch (const weft::error& e) {
        text = e.what();
      }
    };
    rt.submit(weft::write(x), [&](int&) {
      weft::finish([&] { told(in_scope); });
      weft::fork_join([] { weft::charge(1e6); }, [&] { told(in_branch); });
    });
    rt.wait();
    CHECK(in_scope.find("which it uses itself") != std::string::npos);
    CHECK(in_branch.find("which it uses itself") != std::string::npos);
  });
}

TEST_CASE("finish: asyncs in a chain, each in a finish of its own, use stacks as they go") {
  const int levels = sanitized ? 500 : static_cast<int>(few(20'000));
  on_both_machines([levels](const weft::options& o) {
    weft::runtime rt(o);
    std::atomic<int> reached = 0;
    struct chain {
      std::atomic<int>& reached;
      void below(int n) const {
        ++reached;
        if (n > 1) weft::finish([&] { weft::async([this, n] { below(n - 1); }); });
      }
    } const c{reached};
    rt.submit([&] { c.below(levels); });
    rt.wait();
    CHECK(reached == levels);
  });
}

TEST_CASE("finish: on a thread that no runtime knows all are calls") {
  int order = 0;
  std::thread([&] {
    const int got = weft::finish([&] {
      weft::async(weft::named("first"), [&] { order = order * 10 + 1; });
      weft::async(weft::near_node(1), [&] { order = order * 10 + 2; });
      weft::async([&](weft::here& at) { weft::async(at, [&] { order = order * 10 + 3; }); });
      return 5;
    });
    CHECK((got == 5 && order == 123));
    weft::handle<int> x(0);
    CHECK_THROWS_AS(weft::async(weft::write(x), [](int&) {}), weft::error);
  }).join();
}

TEST_CASE("finish: of the main thread: what can never run is told, and belongs to the program from then on") {
  weft::runtime rt({.workers = 3, .machine = "virtual"});
  weft::event never;
  bool ran = false;
  try {
    weft::finish([&] {
      weft::async(weft::completes(never), [] {});
      weft::async([&] { never.wait(), ran = true; });
    });
    FAIL("it is not over");
  } catch (const weft::error& e) {
    CHECK(std::string(e.what()).find("event") != std::string::npos);
  }
  CHECK(!ran);
  never.fulfil();
  rt.wait();
  CHECK(ran);
}

TEST_CASE("finish: one in another on the main thread, and waits in it, that can never end") {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  weft::event never;
  int ran = 0, told = 0;
  try {
    weft::finish([&] {
      weft::async([&] { ++ran; });
      weft::async(weft::completes(never), [] {});
      try {
        rt.wait();
      } catch (const weft::error&) {
        ++told;
      }
      weft::finish([&] { weft::async([&] { never.wait(), ++ran; }); });
    });
  } catch (const weft::error&) {
    ++told;
  }
  CHECK((told == 2 && ran == 1));
  never.fulfil();
  rt.wait();
  CHECK(ran == 2);
}

TEST_CASE("finish: many workers, more than cores") {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
    weft::runtime rt({.workers = workers});
    for (int i = 0; i < (sanitized ? 3 : 20); ++i) {
      std::vector<std::atomic<int>> seen(777);
      weft::finish([&] { count(seen, 0, seen.size()); });
      CHECK(each_once(seen));
      CHECK(weft::finish([&](weft::here& at) { return fib(at, 12); }) == 144);
    }
  }
}

TEST_CASE("finish: the same virtual time, run by run, on machines of every size" * doctest::skip(real_threads_only)) {
  for (const unsigned workers : {1u, 2u, 7u, 64u, 512u}) {
    double first = 0;
    for (int run = 0; run < 2; ++run) {
      weft::runtime rt({.workers = workers, .machine = "virtual"});
      CHECK(weft::finish([&](weft::here& at) {
              weft::charge(1e3);
              return fib(at, 12);
            }) == 144);
      if (run == 0) first = rt.now_ns();
      CHECK(rt.now_ns() == first);
    }
  }
}
