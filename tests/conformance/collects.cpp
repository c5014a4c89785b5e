// What loops make, as vectors: complete and in order whoever ran what, on real and modelled machines.
#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

std::optional<std::string> third(int i) {
  if (i % 3 != 0) return std::nullopt;
  return std::to_string(i);
}
std::vector<std::string> thirds(int n) {
  std::vector<std::string> all;
  for (int i = 0; i < n; i += 3) all.push_back(std::to_string(i));
  return all;
}

struct only_moved {
  explicit only_moved(int x) : value(x) {}
  only_moved(only_moved&&) = default;
  only_moved& operator=(only_moved&&) = default;
  int value;
};

}  // namespace

TEST_CASE("collects: in order and complete, of every length, from main and from tasks") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (const int n : {0, 1, 2, 33, 1000, 20'000}) {
      CHECK(weft::collect(0, n, third) == thirds(n));
      std::vector<std::string> of_task;
      rt.submit([&] { of_task = weft::collect(0, n, third); });
      rt.wait();
      CHECK(of_task == thirds(n));
    }
    CHECK(weft::collect(5, 3, [](int i) { return i; }).empty());
    std::vector<int> v{3, 1, 4, 1, 5};
    CHECK(weft::collect(v.begin(), v.end(), [](const int& x) { return 2L * x; }) == std::vector<long>{6, 2, 8, 2, 10});
  });
}

TEST_CASE("collects: parts that others took stand where they belong, on up to 64 workers") {
  for (const unsigned workers : {2u, 5u, 64u}) {
    weft::runtime rt({.workers = workers, .machine = "virtual"});
    const double from = rt.now_ns();
    const std::vector<int> all = weft::collect(0, 3000, [](int i) {
      weft::charge(i < 1000 ? 30'000 : 10'000);  // who has the front is the last
      return i;
    });
    const double took = rt.now_ns() - from;
    CAPTURE(workers);
    REQUIRE(all.size() == 3000);
    for (int i = 0; i < 3000; ++i) CHECK(all[static_cast<std::size_t>(i)] == i);
    CHECK(took < 0.7 * (1000 * 30'000 + 2000 * 10'000));  // others did take some
  }
}

TEST_CASE("collects: collects in collects, and items that can only be moved") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const auto rows = weft::collect(0, 60, [](weft::here& at, int i) {
      return weft::collect(at, 0, i, [i](int j) { return only_moved(100 * i + j); });
    });
    REQUIRE(rows.size() == 60);
    for (int i = 0; i < 60; ++i) {
      const auto& row = rows[static_cast<std::size_t>(i)];
      REQUIRE(row.size() == static_cast<std::size_t>(i));
      for (int j = 0; j < i; ++j) CHECK(row[static_cast<std::size_t>(j)].value == 100 * i + j);
    }
  });
}

TEST_CASE("collects: what a map refers to is copied") {
  const std::vector<std::pair<int, std::string>> pairs{{1, "a"}, {2, "b"}};
  const auto words = weft::collect(0, 2, [&](int i) -> const std::string& { return pairs[i].second; });
  CHECK(words == std::vector<std::string>{"a", "b"});
  std::vector<std::optional<std::string>> some{"x", std::nullopt, "y"};
  const auto there = weft::collect(0, 3, [&](int i) -> std::optional<std::string>& { return some[i]; });
  CHECK(there == std::vector<std::string>{"x", "y"});
  CHECK(some[0] == "x");
}

TEST_CASE("collects: what a body throws arrives, the first in order of those that began") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const auto body = [](int i) -> std::optional<int> {
      if (i == 400) throw std::runtime_error("of 400");
      return i;
    };
    CHECK_THROWS_WITH_AS(static_cast<void>(weft::collect(0, 1000, body)), "of 400", std::runtime_error);
    CHECK(weft::collect(0, 400, body).size() == 400);  // and nothing is left behind
  });
}

TEST_CASE("collects: a finish that is cancelled counts the items that have not begun") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const int n = 20'000;
    for (const int turn : {1, 3'000, 1'000'000}) {
      weft::cancellation stop;
      std::atomic<int> begun{0};
      std::vector<int> all;
      weft::finish(stop, [&] {
        all = weft::collect(0, n, [&](int i) {
          if (++begun == turn) stop.cancel();
          return i;
        });
      });
      CHECK(begun + static_cast<int>(stop.skipped()) == n);
      CHECK(stop.cancelled() == (turn < n));
      CHECK(all.size() == (turn < n ? 0u : 20'000u));
    }
  });
}
