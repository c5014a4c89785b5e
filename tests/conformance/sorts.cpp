// weft::sort, stable_sort and integer_sort, on real and modelled machines: in order, and nothing lost or doubled.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "quick.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

namespace sorting = weft::detail::sorting;

// Inputs by name that have broken, or slowed, one quicksort or another.
std::vector<int> pattern(int which, std::size_t size) {
  const int n = static_cast<int>(size);
  std::mt19937 draw(static_cast<unsigned>(n * 31 + which));
  std::vector<int> v(size);
  std::iota(v.begin(), v.end(), 0);
  const auto each = [&](auto f) {
    for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = f(i);
  };
  switch (which) {
  case 0: each([&](int) { return static_cast<int>(draw()); }); break;
  case 1: break;  // in order
  case 2: std::reverse(v.begin(), v.end()); break;
  case 3: each([](int) { return 7; }); break;
  case 4: each([&](int) { return static_cast<int>(draw() % 4); }); break;
  case 5: each([n](int i) { return i < n / 2 ? i : n - i; }); break;  // organ pipe
  case 6: each([](int i) { return i % 17; }); break;
  case 7: each([n, &draw](int i) { return i < n - n / 20 ? i : static_cast<int>(draw() % 1000); }); break;
  case 8: each([n](int i) { return i == n / 2 ? -1 : i; }); break;
  case 9: each([n](int i) { return i < n / 2 ? 2 * i : 2 * (n - i) - 1; }); break;
  case 10: each([n](int i) { return i % 2 == 0 ? i / 2 : n / 2 + i / 2; }); break;  // two runs, one of each in turn
  case 11: each([](int i) { return -(i / 100); }); break;                           // falling, with equals
  default: each([&](int) { return static_cast<int>(std::sqrt(draw() % 1000)); }); break;
  }
  return v;
}
constexpr int patterns = 13;

struct item {
  int key;
  std::uint32_t place;
  friend bool operator==(const item&, const item&) = default;
};
const auto by_key = [](const item& a, const item& b) { return a.key < b.key; };
const auto key_of = [](const item& x) { return x.key; };

std::vector<item> items(const std::vector<int>& keys) {
  std::vector<item> v;
  for (const int k : keys) v.push_back({k, static_cast<std::uint32_t>(v.size())});
  return v;
}

// All sorts of one input, against the standard's. Returns what is wrong, or "".
std::string wrong_with(const std::vector<int>& input) {
  std::vector<int> expected = input, got = input;
  std::sort(expected.begin(), expected.end());
  weft::sort(got.begin(), got.end());
  if (got != expected) return "sort";
  got = input;
  weft::sort(got.begin(), got.end(), std::greater<>());
  if (!std::equal(got.rbegin(), got.rend(), expected.begin())) return "sort, the greatest first";
  got = input;
  weft::integer_sort(got.begin(), got.end());
  if (got != expected) return "integer_sort";
  const std::vector<item> unsorted = items(input);
  std::vector<item> in_order = unsorted, stable = unsorted;
  std::stable_sort(in_order.begin(), in_order.end(), by_key);
  weft::stable_sort(stable.begin(), stable.end(), by_key);
  if (stable != in_order) return "stable_sort";
  stable = unsorted;
  weft::integer_sort(stable.begin(), stable.end(), key_of);
  if (stable != in_order) return "integer_sort with a key";
  stable = unsorted;
  weft::sort(stable.begin(), stable.end(),
             [](const item& a, const item& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; });
  if (stable != in_order) return "sort with a comparison";
  return "";
}

constexpr std::size_t large = sanitized ? 140'000 : 300'000;
static_assert(large >= 4 * sorting::piece_min, "several partition what somebody who starves helps with");

}  // namespace

TEST_CASE("sorts: networks and small merges sort every sequence of zeros and ones, so all sequences" *
          doctest::skip(real_threads_only)) {
  const auto less = [](int a, int b) { return a < b; };
  for (std::size_t n = 0; n <= 16; ++n)
    for (unsigned bits = 0; bits < 1u << n; bits += sanitized && n > 12 ? 7 : 1) {
      std::vector<int> v(n);
      for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<int>(bits >> i & 1);
      std::vector<int> w = v;
      sorting::sort_small(v.data(), n, less);
      const auto zeros = static_cast<std::ptrdiff_t>(n - static_cast<std::size_t>(std::popcount(bits)));
      REQUIRE(std::is_sorted(v.begin(), v.end()));
      REQUIRE(std::count(v.begin(), v.end(), 0) == zeros);
      sorting::by_neighbours(w.data(), n, less);
      REQUIRE(v == w);
    }
}

TEST_CASE("sorts: every length up to 2000, every pattern") {
  weft::runtime rt({.workers = 2});
  for (std::size_t n = 0; n <= 2000; n += sanitized && n > 100 ? 97 : 1)
    for (int which = 0; which < patterns; ++which) {
      if (n > 130 && (n + static_cast<std::size_t>(which)) % patterns != 0) continue;
      CAPTURE(n);
      CAPTURE(which);
      REQUIRE(wrong_with(pattern(which, n)) == "");
    }
}

TEST_CASE("sorts: long ranges of every pattern, with any number of workers, on both machines") {
  for (const char* machine : both_machines)
    for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
      if (sanitized && workers != 2 && workers != 7) continue;
      weft::runtime rt({.workers = workers, .machine = machine});
      for (int which = 0; which < patterns; ++which) {
        if ((workers != 2 || brief) && (static_cast<unsigned>(which) + workers) % (brief ? 6 : 3) != 0) continue;
        CAPTURE(machine);
        CAPTURE(workers);
        CAPTURE(which);
        CHECK(wrong_with(pattern(which, large + static_cast<std::size_t>(which) * 7)) == "");
      }
    }
}

TEST_CASE("sorts: in tasks, several at a time, in every schedule, and on threads that no runtime knows") {
  const std::vector<int> input = pattern(0, sanitized ? 10'000 : 20'000);
  on_both_machines([&](const weft::options& o) {
    weft::runtime rt(o);
    std::vector<std::string> wrong(6);
    for (std::string& w : wrong) rt.submit([&] { w = wrong_with(input); });
    rt.wait();
    for (const std::string& w : wrong) CHECK(w == "");
    weft::fork_join(
        [&](weft::here& at) {
          std::vector<int> v = input, w = input;
          weft::sort(at, v.begin(), v.end());
          weft::stable_sort(at, w.begin(), w.end());
          CHECK(v == w);
          weft::integer_sort(at, w.begin(), w.end(), [](int x) { return ~x; });
          CHECK(std::equal(v.rbegin(), v.rend(), w.begin()));
        },
        [&](weft::here& at) {
          std::vector<int> v = input;
          weft::integer_sort(at, v.begin(), v.end());
          CHECK(std::is_sorted(v.begin(), v.end()));
        });
  });
  std::string outside = "not run";
  std::thread([&] { outside = wrong_with(input); }).join();
  CHECK(outside == "");
}

TEST_CASE("sorts: no input takes more than O(n log n) comparisons, not even one that is made to" *
          doctest::skip(real_threads_only)) {
  weft::runtime rt({.workers = 1});
  const std::size_t n = 20'000;
  for (int which = 0; which < patterns; ++which) {
    std::vector<int> v = pattern(which, n);
    std::size_t comparisons = 0;
    weft::sort(v.begin(), v.end(), [&](int a, int b) { return ++comparisons, a < b; });
    CAPTURE(which);
    CHECK(comparisons < 2 * n * 15);
    CHECK(std::is_sorted(v.begin(), v.end()));
  }
  // McIlroy, A Killer Adversary for Quicksort, 1999: values take shape only when they are compared, as badly as may be.
  constexpr int shapeless = std::numeric_limits<int>::max();
  std::vector<int> value(n, shapeless), v(n);
  std::iota(v.begin(), v.end(), 0);
  int solid = 0, candidate = 0;
  std::size_t comparisons = 0;
  auto killer = [&](int a, int b) {
    ++comparisons;
    auto& x = value[static_cast<std::size_t>(a)];
    auto& y = value[static_cast<std::size_t>(b)];
    if (x == shapeless && y == shapeless) (a == candidate ? x : y) = solid++;
    if (x == shapeless) candidate = a;
    if (y == shapeless) candidate = b;
    return x < y;
  };
  weft::fork_join([&](weft::here& at) { sorting::quicksort(at, v.data(), n, killer, 15, false); }, [] {});
  CHECK(comparisons > 2 * n * 15);  // it is one
  CHECK(comparisons < 8 * n * 15);
  CHECK(std::is_sorted(v.begin(), v.end(), [&](int a, int b) {
    return value[static_cast<std::size_t>(a)] < value[static_cast<std::size_t>(b)];
  }));
}

namespace {

template <class Key> void check_keys(std::uint64_t from, std::uint64_t range) {
  std::mt19937_64 draw(range + sizeof(Key));
  for (const std::size_t n : {1000u, sanitized ? 2'000u : 40'000u, sanitized ? 80'000u : 200'000u}) {
    std::vector<Key> v(n);
    for (Key& k : v) k = static_cast<Key>(from + (range == 0 ? draw() : draw() % range));
    v[n / 3] = std::numeric_limits<Key>::max();  // an outlier, so that nearly all have one digit
    std::vector<Key> expected = v;
    std::sort(expected.begin(), expected.end());
    weft::integer_sort(v.begin(), v.end());
    CHECK(v == expected);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("sorts: integer keys of every width" * doctest::skip(real_threads_only), Key, char, signed char,
                   std::uint8_t, short, unsigned short, int, unsigned, long, unsigned long, char16_t) {
  weft::runtime rt({.workers = 3, .machine = "virtual"});
  check_keys<Key>(0, 0);
  check_keys<Key>(0, 100);
  check_keys<Key>(static_cast<std::uint64_t>(std::numeric_limits<Key>::min()), 3);
  check_keys<Key>(static_cast<std::uint64_t>(-50), 100);
  check_keys<Key>(1000, 1'000'000);
}
