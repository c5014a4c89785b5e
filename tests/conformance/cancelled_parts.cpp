// Cancellation of what bodies do by forks - forks, loops, sums, sorts, scans - on real and modelled machines: parts
// that have not begun are skipped and counted, and no body goes on as if they were done.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "quick.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

[[nodiscard]] std::string thrown_by(const std::function<void()>& f) {
  try {
    f();
  } catch (const weft::cancelled_error&) {
    return "cancelled";
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// A tree of forks. The body whose turn it is cancels, or throws.
struct counts {
  std::atomic<int> offered = 0, begun = 0;
};
void grow(weft::here& at, counts& c, int depth, const std::function<void(int)>& turn) {
  if (depth == 0) return;
  c.offered += 2;
  const auto half = [&c, &turn, depth](weft::here& x) {
    weft::charge(100);
    turn(++c.begun);
    grow(x, c, depth - 1, turn);
  };
  weft::fork_join(at, half, half);
}

// f in a finish with `stop`, from the main thread and from a task.
void everywhere(weft::runtime& rt, const std::function<void(weft::cancellation&)>& f) {
  for (const bool of_task : {false, true}) {
    const auto once = [&f] {
      weft::cancellation stop;
      f(stop);
    };
    of_task ? rt.submit(once) : once();
    rt.wait();
  }
}

}  // namespace

TEST_CASE("cancelled parts: a second body that has not begun when the first cancels is skipped, and the fork throws") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    everywhere(rt, [](weft::cancellation& stop) {
      std::atomic<int> second = 0;
      std::string said;
      weft::finish(stop, [&] {
        said = thrown_by(
            [&] { static_cast<void>(weft::fork_join([&] { return stop.cancel(), 1; }, [&] { return ++second, 2; })); });
        CHECK(second + static_cast<int>(stop.skipped()) == 1);
        CHECK(said == (second == 0 ? "cancelled" : ""));
        const std::uint64_t before = stop.skipped();
        CHECK(thrown_by([&] { weft::fork_join([&] { second += 100; }, [&] { second += 100; }); }) == "cancelled");
        CHECK(stop.skipped() == before + 2);  // neither begins
      });
      CHECK(second < 2);
      // The body gives up; a finish with a value has none.
      CHECK(thrown_by([&] { weft::finish(stop, [] { weft::fork_join([] {}, [] {}); }); }) == "");
      CHECK(thrown_by([&] { weft::finish(stop, [] { return weft::fork_join([] {}, [] { return 1; }).second; }); }) ==
            "cancelled");
      int ran = 0;
      weft::fork_join([&] { ++ran; }, [] {});  // outside
      CHECK(ran == 1);
    });
  });
}

TEST_CASE("cancelled parts: one worker alone begins nothing after it has cancelled") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 1, .machine = machine});
    for (const int turn : {1, 2, 7, 100}) {
      weft::cancellation stop;
      counts c;
      weft::finish(stop, [&] {
        weft::fork_join(
            [&](weft::here& at) {
              grow(at, c, 8, [&](int i) {
                if (i == turn) stop.cancel();
              });
            },
            [] {});
      });
      CHECK(c.begun == turn);
      CHECK(c.begun + static_cast<int>(stop.skipped()) == c.offered + 1);  // and the one beside the tree
    }
  }
}

TEST_CASE("cancelled parts: what is skipped and what has begun is all that was offered, whenever it is cancelled") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (const int turn : {1, 2, 10, 100, 700, 1'000'000})
      everywhere(rt, [turn](weft::cancellation& stop) {
        counts c;
        weft::finish(stop, [&](weft::here& at) {
          grow(at, c, 9, [&](int i) {
            if (i == turn) stop.cancel();
          });
        });
        CHECK(c.begun + static_cast<int>(stop.skipped()) == c.offered);
        CHECK(stop.cancelled() == (c.begun >= turn));
        if (!stop.cancelled()) CHECK((c.begun == 1022 && stop.skipped() == 0));
      });
  });
}

TEST_CASE("cancelled parts: loops and sums count the iterations that they leave off") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const int n = 20'000;
    for (const int turn : {1, 50, 3'000, 1'000'000})
      everywhere(rt, [turn, n, &rt](weft::cancellation& stop) {
        std::atomic<int> begun = 0;
        const auto body = [&](int i) {
          if (++begun == turn) stop.cancel();
          return long{i};
        };
        weft::finish(stop, [&] { weft::for_each(0, n, body); });
        CHECK(begun + static_cast<int>(stop.skipped()) == n);
        CHECK(stop.cancelled() == (turn < n));
        if (rt.workers() == 1 && turn == 50) CHECK(begun < n / 10);

        weft::cancellation other;
        begun = 0;
        long sum = 0;
        weft::finish(other, [&] {
          sum = weft::reduce(0, n, 0L, std::plus<>(), [&](int i) {
            if (++begun == turn) other.cancel();
            return long{i};
          });
        });
        CHECK(begun + static_cast<int>(other.skipped()) == n);
        CHECK(sum == (other.skipped() == 0 ? long{n} * (n - 1) / 2 : 0));
        const std::uint64_t before = stop.skipped();
        if (turn < n) {
          weft::finish(stop, [&] { weft::for_each(0, 7, [&](int) { begun = -1; }); });
          weft::finish(stop, [&] { static_cast<void>(weft::reduce(0, 3, 0, std::plus<>(), [&](int) { return 1; })); });
          CHECK((begun >= 0 && stop.skipped() == before + 10));
        }
      });
  });
}

TEST_CASE("cancelled parts: the first exception of a loop's body leaves off the rest, also where others help") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    everywhere(rt, [&rt](weft::cancellation& stop) {
      std::atomic<int> begun = 0;
      const int n = sanitized ? 4'000 : 20'000;
      CHECK(thrown_by([&] {
              weft::finish(stop, [&] {
                weft::for_each(0, n, [&](int i) {
                  ++begun;
                  weft::charge(10'000);
                  if (i == 3) throw std::runtime_error("no");
                });
              });
            }) == "no");
      CHECK(stop.cancelled());
      CHECK(begun + static_cast<int>(stop.skipped()) <= n);
      if (std::string(rt.machine()) != "host") CHECK(begun < n / 2);
    });
  });
}

TEST_CASE("cancelled parts: a second body that throws elsewhere leaves off what the first has not begun") {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  everywhere(rt, [](weft::cancellation& stop) {
    int begun = 0;
    const auto first = [&] {
      weft::charge(50'000);  // so that somebody has the second
      weft::for_each(0, 100, [&](int) { ++begun, weft::charge(1000); });
    };
    const auto both = [&] { weft::fork_join(first, [] { throw std::runtime_error("no"); }); };
    CHECK(thrown_by([&] { weft::finish(stop, both); }) == "no");
    CHECK((begun == 0 && stop.skipped() == 100));
  });
}

TEST_CASE("cancelled parts: what an iteration throws is told, whoever runs it, and by the innermost finish") {
  for (const unsigned workers : {1u, 2u, 4u, 16u}) {
    weft::runtime rt({.workers = workers, .machine = "virtual"});
    for (const int at : {3, 300, 600, 900, 999}) {
      CAPTURE(workers);
      CAPTURE(at);
      const auto loop = [at] {
        weft::for_each(0, 1000, [at](int i) {
          weft::charge(10'000);
          if (i == at) throw std::runtime_error("no");
        });
      };
      everywhere(rt, [&](weft::cancellation& stop) {
        CHECK(thrown_by([&] { weft::finish(stop, loop); }) == "no");
        CHECK(stop.cancelled());
      });
      everywhere(rt, [&](weft::cancellation& stop) {  // in an async, and in a fork below it
        const auto in_an_async = [&] { weft::async([&] { weft::fork_join(loop, [] {}); }); };
        CHECK(thrown_by([&] { weft::finish(stop, in_an_async); }) == "no");
      });
      everywhere(rt, [&](weft::cancellation& outer) {
        weft::cancellation inner;
        std::string inside;
        weft::finish(outer, [&] { inside = thrown_by([&] { weft::finish(inner, loop); }); });
        CHECK((inside == "no" && inner.cancelled() && !outer.cancelled()));
      });
    }
    rt.wait();  // nothing is left to be told
  }
}

TEST_CASE("cancelled parts: a sort that is left off counts once, and leaves its values, in some order") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const std::size_t n = sanitized || hurried ? 20'000 : 300'000;
    std::vector<std::uint64_t> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = i * 0x9e3779b97f4a7c15u;
    std::vector<std::uint64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const std::size_t turn : {std::size_t{0}, n / 2, 3 * n, 6 * n})
      for (const int which : {0, 1, 2}) {
        weft::cancellation stop;
        std::vector<std::uint64_t> x = values;
        std::atomic<std::size_t> calls = 0;
        bool went_on = false;
        const auto count = [&] {
          if (calls.fetch_add(1, std::memory_order_relaxed) == turn) stop.cancel();
        };
        const auto less = [&](std::uint64_t a, std::uint64_t b) { return count(), a < b; };
        const auto key = [&](std::uint64_t a) { return count(), a; };
        weft::finish(stop, [&] {
          if (turn == 0) stop.cancel();
          if (which == 0) weft::sort(x.begin(), x.end(), less);
          if (which == 1) weft::stable_sort(x.begin(), x.end(), less);
          if (which == 2) weft::integer_sort(x.begin(), x.end(), key);
          went_on = true;
        });
        CHECK(stop.skipped() == (went_on ? 0 : 1));
        if (turn == 0) CHECK((!went_on && x == values && calls == 0));
        if (went_on)
          CHECK(x == sorted);
        else
          std::sort(x.begin(), x.end());
        CHECK(x == sorted);  // none is lost or doubled
      }
  });
}

TEST_CASE("cancelled parts: a scan that is left off counts once") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const int n = 50'000;
    std::vector<long> out(n);
    for (const int turn : {0, 1, 10'000, 1'000'000}) {
      weft::cancellation stop;
      std::atomic<int> calls = 0;
      long sum = -1;
      weft::finish(stop, [&] {
        if (turn == 0) stop.cancel();
        sum = weft::inclusive_scan(0, n, out.begin(), 0L, std::plus<>(), [&](int i) {
          if (++calls == turn) stop.cancel();
          return long{i};
        });
      });
      CHECK(stop.skipped() == (sum == -1 ? 1 : 0));
      CHECK((sum == -1 || sum == long{n} * (n - 1) / 2));
      if (turn == 0) CHECK((calls == 0 && sum == -1));
      if (turn == 1'000'000) CHECK((!stop.cancelled() && sum != -1));
    }
  });
}

TEST_CASE("cancelled parts: from another thread, while a tree of forks grows that would never end") {
  for (const unsigned workers : {1u, 2u, 4u, 7u}) {
    INFO("WEFT_WORKERS=" << workers);
    const deadline limit("cancelled parts: from another thread");
    weft::runtime rt({.workers = workers});
    for (int run = 0; run < (sanitized ? 3 : 20); ++run) {
      weft::cancellation stop;
      counts c;
      std::thread other([&] {
        while (c.begun < 1000) std::this_thread::yield();
        stop.cancel();
      });
      weft::finish(stop, [&](weft::here& at) { grow(at, c, 60, [](int) {}); });
      other.join();
      CHECK(c.begun + static_cast<int>(stop.skipped()) == c.offered);
      std::atomic<int> after = 0;  // and the way of the uncancelled is the short one again
      weft::for_each(0, 1000, [&](int) { ++after; });
      CHECK(after == 1000);
    }
  }
}

TEST_CASE("cancelled parts: scopes of others go on beside a cancelled one, with forks, tasks and waits") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::cancellation stop, another;
    counts c, all;
    std::atomic<int> tasks = 0;
    for (int i = 0; i < 4; ++i) {
      rt.submit([&] {
        weft::finish(stop, [&](weft::here& at) {
          grow(at, c, 8, [&](int n) {
            if (n == 100) stop.cancel();
          });
        });
      });
      rt.submit([&] {
        weft::finish(another, [&](weft::here& at) { grow(at, all, 6, [&](int) { weft::async([&] { ++tasks; }); }); });
      });
    }
    rt.wait();
    CHECK(c.begun + static_cast<int>(stop.skipped()) == c.offered);
    CHECK((all.begun == 4 * 126 && tasks == 4 * 126 && another.skipped() == 0));
  });
}

TEST_CASE("cancelled parts: on a thread that no runtime knows") {
  std::thread([] {
    weft::cancellation stop, failing;
    counts c;
    weft::finish(stop, [&](weft::here& at) {
      grow(at, c, 6, [&](int i) {
        if (i == 20) stop.cancel();
      });
    });
    CHECK((c.begun == 20 && c.begun + static_cast<int>(stop.skipped()) == c.offered));
    weft::finish(stop, [&] { weft::for_each(0, 100, [&](int) { ++c.begun; }); });
    CHECK((c.begun == 20 && c.begun + static_cast<int>(stop.skipped()) == c.offered + 100));
    CHECK(thrown_by([&] {
            weft::finish(failing, [] { weft::fork_join([] { throw std::runtime_error("x"); }, [] {}); });
          }) == "x");
    CHECK((failing.cancelled() && failing.skipped() == 1));
  }).join();
}

TEST_CASE("cancelled parts: in virtual time the same parts are skipped in every run") {
  for (const unsigned workers : {1u, 2u, 7u, 64u}) {
    std::vector<double> first;
    for (int run = 0; run < 3; ++run) {
      weft::runtime rt({.workers = workers, .machine = "virtual"});
      weft::cancellation stop, loop;
      counts c;
      std::atomic<int> begun = 0;
      weft::finish(stop, [&](weft::here& at) {
        grow(at, c, 10, [&](int i) {
          if (i == 200) stop.cancel();
        });
      });
      weft::finish(loop, [&] {
        weft::for_each(0, 10'000, [&](int) {
          weft::charge(1'000);
          if (++begun == 500) loop.cancel();
        });
      });
      CHECK((c.begun + static_cast<int>(stop.skipped()) == c.offered && stop.skipped() > 0));
      CHECK((begun + static_cast<int>(loop.skipped()) == 10'000 && loop.skipped() > 0));
      const std::vector<double> now{rt.now_ns(), static_cast<double>(stop.skipped()),
                                    static_cast<double>(loop.skipped())};
      if (run == 0) first = now;
      CHECK(now == first);
    }
  }
}
