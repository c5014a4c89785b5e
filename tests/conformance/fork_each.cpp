// Forks of several bodies at once, on real and modelled machines: each number once, wherever it runs; results in order;
// exceptions and cancellation leave nothing behind.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

constexpr std::size_t most = 8;

// A tree whose nodes have 0 to 8 children, as their numbers say. Returns how many there are below; counts each once.
struct tree {
  std::vector<std::atomic<int>> seen;
  explicit tree(std::size_t nodes) : seen(nodes) {}

  long grow(weft::here& at, std::size_t node) {
    ++seen[node];
    const std::size_t first = node * most + 1;
    const std::size_t children = first >= seen.size() ? 0 : std::min(seen.size() - first, node * 7 % (most + 1));
    return weft::fork_each<most>(
        at, children, 1L, [this, first](weft::here& x, std::size_t i) { return grow(x, first + i); },
        std::plus<long>());
  }
  [[nodiscard]] long count() const {
    long n = 0;
    for (const auto& s : seen) n += s;
    return n;
  }
};

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

}  // namespace

TEST_CASE("fork_each: each number once, for every count, from the main thread, from tasks and elsewhere") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const auto all = [] {
      for (std::size_t n = 0; n <= most; ++n) {
        std::vector<std::atomic<int>> seen(most);
        weft::fork_each<most>(n, [&seen](std::size_t i) { ++seen[i]; });
        for (std::size_t i = 0; i < most; ++i) CHECK(seen[i] == (i < n ? 1 : 0));
      }
    };
    all();
    for (int i = 0; i < 10; ++i) rt.submit(all);
    rt.wait();
    std::thread(all).join();
  });
}

TEST_CASE("fork_each: a tree, again and again, beside tasks") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (int round = 0; round < (sanitized ? 5 : 50); ++round) {
      tree a(20'000), b(5'000);
      long of_task = 0;
      for (int i = 0; i < 20; ++i) rt.submit([] { weft::charge(1'000); });
      rt.submit([&] {
        of_task = weft::fork_each<1>(
            1, 0L, [&](weft::here& at, std::size_t) { return a.grow(at, 3); }, std::plus<long>());
      });
      const long of_main = weft::fork_join([&](weft::here& at) { return b.grow(at, 5); }, [] { return 0; }).first;
      rt.wait();
      CHECK(of_main == b.count());
      CHECK(of_task == a.count());
      CHECK(std::all_of(a.seen.begin(), a.seen.end(), [](const auto& n) { return n <= 1; }));
      CHECK(of_task > 100);
    }
  });
}

TEST_CASE("fork_each: what the bodies return is combined in the order of their numbers") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (int round = 0; round < 20; ++round) {
      const std::string s = weft::fork_each<most>(
          7, std::string("<"), [](std::size_t i) { return weft::charge(5'000), std::to_string(i); },
          [](std::string a, const std::string& b) { return a + b; });
      CHECK(s == "<0123456");
    }
  });
}

TEST_CASE("fork_each: what a body throws arrives, nothing begins twice, and the next fork works") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (std::size_t bad = 0; bad < most; ++bad) {
      std::vector<std::atomic<int>> seen(most);
      const auto all = [&] {
        weft::fork_each<most>(most, [&](std::size_t i) {
          ++seen[i];
          if (i == bad) throw std::runtime_error("body " + std::to_string(i));
        });
      };
      CHECK(thrown_by(all) == "body " + std::to_string(bad));
      CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n <= 1; }));
      CHECK(seen[bad] == 1);
      rt.submit(all);
      CHECK_THROWS_AS(rt.wait(), std::runtime_error);
      tree t(500);
      const long n = weft::fork_each<1>(
          1, 0L, [&](weft::here& at, std::size_t) { return t.grow(at, 1); }, std::plus<long>());
      CHECK(n == t.count());
    }
    int ran = 0;
    CHECK(thrown_by([&] { weft::fork_each<4>(5, [&](std::size_t) { ++ran; }); }).find("fork_each<4> is called for 5") !=
          std::string::npos);
    CHECK(ran == 0);
  });
}

TEST_CASE("fork_each: bodies submit tasks and wait") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::atomic<int> left = 0;
    rt.submit([&] {
      weft::fork_each<most>(most, [&](std::size_t i) {
        for (std::size_t k = 0; k < i; ++k) rt.submit([&left] { ++left; });
        if (i % 2 == 1) rt.wait();
        weft::fork_each<most>(i, [&left](std::size_t) { ++left; });
      });
    });
    rt.wait();
    CHECK(left == 56);
  });
}

TEST_CASE("fork_each: bodies that a cancelled scope keeps from beginning are counted") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (std::size_t turn = 0; turn < most; ++turn) {
      weft::cancellation stop;
      std::atomic<int> begun = 0;
      weft::finish(stop, [&] {
        const std::string said = thrown_by([&] {
          weft::fork_each<most>(most, [&](std::size_t i) {
            ++begun;
            if (i == turn) stop.cancel();
          });
        });
        CHECK(said == (begun == static_cast<int>(most) ? "" : "cancelled"));
        CHECK(begun + static_cast<int>(stop.skipped()) == static_cast<int>(most));
        CHECK(thrown_by([&] { weft::fork_each<3>(3, [&](std::size_t) { begun += 100; }); }) == "cancelled");
      });
      CHECK(begun <= static_cast<int>(most));
      CHECK(begun + static_cast<int>(stop.skipped()) == static_cast<int>(most) + 3);
    }
  });
}

TEST_CASE("fork_each: a modelled machine runs them at the same time, and the same way each time") {
  for (const unsigned workers : {1u, 3u, 4u, 16u}) {
    double took[2];
    for (double& t : took) {
      weft::runtime rt({.workers = workers, .machine = "virtual"});
      const double from = rt.now_ns();
      weft::fork_each<12>(12, [](std::size_t) { weft::charge(1'000'000); });
      t = rt.now_ns() - from;
    }
    CAPTURE(workers);
    CHECK(took[0] == took[1]);
    CHECK(took[0] >= 12'000'000.0 / workers);
    CHECK(took[0] <= 1.5 * 1'000'000 * ((12 + workers - 1) / workers));
  }
}
