// What a task is: its body is called once and destroyed once, whatever it captures; its clauses do what they say; the
// runtime's limits hold. Times are compared with each other only: what a step of the scheduler costs may change.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "capture.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

// Counts its living copies and calls.
struct counted {
  std::atomic<int>*live, *calls;
  counted(std::atomic<int>& l, std::atomic<int>& c) : live(&l), calls(&c) { ++*live; }
  counted(const counted& o) : live(o.live), calls(o.calls) { ++*live; }
  counted(counted&& o) noexcept : live(o.live), calls(o.calls) { ++*live; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*live; }
  void operator()() const { ++*calls; }
};

struct throws_on_copy {
  throws_on_copy() = default;
  throws_on_copy(const throws_on_copy&) { throw std::runtime_error("no copy"); }
  void operator()() const {}
};

struct immovable {
  explicit immovable(int v) : value(v) {}
  immovable(const immovable&) = delete;
  immovable& operator=(const immovable&) = delete;
  int value;
};

double cpu_seconds() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0);
}

// Virtual time from submission to the end of the wait.
template <class Submit> double virtual_ns(unsigned workers, Submit submit) {
  weft::runtime rt({.workers = workers, .machine = "virtual"});
  const double from = rt.now_ns();
  submit(rt);
  rt.wait();
  return rt.now_ns() - from;
}

}  // namespace

TEST_CASE("tasks: a body is called once and destroyed once") {
  on_both_machines([](const weft::options& o) {
    std::atomic<int> live{0}, calls{0};
    {
      weft::runtime rt(o);
      weft::handle<int> h;
      const counted kept(live, calls);
      for (int i = 0; i < 50; ++i) {
        rt.submit(kept);                  // copied
        rt.submit(counted(live, calls));  // moved
        rt.submit(weft::write(h), [kept](int&) { kept(); });
      }
      rt.wait();
      CHECK(live == 1);
      CHECK(calls == 150);
      rt.submit(weft::write(h), [kept](int&) { throw std::runtime_error("x"); });
      rt.submit(weft::read(h), [kept](const int&) { kept(); });  // skipped, but destroyed
      CHECK_THROWS(rt.wait());
      CHECK(live == 1);
      CHECK(calls == 150);
    }
    CHECK(live == 0);
  });
}

// Every size class of records and the heap beyond, each byte checked: catches a record too small for its closure.
template <std::size_t Bytes> void large_closures(weft::runtime& rt, std::atomic<int>& wrong) {
  weft::handle<int> a, b;
  for (int i = 0; i < 20; ++i) {
    std::array<unsigned char, Bytes> data;
    data.fill(static_cast<unsigned char>(i + 1));
    auto check = [data, i, &wrong] {
      for (unsigned char c : data)
        if (c != i + 1) ++wrong;
    };
    rt.submit(check);
    rt.submit(weft::write(a), weft::read(b), [check](int&, const int&) { check(); });
  }
  rt.wait();
}

TEST_CASE("tasks: closures of every size") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::atomic<int> wrong{0};
    large_closures<1>(rt, wrong);
    large_closures<32>(rt, wrong);
    large_closures<33>(rt, wrong);
    large_closures<100>(rt, wrong);
    large_closures<250>(rt, wrong);
    large_closures<500>(rt, wrong);
    large_closures<1000>(rt, wrong);
    large_closures<20'000>(rt, wrong);
    CHECK(wrong == 0);
  });
}

TEST_CASE("tasks: move-only and mutable bodies, function pointers, returned values") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::atomic<int> sum{0};
    static std::atomic<int> plain{0};
    plain = 0;
    rt.submit([p = std::make_unique<int>(3), &sum] { sum += *p; });
    rt.submit([n = 4, &sum]() mutable { sum += ++n; });
    rt.submit([&sum] { return ++sum, 17; });
    void (*function)() = [] { ++plain; };
    rt.submit(function);
    rt.wait();
    CHECK(sum == 9);
    CHECK(plain == 1);
  });
}

TEST_CASE("tasks: a body whose copy throws is not submitted, and nothing is lost by it") {
  on_both_machines([](weft::options o) {
    o.window = 64;
    weft::runtime rt(o);
    weft::handle<int> h;
    const throws_on_copy body;
    int threw = 0;
    for (int i = 0; i < 500; ++i) {  // more often than there are records
      try {
        rt.submit(body);
      } catch (const std::runtime_error&) {
        ++threw;
      }
    }
    CHECK(threw == 500);
    rt.submit(weft::write(h), [](int& x) { x = 5; });
    CHECK(rt.get(h) == 5);
  });
}

TEST_CASE("tasks: handles of references, of nothing, of what cannot move") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::vector<int> outside;
    int order = 0;
    {
      weft::handle<std::vector<int>&> ref{outside};
      weft::handle<void> token;
      weft::handle<immovable> fixed{7};
      for (int i = 0; i < 20; ++i)
        rt.submit(weft::write(token), weft::add(ref), weft::read(fixed),
                  [&order](std::vector<int>& v, const immovable& f) { v.push_back(order++ * f.value); });
      rt.submit(weft::read(token), [&order] { order += 100; });
      CHECK(&rt.get(ref) == &outside);
      rt.wait(token);
      CHECK(order == 120);
    }
    REQUIRE(outside.size() == 20);
    for (int i = 0; i < 20; ++i) CHECK(outside[static_cast<std::size_t>(i)] == 7 * i);
  });
}

TEST_CASE("tasks: names and numbers of handles") {
  weft::handle<int> a, b;
  CHECK(a.name() == nullptr);
  CHECK(b.id() > a.id());
  a.name("alpha");
  CHECK(std::string(a.name()) == "alpha");
  CHECK(a.version() == 0);
}

TEST_CASE("tasks: worker_id is -1 outside and a worker's number inside") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    CHECK(rt.workers() == o.workers);
    std::atomic<int> wrong{0};
    for (int i = 0; i < 200; ++i)
      rt.submit([&] {
        const int id = weft::worker_id();
        if (id < 0 || id >= static_cast<int>(rt.workers())) ++wrong;
      });
    rt.wait();
    CHECK(wrong == 0);
  });
  CHECK(weft::worker_id() == -1);
}

TEST_CASE("tasks: pinned tasks run where they must") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::atomic<int> wrong{0}, ran{0};
    weft::handle<int> chain;
    for (unsigned i = 0; i < 200; ++i) {
      const unsigned where = i % rt.workers();
      rt.submit(weft::pin(where), weft::write(chain), [&, where](int&) {
        wrong += weft::worker_id() == static_cast<int>(where) ? 0 : 1;
        ++ran;
      });
      rt.submit(weft::pin(where), [&] {
        rt.submit([] { weft::charge(300); });
        rt.wait();
        ++ran;
      });
    }
    rt.wait();
    CHECK(wrong == 0);
    CHECK(ran == 400);
    CHECK_THROWS_AS(rt.submit(weft::pin(rt.workers()), [] {}), weft::error);
  });
}

// The main thread is where it was after every wait: thread-bound things (a window, a lock) live there.
TEST_CASE("tasks: the main thread comes back as itself") {
  weft::runtime rt({.workers = 4, .machine = "host"});
  const auto me = std::this_thread::get_id();
  weft::handle<int> h;
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 8; ++k) rt.submit(weft::write(h), [](int& x) { ++x; });
    i % 2 == 0 ? rt.wait(h) : rt.wait();
    REQUIRE(std::this_thread::get_id() == me);
  }
}

TEST_CASE("tasks: a task with subtasks is done when they are") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<std::uint64_t> h;
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> children{0};
      std::uint64_t seen = 0;
      rt.submit(weft::write(h), weft::subtasks(), [&](std::uint64_t& x) {
        ++x;
        for (int i = 0; i < 5; ++i) rt.submit([&] { weft::charge(2'000), rt.submit([&] { ++children; }); });
      });
      rt.submit(weft::read(h), [&](const std::uint64_t&) { seen = static_cast<std::uint64_t>(children); });
      rt.wait();
      CHECK(seen == 5);
    }
  });
}

TEST_CASE("tasks: a paused runtime accepts and does not run") {
  on_both_machines([](weft::options o) {
    o.paused = true;
    weft::runtime rt(o);
    std::atomic<int> ran{0};
    for (int i = 0; i < 20; ++i) rt.submit([&] { ++ran; });
    if (std::string(o.machine) == "host") std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(ran == 0);
    rt.start();
    rt.wait();
    CHECK(ran == 20);
    rt.pause();
    for (int i = 0; i < 20; ++i) rt.submit([&] { ++ran; });
    CHECK(ran == 20);
    rt.wait();  // starts it
    CHECK(ran == 40);
  });
}

// Not even one that a running body makes ready.
TEST_CASE("tasks: nothing that is submitted after a pause runs in it") {
  for (const unsigned workers : {1u, 2u, 4u}) {
    weft::runtime rt({.workers = workers, .machine = "host"});
    for (int round = 0; round < 50; ++round) {
      weft::handle<int> h{0};
      std::atomic<bool> go{false};
      std::atomic<int> early{0};
      std::atomic<bool> may{false};
      if (workers > 1)
        rt.submit(weft::write(h), [&go](int&) {
          while (!go) std::this_thread::yield();
        });
      for (int i = 0; i < 10; ++i) rt.submit([] {});
      rt.pause();
      for (int i = 0; i < 10; ++i) rt.submit([&] { early += may ? 0 : 1; });
      for (int i = 0; i < 10; ++i) rt.submit(weft::write(h), [&](int&) { early += may ? 0 : 1; });
      go = true;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      may = true;
      rt.wait();
      CHECK(early == 0);
    }
  }
}

TEST_CASE("tasks: cost and charge on the virtual machine") {
  // One worker: twenty times 10 us more of cost is exactly 200 us more of time, whatever the scheduler itself costs.
  auto chain_of = [](double cost) {
    return [cost](weft::runtime& rt) {
      weft::handle<void> h;
      for (int i = 0; i < 20; ++i) rt.submit(weft::write(h), weft::cost(cost), [] {});
      rt.wait();
    };
  };
  CHECK(virtual_ns(1, chain_of(15'000)) - virtual_ns(1, chain_of(5'000)) == doctest::Approx(200'000).epsilon(1e-12));
  // A charge says the same as the clause; without either a body costs 1 us.
  auto charged = [](weft::runtime& rt) {
    for (int i = 0; i < 20; ++i) rt.submit([] { weft::charge(5'000); });
  };
  auto clause = [](double cost) {
    return [cost](weft::runtime& rt) {
      for (int i = 0; i < 20; ++i) rt.submit(weft::cost(cost), [] {});
    };
  };
  auto silent = [](weft::runtime& rt) {
    for (int i = 0; i < 20; ++i) rt.submit([] {});
  };
  CHECK(virtual_ns(1, charged) == virtual_ns(1, clause(5'000)));
  CHECK(virtual_ns(1, silent) == virtual_ns(1, clause(1'000)));
  CHECK(virtual_ns(1, clause(7'000)) - virtual_ns(1, charged) == doctest::Approx(40'000).epsilon(1e-12));
  // Inside a body the clock moves by exactly the charge; and charge adds to a cost clause.
  weft::runtime rt({.machine = "virtual"});
  double took = 0;
  rt.submit([&] {
    const double from = rt.now_ns();
    weft::charge(1'234);
    took = rt.now_ns() - from;
  });
  rt.wait();
  CHECK(took == doctest::Approx(1'234).epsilon(1e-12));
  weft::charge(1e9);  // outside of a task: nothing
  CHECK(rt.now_ns() < 1e9);
}

// Independent tasks of 1 ms on n workers take 1/n of the time, nearly. Catches a scheduler that serialises. With few
// tasks per worker the split deque is not greedy: its owner shares between bodies only, and in halves.
TEST_CASE("tasks: more virtual workers, less virtual time") {
  auto work = [](weft::runtime& rt) {
    for (int i = 0; i < 256; ++i) rt.submit(weft::cost(1e6), [] {});
  };
  const double one = virtual_ns(1, work);
  for (auto [n, at_least] : {std::pair{2u, 0.9}, {4u, 0.9}, {16u, 0.75}, {64u, 0.4}}) {
    const double speedup = one / virtual_ns(n, work);
    INFO(n << " workers, speed-up " << speedup);
    CHECK(speedup > at_least * n);
    CHECK(speedup <= n);
  }
}

// 10'000 tasks behind a gate that opens late: the submitter is throttled, so few live at once. One batch of records per
// worker may be on its way beside the window.
TEST_CASE("tasks: the window bounds the tasks that live") {
  on_both_machines([](weft::options o) {
    o.window = 64;
    weft::runtime rt(o);
    std::atomic<int> submitted{0}, done{0}, most{0};
    weft::handle<int> gate;
    rt.submit(weft::write(gate), weft::cost(1e6), [](int& x) { x = 1; });
    for (int i = 0; i < 10'000; ++i) {
      rt.submit(weft::read(gate), [&](const int&) { ++done; });
      most = std::max(most.load(), ++submitted - done.load());
    }
    rt.wait();
    CHECK(done == 10'000);
    CHECK(most <= 64 + 2 * 64 * static_cast<int>(o.workers) + 64);
  });
}

// All of them wait for the submitter itself: nothing else can run, so the limit must give way or nobody ever moves.
TEST_CASE("tasks: the window gives way when nothing else could run") {
  on_both_machines([](weft::options o) {
    o.window = 64;
    weft::runtime rt(o);
    std::atomic<int> done{0};
    weft::handle<int> held;
    rt.submit(weft::write(held), [&](int&) {
      for (int i = 0; i < 2'000; ++i) rt.submit(weft::read(held), [&](const int&) { ++done; });
    });
    rt.wait();
    CHECK(done == 2'000);
  });
}

TEST_CASE("tasks: a million tasks in bounded memory") {
  if (sanitized) return;  // shadow memory and quarantine are not ours to bound
  for (const char* machine : {"host", "virtual"}) {
    const deadline limit("tasks: a million tasks*");
    weft::runtime rt({.workers = 2, .machine = machine, .window = 4096});
    std::atomic<int> done{0};
    weft::handle<int> h;
    auto run = [&](int n) {
      for (int i = 0; i < n; i += 2) {
        rt.submit([&] { done.fetch_add(1, std::memory_order_relaxed); });
        rt.submit(weft::add(h), [&](int&) { done.fetch_add(1, std::memory_order_relaxed); });
      }
      rt.wait();
    };
    run(20'000);
    const double before = resident_mib();
    run(1'000'000);
    INFO(std::string(machine));
    CHECK(done == 1'020'000);
    CHECK(resident_mib() - before < 8);
  }
}

TEST_CASE("tasks: more workers than cores") {
  weft::runtime rt({.workers = 40, .machine = "host"});
  CHECK(rt.workers() == 40);
  std::atomic<int> sum{0};
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 500; ++i) rt.submit([&] { ++sum; });
    rt.wait();
  }
  CHECK(sum == 10'000);
}

TEST_CASE("tasks: an idle runtime uses no processor time") {
  weft::runtime rt({.workers = 4, .machine = "host"});
  std::atomic<int> sum{0};
  for (int i = 0; i < 1000; ++i) rt.submit([&] { ++sum; });
  rt.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // they may search a little first
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  CHECK(cpu_seconds() - before < 0.01);
}
