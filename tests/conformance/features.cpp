// Reductions, resources, access types of the user's own, workspace: each on every machine, with 1 to 7 workers, and on
// random schedules. The checks are sums and bounds that a lost, doubled or early task breaks.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "everywhere.hpp"
#include "sanitized.hpp"
#include "weft/weft.hpp"

namespace {

constexpr int relaxed = __ATOMIC_RELAXED;

// A buffer of another type than the datum: counts in short, kept in long.
struct histogram {
  using buffer = std::vector<short>;
  static buffer create(const std::vector<long>& target) { return buffer(target.size()); }
  static void merge(buffer& into, buffer& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<short>(into[i] + from[i]);
  }
  static void apply(std::vector<long>& target, buffer& from) {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] += from[i];
  }
};

void add_ones(weft::runtime& rt, weft::reduction<long>& sum, int tasks) {
  for (int i = 0; i < tasks; ++i) rt.submit(weft::reduce(sum), [](long& part) { ++part; });
}

}  // namespace

TEST_CASE("features: a priority is 0 or 1, and nothing is submitted with another") {
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  int ran = 0;
  for (const int level : {2, -1, 1'000'000})
    CHECK_THROWS_WITH_AS(
        rt.submit(weft::priority(level), [&ran] { ++ran; }),
        ("weft: priority(" + std::to_string(level) + ") cannot be; there are two levels, 0 and 1, which goes first")
            .c_str(),
        weft::error);
  for (const int level : {0, 1}) rt.submit(weft::priority(level), [&ran] { ++ran; });
  rt.wait();
  CHECK(ran == 2);
}

TEST_CASE("features: reductions are whole after get, after wait, and for every other access") {
  everywhere([](weft::runtime& rt) {
    weft::reduction<long> sum;
    add_ones(rt, sum, 500);
    CHECK(rt.get(sum) == 500);
    add_ones(rt, sum, 500);
    rt.wait();
    CHECK(sum.unguarded() == 1000);
    int wrong = 0;  // written by one task at a time: each is a write of `seen`
    weft::handle<void> seen;
    for (int i = 1; i <= 10; ++i) {
      add_ones(rt, sum, 7);
      rt.submit(weft::read(sum), weft::write(seen), [i, &wrong](const long& s) { wrong += s != 1000 + 7 * i; });
    }
    rt.wait();
    CHECK(wrong == 0);
  });
}

TEST_CASE("features: reductions from inside tasks, over two handles, and left behind") {
  everywhere([](weft::runtime& rt) {
    weft::reduction<long> sum;
    weft::reduction<std::vector<long>, histogram> bins(5);
    rt.submit([&rt, &sum] { add_ones(rt, sum, 100); });
    for (int i = 0; i < 200; ++i)
      rt.submit(weft::reduce(bins), weft::reduce(sum), [i](std::vector<short>& b, long& part) {
        ++b[static_cast<std::size_t>(i % 5)];
        ++part;
      });
    {
      weft::reduction<long> dies_open;
      add_ones(rt, dies_open, 10);
    }
    rt.wait();
    CHECK(sum.unguarded() == 300);
    CHECK(std::count(bins.unguarded().begin(), bins.unguarded().end(), 40) == 5);
    add_ones(rt, sum, 10);  // the runtime's end applies them; nothing may be left allocated
  });
}

TEST_CASE("features: a task that names a handle twice may come behind open reductions") {
  everywhere([](weft::runtime& rt) {
    weft::reduction<long> sum, other;
    weft::handle<int> x{0};
    long found = 0;
    add_ones(rt, sum, 20);
    add_ones(rt, other, 20);
    rt.submit(weft::add(x), weft::read(sum), weft::add(x), weft::read(other), weft::read(sum),
              [&found](int&, const long& s, int&, const long& o, const long&) { found = s + o; });
    rt.wait();
    CHECK(found == 40);
  });
}

TEST_CASE("features: a resource is never used beyond its units, alone or beside adds") {
  everywhere([](weft::runtime& rt) {
    weft::resource units(7);
    weft::resource pair(2);
    weft::handle<long> a{0};
    weft::handle<long> b{0};
    int in_use = 0;
    int too_many = 0;
    int done = 0;
    for (int i = 0; i < 210; ++i) {
      const int want = 1 + i % 7;
      auto body = [&in_use, &too_many, &done, want](auto&... sums) {
        if (__atomic_add_fetch(&in_use, want, relaxed) > 7) __atomic_add_fetch(&too_many, 1, relaxed);
        __atomic_add_fetch(&done, 1, relaxed);
        (++sums, ...);
        __atomic_sub_fetch(&in_use, want, relaxed);
      };
      const auto use = weft::use(units, static_cast<std::uint32_t>(want));
      if (i % 3 == 0) rt.submit(use, body);
      if (i % 3 == 1) rt.submit(weft::add(a), use, weft::add(b), body);
      if (i % 3 == 2) rt.submit(weft::use(pair), use, weft::add(b), body);
    }
    rt.wait();
    CHECK(too_many == 0);
    CHECK(done == 210);
    CHECK(a.unguarded() == 70);
    CHECK(b.unguarded() == 140);
  });
}

TEST_CASE("features: a wait for a resource does not hold up tasks that were submitted before it and come to it later") {
  everywhere([](weft::runtime& rt) {
    for (int round = 0; round < 5; ++round) {
      std::vector<int> ran(3, 0);
      {
        weft::handle<int> x{0};
        weft::resource two(2);
        rt.submit(weft::write(x), weft::cost(50'000), [](int& v) { v = 1; });
        for (std::uint32_t i = 0; i < 3; ++i)
          rt.submit(weft::read(x), weft::use(two, 1 + i % 2), [&ran, i](const int& v) { ran[i] = v; });
        if (round % 2 == 0) rt.wait(two);  // else its destructor does
      }
      CHECK(ran == std::vector<int>(3, 1));
    }
  });
}

TEST_CASE("features: a resource refuses what would wait for ever") {
  weft::runtime rt({.workers = 1});
  weft::resource three(3);
  CHECK_THROWS_AS(rt.submit(weft::use(three, 4), [] {}), weft::error);
  CHECK_THROWS_AS(rt.submit(weft::use(three, 0), [] {}), weft::error);
  CHECK_THROWS_AS(rt.submit(weft::use(three), weft::use(three), [] {}), weft::error);
}

TEST_CASE("features: access types of one's own: order between types, none within, exclusive and not") {
  using plus = weft::access_type<1, weft::commutative | weft::exclusive>;
  using times = weft::access_type<2, weft::commutative | weft::exclusive>;
  using look = weft::access_type<3, weft::commutative | weft::readonly>;
  using alone = weft::access_type<4, weft::commutative | weft::exclusive | weft::readonly>;
  everywhere([](weft::runtime& rt) {
    weft::handle<long> x{1};
    long expected = 1;
    int wrong = 0;
    int inside = 0;
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 5; ++i, expected += 3) rt.submit(weft::with_access<plus>(x), [](long& v) { v += 3; });
      for (int i = 0; i < 3; ++i, expected *= 2) rt.submit(weft::with_access<times>(x), [](long& v) { v *= 2; });
      for (int i = 0; i < 3; ++i)
        rt.submit(weft::with_access<look>(x), [expected, &wrong](const long& v) {
          if (v != expected) __atomic_add_fetch(&wrong, 1, relaxed);
        });
      for (int i = 0; i < 3; ++i)
        rt.submit(weft::with_access<alone>(x), [&inside, &wrong](const long&) {
          if (__atomic_add_fetch(&inside, 1, relaxed) != 1) __atomic_add_fetch(&wrong, 1, relaxed);
          __atomic_sub_fetch(&inside, 1, relaxed);
        });
    }
    CHECK(rt.get(x) == expected);
    CHECK(wrong == 0);
  });
}

TEST_CASE("features: workspace is aligned, as large as asked for, and the worker's own") {
  everywhere([](weft::runtime& rt) {
    int wrong = 0;
    for (std::size_t bytes : {1u, 5'000u, 100'000u, 64u})
      for (int i = 0; i < 5; ++i)
        rt.submit([&wrong, bytes, i] {
          auto* scratch = static_cast<unsigned char*>(weft::workspace(bytes));
          if (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) __atomic_add_fetch(&wrong, 1, relaxed);
          std::memset(scratch, i, bytes);
          if (std::count(scratch, scratch + bytes, i) != static_cast<std::ptrdiff_t>(bytes))
            __atomic_add_fetch(&wrong, 1, relaxed);
        });
    rt.wait();
    CHECK(wrong == 0);
  });
  CHECK_THROWS_AS(static_cast<void>(weft::workspace(1)), weft::error);
}

TEST_CASE("features: urgent tasks come before the others that are ready") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 1, .machine = machine, .paused = true});
    std::string order;  // one worker: nobody else writes
    for (const char c : {'a', 'b', 'c'}) {
      rt.submit([&order, c] { order += c; });
      rt.submit(weft::priority(1), [&order, c] { order += static_cast<char>(c - 'a' + 'A'); });
    }
    rt.wait();
    CHECK(order.substr(0, 3) == "ABC");
    CHECK(order.size() == 6);
  }
}

// ThreadSanitizer's own bookkeeping of fibers does not survive fork(): it aborts in the child, now and then.
constexpr bool fork_confuses_the_tool = thread_sanitizer;

TEST_CASE("features: a child after fork ends although its runtime's workers do not exist there" *
          doctest::skip(fork_confuses_the_tool)) {
  auto* rt = new weft::runtime({.workers = 3, .machine = "host"});
  int ran = 0;
  rt->submit([&ran] { ++ran; });
  rt->wait();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a hang ends by a signal
    delete rt;
    _exit(7);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  rt->submit([&ran] { ++ran; });
  rt->wait();
  CHECK(ran == 2);
  delete rt;
}

TEST_CASE("features: a failed child of a task with subtasks spoils what that task writes") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> x{0};
    bool dependent_ran = false;
    rt.submit(weft::write(x), weft::subtasks(), [&rt](int&) { rt.submit([] { throw std::runtime_error("child"); }); });
    rt.submit(weft::read(x), [&dependent_ran](const int&) { dependent_ran = true; });
    CHECK_THROWS_WITH(rt.wait(), "child");
    CHECK(!dependent_ran);
    rt.wait();
  });
}

TEST_CASE("features: a task that pauses the runtime while the program waits is no stall") {
  weft::runtime rt({.workers = 2, .machine = "host"});
  int ran = 0;
  rt.submit([&rt] { rt.pause(); });
  for (int i = 0; i < 100; ++i) rt.submit([&ran] { __atomic_add_fetch(&ran, 1, relaxed); });
  std::thread starter([&rt] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    rt.start();
  });
  CHECK_NOTHROW(rt.wait());
  starter.join();
  CHECK(ran == 100);
}

TEST_CASE("features: several submitters wait for room at the same time, and all go on") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 4, .machine = machine, .window = 64});
    int ran = 0;
    const auto flood = [&rt, &ran] {
      for (int i = 0; i < 3000; ++i) rt.submit([&ran] { __atomic_add_fetch(&ran, 1, relaxed); });
    };
    for (int i = 0; i < 3; ++i) rt.submit(flood);
    flood();
    rt.wait();
    CHECK(ran == 4 * 3000);
  }
}

TEST_CASE("features: while the program computes others run what it has submitted, however many they are") {
  for (const unsigned workers : {2u, 8u, 9u, 40u}) {
    weft::runtime rt({.workers = workers, .machine = "virtual"});
    double last_ns = 0;
    for (int i = 0; i < 30; ++i)
      rt.submit([&] {
        weft::charge(1000);
        last_ns = std::max(last_ns, rt.now_ns());
      });
    rt.charge(1e6);
    rt.wait();
    CHECK(last_ns < (workers > 8 ? 5e4 : 5e5));  // so many that none is asked to come by: they have it at once
  }
}
