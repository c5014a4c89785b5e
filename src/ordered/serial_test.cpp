#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/lab/executors.hpp"  // oracle and swarm
#include "weft/weft.hpp"

namespace {

struct note {
  std::vector<std::pair<std::uint64_t, int>> seen;
};

void remember(weft::ordered_context& x, std::uint64_t now, note* n, int who) {
  CHECK(x.timestamp() == now);
  n->seen.emplace_back(now, who);
  if (who < 100) {
    x.at(now, remember, n, who + 100);
    x.at(now + 2, remember, n, who + 200);
  }
}

}  // namespace

TEST_CASE("ordered, serial: earliest timestamp first, and of equal ones the one that was created first") {
  weft::runtime rt({.workers = 1});
  weft::ordered q(rt, {.executor = "serial"});
  CHECK(q.executor_name() == "serial");
  note n;
  q.at(3, remember, &n, 1);
  q.at(1, remember, &n, 2);
  q.at(1, remember, &n, 3);
  q.run();
  const std::vector<std::pair<std::uint64_t, int>> expected{{1, 2},   {1, 3},   {1, 102}, {1, 103}, {3, 1},
                                                            {3, 202}, {3, 203}, {3, 101}, {5, 201}};
  CHECK(n.seen == expected);
  CHECK((q.counts().committed == 9 && q.counts().started == 9));
}

TEST_CASE("ordered, serial and oracle: a section takes what its bodies take on a modelled machine") {
  for (const char* executor : {"serial", "oracle"}) {
    weft::runtime rt({.workers = 4, .machine = "virtual"});
    weft::ordered q(rt, {.executor = executor});
    for (int run = 1; run <= 2; ++run) {
      for (std::uint64_t i = 0; i < 100; ++i)
        q.at(i, [](weft::ordered_context&, std::uint64_t) { weft::charge(10'000); });
      q.run();
      CHECK(q.counts().seconds > run * 1e-3);
      CHECK(q.counts().seconds < run * 1.05e-3);
    }
  }
}

TEST_CASE("ordered, serial: items of a span come in their order, and memory is taken and released") {
  weft::runtime rt({.workers = 1});
  weft::ordered q(rt, {.executor = "serial"});
  std::vector<int> items{3, 1, 2};
  std::uint64_t all = 0;
  q.for_each(std::span<int>(items), [&all](weft::ordered_context& x, int& item) {
    auto* const digit = x.allocate<std::uint64_t>();
    x.store(*digit, x.load(all) * 10);
    x.store(all, x.load(*digit) + static_cast<std::uint64_t>(x.read(item)));
    x.release(digit);
  });
  CHECK(all == 312);
}

TEST_CASE("ordered, serial: what a body throws ends the run, and drops what is behind it") {
  weft::runtime rt({.workers = 1});
  weft::ordered q(rt, {.executor = "serial"});
  int stored = 0;
  const auto put = [&stored](weft::ordered_context& x, std::uint64_t now) {
    x.store(stored, static_cast<int>(now));
    if (now == 5) throw std::runtime_error("five");
  };
  for (const std::uint64_t t : {9u, 5u, 2u}) q.at(t, put);
  CHECK_THROWS_WITH(q.run(), "five");
  CHECK(stored == 5);
  CHECK(q.counts().committed == 1);
  q.run();
  CHECK(stored == 5);
}

TEST_CASE("ordered: what cannot be meant is refused in words") {
  weft::runtime rt({.workers = 1});
  CHECK_THROWS_WITH_AS(weft::ordered(rt, {.executor = "serail"}), doctest::Contains("); did you mean serial?"),
                       weft::error);
  weft::ordered q(rt, {.executor = "serial"});
  q.at(7, [](weft::ordered_context& x, std::uint64_t) { x.at(6, [](weft::ordered_context&, std::uint64_t) {}); });
  CHECK_THROWS_WITH_AS(q.run(), doctest::Contains("a body at timestamp 7 creates one for 6, which is over"),
                       weft::error);
}

TEST_CASE("ordered: a section that runs takes no calls from outside and does not run again, on any executor") {
  weft::runtime rt({.workers = 2});
  for (const char* executor : {"serial", "speculative", "levels", "relaxed", "oracle", "swarm"}) {
    CAPTURE(std::string(executor));
    weft::ordered q(rt, {.executor = executor});
    const auto nothing = [](weft::ordered_context&, std::uint64_t) {};
    const auto creates = [&q, nothing](weft::ordered_context&, std::uint64_t) { q.at(2, nothing); };
    const auto runs = [&q](weft::ordered_context&, std::uint64_t) { q.run(); };
    q.at(1, creates);
    CHECK_THROWS_WITH_AS(q.run(), doctest::Contains("weft: at() of an ordered section that runs"), weft::error);
    q.at(1, runs);
    CHECK_THROWS_WITH_AS(q.run(), doctest::Contains("weft: run() of an ordered section that runs"), weft::error);
    q.at(1, nothing);
    q.run();
    CHECK(q.counts().committed == 1);
  }
}
