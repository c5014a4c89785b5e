// A submitter at a full window, and tasks of a thread that does not wait. Whatever the caller holds while it submits,
// bodies never run on its stack or thread, so it cannot lock itself out; and its tasks are run while it does other
// things.
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "quick.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

const std::vector<unsigned> worker_counts = hurried ? std::vector{1u, 3u, 16u} : std::vector{1u, 2u, 3u, 4u, 7u, 16u};
constexpr int many = 3'000;  // more than a window of 64 and all magazines hold, with up to 16 workers

weft::options narrow(unsigned workers) { return {.workers = workers, .machine = "host", .window = 64}; }

// Spins until `done` or far too long.
template <class Done> bool soon(Done done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

}  // namespace

TEST_CASE("room: a caller that holds a mutex the bodies take, with the window full") {
  for (const unsigned workers : worker_counts) {
    CAPTURE(workers);
    weft::runtime rt(narrow(workers));
    std::mutex m;
    int done = 0;  // guarded by m
    {
      const std::lock_guard held(m);
      for (int i = 0; i < many; ++i)
        rt.submit([&] {
          const std::lock_guard guard(m);
          ++done;
        });
      CHECK(done == 0);
    }
    rt.wait();
    CHECK(done == many);
  }
}

TEST_CASE("room: a thread outside waits, tasks never run out, and the main thread goes on at a full window") {
  weft::runtime rt(narrow(1));
  std::atomic<bool> through{false};
  std::atomic<long> links{0};
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::function<void()> link = [&] {
    ++links;
    if (!through && std::chrono::steady_clock::now() < limit) rt.submit([&] { link(); });
  };
  rt.submit([&] { link(); });
  std::thread outside([&] { rt.wait(); });
  CHECK(soon([&] { return links > 0; }));  // the reserve is there for it
  for (int i = 0; i < many; ++i) rt.submit([] {});
  CHECK(std::chrono::steady_clock::now() < limit);
  through = true;
  outside.join();
  rt.wait();
}

TEST_CASE("room: a task that holds a mutex its children take, with the window full") {
  for (const unsigned workers : worker_counts) {
    CAPTURE(workers);
    weft::runtime rt(narrow(workers));
    std::mutex m;
    int done = 0;
    rt.submit([&] {
      {
        const std::lock_guard held(m);
        for (int i = 0; i < many; ++i)
          rt.submit([&] {
            const std::lock_guard guard(m);
            ++done;
          });
      }
      rt.wait();
      const std::lock_guard guard(m);
      CHECK(done == many);
    });
    rt.wait();
    CHECK(done == many);
  }
}

TEST_CASE("room: a foreign thread that holds a mutex the bodies take, with the window full") {
  for (const unsigned workers : worker_counts) {
    CAPTURE(workers);
    weft::runtime rt(narrow(workers));
    std::mutex m;
    int done = 0;
    std::thread([&] {
      {
        const std::lock_guard held(m);
        for (int i = 0; i < many; ++i)
          rt.submit([&] {
            const std::lock_guard guard(m);
            ++done;
          });
      }
      rt.wait();
    }).join();
    CHECK(done == many);
  }
}

// A lock that its own thread may take again protects nothing from a body that runs on that thread.
TEST_CASE("room: a recursive mutex keeps bodies out while the caller holds it") {
  for (const unsigned workers : {1u, 2u, 4u}) {
    weft::runtime rt(narrow(workers));
    std::recursive_mutex m;
    bool caller_inside = false;
    std::atomic<int> intruders{0}, done{0};
    for (int i = 0; i < many; ++i) {
      const std::lock_guard held(m);
      caller_inside = true;
      rt.submit([&] {
        const std::lock_guard guard(m);
        intruders += caller_inside ? 1 : 0;
        ++done;
      });
      caller_inside = false;
    }
    rt.wait();
    CHECK(intruders == 0);
    CHECK(done == many);
  }
}

TEST_CASE("room: no body runs on the submitter's thread before it waits") {
  for (const unsigned workers : worker_counts) {
    weft::runtime rt(narrow(workers));
    const auto me = std::this_thread::get_id();
    std::atomic<int> on_mine{0}, done{0};
    std::atomic<bool> waiting{false};
    for (int i = 0; i < many; ++i)
      rt.submit([&] {
        on_mine += !waiting && std::this_thread::get_id() == me ? 1 : 0;
        ++done;
      });
    CHECK(done > 0);
    waiting = true;
    rt.wait();
    CHECK(on_mine == 0);
    CHECK(done == many);
  }
}

// Programs index arrays by worker_id(): it stays below workers(), and no two bodies have the same at once.
TEST_CASE("room: worker ids are below workers() and nobody else's, with the window full") {
  for (const unsigned workers : worker_counts) {
    CAPTURE(workers);
    weft::runtime rt(narrow(workers));
    const auto taken = std::make_unique<std::atomic<int>[]>(workers);
    std::atomic<int> wrong{0}, done{0};
    const auto body = [&] {
      const int id = weft::worker_id();
      if (id < 0 || id >= static_cast<int>(workers) || taken[id].exchange(1) != 0) ++wrong;
      for (int spin = 0; spin < 200; ++spin) asm volatile("");
      if (weft::worker_id() != id) ++wrong;
      taken[id] = 0;
      ++done;
    };
    for (int i = 0; i < many; ++i) rt.submit(body);
    rt.wait();
    rt.submit([&] {
      for (int i = 0; i < many; ++i) rt.submit(body);
    });
    for (int i = 0; i < many; ++i) rt.submit(body);
    rt.wait();
    CHECK(wrong == 0);
    CHECK(done == 3 * many);
  }
}

TEST_CASE("room: many submitters at once, workers and strangers") {
  for (const unsigned workers : worker_counts) {
    CAPTURE(workers);
    weft::runtime rt(narrow(workers));
    std::atomic<int> done{0};
    weft::handle<int> sum;
    std::vector<std::thread> strangers;
    for (int s = 0; s < 3; ++s)
      strangers.emplace_back([&] {
        for (int i = 0; i < many; ++i) rt.submit(weft::add(sum), [&](int& x) { ++x, ++done; });
      });
    for (int t = 0; t < 4; ++t)
      rt.submit([&] {
        for (int i = 0; i < many; ++i) rt.submit(weft::add(sum), [&](int& x) { ++x, ++done; });
      });
    for (int i = 0; i < many; ++i) rt.submit(weft::add(sum), [&](int& x) { ++x, ++done; });
    for (auto& s : strangers) s.join();
    rt.wait();
    CHECK(done == 8 * many);
    CHECK(rt.get(sum) == 8 * many);
  }
}

namespace {

// Tasks that begin as long as `left` is not 0: each submits the next, and all live until the last is done; or one after
// the other. The runtime never stands still meanwhile, and nothing may wait for that.
enum class others { none, nest, follow };

class going_on {
 public:
  going_on(weft::runtime& rt, const std::atomic<int>& left, others how) : rt_(rt), left_(left) {
    if (how == others::nest) next();
    if (how != others::follow) return;
    rt_.submit([this] {
      while (left_ != 0) {
        rt_.submit([] {});
        rt_.wait();
      }
    });
  }

 private:
  void next() {
    rt_.submit([this] {
      if (left_ != 0) next();
    });
  }

  weft::runtime& rt_;
  const std::atomic<int>& left_;
};

template <class Check> void while_others_go_on(Check check) {
  for (const others how : {others::none, others::nest, others::follow})
    for (const unsigned workers : worker_counts) {
      if (workers == 1 && how != others::none) continue;  // newest first: the only worker would do nothing else
      const std::string line = std::to_string(workers) + " workers, others " + std::to_string(static_cast<int>(how));
      INFO(line);
      const deadline limit("the test case with " + line);
      weft::runtime rt(narrow(workers));
      check(rt, how);
    }
}

}  // namespace

// The reserve runs that body, never runs dry, and nothing follows on what it ends; so it must look aside by itself. The
// room that the caller waits for stands behind. It begins when the caller is blocked, so the rounds until it has looked
// aside for the first time are the same in each run: 64.
TEST_CASE("room: a body that submits and waits in turns lets the tasks of a submitter at a full window run") {
  weft::runtime rt(narrow(1));
  std::atomic<bool> through{false};
  std::atomic<int> rounds{0}, rounds_alone{-1}, done{0};
  rt.submit([&] {
    const std::array<char, 200> other_size{};  // records of children are no room for the caller
    while (!through) {
      rt.submit([other_size] { static_cast<void>(other_size); });
      rt.wait();
      ++rounds;
    }
  });
  for (int i = 0; i < many; ++i)
    rt.submit([&] {
      if (done++ == 0) rounds_alone = rounds.load();
    });
  through = true;
  rt.wait();
  CHECK(done == many);
  CHECK(rounds_alone >= 0);
  CHECK(rounds_alone <= 1000);
}

// All workers may be in such a body at once, the reserve too, and then nobody is left who makes room.
TEST_CASE("room: bodies that submit, on every worker and the reserve, whatever else goes on") {
  while_others_go_on([](weft::runtime& rt, others how) {
    constexpr int submitters = 40, children = 300;
    std::atomic<int> done{0}, left{submitters};
    going_on more(rt, left, how);
    for (int t = 0; t < submitters; ++t)
      rt.submit([&] {
        for (int i = 0; i < children; ++i) rt.submit([&] { ++done; });
        --left;
      });
    rt.wait();
    CHECK(done == submitters * children);
  });
}

TEST_CASE("room: bodies that submit, one at a time under a mutex that all bodies take, whatever else goes on") {
  while_others_go_on([](weft::runtime& rt, others how) {
    constexpr int submitters = 20, children = 200;
    std::mutex m;
    std::atomic<int> left{submitters};
    int done = 0;  // guarded by m
    going_on more(rt, left, how);
    for (int t = 0; t < submitters; ++t)
      rt.submit([&] {
        {
          const std::lock_guard held(m);
          for (int i = 0; i < children; ++i)
            rt.submit([&] {
              const std::lock_guard guard(m);
              ++done;
            });
        }
        --left;
      });
    rt.wait();
    CHECK(done == submitters * children);
  });
}

TEST_CASE("room: bodies and a stranger that submit, and nobody left to run their tasks") {
  for (const unsigned workers : worker_counts) {
    CAPTURE(workers);
    const deadline limit("the test case with " + std::to_string(workers) + " workers");
    weft::runtime rt(narrow(workers));
    constexpr int submitters = 60, children = 500;
    std::atomic<int> done{0};
    std::thread stranger([&] {
      for (int i = 0; i < many; ++i) rt.submit([&] { ++done; });
    });
    for (int t = 0; t < submitters; ++t)
      rt.submit([&] {
        for (int i = 0; i < children; ++i) rt.submit([&] { ++done; });
      });
    stranger.join();
    rt.wait();
    CHECK(done == submitters * children + many);
  }
}

TEST_CASE("room: a task submitted on one thread and waited for on another ends, though the first does not wait") {
  for (const unsigned workers : worker_counts) {
    CAPTURE(workers);
    for (const bool by_handle : {true, false}) {
      weft::runtime rt({.workers = workers, .machine = "host"});
      weft::handle<int> h;
      for (int i = 0; i < 100; ++i) rt.submit(weft::write(h), [](int& x) { ++x; });
      int seen = 0;
      std::thread([&] {
        by_handle ? rt.wait(h) : rt.wait();
        seen = h.unguarded();
      }).join();
      CHECK(seen == 100);
    }
  }
}

TEST_CASE("room: with several workers, tasks run while their submitter does other things") {
  for (const unsigned workers : {2u, 3u, 4u, 7u, 16u}) {
    CAPTURE(workers);
    weft::runtime rt({.workers = workers, .machine = "host"});
    std::atomic<int> done{0};
    for (int round = 1; round <= 50; ++round) {
      for (int i = 0; i < 20; ++i) rt.submit([&] { ++done; });
      REQUIRE(soon([&] { return done == 20 * round; }));  // without a wait
    }
  }
}

// The first wait ends while other tasks are still queued where the main thread left them.
TEST_CASE("room: what a wait for one handle leaves behind runs all the same") {
  for (const unsigned workers : {2u, 4u}) {
    weft::runtime rt({.workers = workers, .machine = "host"});
    std::atomic<int> done{0};
    for (int round = 1; round <= 100; ++round) {
      weft::handle<int> h;
      for (int i = 0; i < 30; ++i) rt.submit([&] { ++done; });
      rt.submit(weft::write(h), [](int& x) { x = 1; });
      rt.wait(h);
      REQUIRE(soon([&] { return done == 30 * round; }));
    }
  }
}

// Nobody takes what is ready, wherever it stands, so room can only come from going beyond the window.
TEST_CASE("room: the submitter to a paused runtime gets through a full window, with every policy") {
  for (const weft::choice& policy : weft::policies())
    for (const char* machine : both_machines)
      for (const unsigned workers : {1u, 3u}) {
        INFO(std::string(machine) << ", " << workers << " workers, policy " << std::string(policy.name));
        const deadline limit("the test case with WEFT_POLICY=" + std::string(policy.name));
        weft::runtime rt({.workers = workers, .machine = machine, .policy = policy.name, .window = 64, .paused = true});
        std::atomic<int> ran{0};
        const int submitted = 200 + 128 * static_cast<int>(workers);
        for (int i = 0; i < submitted; ++i) rt.submit([&ran] { ++ran; });
        CHECK(ran == 0);
        rt.wait();
        CHECK(ran == submitted);
      }
}
