// Running sums, on real and modelled machines: of each item, in place, and the same bits everywhere.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

struct sums {
  std::vector<double> to_each, before_each;
  double all;
  friend bool operator==(const sums&, const sums&) = default;
};

// Whose bits depend on the order of additions.
sums harmonic(std::size_t n) {
  const auto part = [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); };
  sums s{std::vector<double>(n), std::vector<double>(n), 0};
  s.all = weft::inclusive_scan(std::size_t{0}, n, s.to_each.begin(), 0.5, std::plus<>(), part);
  CHECK(weft::exclusive_scan(std::size_t{0}, n, s.before_each.begin(), 0.5, std::plus<>(), part) == s.all);
  return s;
}

}  // namespace

TEST_CASE("scans: of every length, from main and from tasks, into another range and in place") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    for (const std::size_t n : {0u, 1u, 2u, 3u, 2047u, 2048u, 2049u, 4096u, 4097u, 50'000u, 200'001u}) {
      std::vector<long> x(n), expected(n), y(n);
      std::iota(x.begin(), x.end(), -5);
      std::inclusive_scan(x.begin(), x.end(), expected.begin(), std::plus<>(), 3L);
      const long all = n == 0 ? 3 : expected.back();
      CHECK(weft::inclusive_scan(x.begin(), x.end(), y.begin(), 3L, std::plus<>()) == all);
      CHECK(y == expected);
      weft::fork_join(
          [&](weft::here& at) { weft::inclusive_scan(at, x.begin(), x.end(), x.begin(), 3L, std::plus<>()); }, [] {});
      CHECK(x == expected);

      std::iota(x.begin(), x.end(), -5);
      std::exclusive_scan(x.begin(), x.end(), expected.begin(), 3L, std::plus<>());
      long got = 0;
      rt.submit([&] { got = weft::exclusive_scan(x.begin(), x.end(), x.begin(), 3L, std::plus<>()); });
      rt.wait();
      CHECK(got == all);
      CHECK(x == expected);
    }
  });
}

TEST_CASE("scans: the same bits for every number of workers, on every machine, with and without a runtime") {
  for (const std::size_t n : {1u, 2048u, 2049u, 100'000u}) {
    const sums alone = harmonic(n);
    CHECK(alone.to_each.back() == alone.all);
    for (const char* machine : both_machines)
      for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
        weft::runtime rt({.workers = workers, .machine = machine});
        CAPTURE(machine);
        CAPTURE(workers);
        for (int i = 0; i < 3; ++i) CHECK(harmonic(n) == alone);
      }
  }
}

TEST_CASE("scans: operations that do not commute, values that are no numbers, items and indices") {
  weft::runtime rt({.workers = 7, .machine = "virtual"});
  const int n = 5000;
  std::vector<std::string> v(n);
  const auto last = [](std::string a, std::string b) { return b.empty() ? a : b; };
  const auto name = [](int i) { return i % 3 == 0 ? std::string() : std::to_string(i); };
  CHECK(weft::inclusive_scan(0, n, v.begin(), std::string("from"), last, name) == "4999");
  CHECK(v[0] == "from");
  CHECK(v[3] == "2");
  CHECK(v[4998] == "4997");
  CHECK(weft::inclusive_scan(3, 1, v.begin(), std::string("none"), last, name) == "none");
  CHECK(v[0] == "from");
  const std::vector<int> x{5, 6, 7};
  std::vector<long> y(3);
  const auto twice = [](int i) { return 2L * i; };
  CHECK(weft::exclusive_scan(x.begin(), x.end(), y.begin(), 1L, std::multiplies<>(), twice) == 10 * 12 * 14);
  CHECK(y == std::vector<long>{1, 10, 120});
}

TEST_CASE("scans: what an operation throws arrives, and no value is left behind") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::vector<std::string> v(30'000, "of more letters than a string has room for in itself");
    std::vector<std::size_t> y(v.size());
    std::atomic<int> calls{0};
    CHECK_THROWS_WITH_AS(weft::inclusive_scan(v.begin(), v.end(), y.begin(), std::size_t{0}, std::plus<>(),
                                              [&](const std::string& s) {
                                                if (++calls == 20'000) throw std::runtime_error("of 20,000");
                                                return s.size();
                                              }),
                         "of 20,000", std::runtime_error);
    CHECK(weft::inclusive_scan(v.begin(), v.end(), y.begin(), std::size_t{0}, std::plus<>(),
                               [](const std::string& s) { return s.size(); }) == v.size() * v[0].size());
  });
}

TEST_CASE("scans: of sums that could not be made, those that were are destroyed") {
  struct sum {
    explicit sum(long n) : is(n) { ++alive(); }
    sum(const sum& other) : is(other.is) {
      if (--copies_left() == 0) throw std::runtime_error("no copy");
      ++alive();
    }
    sum& operator=(const sum&) = default;
    ~sum() { --alive(); }
    static std::atomic<int>& alive() {
      static std::atomic<int> n{0};
      return n;
    }
    static std::atomic<int>& copies_left() {
      static std::atomic<int> n{0};
      return n;
    }
    long is;
  };
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  std::vector<long> x(20'000, 1);
  std::vector<sum> y(x.size(), sum(0));
  const int before = sum::alive();
  for (const int at : {1, 2, 5, 9, 1000}) {
    sum::copies_left() = at;
    CHECK_THROWS_WITH(weft::inclusive_scan(
                          x.begin(), x.end(), y.begin(), sum(0),
                          [](const sum& a, const sum& b) { return sum(a.is + b.is); }, [](long n) { return sum(n); }),
                      "no copy");
    CHECK(sum::alive() == before);
  }
  sum::copies_left() = 1 << 30;
  const auto add = [](const sum& a, const sum& b) { return sum(a.is + b.is); };
  CHECK(weft::inclusive_scan(x.begin(), x.end(), y.begin(), sum(0), add, [](long n) { return sum(n); }).is == 20'000);
  CHECK(sum::alive() == before);
}

TEST_CASE("scans: modelled machines scan with as many workers as they have" * doctest::skip(real_threads_only)) {
  double alone = 0;
  for (const unsigned workers : {1u, 2u, 8u}) {
    weft::runtime rt({.workers = workers, .machine = "virtual"});
    std::vector<long> y(400'000);
    const auto add = [](long a, long b) {
      weft::charge(100);
      return a + b;
    };
    const double from = rt.now_ns();
    weft::inclusive_scan(0, 400'000, y.begin(), 0L, add);
    const double took = rt.now_ns() - from;
    CAPTURE(workers);
    CAPTURE(took / 400'000);
    if (workers == 1) alone = took;
    CHECK(took < alone / (workers == 1 ? 0.9 : workers == 2 ? 1.2 : 3.5));
  }
}
