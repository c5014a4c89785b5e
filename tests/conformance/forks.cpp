// Fork and join, on real and modelled machines: every branch runs once, wherever it runs, and the fork returns when
// both have.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "replay.hpp"
#include "trace_file.hpp"
#include "weft/weft.hpp"

namespace {

int fib(weft::here& at, int n) {
  if (n < 2) return n;
  auto [a, b] = weft::fork_join(
      at, [n](weft::here& x) { return fib(x, n - 1); }, [n](weft::here& x) { return fib(x, n - 2); });
  return a + b;
}
int fib(int n) {
  if (n < 2) return n;
  auto [a, b] = weft::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

// Counts each index in [from, to) once, unevenly divided.
void count(weft::here& at, std::vector<std::atomic<int>>& seen, std::size_t from, std::size_t to) {
  if (to - from == 1) {
    ++seen[from];
    return;
  }
  const std::size_t middle = from + (to - from + 6) / 7;
  weft::fork_join(
      at, [&](weft::here& x) { count(x, seen, from, middle); }, [&](weft::here& x) { count(x, seen, middle, to); });
}
bool each_once(const std::vector<std::atomic<int>>& seen) {
  return std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; });
}

// A tree with `leaves` leaves, each of which takes so long.
void tree(weft::here& at, unsigned leaves, double ns) {
  if (leaves == 1) return weft::charge(ns);
  weft::fork_join(
      at, [&](weft::here& x) { tree(x, leaves / 2, ns); }, [&](weft::here& x) { tree(x, leaves - leaves / 2, ns); });
}

}  // namespace

TEST_CASE("forks: fib, from the main thread and from a task, with and without the place handed along") {
  const int n = sanitized ? 12 : 18, expected = sanitized ? 144 : 2584;
  on_both_machines([&](const weft::options& o) {
    weft::runtime rt(o);
    CHECK(fib(n) == expected);
    CHECK(weft::fork_join([&](weft::here& at) { return fib(at, n); }, [] { return 1; }) == std::pair(expected, 1));
    int of_task = 0, without = 0;
    rt.submit([&] {
      of_task = weft::fork_join([&](weft::here& at) { return fib(at, n); }, [] { return 0; }).first;
      without = fib(n);
    });
    rt.wait();
    CHECK(of_task == expected);
    CHECK(without == expected);
  });
}

TEST_CASE("forks: every branch runs once, again and again, beside tasks") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (int round = 0; round < (sanitized ? 3 : 20); ++round) {
      std::vector<std::atomic<int>> seen(500), of_tasks(500);
      for (std::size_t i = 0; i < 5; ++i)
        rt.submit([&of_tasks, i] {
          weft::fork_join([&](weft::here& at) { count(at, of_tasks, 100 * i, 100 * i + 50); },
                          [&](weft::here& at) { count(at, of_tasks, 100 * i + 50, 100 * i + 100); });
        });
      weft::fork_join([&](weft::here& at) { count(at, seen, 0, 250); },
                      [&](weft::here& at) { count(at, seen, 250, 500); });
      CHECK(each_once(seen));
      rt.wait();
      CHECK(each_once(of_tasks));
    }
  });
}

TEST_CASE("forks: results of any kind come back, also from elsewhere") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (int i = 0; i < 50; ++i) {
      auto [text, number] = weft::fork_join([i] { return std::string(100, static_cast<char>('a' + i % 26)); },
                                            [i] { return std::make_unique<int>(i); });
      CHECK(text == std::string(100, static_cast<char>('a' + i % 26)));
      CHECK(*number == i);
    }
    static_assert(std::is_void_v<decltype(weft::fork_join([] {}, [] {}))>);
    bool ran = false;
    CHECK(weft::fork_join([&] { ran = true; }, [] { return 7; }).second == 7);
    CHECK(ran);
  });
}

TEST_CASE("forks: a result that nobody gets is destroyed, wherever it was made") {
  static std::atomic<int> live;
  struct counted {
    counted() { ++live; }
    counted(counted&&) noexcept { ++live; }
    counted(const counted&) = delete;
    ~counted() { --live; }
  };
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    live = 0;
    for (int i = 0; i < 20; ++i) {
      CHECK_THROWS_AS(weft::fork_join(
                          [](weft::here& at) {
                            static_cast<void>(fib(at, 10));
                            weft::charge(1e6);
                            throw 1;
                          },
                          [] { return counted(); }),
                      int);
      CHECK(live == 0);
      // Its task fails after the body of the branch has returned: where the branch runs elsewhere, that is its failure.
      try {
        const auto got = weft::fork_join([](weft::here& at) { weft::charge(1e6), static_cast<void>(fib(at, 10)); },
                                         [&] {
                                           rt.submit([] { throw 2; });
                                           return counted();
                                         });
        CHECK(live == 1);
        static_cast<void>(got);
        CHECK_THROWS_AS(rt.wait(), int);
      } catch (int) {
      }
      CHECK(live == 0);
    }
  });
}

TEST_CASE("forks: what the first throws comes first, and nothing is left behind") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const auto thrown = [](auto first, auto second) -> std::string {
      try {
        weft::fork_join(first, second);
      } catch (const std::runtime_error& e) {
        return e.what();
      }
      return "";
    };
    const auto throws = [](const char* what) {
      return [what](weft::here& at) {
        static_cast<void>(fib(at, 8));
        throw std::runtime_error(what);
      };
    };
    const auto works = [](weft::here& at) { static_cast<void>(fib(at, 8)); };
    for (int i = 0; i < 20; ++i) {
      CHECK(thrown(throws("first"), works) == "first");
      CHECK(thrown(works, throws("second")) == "second");
      CHECK(thrown(throws("first"), throws("second")) == "first");
    }
    std::string in_task;
    rt.submit([&] { in_task = thrown(works, throws("second")); });
    rt.wait();
    CHECK(in_task == "second");
    rt.submit([&] { weft::fork_join(works, throws("of the task")); });
    CHECK_THROWS_WITH_AS(rt.wait(), "of the task", std::runtime_error);
    // What was submitted in a branch is a child of the task where the branch is called, and the branch's own elsewhere:
    // it comes before what the branch throws behind it.
    const auto takes_long = [](weft::here& at) { weft::charge(1e6), static_cast<void>(fib(at, 10)); };
    rt.submit([&] {
      weft::fork_join(takes_long, [&] {
        rt.submit([] { throw std::runtime_error("submitted"); });
        weft::charge(1e5);
        throw std::runtime_error("the branch");
      });
    });
    CHECK_THROWS_WITH_AS(rt.wait(), "submitted", std::runtime_error);
  });
}

// Tasks that a branch leaves in the deque lie above the branch that is to be taken back.
TEST_CASE("forks: branches submit tasks and wait, for children and for handles") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> sum{0};
    std::atomic<int> left{0}, waited{0};
    const auto leaves = [&](int n) {
      for (int i = 0; i < n; ++i) rt.submit(weft::add(sum), [&](int& x) { x += 1, ++left; });
    };
    const auto waits = [&](int n) {
      leaves(n);
      rt.wait();
      ++waited;
    };
    rt.submit([&] {
      weft::fork_join([&] { leaves(10); }, [&] { waits(20); });
      weft::fork_join([&] { waits(10); }, [&] { leaves(20); });
      weft::fork_join([&] { weft::fork_join([&] { waits(3); }, [&] { waits(4); }); }, [&] { rt.wait(sum); });
    });
    rt.wait();
    CHECK(left == 67);
    CHECK(waited == 4);
    weft::fork_join([&] { leaves(5); }, [&] { leaves(6); });
    CHECK(rt.get(sum) == 78);
  });
}

TEST_CASE("forks: a thread that no runtime knows runs both, one after the other") {
  std::vector<int> order;
  std::thread([&] {
    const auto notes = [&](int i) { return [&order, i] { order.push_back(i); }; };
    weft::fork_join([&](weft::here& at) { weft::fork_join(at, notes(1), notes(2)); }, notes(3));
    CHECK_THROWS_AS(weft::fork_join([] { throw 1; }, [] {}), int);
  }).join();
  CHECK(order == std::vector{1, 2, 3});
}

// So many levels that the branches of a body do not fit the first ring of its deque.
TEST_CASE("forks: deep, to the left and to the right") {
  on_both_machines([](weft::options o) {
    o.stack_kib = 16 * 1024;
    weft::runtime rt(o);
    struct chain {
      static int left(weft::here& at, int n) {
        if (n == 0) return 0;
        auto [a, b] = weft::fork_join(
            at, [n](weft::here& x) { return left(x, n - 1); }, [] { return 1; });
        return a + b;
      }
      static int right(weft::here& at, int n) {
        if (n == 0) return 0;
        auto [a, b] = weft::fork_join(
            at, [] { return 1; }, [n](weft::here& x) { return right(x, n - 1); });
        return a + b;
      }
    };
    const int depth = 3000;
    std::pair<int, int> got;
    rt.submit([&] {
      got = weft::fork_join([&](weft::here& at) { return chain::left(at, depth); },
                            [&](weft::here& at) { return chain::right(at, depth); });
    });
    rt.wait();
    CHECK(got == std::pair(depth, depth));
  });
}

TEST_CASE("forks: modelled machines run branches at the same time, and the same way each time") {
  static constexpr double leaf_ns = 1'000'000;
  for (const unsigned workers : {1u, 2u, 7u, 16u, 64u}) {
    double makespan[2];
    for (double& m : makespan) {
      weft::runtime rt({.workers = workers, .machine = "virtual"});
      const double from = rt.now_ns();
      weft::fork_join([](weft::here& at) { tree(at, 128, leaf_ns); }, [](weft::here& at) { tree(at, 128, leaf_ns); });
      m = rt.now_ns() - from;
    }
    CHECK(makespan[0] == makespan[1]);
    const double ideal = leaf_ns * ((256 + workers - 1) / workers);
    CAPTURE(workers);
    CHECK(makespan[0] >= 256 * leaf_ns / workers);
    CHECK(makespan[0] <= 1.5 * ideal);
  }
}

TEST_CASE("forks: a trace says which thefts took branches") {
  const trace_place place;
  const std::string path = place.path();
  std::uint64_t steals = 0;
  {
    weft::runtime rt({.workers = 4, .machine = "virtual", .trace = path.c_str()});
    weft::fork_join([] { weft::charge(100'000); }, [] { weft::charge(100'000); });
    rt.submit([] { weft::fork_join([] { weft::charge(100'000); }, [] { weft::charge(100'000); }); });
    rt.wait();
    steals = rt.statistics().steals;
  }
  const trace_file file(path);
  CHECK(file.verdict(true) == "");
  CHECK(file.number("SELECT count(*) FROM steals WHERE what = 'branch' AND task IS NULL") == 2);
  CHECK(file.number("SELECT count(*) FROM steals") == static_cast<long>(steals));
}

// Else the waits of a task would overlap, and no reader could say where it was.
TEST_CASE("forks: what a branch waits for that another worker has taken is no wait of its task in a trace") {
  const trace_place place;
  const std::string path = place.path();
  {
    weft::runtime rt({.workers = 7, .machine = "virtual", .trace = path.c_str()});
    rt.submit([] {
      weft::fork_join([] { weft::charge(200'000); },  // and then it waits
                      [] { weft::fork_join([] { weft::charge(100'000); }, [] { weft::charge(300'000); }); });
    });
    rt.wait();
    rt.submit([] { weft::fork_join([](weft::here& at) { tree(at, 128, 10'000); }, [] { weft::charge(50'000); }); });
    rt.wait();
  }
  const trace_file file(path);
  CHECK(file.verdict(true) == "");
  CHECK(file.number("SELECT count(*) FROM steals WHERE what = 'branch'") > 4);
  CHECK(file.number("SELECT count(*) FROM waits WHERE why = 'join' AND task = 1") == 1);
}

TEST_CASE("forks: a branch that waits for what nobody submits is told, and does not hang") {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  weft::handle<int> never{0};
  CHECK_THROWS_AS(weft::fork_join([] { weft::charge(1'000'000); }, [&] { rt.wait(never, 1); }), weft::error);
}

TEST_CASE("forks: and a task whose other half waits so is named") {
  weft::handle<int> never{0};
  std::string said;
  {
    weft::runtime rt({.workers = 2, .machine = "virtual"});
    rt.submit(weft::named("divider"),
              [&] { weft::fork_join([] { weft::charge(1'000'000); }, [&] { rt.wait(never, 1); }); });
    try {
      rt.wait();
    } catch (const weft::error& e) {
      said = e.what();
    }
  }
  CAPTURE(said);
  CHECK(said.find("divider") != std::string::npos);
  CHECK(said.find("for the other half of its fork") != std::string::npos);
}
