#include "lab/swarm/waiting_calls.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace weft::swarm {

namespace {

struct counting_core {
  std::uint64_t spent = 0, touched = 0, touched_roots = 0, highest = 0;
  void instructions(std::uint64_t n) { spent += n; }
  void touch(std::uint64_t entry, bool) { ++touched, highest = std::max(highest, entry); }
  void touch_root(std::uint64_t, bool) { ++touched_roots; }
};

detail::ordered_call call(std::uint64_t timestamp, std::uint64_t number) {
  detail::ordered_call c{};
  c.timestamp = timestamp;
  c.object = number;
  return c;
}

}  // namespace

TEST_CASE("swarm, waiting calls: earliest first, of equal ones the one created first, whatever they wait in") {
  base::random draw(3);
  for (const std::uint32_t range : {1u, 5u, 1000u}) {
    counting_core core;
    waiting_calls<counting_core> w(core);
    std::uint64_t created = 0;
    std::vector<detail::ordered_call> roots;
    for (int i = 0; i < 50; ++i) roots.push_back(call(draw.below(range), created++));
    w.begin(roots);
    std::uint64_t now = 0, number = 0, taken = 0;
    while (!w.empty()) {
      const detail::ordered_call c = w.take();
      CHECK((c.timestamp > now || (c.timestamp == now && (taken == 0 || c.object > number))));
      now = c.timestamp;
      number = c.object;
      ++taken;
      for (std::uint32_t i = draw.below(3); created < 2000 && i != 0; --i)
        w.put(call(now + draw.below(range), created++));
    }
    CHECK(taken == created);
  }
}

TEST_CASE("swarm, waiting calls: roots in order cost no sort, calls in order no heap") {
  counting_core sorted, mixed;
  waiting_calls<counting_core> a(sorted), b(mixed);
  std::vector<detail::ordered_call> up, down;
  constexpr std::uint64_t n = 1024;
  for (std::uint64_t i = 0; i < n; ++i) {
    up.push_back(call(i, i));
    down.push_back(call(n - i, i));
  }
  a.begin(up);
  CHECK(sorted.touched_roots == 0);
  b.begin(down);
  CHECK(mixed.touched_roots == n * 7);  // levels of 1024, 512, .., 16
  while (!a.empty()) static_cast<void>(a.take());
  while (!b.empty()) static_cast<void>(b.take());

  counting_core first_in, heap;
  waiting_calls<counting_core> queue(first_in), late(heap);
  for (std::uint64_t i = 0; i < n; ++i) queue.put(call(i, i)), late.put(call(i == 0 ? n : i, i));
  while (!queue.empty()) static_cast<void>(queue.take());
  std::uint64_t before = 0;
  while (!late.empty()) {
    const std::uint64_t now = late.take().timestamp;
    CHECK(now >= before);
    before = now;
  }
  CHECK(first_in.touched == 2 * n);
  CHECK(heap.touched > 10 * n);
  CHECK(heap.highest < n);
}

TEST_CASE("swarm, waiting calls: a queue that is never empty walks on, and keeps little") {
  counting_core core;
  waiting_calls<counting_core> w(core);
  w.put(call(0, 0));
  for (std::uint64_t i = 1; i < 10'000; ++i) {
    w.put(call(i, i));
    REQUIRE(w.take().object == i - 1);
  }
  CHECK(w.take().object == 9'999);
  CHECK(w.empty());
  CHECK(core.highest == 9'999);
}

}  // namespace weft::swarm
