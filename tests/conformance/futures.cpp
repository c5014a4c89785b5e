// Futures of tasks and of coroutines: on all machines, with 1 to 16 workers, with a creator; values, failures, lives.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "everywhere.hpp"
#include "quick.hpp"
#include "thrown.hpp"
#include "weft/weft.hpp"

namespace {

// Counts how many of it are alive.
struct counted {
  explicit counted(std::atomic<int>& n) : alive(&n) { ++*alive; }
  counted(const counted& other) noexcept : alive(other.alive) { ++*alive; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*alive; }
  std::atomic<int>* alive;
};

weft::future<int> fib(weft::runtime& rt, int n) {
  if (n < 2) co_return n;
  const weft::future<int> a = fib(rt, n - 1);
  weft::future<int> b = fib(rt, n - 2);
  const int first = co_await a;
  co_return first + co_await std::move(b);
}

weft::future<void> adds(weft::runtime& rt, weft::future<int> what, int& to) {
  to += co_await what;
  co_await rt.submit(weft::returns(), [&to] { to += 1; });
}

weft::future<int> throws_behind(weft::runtime&, weft::future<int> first) {
  static_cast<void>(co_await first);
  throw std::runtime_error("in the coroutine");
}

weft::future<std::string> tells(weft::runtime&, weft::future<int> what) {
  try {
    co_return std::to_string(co_await what);
  } catch (const std::exception& e) {
    co_return e.what();
  }
}

// One that is awaited by the next, to a depth that stacks would not bear.
weft::future<std::uint64_t> descends(weft::runtime& rt, std::uint64_t n) {
  if (n == 0) co_return 0;
  co_return co_await descends(rt, n - 1) + 1;
}

struct account {
  weft::future<int> take(weft::runtime& rt, int n) {
    co_await rt.submit(weft::returns(), [this, n] { balance -= n; });
    co_return balance;
  }
  int balance = 100;
};

}  // namespace

// Catches: a get() that does not wait; a value that a reader sees before it is there.
TEST_CASE("futures: what a body returns comes to get(), to tasks that read it, and along then()") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{20};
    weft::handle<std::string> out;
    auto f = rt.submit(weft::read(a), weft::returns(), weft::named("f"), [](const int& x) { return x + 1; });
    static_assert(std::is_same_v<decltype(f), weft::future<int>>);
    auto g = f.then([](const int& x) { return std::to_string(x); });
    rt.submit(weft::read(g), weft::write(out), weft::read(f),
              [](const std::string& s, std::string& o, const int& x) { o = s + "/" + std::to_string(x); });
    auto end = rt.submit(weft::returns(), weft::after(g), [] {}).then([] { return 'e'; });
    CHECK(end.get() == 'e');
    CHECK(f.get() == 21);
    CHECK(g.ready());
    CHECK(g.get() == "21");
    CHECK(rt.get(out) == "21/21");
    weft::future<int> copy = f, moved = std::move(f);
    CHECK_FALSE(f.valid());
    CHECK(copy.get() + moved.get() == 42);
  });
}

TEST_CASE("futures: values that are moved only, references, data of ranges, reductions and streams") {
  everywhere([](weft::runtime& rt) {
    auto p = rt.submit(weft::returns(), [] { return std::make_unique<int>(7); });
    auto q = rt.submit(weft::returns(), weft::read(p), [](const std::unique_ptr<int>& x) { return *x; });
    CHECK(*std::move(p).get() == 7);
    CHECK(q.get() == 7);
    static int kept = 3;
    auto r = rt.submit(weft::returns(), []() -> int& { return kept; });
    static_assert(std::is_same_v<decltype(r), weft::future<int>>);
    CHECK(r.get() == 3);
    std::vector<weft::handle<int>> many(5);
    for (auto& h : many) rt.submit(weft::write(h), [](int& x) { x = 2; });
    auto sum = rt.submit(weft::returns(), weft::read(many), [](weft::view<const int> all) {
      int s = 0;
      for (const int x : all) s += x;
      return s;
    });
    CHECK(sum.get() == 10);
    weft::reduction<int> total{0};
    auto part = rt.submit(weft::reduce(total), weft::returns(), [](int& x) { return x += 4; });
    CHECK(part.get() == 4);
    weft::stream<int> s;
    rt.submit(weft::push(s, 2), [](std::span<int> out) { out[0] = 5, out[1] = 6; });
    CHECK(rt.submit(weft::returns(), weft::pop(s, 2), [](std::span<const int> in) { return in[0] * in[1]; }).get() ==
          30);
    rt.wait();
  });
}

// Catches: a body that waits for its own access; a wait that holds the worker.
TEST_CASE("futures: bodies, threads outside and the main thread wait for them") {
  everywhere([](weft::runtime& rt) {
    auto outer = rt.submit(weft::returns(), [&rt] {
      int s = 0;
      std::vector<weft::future<int>> all;
      for (int i = 0; i < 20; ++i) all.push_back(rt.submit(weft::returns(), [i] { return i; }));
      for (auto& f : all) s += f.get();
      return s;
    });
    auto reads = outer.then([outer](const int& x) { return x + outer.get(); });
    CHECK(reads.get() == 380);
    if (std::string(rt.machine()) != "host") return;
    std::thread([&] {
      CHECK(rt.submit(weft::returns(), [] { return 1; }).get() == 1);
      CHECK(outer.get() == 190);
    }).join();
  });
}

TEST_CASE("futures: a failure is what get() throws, each time, also of tasks that were skipped by it") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> written{0};
    auto bad = rt.submit(weft::returns(), weft::write(written), [](int&) -> int { throw std::runtime_error("first"); });
    bool ran = false;
    auto next = bad.then([&ran](const int& x) { return ran = true, x; });
    auto last = rt.submit(weft::returns(), weft::read(written), [&ran](const int&) { ran = true; });
    CHECK(thrown([&] { static_cast<void>(next.get()); }) == "first");
    CHECK(thrown([&] { static_cast<void>(bad.get()); }) == "first");
    CHECK(thrown([&] { rt.wait(); }) == "first");
    for (int i = 0; i < 2; ++i) {  // the program has been told, and its handles are healed
      CHECK(thrown([&] { static_cast<void>(bad.get()); }) == "first");
      CHECK(thrown([&] { static_cast<void>(next.get()); }) == "first");
      CHECK(thrown([&] { last.wait(); }) == "first");
    }
    CHECK_FALSE(ran);
    CHECK_NOTHROW(rt.wait());
  });
}

TEST_CASE("futures: they outlive their runtime, with value or failure, and the empty one says so") {
  for (const char* machine : both_machines) {
    weft::future<int> good, bad, skipped;
    {
      weft::runtime rt({.workers = 3, .machine = machine});
      good = rt.submit(weft::returns(), [] { return 9; });
      bad = rt.submit(weft::returns(), []() -> int { throw std::runtime_error("gone"); });
      skipped = bad.then([](int x) { return x; });
      CHECK(thrown([&] { rt.wait(); }) == "gone");
    }
    CHECK(good.get() == 9);
    CHECK(std::move(good).get() == 9);
    CHECK(thrown([&] { bad.wait(); }) == "gone");
    CHECK(thrown([&] { skipped.wait(); }) == "gone");
  }
  const weft::future<int> none;
  CHECK_FALSE(none.ready());
  CHECK(thrown([&] { none.wait(); }) == "weft: this future is of no task: it is empty, or was moved from");
  CHECK(thrown([&] { static_cast<void>(weft::read(none)); }) != "");
}

// Catches: a cancelled task whose future waits for ever, or has no reason.
TEST_CASE("futures: of tasks that a cancelled finish leaves out, what cancelled it") {
  everywhere([](weft::runtime& rt) {
    weft::future<int> f;
    weft::future<int> g;
    CHECK(thrown([&] {
            weft::cancellation by;
            weft::finish(by, [&] {
              weft::handle<int> h{0};
              rt.submit(weft::write(h), [](int&) { throw std::runtime_error("stop"); });
              f = rt.submit(weft::returns(), weft::read(h), [](const int& x) { return x; });
              g = fib(rt, 3);
            });
          }) == "stop");
    CHECK(thrown([&] { f.wait(); }) == "stop");
    const std::string end = thrown([&] { g.wait(); });  // it may have come through
    CHECK((end == "" || end == "stop"));
    CHECK_NOTHROW(rt.wait());
  });
}

// Catches: an event that fails without cancelling; a coroutine that gives up and is taken for a failure.
TEST_CASE("futures: a coroutine that throws cancels its finish, and one that gives up does not fail it") {
  everywhere([](weft::runtime& rt) {
    weft::cancellation by, stop;
    CHECK(thrown([&] {
            weft::finish(by,
                         [&] { static_cast<void>(throws_behind(rt, rt.submit(weft::returns(), [] { return 1; }))); });
          }) == "in the coroutine");
    CHECK(by.cancelled());
    const auto gives_up = [](weft::runtime&, weft::cancellation& c) -> weft::future<void> {
      c.cancel();
      throw weft::cancelled_error();
      co_return;
    };
    CHECK_NOTHROW(weft::finish(stop, [&] { static_cast<void>(gives_up(rt, stop)); }));
    CHECK_NOTHROW(rt.wait());
  });
}

TEST_CASE("futures: children and events that fail after the body, values that are taken, and twice returned") {
  everywhere([](weft::runtime& rt) {
    auto f = rt.submit(weft::returns(), weft::subtasks(), [&rt] {
      rt.submit([] { throw std::runtime_error("child"); });
      return 1;
    });
    CHECK(thrown([&] { static_cast<void>(f.get()); }) == "child");
    CHECK(thrown([&] { static_cast<void>(f.then([](int x) { return x; }).get()); }) == "child");
    CHECK(thrown([&] { rt.wait(); }) == "child");
    auto v = rt.submit(weft::returns(), [] {
      std::vector<std::unique_ptr<int>> all(2);
      all[1] = std::make_unique<int>(4);
      return all;
    });
    {
      const auto copy = v;
      CHECK(thrown([&] { static_cast<void>(weft::future(v).get()); }).find("has copies") != std::string::npos);
      CHECK(*copy.get()[1] == 4);
    }
    CHECK(*std::move(v).get()[1] == 4);
    const auto pairs = [](weft::runtime&) -> weft::future<std::pair<int, int>> { co_return {1, 2}; };
    CHECK(pairs(rt).get().second == 2);
  });
}

// Catches: values that live on when nobody can read them; a destructor that waits.
TEST_CASE("futures: a value is gone when neither a copy nor a reader is left") {
  everywhere([](weft::runtime& rt) {
    std::atomic<int> alive{0};
    for (int i = 0; i < 50; ++i) {
      auto f = rt.submit(weft::returns(), [&alive] { return counted(alive); });
      if (i % 3 == 0) rt.submit(weft::read(f), [](const counted& c) { CHECK(*c.alive > 0); });
      if (i % 3 == 1) f.wait();
    }
    rt.wait();
    CHECK(alive == 0);
  });
}

TEST_CASE("futures: coroutines await each other, and go on with what they find") {
  everywhere([](weft::runtime& rt) {
    CHECK(fib(rt, 9).get() == 34);
    int to = 0;
    auto done = adds(rt, fib(rt, 6), to);
    weft::handle<int> seen{0};
    rt.submit(weft::after(done), weft::write(seen), [&to](int& x) { x = to; });
    CHECK(rt.get(seen) == 9);
    account a;
    CHECK(a.take(rt, 30).get() == 70);
    const auto of_lambda = [](weft::runtime& on, int n) -> weft::future<int> { co_return n* co_await fib(on, 5); };
    CHECK(of_lambda(rt, 2).get() == 10);
    rt.wait();
  });
}

TEST_CASE("futures: what leaves a coroutine is what it fails with, and what it awaits throws there") {
  everywhere([](weft::runtime& rt) {
    auto f = throws_behind(rt, rt.submit(weft::returns(), [] { return 1; }));
    auto text = tells(rt, f);
    CHECK(text.get() == "in the coroutine");
    CHECK(thrown([&] { static_cast<void>(f.get()); }) == "in the coroutine");
    auto skipped = f.then([](int x) { return x; });
    CHECK(thrown([&] { skipped.wait(); }) == "in the coroutine");
    CHECK(thrown([&] { rt.wait(); }) == "in the coroutine");
    CHECK_NOTHROW(rt.wait());
  });
}

// Catches: a stack for each that waits.
TEST_CASE("futures: many coroutines are under way, each behind another") {
  const std::uint64_t depth = hurried ? 1000 : 10000;
  for (const char* machine : both_machines)
    for (const unsigned workers : {1u, 2u, 4u}) {
      weft::runtime rt({.workers = workers, .machine = machine});
      CHECK(descends(rt, depth).get() == depth);
      std::vector<weft::future<int>> all;
      for (int i = 0; i < 300; ++i) all.push_back(fib(rt, 4));
      int sum = 0;
      for (auto& f : all) sum += f.get();
      CHECK(sum == 900);
    }
}

// Catches: threads that let go of the last copy while its task ends.
TEST_CASE("futures: threads outside make them and let go of them, all at once") {
  weft::runtime rt({.workers = 3, .machine = "host"});
  std::atomic<int> alive{0}, sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < (hurried ? 200 : 2000); ++i) {
        auto f = rt.submit(weft::returns(), [&alive] { return counted(alive); });
        auto g = f.then([&sum](const counted&) { return ++sum, 1; });
        if (i % 2 == 0) f = {};
        if (i % 5 == 0) g.wait();
      }
    });
  for (auto& t : threads) t.join();
  rt.wait();
  CHECK(sum == 3 * (hurried ? 200 : 2000));
  CHECK(alive == 0);
}
