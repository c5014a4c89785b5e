// Serial elision: with WEFT_SERIAL a program of forks, loops, sorts and scans is the sequential program, in order, and
// needs neither a runtime nor the library.
#define WEFT_SERIAL
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include "weft/collect.hpp"
#include "weft/finish.hpp"
#include "weft/for_each.hpp"
#include "weft/fork_each.hpp"
#include "weft/guest.hpp"
#include "weft/numa_array.hpp"
#include "weft/pipeline.hpp"
#include "weft/scan.hpp"
#include "weft/sort.hpp"

namespace {

std::vector<int> order;

int fib(weft::here& at, int n) {
  order.push_back(n);
  if (n < 2) return n;
  auto [a, b] = weft::fork_join(
      at, [n](weft::here& x) { return fib(x, n - 1); }, [n](weft::here& x) { return fib(x, n - 2); });
  return a + b;
}

// What is wrong, or nullptr.
const char* cancelled() {
  weft::cancellation stop, inner;
  int ran = 0;
  weft::finish(stop, [&] {
    weft::async([&] { ++ran; });
    weft::finish(inner, [&] {
      inner.cancel();
      weft::async([&] { ran += 10; });
    });
    if (weft::cancelled()) ran += 10;
    stop.cancel();
    weft::finish([&] { weft::async([&] { ran += 10; }); });
    if (!weft::cancelled()) ran += 10;
    throw weft::cancelled_error();
  });
  if (ran != 1 || stop.skipped() != 2 || inner.skipped() != 1 || weft::cancelled()) return "skipped wrongly";
  weft::cancellation failing;
  try {
    weft::finish(failing, [] { weft::async([] { throw 1; }); });
    return "an exception in a finish that can be cancelled does not arrive";
  } catch (int) {
    return failing.cancelled() ? nullptr : "an exception does not cancel";
  }
}

// Bodies of a fork of several are called in the order of their numbers, and so combined.
bool several() {
  std::vector<std::size_t> called;
  weft::fork_each<4>(3, [&](weft::here&, std::size_t i) { called.push_back(i); });
  const int digits = weft::fork_each<4>(
      4, 0, [](std::size_t i) { return static_cast<int>(i) + 1; }, [](int a, int b) { return 10 * a + b; });
  return called == std::vector<std::size_t>{0, 1, 2} && digits == 1234;
}

int wrong(const char* what) {
  std::printf("%s\n", what);
  return 1;
}

}  // namespace

int main() {
  const int got = weft::fork_join([](weft::here& at) { return fib(at, 4); }, [] { return 0; }).first;
  if (got != 3 || order != std::vector{4, 3, 2, 1, 0, 1, 2, 1, 0}) return wrong("forks are not two calls, in order");
  if (!several()) return wrong("a fork of several bodies is not a loop");
  order.clear();
  weft::for_each(0, 4, [](int i) { order.push_back(i); });
  if (order != std::vector{0, 1, 2, 3}) return wrong("a loop is not in order");
  if (weft::reduce(1, 11, 0, std::plus<>(), [](int i) { return i; }) != 55) return wrong("a sum is wrong");
  if (weft::reduce(1, 11, 0, [](int i) { return i; }) != 55) return wrong("a sum without an operation is wrong");
  if (weft::collect(0, 5, [](int i) { return i % 2 == 0 ? std::optional(i) : std::nullopt; }) != std::vector{0, 2, 4})
    return wrong("what a loop makes is wrong");
  order.clear();
  const int data = 0;
  const int returned = weft::finish([&](weft::here& at) {
    weft::async(weft::near(&data, sizeof data), [&] { order.push_back(1); });
    weft::async(at, [&](weft::here& here) { weft::async(here, [&] { order.push_back(2); }); });
    order.push_back(3);
    return 4;
  });
  if (returned != 4 || order != std::vector{1, 2, 3}) return wrong("asyncs are not calls, in order");
  weft::numa_array<int> placed(100'000, weft::memory_placement::local());
  const bool zeros = placed[0] == 0 && placed[99'999] == 0;
  placed.fill(7);
  if (!zeros || placed[0] != 7 || placed[99'999] != 7 || placed.node_of(3) != 0 || weft::memory_nodes() != 1)
    return wrong("an array is not plain memory");
  if (const char* what = cancelled()) return wrong(what);
  int members = 0;
  weft::finish([&] {
    weft::async(weft::team(4), [&](weft::team_context& t) {
      t.for_each(
          0, 10, [&](int i) { members += i; }, weft::dynamic());
      t.barrier();
      members = t.reduce(members, std::plus<>()) * static_cast<int>(t.width());
      weft::guest(t, [&](weft::guest_context& g) { g.at_once([&](unsigned i) { members += i + g.threads() != 1; }); });
    });
  });
  if (members != 45) return wrong("a team is not one member");
  std::vector<int> v(200'000), sums(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<int>((i * 7919) % 1000);
  if (weft::inclusive_scan(v.begin(), v.end(), sums.begin(), 0, std::plus<>()) != 200 * 999 * 500 ||
      sums[2] != 7919 % 1000 + 2 * 7919 % 1000)
    return wrong("a scan is wrong");
  weft::sort(v.begin(), v.end(), std::greater<>());
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v[i] != static_cast<int>(999 - i / 200)) return wrong("sorted wrongly");
  weft::integer_sort(v.begin(), v.end());
  weft::stable_sort(v.begin(), v.end(), [](int a, int b) { return a % 10 < b % 10; });
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v[i] != static_cast<int>(i / 20'000 + i % 20'000 / 200 * 10)) return wrong("sorted wrongly, or not stably");
  int made = 0, last = 0;
  weft::pipeline(
      weft::in_flight(2), weft::serial([&] { return made < 10 ? std::optional<int>(made++) : std::nullopt; }),
      weft::parallel([](int& x) { x *= 2; }), weft::serial([&](int x) { last = 2 * made - 2 == x ? x : -1; }));
  if (last != 18) return wrong("a pipeline does not carry each item to its end before the next begins");
  bool second = false;
  try {
    weft::fork_join([] { throw 1; }, [&] { second = true; });
    return wrong("what is thrown does not arrive");
  } catch (int) {
    if (second) return wrong("the second body ran after the first had thrown");
  }
}
