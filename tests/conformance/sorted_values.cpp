// What weft::sort and its like ask of values and comparisons: any type, and what happens when something throws.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "quick.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

std::vector<int> random_ints(std::size_t n, unsigned range) {
  std::mt19937 draw(static_cast<unsigned>(n));
  std::vector<int> v(n);
  for (int& x : v) x = static_cast<int>(draw() % range);
  return v;
}
const std::size_t names = brief ? 10'000 : 30'000;
std::vector<std::string> random_names(std::size_t n) {
  std::vector<std::string> v;
  for (const int x : random_ints(n, 5000)) v.push_back("a name that is not in the string itself: " + std::to_string(x));
  return v;
}
template <class Value> bool same_values(std::vector<Value> a, std::vector<Value> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// Its moves may throw, though they never do.
struct careless {
  int key, place;
  careless(int k, int p) : key(k), place(p) {}
  careless(careless&& x) noexcept(false) : key(x.key), place(x.place) {}
  careless& operator=(careless&& x) noexcept(false) {
    key = x.key, place = x.place;
    return *this;
  }
  ~careless() {}
};

struct alignas(128) wide {
  int key;
  char more[100];
};

template <class Sort> void throws_in(Sort sort) {
  for (const std::size_t n : {10u, 30u, 500u, brief ? 20'000u : 40'000u, 200'000u})
    for (const double part : {0.0, 0.1, 0.7, 1.0}) {
      if (n > 100'000 && (brief || part != 0.7)) continue;
      if (brief && n > 500 && part != 0.7) continue;
      const std::vector<int> input = random_ints(n, 1u << 20);
      std::vector<int> v = input;
      std::atomic<std::size_t> calls{0};
      const auto limit = static_cast<std::size_t>(part * 4 * static_cast<double>(n));
      try {
        sort(v, [&](int a, int b) {
          if (calls++ > limit) throw std::runtime_error("of a comparison");
          return a < b;
        });
        CHECK(std::is_sorted(v.begin(), v.end()));
      } catch (const std::runtime_error&) {
      }
      CAPTURE(n);
      CAPTURE(limit);
      CHECK(same_values(v, input));
    }
}

}  // namespace

TEST_CASE("sorted values: when a comparison throws, all values are still there") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    throws_in([](auto& v, auto less) { weft::sort(v.begin(), v.end(), less); });
    throws_in([](auto& v, auto less) { weft::stable_sort(v.begin(), v.end(), less); });
    throws_in([](auto& v, auto less) {
      weft::fork_join(
          [&](weft::here& at) { weft::detail::sorting::merge_sort_in_place(at, v.begin(), v.size(), less); }, [] {});
    });
    const std::vector<std::string> input = random_names(names);
    std::vector<std::string> v = input;
    std::atomic<int> calls{0};
    const auto less = [&](const std::string& a, const std::string& b) {
      if (++calls == 3 * static_cast<int>(names)) throw std::runtime_error("of a comparison");
      return a < b;
    };
    CHECK_THROWS_WITH_AS(weft::sort(v.begin(), v.end(), less), "of a comparison", std::runtime_error);
    CHECK(same_values(v, input));
    calls = 0;
    v = input;
    CHECK_THROWS_WITH_AS(weft::stable_sort(v.begin(), v.end(), less), "of a comparison", std::runtime_error);
    CHECK(v.size() == input.size());
    std::fill(v.begin(), v.end(), "and may be written again");
  });
}

TEST_CASE("sorted values: strings, and what can only be moved") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const std::vector<std::string> input = random_names(names);
    std::vector<std::string> expected = input, v = input;
    std::sort(expected.begin(), expected.end());
    weft::sort(v.begin(), v.end());
    CHECK(v == expected);
    v = input;
    weft::stable_sort(v.begin(), v.end());
    CHECK(v == expected);
    const auto length = [](const std::string& s) { return s.size(); };
    weft::integer_sort(v.begin(), v.end(), length);
    std::stable_sort(expected.begin(), expected.end(),
                     [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
    CHECK(v == expected);

    std::vector<std::unique_ptr<int>> owners;
    for (const int x : random_ints(brief ? 20'000 : 150'000, 1000)) owners.push_back(std::make_unique<int>(x));
    const auto less = [](const std::unique_ptr<int>& a, const std::unique_ptr<int>& b) { return *a < *b; };
    weft::sort(owners.begin(), owners.end(), less);
    CHECK(std::is_sorted(owners.begin(), owners.end(), less));
    weft::stable_sort(owners.begin(), owners.end(), [&](const auto& a, const auto& b) { return less(b, a); });
    CHECK(std::is_sorted(owners.rbegin(), owners.rend(), less));
  });
}

TEST_CASE("sorted values: without room a stable sort is stable") {
  weft::runtime rt({.workers = 4, .machine = "virtual"});
  for (const std::size_t n : {0u, 1u, 2u, 21u, 1000u, 30'000u}) {
    std::vector<careless> v;
    for (const int x : random_ints(n, 100)) v.emplace_back(x, static_cast<int>(v.size()));
    weft::stable_sort(v.begin(), v.end(), [](const careless& a, const careless& b) { return a.key < b.key; });
    CHECK(std::is_sorted(v.begin(), v.end(), [](const careless& a, const careless& b) {
      return a.key != b.key ? a.key < b.key : a.place < b.place;
    }));
  }
}

TEST_CASE("sorted values: any range that can be indexed, any order, values of any size") {
  weft::runtime rt({.workers = 2});
  const std::vector<int> input = random_ints(brief ? 40'000 : 200'000, 1u << 30);
  std::vector<int> expected = input;
  std::sort(expected.begin(), expected.end());
  std::deque<int> chunks(input.begin(), input.end());
  weft::sort(chunks.begin(), chunks.end());
  CHECK(std::equal(chunks.begin(), chunks.end(), expected.begin()));
  chunks.assign(input.begin(), input.end());
  weft::stable_sort(chunks.begin(), chunks.end());
  CHECK(std::equal(chunks.begin(), chunks.end(), expected.begin()));
  chunks.assign(input.begin(), input.end());
  weft::integer_sort(chunks.begin(), chunks.end());
  CHECK(std::equal(chunks.begin(), chunks.end(), expected.begin()));
  std::vector<int> v = input;
  weft::sort(v.rbegin(), v.rend());
  CHECK(std::equal(v.rbegin(), v.rend(), expected.begin()));
  weft::sort(v.end(), v.begin());  // an empty range
  int array[] = {3, 1, 2};
  weft::sort(array, array + 3, std::greater<>());
  CHECK(std::equal(array, array + 3, std::array{3, 2, 1}.begin()));

  std::vector<wide> boxes(20'000);
  std::vector<double> numbers;
  std::vector<std::array<int, 5>> rows;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    boxes[i].key = input[i];
    numbers.push_back(-1.0 / input[i]);
    rows.push_back({input[i] % 10, input[i] % 7, input[i], 0, 0});
  }
  const auto less = [](const wide& a, const wide& b) { return a.key < b.key; };
  std::vector<wide> again = boxes;
  weft::sort(boxes.begin(), boxes.end(), less);
  CHECK(std::is_sorted(boxes.begin(), boxes.end(), less));
  weft::integer_sort(again.begin(), again.end(), [](const wide& x) { return x.key; });
  CHECK(std::is_sorted(again.begin(), again.end(), less));
  weft::sort(numbers.begin(), numbers.end());
  CHECK(std::is_sorted(numbers.begin(), numbers.end()));
  weft::sort(rows.begin(), rows.end());
  CHECK(std::is_sorted(rows.begin(), rows.end()));
}

TEST_CASE("sorted values: a long range is divided by several, whatever lies in it") {
  weft::runtime rt({.workers = 7, .machine = "virtual"});
  for (const unsigned range : {3u, 1000u, 1u << 30}) {
    const std::vector<int> input = random_ints(150'000, range);
    std::vector<int> v = input, expected = input;
    std::sort(expected.begin(), expected.end());
    unsigned calls = 0;
    weft::sort(v.begin(), v.end(), [&calls](int a, int b) {
      if (++calls % 256 == 0) weft::charge(1000);
      return a < b;
    });
    CHECK(v == expected);
  }
}

TEST_CASE("sorted values: where each division is bad the rest is sorted by a heap") {
  weft::fork_join(
      [](weft::here& at) {
        for (std::size_t n = 0; n < 200; ++n) {
          const std::vector<int> input = random_ints(n, n % 3 == 0 ? 5 : 1000);
          std::vector<int> v = input, other = input, expected = input;
          std::sort(expected.begin(), expected.end());
          std::less<> less;
          weft::detail::sorting::by_heap(v.begin(), n, less);
          weft::detail::sorting::quicksort(at, other.begin(), n, less, 0, false);
          CHECK((v == expected && other == expected));
        }
      },
      [] {});
}

TEST_CASE("sorted values: integers whose sort is left off are all there, in some order") {
  weft::runtime rt({.workers = 4, .machine = "virtual"});
  const std::vector<int> input = random_ints(300'000, 1u << 31);
  for (const unsigned at : {1'000u, 350'000u, 700'000u, 1'000'000u, 1'300'000u}) {
    std::vector<int> v = input;
    weft::cancellation stop;
    unsigned calls = 0;
    rt.submit([&] {
      weft::finish(stop, [&](weft::here& here) {
        weft::integer_sort(here, v.begin(), v.end(), [&](int x) {
          if (++calls == at) stop.cancel();
          if (calls % 256 == 0) weft::charge(1000);
          return x;
        });
      });
    });
    rt.wait();
    CAPTURE(at);
    CHECK((calls > at && same_values(v, input)));
  }
}

TEST_CASE("sorted values: modelled machines sort with as many workers as they have" *
          doctest::skip(real_threads_only)) {
  const std::vector<int> input = random_ints(brief ? 20'000 : 100'000, 1u << 30);
  double alone = 0;
  for (const unsigned workers : {1u, 4u}) {
    weft::runtime rt({.workers = workers, .machine = "virtual"});
    std::vector<int> v = input;
    const double from = rt.now_ns();
    weft::sort(v.begin(), v.end(), [](int a, int b) {
      weft::charge(100);
      return a < b;
    });
    const double took = rt.now_ns() - from;
    CHECK(std::is_sorted(v.begin(), v.end()));
    if (workers == 1) alone = took;
    CHECK(took < 1.01 * alone / (workers == 1 ? 1 : 2.5));
  }
}
