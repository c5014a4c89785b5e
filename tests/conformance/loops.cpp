// Loops and sums over ranges, on real and modelled machines: each index once, and the same bits everywhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

// Sums whose bits depend on the order of additions.
double harmonic(std::size_t n) {
  return weft::reduce(0, n, 0.0, std::plus<>(), [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); });
}

}  // namespace

TEST_CASE("loops: each index once, from main and from tasks, of every length") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (const std::size_t n : {0u, 1u, 2u, 3u, 31u, 33u, 1000u, 20'000u}) {
      std::vector<std::atomic<int>> seen(n);
      weft::for_each(0, n, [&](std::size_t i) { ++seen[i]; });
      rt.submit([&] { weft::for_each(std::size_t{0}, n, [&](weft::here&, std::size_t i) { ++seen[i]; }); });
      rt.wait();
      CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& x) { return x == 2; }));
    }
    weft::for_each(5, 3, [](int) { FAIL("of an empty range"); });
    std::vector<int> v(777);
    weft::for_each(v.end(), v.begin(), [](int) { FAIL("of an empty range"); });
    CHECK(weft::reduce(-2'000'000'000, -1'999'999'000, 0L, std::plus<>(), [](int i) { return i + 2'000'000'000L; }) ==
          999 * 1000 / 2);
    weft::for_each(v.begin(), v.end(), [&](int& x) { x = static_cast<int>(&x - v.data()); });
    for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] == static_cast<int>(i));
    CHECK(weft::reduce(v.begin(), v.end(), 1L, std::plus<>(), [](int x) { return static_cast<long>(x); }) ==
          1 + 776 * 777 / 2);
  });
}

TEST_CASE("loops: a sum needs no operation") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const auto plain = [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); };
    CHECK(weft::reduce(0u, std::size_t{100'000}, 0.0, plain) == harmonic(100'000));
    CHECK(weft::fork_join([&](weft::here& at) { return weft::reduce(at, 0u, std::size_t{100'000}, 0.0, plain); },
                          [] { return 0; }) == std::pair(harmonic(100'000), 0));
    CHECK(weft::reduce(0, 10, 5L, [](int i) { return i % 2 == 0; }) == 10);
    CHECK(weft::reduce(3, 3, std::string("x"), [](int) { return std::string("y"); }) == "x");
  });
}

TEST_CASE("loops: loops in loops, and bodies of very different length") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::vector<std::atomic<int>> seen(60 * 60);
    weft::for_each(0, 60, [&](weft::here& at, int i) {
      if (i == 3) weft::charge(1e6);
      weft::for_each(at, 0, 60, [&, i](int j) { ++seen[static_cast<std::size_t>(60 * i + j)]; });
    });
    CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& x) { return x == 1; }));
  });
}

TEST_CASE("loops: what a body throws ends the loop") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::atomic<int> ran{0};
    const auto body = [&](int i) {
      ++ran;
      if (i == 400) throw std::runtime_error("of 400");
    };
    CHECK_THROWS_WITH_AS(weft::for_each(0, 1000, body), "of 400", std::runtime_error);
    CHECK(ran >= 1);
    CHECK(ran <= 1000);
    weft::for_each(0, 10, [&](int) { ++ran; });  // and nothing is left behind
  });
}

TEST_CASE("loops: a sum has the same bits for every number of workers, on every machine, with and without a runtime") {
  for (const std::size_t n : {1u, 512u, 513u, 100'000u}) {
    const double alone = harmonic(n);
    on_both_machines([&](const weft::options& o) {
      weft::runtime rt(o);
      for (int i = 0; i < 3; ++i) CHECK(harmonic(n) == alone);
    });
    weft::runtime many({.workers = 64, .machine = "virtual"});
    CHECK(harmonic(n) == alone);
  }
  const auto joined = [](int n) {  // not commutative
    return weft::reduce(0, n, std::string(), std::plus<>(), [](int i) { return std::to_string(i) + ","; });
  };
  std::string in_order;
  for (int i = 0; i < 2000; ++i) in_order += std::to_string(i) + ",";
  weft::runtime rt({.workers = 7, .machine = "virtual"});
  CHECK(joined(2000) == in_order);
  CHECK(joined(0).empty());
}

TEST_CASE("loops: modelled machines run the iterations at the same time") {
  for (const unsigned workers : {1u, 4u, 16u}) {
    weft::runtime rt({.workers = workers, .machine = "virtual"});
    const double from = rt.now_ns();
    weft::for_each(0, 1000, [](int) { weft::charge(100'000); });
    const double took = rt.now_ns() - from;
    CAPTURE(workers);
    CHECK(took >= 1e8 / workers);
    CHECK(took <= 1.15e8 / workers);
  }
}
