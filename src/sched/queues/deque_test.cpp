// The deque step by step, on one thread: what each operation leaves behind. Interleavings: deque_model_test.cpp.
#include "sched/queues/deque.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using host_deque = deque<machine::host>;

// A worker's deque with n numbered tasks at hand. `start`: the first index, to be near a wrap from the beginning.
struct bench final : detail::deque_overflow {
  detail::worker w;
  std::vector<record> tasks;
  std::vector<int> given;  // for want of room

  explicit bench(std::size_t n, std::uint32_t start = 0, bool thieves = true, deque_size size = {}) : tasks(n) {
    host_deque::open(w, thieves, size, this);
    w.deque.bottom.raw = w.deque.split.raw = start;
    w.deque.limit = start + size.first;
    w.shared.raw = shared_part{start, 0}.word();
  }
  ~bench() { host_deque::close(w); }
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  void push(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) host_deque::push(w, &tasks[i]);
  }
  [[nodiscard]] int number(const record* r) const { return r == nullptr ? -1 : static_cast<int>(r - tasks.data()); }
  void take_over(record* oldest, record* newest, std::uint32_t n) noexcept override {
    for (record* r = oldest; n != 0; r = r->waiting.next, --n) {
      given.push_back(number(r));
      CHECK((r == newest) == (n == 1));
    }
  }
  [[nodiscard]] int pop() { return number(host_deque::pop(w)); }
  [[nodiscard]] int steal() {
    record* r = nullptr;
    return host_deque::steal(w, r) == steal_result::taken ? number(r) : -1;
  }
  // The numbers of the tasks that a thief takes who wants n.
  [[nodiscard]] std::vector<int> steal(std::uint32_t n) {
    loot got;
    std::vector<int> numbers;
    if (host_deque::steal(w, got, [n](std::uint32_t) { return n; }) == steal_result::taken)
      for (std::uint32_t i = 0; i < got.count; ++i) numbers.push_back(number(got.tasks[i]));
    return numbers;
  }
  [[nodiscard]] bool share() { return host_deque::share(w); }
  [[nodiscard]] std::uint32_t shared() const { return shared_part::of(w.shared.raw).size; }
  [[nodiscard]] std::uint32_t capacity() const { return w.deque.mask + 1; }
};

}  // namespace

TEST_CASE("deque: the owner takes the newest, and nothing from an empty one") {
  bench b(5);
  CHECK(b.pop() == -1);
  b.push(0, 5);
  for (int i = 4; i >= 0; --i) CHECK(b.pop() == i);
  CHECK(b.pop() == -1);
  b.push(0, 1);
  CHECK(b.pop() == 0);
}

TEST_CASE("deque: thieves see nothing private, and take the oldest of what is shared") {
  bench b(6);
  b.push(0, 6);
  CHECK(!host_deque::stealable(b.w));
  CHECK(b.steal() == -1);
  CHECK(b.share());
  CHECK(host_deque::stealable(b.w));
  for (int i = 0; i < 3; ++i) CHECK(b.steal() == i);
  CHECK(b.steal() == -1);
  for (int i = 5; i >= 3; --i) CHECK(b.pop() == i);
  CHECK(b.pop() == -1);
}

TEST_CASE("deque: share gives the older half, the larger one") {
  for (std::uint32_t n = 1; n <= 9; ++n) {
    bench b(n);
    b.push(0, n);
    CHECK(b.share());
    CHECK(b.shared() == (n + 1) / 2);
    CHECK(b.w.deque.bottom.raw - b.w.deque.split.raw == n / 2);
  }
  bench empty(1);
  CHECK(!empty.share());
}

TEST_CASE("deque: the flag is up while thieves find nothing, down from a share to the next last task") {
  bench b(4);
  CHECK(host_deque::starved(b.w));  // somebody may be waiting from the start
  b.push(0, 4);
  CHECK(b.share());
  CHECK(!host_deque::starved(b.w));
  CHECK(b.steal() == 0);
  CHECK(!host_deque::starved(b.w));  // task 1 still is in reach
  CHECK(b.steal() == 1);
  CHECK(host_deque::starved(b.w));

  bench alone(4, 0, false);
  alone.push(0, 4);
  CHECK(!host_deque::starved(alone.w));  // without thieves a push never leaves the short way
}

TEST_CASE("deque: a late flag shares once more, and goes down") {
  bench b(6);
  b.push(0, 6);
  CHECK(b.share());
  b.w.starved.raw = 1;  // a thief that took the last task of an earlier share() has only now come to say so
  CHECK(b.share());
  CHECK(b.shared() == 5);
  CHECK(!host_deque::starved(b.w));
}

TEST_CASE("deque: a thief takes several at once, oldest first, and says when nothing is left") {
  bench b(20);
  b.push(0, 20);
  CHECK(host_deque::expose(b.w));
  CHECK(b.steal(3) == std::vector{0, 1, 2});
  CHECK(b.shared() == 17);
  CHECK(b.pop() == 19);
  CHECK(b.shared() == 9);  // 3 to 11
  CHECK(b.steal(2) == std::vector{3, 4});
  CHECK(!host_deque::starved(b.w));
  CHECK(b.steal(7) == std::vector{5, 6, 7, 8, 9, 10, 11});
  CHECK(host_deque::starved(b.w));
  CHECK(b.steal(1).empty());
  for (int i = 18; i >= 12; --i) CHECK(b.pop() == i);
  CHECK(b.pop() == -1);
}

TEST_CASE("deque: a thief takes no more than it has room for") {
  bench b(3 * base::steal_max);
  b.push(0, 3 * base::steal_max);
  CHECK(host_deque::expose(b.w));
  CHECK(b.steal(2 * base::steal_max).size() == base::steal_max);
  CHECK(b.shared() == 2 * base::steal_max);
}

TEST_CASE("deque: what is taken back and shared again is another word for thieves") {
  bench b(8);
  b.push(0, 8);
  CHECK(host_deque::expose(b.w));
  const std::uint64_t seen = b.w.shared.raw;
  CHECK(b.pop() == 7);
  b.push(7, 8);
  CHECK(host_deque::expose(b.w));
  CHECK(b.shared() == 8);
  CHECK(b.w.shared.raw != seen);
  CHECK(b.w.shared.raw == shared_part{b.capacity(), 8}.word());  // once round the ring: every task in its slot
  CHECK(b.steal(8) == std::vector{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("deque: a full one gives its oldest away, and all of the rest can be shared") {
  bench b(40, 0, true, {.first = 4, .most = 8});
  b.push(0, 8);
  CHECK(b.given.empty());
  b.push(8, 9);
  CHECK(b.capacity() == 8);
  CHECK(b.given == std::vector{0, 1, 2, 3});  // what was private, oldest first
  CHECK(!host_deque::stealable(b.w));
  CHECK(host_deque::starved(b.w));
  CHECK(host_deque::expose(b.w));
  CHECK(!host_deque::has_private(b.w));
  CHECK(b.shared() == 5);
  CHECK(b.steal() == 4);
  b.push(9, 13);
  CHECK(b.given.size() == 4);  // a thief had made room
  b.push(13, 14);
  CHECK(b.given == std::vector{0, 1, 2, 3, 5, 6, 7, 8});  // what was shared
  b.push(14, 40);
  CHECK(host_deque::expose(b.w));
  CHECK(!host_deque::has_private(b.w));
  std::vector<int> rest;
  for (int i = b.pop(); i != -1; i = b.pop()) rest.push_back(i);
  CHECK(std::is_sorted(rest.rbegin(), rest.rend()));
  CHECK(rest.size() + b.given.size() + 1 == 40);
  rest.insert(rest.end(), b.given.begin(), b.given.end());
  std::sort(rest.begin(), rest.end());
  CHECK(std::adjacent_find(rest.begin(), rest.end()) == rest.end());
}

TEST_CASE("deque: however many there are, nothing stays out of reach that was put within it") {
  bench b(5 * base::deque_capacity_max);
  std::size_t pushed = 0;
  for (const std::uint32_t n : {base::deque_capacity_max, 2 * base::deque_capacity_max + 1, 77u}) {
    b.push(pushed, pushed + n);
    pushed += n;
    CHECK(host_deque::expose(b.w));
    CHECK(!host_deque::has_private(b.w));
    CHECK(b.shared() <= base::deque_capacity_max);
    CHECK(b.shared() + b.given.size() == pushed);
  }
  CHECK(std::is_sorted(b.given.begin(), b.given.end()));
}

TEST_CASE("deque: reclaim takes the newer half of the shared part and leaves the task at top") {
  bench b(16);
  b.push(0, 16);
  CHECK(b.share());
  for (int i = 15; i >= 8; --i) CHECK(b.pop() == i);
  CHECK(b.shared() == 8);
  CHECK(b.pop() == 7);
  CHECK(b.shared() == 4);
  for (int i = 6; i >= 4; --i) CHECK(b.pop() == i);
  CHECK(b.shared() == 4);
  CHECK(b.pop() == 3);
  CHECK(b.shared() == 2);
  CHECK(b.pop() == 2);
  CHECK(b.pop() == 1);
  CHECK(b.shared() == 1);
  CHECK(!host_deque::starved(b.w));
  CHECK(b.pop() == 0);  // as a thief does: top moves, the index is not used again
  CHECK(shared_part::of(b.w.shared.raw).top % b.capacity() == 1);
  CHECK(host_deque::starved(b.w));
  CHECK(b.pop() == -1);
}

TEST_CASE("deque: for long bodies all is within reach, and taken back one by one") {
  bench b(4);
  CHECK(!host_deque::expose(b.w));
  b.push(0, 3);
  CHECK(host_deque::expose(b.w));
  CHECK(b.shared() == 3);
  CHECK(!host_deque::starved(b.w));
  CHECK(!host_deque::expose(b.w));
  b.push(3, 4);
  CHECK(host_deque::expose(b.w));  // also when thieves still have something
  CHECK(b.shared() == 4);
  CHECK(b.number(host_deque::pop(b.w, true)) == 3);
  CHECK(b.shared() == 3);
  CHECK(b.steal() == 0);
  CHECK(b.number(host_deque::pop(b.w, true)) == 2);
  CHECK(b.number(host_deque::pop(b.w, true)) == 1);
  CHECK(host_deque::starved(b.w));
  CHECK(b.number(host_deque::pop(b.w, true)) == -1);
}

TEST_CASE("deque: grows only when no thief has made room, and keeps every task in order") {
  constexpr std::uint32_t first = base::deque_capacity_first;
  bench b(8 * first);
  b.push(0, first);
  CHECK(b.share());
  for (std::uint32_t i = 0; i < first / 2; ++i) CHECK(b.steal() == static_cast<int>(i));
  b.push(first, first + first / 2);  // wraps around inside the ring
  CHECK(b.capacity() == first);
  b.push(first + first / 2, 8 * first);
  CHECK(b.capacity() == 8 * first);
  CHECK(b.share());
  int oldest = first / 2;
  while (b.shared() != 0) CHECK(b.steal() == oldest++);
  for (int i = 8 * static_cast<int>(first) - 1; i >= oldest; --i) CHECK(b.pop() == i);
  CHECK(b.pop() == -1);
}

TEST_CASE("deque: a thief that still knows the outgrown ring finds the old tasks in it") {
  bench b(2 * base::deque_capacity_first);
  b.push(0, base::deque_capacity_first);
  CHECK(b.share());
  detail::ring* old = b.w.shared_ring.raw;
  b.push(base::deque_capacity_first, 2 * base::deque_capacity_first);
  REQUIRE(b.w.shared_ring.raw != old);
  CHECK(b.w.shared_ring.raw->outgrown == old);
  for (int i = 0; i < static_cast<int>(base::deque_capacity_first); ++i)
    CHECK(b.number(old->slots()[static_cast<std::uint32_t>(i) & old->mask].raw) == i);
}

namespace {

// Random operations beside a std::deque that says what must come out. The first `shared` of `held` are shared.
void compare_with_model(std::uint32_t start, std::uint64_t seed) {
  constexpr int tasks = 3000;
  bench b(tasks, start);
  std::deque<int> held;
  std::size_t shared = 0;
  base::random rng(seed);
  const auto take = [&held](bool newest) {
    const int n = newest ? held.back() : held.front();
    newest ? held.pop_back() : held.pop_front();
    return n;
  };
  for (int next = 0; next < tasks || !held.empty();) {
    const std::uint32_t dice = rng.below(100);
    if (dice < (next < tasks ? 50u : 0u)) {
      b.push(static_cast<std::size_t>(next), static_cast<std::size_t>(next) + 1);
      held.push_back(next++);
    } else if (dice < 70) {
      const bool none = held.empty();
      if (held.size() == shared) shared -= shared == 1 ? 1 : shared / 2;
      REQUIRE(b.pop() == (none ? -1 : take(true)));
    } else if (dice < 80) {
      const std::size_t gives = (held.size() - shared + 1) / 2;
      REQUIRE(b.share() == (gives != 0));
      shared += gives;
    } else {
      const std::uint32_t n =
          shared == 0 ? 0 : 1 + rng.below(static_cast<std::uint32_t>(std::min(shared, std::size_t{9})));
      std::vector<int> wanted;
      for (std::uint32_t i = 0; i < n; ++i) wanted.push_back(take(false));
      REQUIRE(b.steal(n) == wanted);
      shared -= n;
    }
    REQUIRE(b.shared() == shared);
  }
  CHECK(b.pop() == -1);
  CHECK(b.steal() == -1);
}

}  // namespace

TEST_CASE("deque: any sequence of operations does what the model does, also where indices wrap") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const std::uint32_t start : {0u, 0u - 1u, 0u - 100u, 0u - 256u, 0u - 1500u, 0x8000'0000u - 200u}) {
      CAPTURE(seed);
      CAPTURE(start);
      compare_with_model(start, seed);
    }
  }
}

TEST_CASE("deque: grows across the wrap of its indices") {
  bench b(1000, 0u - 300u);
  b.push(0, 1000);
  CHECK(b.capacity() == 1024);
  CHECK(b.share());
  for (int i = 0; i < 500; ++i) CHECK(b.steal() == i);
  for (int i = 999; i >= 500; --i) CHECK(b.pop() == i);
  CHECK(b.pop() == -1);
}

}  // namespace weft::sched
