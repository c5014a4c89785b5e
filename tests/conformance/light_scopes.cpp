// Finishes whose asyncs are kept on the stack of the body (src/sched/join/branches.md, "Light scopes"): what a program
// sees is that of asyncs which are tasks, whoever runs them. On virtual machines they are tasks.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/weft.hpp"

namespace {

using weft::here;

constexpr unsigned worker_counts[] = {1, 2, 3, 4, 7, 16};

// body(rt), in a task: a finish on the main thread outside of tasks is never light.
template <class Body> void on_machines(Body body) {
  for (const char* machine : {"host", "virtual"})
    for (const unsigned workers : worker_counts) {
      weft::runtime rt({.workers = workers, .machine = machine});
      rt.submit([&] { body(rt); });
      rt.wait();
    }
}

template <class F> std::string thrown_by(F f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}

// So that a thief comes and takes what is kept: it pulls after some 20 us.
void be_long() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Counts how many there are, so that a body that is never destroyed, or twice, is found.
struct counted {
  explicit counted(std::atomic<int>& n) : alive(&n) { ++*alive; }
  counted(const counted& x) : alive(x.alive) { ++*alive; }
  ~counted() { --*alive; }
  counted& operator=(const counted&) = delete;
  std::atomic<int>* alive;
};

}  // namespace

TEST_CASE("light scopes: each async once, however many, and its body is destroyed once") {
  on_machines([](weft::runtime&) {
    std::atomic<int> alive = 0;
    for (const unsigned n : {0u, 1u, 4u, 5u, 7u, 8u, 63u, 64u, 65u, 100u})
      for (const bool is_long : {false, true}) {
        std::vector<std::atomic<int>> ran(n);
        weft::finish([&](here& at) {
          for (unsigned i = 0; i < n; ++i) weft::async(at, [c = counted(alive), &ran, i] { ++ran[i]; });
          if (is_long) be_long();
        });
        CHECK(std::all_of(ran.begin(), ran.end(), [](const auto& x) { return x == 1; }));
        CHECK(alive == 0);
      }
  });
}

TEST_CASE("light scopes: bodies of all sizes, with a place and without, and clauses between them") {
  on_machines([](weft::runtime&) {
    struct large {
      std::array<int, 40> values;
    };
    large x{};
    x.values.fill(1);
    weft::handle<int> h(0);
    std::atomic<int> sum = 0;
    weft::finish([&] {
      weft::async([&sum, x] { sum += x.values[39]; });
      weft::async([&](here& at) { weft::async(at, [&sum] { sum += 10; }); });
      weft::async(weft::write(h), [&](int& v) { v = 1, sum += 100; });
      weft::async([p = std::make_shared<int>(1000), &sum] { sum += *p; });
      weft::async(weft::read(h), [&](int v) { sum += 10'000 * v; });
    });
    CHECK(sum == 11'111);
  });
}

TEST_CASE("light scopes: what an async submits, and asyncs of functions it calls, are over with the finish") {
  on_machines([](weft::runtime& rt) {
    std::atomic<int> ran = 0;
    const std::function<void(int)> below = [&](int depth) {
      ++ran;
      if (depth > 0)
        for (int i = 0; i < 3; ++i) weft::async([&below, depth] { below(depth - 1); });
    };
    weft::finish([&] {
      weft::async([&] { below(4); });
      rt.submit([&] { ++ran; });
      weft::async([&] {
        rt.submit([&] { be_long(), ++ran; });
        rt.submit([&] { weft::async([&] { ++ran; }); });
      });
    });
    CHECK(ran == 121 + 3);
  });
}

TEST_CASE("light scopes: the first exception in program order, whoever ran what") {
  on_machines([](weft::runtime& rt) {
    const auto fails = [](const char* text) { return [text] { throw std::runtime_error(text); }; };
    for (const bool is_long : {false, true}) {
      const auto pause = [is_long] {
        if (is_long) be_long();
      };
      std::atomic<int> ran = 0, alive = 0;
      const auto counts = [&ran, c = counted(alive)] { ++ran; };
      CHECK(thrown_by([&] {
              weft::finish([&] {
                weft::async(counts);
                weft::async(fails("second"));
                weft::async(counts);
                weft::async(fails("fourth"));
                pause();
                throw std::runtime_error("the body");
              });
            }) == "second");
      CHECK(thrown_by([&] {
              weft::finish([&] {
                weft::async([&] { weft::async(fails("below the first")); });
                weft::async(fails("second"));
                pause();
              });
            }) == "below the first");
      CHECK(thrown_by([&] {
              weft::finish([&] {
                weft::async(counts);
                rt.submit(fails("submitted"));
                weft::async(fails("behind it"));
                pause();
                throw std::runtime_error("the body");
              });
            }) == "submitted");
      CHECK(thrown_by([&] {
              weft::finish([&] {
                for (int i = 0; i < 12; ++i) {
                  weft::async(counts);
                  if (i % 5 == 4) weft::async(fails(i == 4 ? "the sixth" : "a later one"));
                }
                pause();
              });
            }) == "the sixth");
      CHECK(thrown_by([&] {
              weft::finish([&] {
                weft::async(counts);
                throw std::runtime_error("the body");
              });
            }) == "the body");
      for (const char* other : {"", "later"})  // by the async called last, and by one before
        CHECK(thrown_by([&] {
                weft::finish([&] {
                  weft::async([&] {
                    rt.submit(fails("submitted in the async"));
                    throw std::runtime_error("the async");
                  });
                  if (*other != 0) weft::async(fails(other));
                  pause();
                });
              }) == "submitted in the async");
      CHECK(ran == 2 + 1 + 12 + 1);
      CHECK(alive == 1);
    }
  });
}

TEST_CASE("light scopes: asyncs that wait are set aside with what is below them, and go on elsewhere") {
  on_machines([](weft::runtime&) {
    for (const bool waits_first : {false, true}) {
      weft::event go;
      std::atomic<int> ran = 0;
      const auto waits = [&] {
        go.wait();
        weft::async([&] { ++ran; });
        ++ran;
      };
      const auto fulfils = [&] { go.fulfil(); };
      weft::finish([&] {
        waits_first ? weft::async(fulfils) : weft::async(waits);
        weft::async([&] { ++ran; });
        waits_first ? weft::async(waits) : weft::async(fulfils);
      });
      CHECK(ran == 3);
    }
    weft::event go;
    std::atomic<int> ran = 0;
    weft::finish([&] {
      weft::async([&] { ++ran; });
      weft::async([&] { go.fulfil(); });
      go.wait();
      weft::finish([&] {
        for (int i = 0; i < 9; ++i) weft::async([&] { ++ran; });
      });
      weft::async([&] { ++ran; });
      CHECK(ran >= 9);
    });
    CHECK(ran == 11);
  });
}

TEST_CASE("light scopes: a wait for all in one is for what was submitted in it so far") {
  on_machines([](weft::runtime& rt) {
    weft::event last;
    std::atomic<int> ran = 0;
    std::array<int, 3> at{};
    rt.submit([&] { last.wait(), ++ran; });  // of the body around; must not be waited for
    weft::finish([&] {
      weft::async([&] {
        rt.submit([&] { be_long(), ++ran; });
        ++ran;
      });
      weft::async([&] { ++ran; });
      rt.wait();
      at[0] = ran;
      weft::async([&] {
        rt.wait();
        rt.submit([&] { ++ran; });
        rt.wait();
        at[1] = ran;
      });
      rt.wait();
      weft::async([&] { ++ran; });
      rt.submit([&] { ++ran; });
      rt.wait();
      at[2] = ran;
    });
    CHECK((at[0] == 3 && at[1] == 4 && at[2] == 6));
    last.fulfil();
    rt.wait();
    CHECK(ran == 7);
  });
}

TEST_CASE("light scopes: what a wait for all throws is thrown once") {
  on_machines([](weft::runtime& rt) {
    std::string at_wait;
    std::atomic<int> ran = 0;
    weft::finish([&] {
      weft::async([&] { ++ran; });
      weft::async([] { throw std::runtime_error("first"); });
      weft::async([] { throw std::runtime_error("second"); });
      at_wait = thrown_by([&] { rt.wait(); });
      weft::async([&] { ++ran; });
    });
    CHECK((at_wait == "first" && ran == 2));
  });
}

TEST_CASE("light scopes: with forks around them and in them") {
  on_machines([](weft::runtime&) {
    std::atomic<int> ran = 0;
    const auto [a, b] = weft::fork_join(
        [&](here& at) {
          return weft::finish(at, [&](here& in) {
            weft::async(in, [&] { ++ran; });
            const auto [x, y] = weft::fork_join(
                in,
                [&](here& on) {
                  for (int i = 0; i < 6; ++i) weft::async(on, [&] { ++ran; });
                  return 1;
                },
                [&](here& on) {
                  for (int i = 0; i < 6; ++i) weft::async(on, [&] { ++ran; });
                  return 2;
                });
            weft::async(in, [&] { ++ran; });
            return x + y;
          });
        },
        [&](here& at) {
          weft::finish(at, [&](here& in) { weft::async(in, [&] { be_long(), ++ran; }); });
          return 4;
        });
    CHECK((a == 3 && b == 4 && ran == 15));
  });
}

TEST_CASE("light scopes: in one that is cancelled each async is begun or counted as skipped, and destroyed") {
  on_machines([](weft::runtime&) {
    std::atomic<int> alive = 0;
    for (int when = 0; when < 24; ++when) {
      weft::cancellation stop;
      std::atomic<int> begun = 0, offered = 0;
      weft::finish(stop, [&] {
        for (int part = 0; part < 3; ++part)
          weft::finish([&] {
            for (int i = 0; i < 8; ++i) {
              ++offered;
              weft::async([&, c = counted(alive)] {
                if (begun++ == when) stop.cancel();
              });
            }
            if (when % 2 == 0) be_long();
          });
      });
      CHECK(begun + static_cast<int>(stop.skipped()) == offered);
      CHECK((stop.cancelled() && alive == 0));
    }
  });
}

TEST_CASE("light scopes: what an async throws cancels the scope around at once") {
  on_machines([](weft::runtime& rt) {
    weft::cancellation stop;
    std::atomic<int> begun = 0;
    CHECK(thrown_by([&] {
            weft::finish(stop, [&] {
              weft::finish([&] {
                for (int i = 0; i < 3; ++i) weft::async([&] { ++begun; });
                weft::async([&] {
                  ++begun;
                  throw std::runtime_error("the fourth");
                });
              });
            });
          }) == "the fourth");
    CHECK(stop.cancelled());
    CHECK(begun + static_cast<int>(stop.skipped()) == 4);
    if (rt.workers() == 1 && std::string(rt.machine()) == "host") CHECK(begun == 1);  // the newest first, and no other
  });
}
