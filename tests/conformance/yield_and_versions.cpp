// yield(), and waits for versions nobody has submitted yet: on both machines, with a creator, from threads outside.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "everywhere.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

void on_host(const char* name, const auto& check) {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
    const deadline limit(std::string(name) + ", workers " + std::to_string(workers));
    INFO("host, workers " << workers);
    weft::runtime rt({.workers = workers, .machine = "host"});
    check(rt);
  }
}

}  // namespace

// ---- yield

TEST_CASE("yield: bodies that poll for one another go on, though there are more of them than workers") {
  everywhere([](weft::runtime& rt) {
    const int n = static_cast<int>(rt.workers()) + 1;
    std::atomic<int> in{0};
    for (int i = 0; i < n; ++i)
      rt.submit([&in, n] {
        ++in;
        while (in < n) weft::yield();
      });
    rt.wait();
    CHECK(in == n);
  });
}

TEST_CASE("yield: what is ready on this worker goes first") {
  for (const char* machine : both_machines) {
    weft::runtime rt({.workers = 1, .machine = machine});
    std::string order;
    rt.submit([&] {
      order += 'a';
      rt.submit([&order] { order += 'b'; });
      rt.submit([&order] { order += 'c'; });
      weft::yield();
      order += 'd';
      weft::yield();  // nothing is ready: at once
      order += 'e';
    });
    rt.wait();
    CHECK(order == "acbde");
    weft::yield();  // outside of tasks
  }
}

TEST_CASE("yield: in a pinned body and with exclusive access") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0};
    for (int i = 0; i < 10; ++i)
      rt.submit(weft::add(a), [](int& x) {
        const int before = x;
        weft::yield();
        x = before + 1;
      });
    for (int i = 0; i < 5; ++i) rt.submit(weft::pin(rt.workers() - 1), [] { weft::yield(); });
    CHECK(rt.get(a) == 10);
    rt.wait();
  });
}

// ---- versions ahead

TEST_CASE("versions: a wait for one that is submitted later, by a body and by the main thread") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0}, go{0};
    int seen = -1;
    rt.submit([&] {
      rt.wait(a, 3);
      seen = static_cast<int>(a.version());
    });
    rt.submit([&] {
      for (int i = 0; i < 5; ++i) rt.submit(weft::write(a), [](int& x) { ++x; });
    });
    rt.wait(a, 5);
    CHECK(a.unguarded() == 5);
    rt.wait();
    CHECK(seen >= 3);
    rt.wait(a, 5);  // at once
    rt.wait(a, 0);
  });
}

// Catches: a task that stands behind such a wait in the handle's list, or waits for the wait's alarm.
TEST_CASE("versions: tasks that come after such a wait do not wait for it") {
  everywhere([](weft::runtime& rt) {
    for (const int kinds : {0, 1, 2}) {
      weft::handle<int> a{0};
      int seen = -1;
      rt.submit([&] {
        rt.wait(a, 6);
        seen = a.version() >= 6 ? 6 : 0;
      });
      rt.submit([&, kinds] {
        for (int i = 0; i < 4; ++i) {
          if (kinds == 0) rt.submit(weft::write(a), [](int& x) { ++x; });
          if (kinds == 1) rt.submit(weft::add(a), [](int& x) { ++x; });
          if (kinds == 2) rt.submit(weft::read(a), [](const int&) {});
        }
        rt.submit(weft::write(a), [](int& x) { ++x; });
        rt.submit(weft::write(a), [](int& x) { ++x; });
        rt.submit(weft::write(a), [](int& x) { ++x; });
      });
      rt.wait();
      CHECK(seen == 6);
      CHECK(a.version() == 7);
    }
  });
}

TEST_CASE("versions: threads outside wait for one that the main thread submits later") {
  on_host("versions: threads outside*", [](weft::runtime& rt) {
    weft::handle<int> a{0};
    std::atomic<int> over{0};
    std::vector<std::thread> others;
    for (int t = 0; t < 3; ++t)
      others.emplace_back([&, t] {
        rt.wait(a, static_cast<std::uint64_t>(10 * (t + 1)));
        ++over;
      });
    for (int i = 0; i < 30; ++i) rt.submit(weft::write(a), [](int& x) { ++x; });
    for (std::thread& t : others) t.join();
    CHECK(over == 3);
    rt.wait();
  });
}

// Catches: a body that yields and has its turn again for ever, because its actor or its core has the highest priority.
TEST_CASE("yield: with events and versions under every kind of schedule that weft check draws") {
  for (const char* schedule : {"tasks", "pct", "random"})
    for (const unsigned workers : {1u, 2u, 4u})
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const std::string line = "WEFT_SCHEDULE=" + std::string(schedule) + " WEFT_WORKERS=" + std::to_string(workers) +
                                 " WEFT_SEED=" + std::to_string(seed);
        INFO(line);
        const deadline limit(line);
        weft::runtime rt({.workers = workers, .machine = "virtual", .seed = seed, .model = {.schedule = schedule}});
        weft::handle<int> a{0};
        weft::event promised("promised"), timed("timed");
        int in = 0;
        bool seen = false;
        rt.submit(weft::write(a), weft::completes(promised), [](int& x) { x = 1; });
        rt.submit(weft::completes(timed), [&] { timed.fulfil_after(1e5); });
        for (int i = 0; i < 5; ++i)
          rt.submit([&] {
            ++in;
            while (in < 5) weft::yield();
          });
        rt.submit([&] {
          rt.wait(a, 3);
          seen = true;
        });
        rt.submit([&] {
          promised.fulfil();
          timed.wait();
          for (int i = 0; i < 3; ++i) rt.submit(weft::write(a), [](int& x) { ++x; });
        });
        rt.wait();
        CHECK(a.unguarded() == 4);
        CHECK(in == 5);
        CHECK(seen);
      }
}
