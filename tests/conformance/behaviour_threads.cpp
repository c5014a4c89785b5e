// Threads outside the runtime, and several runtimes: as a library inside somebody else's program sees it.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

TEST_CASE("threads: several threads wait for one handle, and for everything, at once") {
  for (const unsigned workers : {2u, 4u}) {
    const deadline limit("threads: several threads wait*, workers " + std::to_string(workers));
    weft::runtime rt({.workers = workers, .machine = "host"});
    weft::handle<std::uint64_t> shared{std::uint64_t{0}};
    std::atomic<int> early{0};
    for (std::uint64_t round = 1; round <= 60; ++round) {
      std::vector<std::thread> others;
      rt.submit(weft::write(shared), [](std::uint64_t& x) { std::this_thread::yield(), ++x; });
      for (unsigned t = 0; t < 8; ++t)
        others.emplace_back([&, t] {
          t % 2 == 0 ? rt.wait(shared) : rt.wait();
          if (shared.unguarded() != round) ++early;
        });
      rt.wait(shared);
      for (std::thread& t : others) t.join();
    }
    CHECK(early == 0);
  }
}

TEST_CASE("threads: a handle destroyed by a thread outside waits for the tasks that use it") {
  for (const unsigned workers : {2u, 4u}) {
    const deadline limit("threads: a handle destroyed*, workers " + std::to_string(workers));
    weft::runtime rt({.workers = workers, .machine = "host"});
    std::atomic<int> wrong{0};
    std::vector<std::thread> others;
    for (int t = 0; t < 3; ++t)
      others.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          std::atomic<int> done{0};  // the bodies' view of a life that ends with this scope
          {
            auto h = std::make_unique<weft::handle<std::vector<int>>>(std::size_t{100}, 1);
            for (int i = 0; i < 4; ++i)
              rt.submit(weft::add(*h), [&done](std::vector<int>& v) {
                v.push_back(1);
                ++done;
              });
          }
          if (done != 4) ++wrong;
        }
      });
    for (std::thread& t : others) t.join();
    CHECK(wrong == 0);
  }
}

// Needs a worker that runs what the main thread has submitted and not yet given away, while that thread is elsewhere.
TEST_CASE("threads: a task of one thread is done when another waits for it, with one worker too") {
  for (const unsigned workers : {1u, 2u}) {
    const deadline limit("threads: a task of one thread*, workers " + std::to_string(workers));
    weft::runtime rt({.workers = workers, .machine = "host"});
    for (int round = 0; round < 100; ++round) {
      weft::handle<int> h{0};
      for (int i = 0; i < 10; ++i) rt.submit(weft::write(h), [](int& x) { ++x; });
      int seen = 0;
      std::thread other([&] { seen = rt.get(h); });
      other.join();  // the main thread is in no wait of the runtime
      CHECK(seen == 10);
    }
  }
}

TEST_CASE("threads: several runtimes at once, each made, used and ended by a thread of its own") {
  const deadline limit("threads: several runtimes at once*");
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (unsigned t = 0; t < 4; ++t)
    users.emplace_back([&, t] {
      for (int round = 0; round < (sanitized ? 5 : 50); ++round) {
        weft::runtime rt({.workers = 1 + t, .machine = "host", .pin = false});
        weft::handle<int> h{0};
        for (int i = 0; i < 100; ++i) rt.submit(weft::add(h), [](int& x) { ++x; });
        rt.submit([&] {
          weft::runtime inner({.workers = 2, .machine = "host", .pin = false});
          std::atomic<int> ran{0};
          for (int i = 0; i < 10; ++i) inner.submit([&] { ++ran; });
          inner.wait();
          if (ran != 10) ++wrong;
        });
        if (rt.get(h) != 100) ++wrong;
      }
    });
  for (std::thread& t : users) t.join();
  CHECK(wrong == 0);
}
