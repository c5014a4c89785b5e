// Waiting: by whom, for what, how deep; and what happens when it could never end.
#include <memory>
#include <thread>
#include <vector>

#include "capture.hpp"
#include "programs.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A stack per level is set aside; a scheduler that runs other tasks on top of a waiting one overflows or deadlocks
// here.
std::uint64_t descend(weft::runtime& rt, unsigned depth) {
  if (depth == 0) return 1;
  std::uint64_t below = 0;
  rt.submit([&] { below = descend(rt, depth - 1); });
  rt.wait();
  return below + 1;
}

}  // namespace

TEST_CASE("waits: deep recursion with a wait on every level") {
  on_both_machines([](weft::options o) {
    o.stack_kib = 128;
    weft::runtime rt(o);
    std::uint64_t depth = 0;
    rt.submit([&] { depth = descend(rt, 300); });
    rt.wait();
    CHECK(depth == 301);
    CHECK(reference::waits_for_children(rt, 12) == "");
  });
}

// Depth 20 and wide: thousands of stacks are made and reused.
TEST_CASE("waits: a tree of waits, 20 levels deep") {
  on_both_machines([](weft::options o) {
    o.stack_kib = 64;
    weft::runtime rt(o);
    CHECK(reference::waits_for_children(rt, sanitized ? 13 : 20) == "");
  });
}

TEST_CASE("waits: main waits for one handle while others are still busy") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> quick{0}, slow{0};
    std::atomic<bool> go{false};
    // Not on worker 0: that is the main thread, which runs tasks while it waits and would wait for itself.
    if (o.workers > 1 && std::string(o.machine) == "host")
      rt.submit(weft::write(slow), weft::pin(1), [&](int& x) {
        while (!go) std::this_thread::yield();
        x = 1;
      });
    for (int i = 0; i < 10; ++i) rt.submit(weft::write(quick), [i](int& x) { x = x * 3 + i; });
    int expected = 0;
    for (int i = 0; i < 10; ++i) expected = expected * 3 + i;
    CHECK(rt.get(quick) == expected);
    CHECK(quick.version() == 10);
    go = true;
    rt.wait();
  });
}

// The wait covers what was submitted before it, and not what comes after.
TEST_CASE("waits: waiting for a handle in a task does not wait for later accesses") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> h{0};
    int seen = -1, after = -1;
    rt.submit([&] {
      for (int i = 0; i < 5; ++i) rt.submit(weft::add(h), [](int& x) { ++x; });
      seen = rt.get(h);
      rt.submit(weft::write(h), [](int& x) { x += 100; });
      rt.wait();
      after = h.unguarded();
    });
    rt.wait();
    CHECK(seen == 5);
    CHECK(after == 105);
  });
}

TEST_CASE("waits: waiting for what is done, never used, or already waited for returns at once") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> unused{7}, used{1};
    rt.wait();
    rt.wait(unused);
    CHECK(rt.get(unused) == 7);
    rt.submit(weft::write(used), [](int& x) { ++x; });
    rt.wait(used);
    rt.wait(used);
    rt.wait();
    rt.wait();
    rt.submit([&] { rt.wait(), rt.wait(used); });
    rt.wait();
    CHECK(used.unguarded() == 2);
  });
}

TEST_CASE("waits: a task that waits for a handle it uses itself is told so") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> h;
    h.name("own foot");
    std::string said;
    rt.submit(weft::write(h), [&](int&) {
      try {
        rt.wait(h);
      } catch (const weft::error& e) {
        said = e.what();
      }
    });
    rt.wait();
    CHECK(contains(said, "own foot"));
  });
}

// The classical self-deadlock of nested waits: the child needs what the waiting parent holds. Must be found, named, and
// leave a runtime that can be destroyed. (Its destructor returning is the rest of the test.)
TEST_CASE("waits: a wait that can never end is reported by names") {
  on_both_machines([](const weft::options& o) {
    weft::handle<int> h;
    h.name("account");
    std::string said;
    static_cast<void>(stderr_of([&] {  // what the end may say once more
      weft::runtime rt(o);
      rt.submit(weft::write(h), weft::named("teller"), [&](int&) {
        rt.submit(weft::write(h), weft::named("auditor"), [](int&) {});
        rt.wait();
      });
      try {
        rt.wait();
      } catch (const weft::error& e) {
        said = e.what();
      }
    }));
    CHECK(contains(said, "auditor"));
    CHECK(contains(said, "account"));
    CHECK(contains(said, "teller"));
    // The handle outlives the broken runtime and is usable in another.
    weft::runtime again(o);
    again.submit(weft::write(h), [](int& x) { x = 3; });
    CHECK(again.get(h) == 3);
  });
}

TEST_CASE("waits: waiting for a handle that can never be ready is reported too") {
  on_both_machines([](const weft::options& o) {
    std::string said;
    static_cast<void>(stderr_of([&] {  // what the end may say once more
      weft::runtime rt(o);
      weft::handle<int> h, other;  // these end before the runtime: the tasks that need them must forget them
      h.name("ring");
      rt.submit(weft::write(h), [&](int&) {
        rt.submit(weft::write(other), weft::read(h), [](int&, const int&) {});
        rt.wait(other);
      });
      for (int i = 0; i < 2 && said.empty(); ++i) {
        try {
          // Which wait main is in when all is stuck depends on the schedule: the first may come before the child.
          i == 0 ? rt.wait(other) : rt.wait();
        } catch (const weft::error& e) {
          said = e.what();
        }
      }
    }));
    CHECK(contains(said, "ring"));
  });
}

TEST_CASE("waits: threads outside the runtime submit, wait for handles and for all") {
  for (unsigned workers : {2u, 4u}) {
    const deadline limit("waits: threads outside*, workers " + std::to_string(workers));
    weft::runtime rt({.workers = workers, .machine = "host"});
    std::vector<weft::handle<std::uint64_t>> sums(4);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        if (weft::worker_id() != -1) ++wrong;
        for (std::uint64_t round = 1; round <= 50; ++round) {
          for (int i = 0; i < 10; ++i) rt.submit(weft::write(sums[t]), [](std::uint64_t& s) { ++s; });
          if (round % 2 == 0 && rt.get(sums[t]) != round * 10) ++wrong;
          if (round % 7 == 0) rt.wait();
        }
        rt.wait();
        if (sums[t].unguarded() != 500) ++wrong;
      });
    for (auto& t : threads) t.join();
    CHECK(wrong == 0);
    rt.wait();
  }
}

// Two threads that name the same handles in opposite orders: if registration locked one handle after the other as
// named, or gave versions one by one, each could wait for the other for ever.
TEST_CASE("waits: opposite orders from several threads do not deadlock by registration") {
  const deadline limit("waits: opposite orders*");
  weft::runtime rt({.workers = 3, .machine = "host"});
  std::vector<weft::handle<std::uint64_t>> h(3);
  constexpr unsigned rounds = sanitized ? 300 : 3000;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      auto& a = h[t];
      auto& b = h[(t + 1) % 3];
      auto& c = h[(t + 2) % 3];
      for (unsigned i = 0; i < rounds; ++i) {
        if (i % 3 == 0) rt.submit(weft::write(a), weft::write(b), [](auto& x, auto& y) { ++x, ++y; });
        if (i % 3 == 1)
          rt.submit(weft::write(b), weft::add(a), weft::write(c), [](auto& x, auto& y, auto& z) { ++x, ++y, ++z; });
        if (i % 3 == 2) rt.submit(weft::add(c), weft::add(b), [](auto& x, auto& y) { ++x, ++y; });
      }
    });
  for (auto& t : threads) t.join();
  rt.wait();
  CHECK(h[0].unguarded() + h[1].unguarded() + h[2].unguarded() == 3 * (rounds / 3) * 7);
}

// Handles of a task's own, destroyed while its children use them; and in the opposite order of creation in main.
TEST_CASE("waits: destroying a handle waits for the tasks that use it") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::atomic<int> done{0};
    for (int round = 0; round < 30; ++round) {
      {
        auto h = std::make_unique<weft::handle<std::vector<int>>>(std::size_t{100}, 1);
        for (int i = 0; i < 8; ++i)
          rt.submit(weft::add(*h), [&](std::vector<int>& v) {
            weft::charge(500);
            v.push_back(1);
            ++done;
          });
      }
      CHECK(done == 8 * (round + 1));
    }
    rt.submit([&] {
      weft::handle<int> local;
      for (int i = 0; i < 8; ++i) rt.submit(weft::write(local), [&](int& x) { ++x, ++done; });
    });
    rt.wait();
    CHECK(done == 8 * 31);
  });
}

TEST_CASE("waits: several runtimes in one process, also one inside a task of another") {
  on_both_machines([](const weft::options& o) {
    weft::runtime outer(o);
    weft::runtime other({.workers = 2, .machine = "virtual"});
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) {
      outer.submit([&] { ++ran; });
      other.submit([&] { ++ran; });
    }
    outer.wait();
    other.wait();
    CHECK(ran == 20);
    // Its own runtime inside a task: made, used and ended there.
    for (int i = 0; i < 4; ++i)
      outer.submit([&, i] {
        weft::runtime inner({.workers = i % 2 == 0 ? 1u : 2u, .machine = i < 2 ? "virtual" : "host", .pin = false});
        weft::handle<int> h{0};
        for (int k = 0; k < 10; ++k) inner.submit(weft::write(h), [](int& x) { ++x; });
        ran += inner.get(h);
        inner.wait();
      });
    outer.wait();
    CHECK(ran == 60);
  });
}

// A task of one runtime uses another that lives outside: its worker is a stranger there.
TEST_CASE("waits: a task of one runtime submits to another and waits there") {
  for (unsigned workers : {1u, 2u, 4u}) {
    const deadline limit("waits: a task of one runtime*, workers " + std::to_string(workers));
    weft::runtime one({.workers = workers, .machine = "host"});
    weft::runtime two({.workers = 2, .machine = "host"});
    std::atomic<int> sum{0};
    for (int i = 0; i < 20; ++i)
      one.submit([&] {
        weft::handle<int> h{0};
        for (int k = 0; k < 5; ++k) two.submit(weft::write(h), [](int& x) { ++x; });
        sum += two.get(h);
      });
    one.wait();
    two.wait();
    CHECK(sum == 100);
  }
}
