// Cancellation, on real and modelled machines: what has not begun is skipped and counted, what has begun goes on,
// nobody who needs what is missing hangs or goes on as if it were there, and nothing is lost or done twice.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

constexpr unsigned crews[] = {1, 2, 3, 4, 7, 16};

struct counts {
  std::atomic<int> submitted = 0, ran = 0;
};
// A tree of asyncs, some in finishes of their own. The one whose turn it is cancels.
void grow(counts& c, weft::cancellation& stop, int depth, int at) {
  const auto below = [&c, &stop, depth, at] {
    for (int i = 0; i < 3; ++i) {
      ++c.submitted;
      weft::async([&c, &stop, depth, at] {
        if (++c.ran == at) stop.cancel();
        if (depth > 1) grow(c, stop, depth - 1, at);
      });
    }
  };
  depth % 2 == 0 ? below() : weft::finish(below);
}

[[nodiscard]] std::string thrown_by(const std::function<void()>& f) {
  try {
    f();
  } catch (const weft::cancelled_error&) {
    return "cancelled";
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// In a scope that is cancelled, which it is when f is called.
void in_cancelled(weft::cancellation& stop, const std::function<void()>& f) {
  weft::finish(stop, [&] {
    stop.cancel();
    f();
  });
}

}  // namespace

TEST_CASE("cancellation: what is skipped and what has run is all that was submitted, whenever it is cancelled") {
  for (const char* machine : both_machines)
    for (const unsigned workers : crews)
      for (const char* creation : {"inline", "decoupled"}) {
        if (creation[0] == 'd' && workers == 1) continue;
        INFO("WEFT_MACHINE=" << std::string(machine) << " WEFT_WORKERS=" << workers
                             << " WEFT_CREATION=" << std::string(creation));
        const deadline limit("cancellation: what is skipped");
        weft::runtime rt({.workers = workers, .machine = machine, .creation = creation});
        for (const int at : {1, 2, 10, 100, 300, 1'000'000}) {
          for (const bool of_task : {false, true}) {
            weft::cancellation stop;
            counts c;
            const auto all = [&] { weft::finish(stop, [&] { grow(c, stop, 5, at); }); };
            of_task ? rt.submit(all) : all();
            rt.wait();
            CHECK(c.ran + static_cast<int>(stop.skipped()) == c.submitted);
            CHECK(stop.cancelled() == (c.ran >= at));
            if (!stop.cancelled()) CHECK((stop.skipped() == 0 && c.ran == 3 + 9 + 27 + 81 + 243));
          }
        }
      }
}

TEST_CASE(
    "cancellation: in a cancelled scope nothing is begun; captures are destroyed, and the next scope is as ever") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const auto all = [&] {
      const auto kept = std::make_shared<int>(7);
      weft::cancellation stop;
      int ran = 0;
      in_cancelled(stop, [&] {
        CHECK((stop.cancelled() && weft::cancelled()));
        for (int i = 0; i < 100; ++i) weft::async([&ran, kept] { ++ran; });
        for (int i = 0; i < 100; ++i) rt.submit([&ran, kept] { ++ran; });
      });
      CHECK((ran == 0 && stop.skipped() == 200 && kept.use_count() == 1));
      CHECK((stop.cancelled() && !weft::cancelled()));
      weft::finish([&] { weft::async([&] { ++ran; }); });
      weft::cancellation another;
      CHECK(weft::finish(another, [&] {
              weft::async([&] { ++ran; });
              return weft::cancelled() ? 1 : 2;
            }) == 2);
      CHECK((ran == 2 && another.skipped() == 0 && !another.cancelled()));
      weft::finish(stop, [&] { weft::async([&] { ++ran; }); });  // it stays cancelled
      CHECK((ran == 2 && stop.skipped() == 201));
    };
    all();
    rt.submit(all);
    rt.wait();
  });
}

TEST_CASE("cancellation: what has begun goes on to its end, and may ask") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::cancellation stop;
    bool before = true, after = false, to_its_end = false;
    const int got = weft::finish(stop, [&](weft::here& at) {
      weft::async(at, [&] {
        before = weft::cancelled();
        stop.cancel();
        after = weft::cancelled();
        weft::yield();
        to_its_end = true;
      });
      return 5;
    });
    CHECK((got == 5 && !before && after && to_its_end));
  });
}

TEST_CASE("cancellation: what would have been written is poisoned: who needs it outside is told, and does not hang") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> written(1), derived(1), read(1), other(1);
    weft::cancellation stop;
    bool ran = false;
    in_cancelled(stop, [&] { rt.submit(weft::read(read), weft::write(written), [](int, int& x) { x = 2; }); });
    CHECK(stop.skipped() == 1);
    rt.submit(weft::read(written), weft::write(derived), [&](int, int&) { ran = true; });
    rt.submit(weft::read(read), weft::write(other), [&](int, int& x) { x = 3; });
    CHECK(thrown_by([&] { rt.wait(derived); }) == "cancelled");
    CHECK(thrown_by([&] { rt.wait(written); }) == "cancelled");
    CHECK(thrown_by([&] { rt.wait(other); }) == "");
    CHECK(thrown_by([&] { rt.wait(); }) == "cancelled");  // of the task outside, which failed
    CHECK((!ran && rt.get(other) == 3));
    // The program has been told: all is healed.
    rt.submit(weft::write(written), [](int& x) { x = 4; });
    CHECK(rt.get(written) == 4);
    rt.wait();
  });
}

TEST_CASE("cancellation: if nobody outside needs it, nobody is told") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> x(1);
    weft::cancellation stop;
    in_cancelled(stop, [&] {
      for (int i = 0; i < 50; ++i) rt.submit(weft::add(x), [](int& v) { ++v; });
      weft::async(weft::write(x), weft::subtasks(), [](int& v) { ++v; });
    });
    rt.wait();
    CHECK((stop.skipped() == 51 && rt.get(x) == 1));
  });
}

TEST_CASE("cancellation: a body that waits for what is skipped is told; giving up with that is no failure") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> x(1), y(1);
    weft::event never("never");
    weft::cancellation stop;
    std::string for_handle, for_event;
    bool went_on = false;
    weft::finish(stop, [&] {
      rt.submit(weft::write(y), [&](int&) {
        stop.cancel();
        rt.submit(weft::write(x), [](int& v) { ++v; });
        rt.submit(weft::completes(never), [] {});
        for_event = thrown_by([&] { never.wait(); });
        for_handle = thrown_by([&] { rt.wait(x); });
        rt.wait(x);  // gives up
        went_on = true;
      });
    });
    CHECK((for_handle == "cancelled" && for_event == "cancelled" && !went_on));
    CHECK(stop.skipped() == 2);
    CHECK(thrown_by([&] { rt.wait(y); }) == "cancelled");  // that body did not write what it was to
    rt.wait();
    // Of the finish itself: with a value there is none to return.
    weft::cancellation a, b;
    weft::finish(a, [&] {
      a.cancel();
      throw weft::cancelled_error();
    });
    CHECK(thrown_by([&] {
            static_cast<void>(weft::finish(b, [&]() -> int {
              b.cancel();
              throw weft::cancelled_error();
            }));
          }) == "cancelled");
    // Where nothing is cancelled it is an exception as others are.
    weft::cancellation c;
    CHECK(thrown_by([&] { weft::finish(c, [] { weft::async([] { throw weft::cancelled_error(); }); }); }) ==
          "cancelled");
    CHECK(c.cancelled());
  });
}

TEST_CASE("cancellation: the first exception cancels, and is rethrown") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    const auto all = [&] {
      weft::cancellation stop;
      std::atomic<int> ran = 0;
      weft::handle<int> x(0);
      CHECK(thrown_by([&] {
              weft::finish(stop, [&] {
                rt.submit(weft::write(x), [](int&) { throw std::runtime_error("task"); });
                rt.submit(weft::write(x), [&](int&) { ++ran; });
                CHECK(thrown_by([&] { rt.wait(x); }) == "task");
                CHECK((stop.cancelled() && weft::cancelled()));
                for (int i = 0; i < 20; ++i) weft::async([&] { ++ran; });
              });
            }) == "task");
      CHECK((ran == 0 && stop.skipped() == 21));
      weft::cancellation of_body;
      CHECK(thrown_by([&] {
              weft::finish(of_body, [&] {
                weft::async(weft::read(x), [&](int) { ++ran; });
                throw std::runtime_error("body");
              });
            }) != "");
      CHECK((of_body.cancelled() && ran == 0));
    };
    all();
    rt.wait();
    rt.submit(all);
    rt.wait();
  });
}

TEST_CASE("cancellation: a task whose data was poisoned before fails, and so cancels") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> x(0);
    rt.submit(weft::write(x), [](int&) { throw std::runtime_error("before"); });
    weft::cancellation stop;
    CHECK(thrown_by([&] { weft::finish(stop, [&] { weft::async(weft::read(x), [](int) {}); }); }) == "before");
    CHECK((stop.cancelled() && stop.skipped() == 1));
    CHECK(thrown_by([&] { rt.wait(); }) == "before");
  });
}

TEST_CASE("cancellation: an outer one cancels those inside, which tell that they miss something; not the other way") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::cancellation outer, inner, twice;
    int ran = 0;
    std::string plain, with_its_own;
    weft::finish(outer, [&] {
      weft::finish(inner, [&] {
        inner.cancel();
        weft::async([&] { ran += 100; });
      });
      CHECK((inner.skipped() == 1 && outer.skipped() == 1 && !weft::cancelled()));
      weft::finish([&] { weft::async([&] { ++ran; }); });
      CHECK(ran == 1);
      outer.cancel();
      plain = thrown_by([&] { weft::finish([&] { weft::async([&] { ran += 100; }); }); });
      with_its_own = thrown_by([&] {
        weft::finish(twice, [&] {
          CHECK((weft::cancelled() && !twice.cancelled()));
          weft::async([&] { ran += 100; });
          weft::async([&] { ran += 100; });
        });
      });
      weft::finish(outer, [&] { weft::async([&] { ran += 100; }); });  // quiet: it is its own
    });
    CHECK((plain == "cancelled" && with_its_own == "cancelled" && ran == 1));
    CHECK((outer.skipped() == 5 && inner.skipped() == 1 && twice.skipped() == 2 && !twice.cancelled()));
  });
}

TEST_CASE("cancellation: a body that loses tasks does not go on as if they were done") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::cancellation stop;
    weft::handle<int> x(0), y(0);
    bool went_on = false;
    weft::finish(stop, [&] {
      rt.submit(weft::write(x), [&](int&) {
        stop.cancel();
        weft::finish([] { weft::async([] {}); });
        went_on = true;
      });
      rt.wait(y);
    });
    CHECK((!went_on && stop.skipped() == 1));
    CHECK(thrown_by([&] { rt.wait(x); }) == "cancelled");
    rt.wait();
    weft::cancellation other;
    weft::finish(
        other, [&] { rt.submit(weft::write(x), weft::subtasks(), [&](int&) { other.cancel(), weft::async([] {}); }); });
    CHECK(other.skipped() == 1);
    CHECK(thrown_by([&] { rt.wait(x); }) == "cancelled");  // its children were to write it
    rt.wait();
  });
}

TEST_CASE("cancellation: reductions that lose terms are poisoned, those of others are applied") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::reduction<long> lost(0), kept(0);
    weft::cancellation stop;
    for (int i = 0; i < 10; ++i) rt.submit(weft::reduce(kept), [i](long& v) { v += i; });
    in_cancelled(stop, [&] {
      for (int i = 0; i < 10; ++i) rt.submit(weft::reduce(lost), [i](long& v) { v += i; });
      rt.submit(weft::read(kept), weft::read(lost), [](long, long) {});  // closes both groups
    });
    CHECK(stop.skipped() == 11);
    CHECK(rt.get(kept) == 45);
    CHECK(thrown_by([&] { static_cast<void>(rt.get(lost)); }) == "cancelled");
    rt.wait();
  });
}

TEST_CASE("cancellation: under policies that call tasks with hints, and with priorities and pins") {
  for (const char* policy : {"local", "random", "work_first", "central", "near", "pufferfish", "hpt"})
    for (const char* machine : both_machines)
      for (const unsigned workers : {1u, 2u, 4u}) {
        INFO("WEFT_POLICY=" << std::string(policy) << " WEFT_MACHINE=" << std::string(machine)
                            << " WEFT_WORKERS=" << workers);
        weft::runtime rt({.workers = workers, .machine = machine, .policy = policy});
        for (const int at : {1, 20, 1000}) {
          weft::cancellation stop;
          std::atomic<int> ran = 0;
          rt.submit([&] {
            weft::finish(stop, [&] {
              for (int i = 0; i < 100; ++i) {
                const auto body = [&] {
                  if (++ran == at) stop.cancel();
                };
                if (i % 10 == 0)
                  weft::async(weft::priority(1), body);
                else if (i % 10 == 1)
                  rt.submit(weft::pin(static_cast<unsigned>(i) % workers), body);
                else
                  weft::async(weft::near_node(0), body);
              }
            });
          });
          rt.wait();
          CHECK(ran + static_cast<int>(stop.skipped()) == 100);
        }
      }
}

TEST_CASE("cancellation: from another thread, while the tasks make tasks") {
  for (const unsigned workers : crews) {
    INFO("WEFT_WORKERS=" << workers);
    const deadline limit("cancellation: from another thread");
    weft::runtime rt({.workers = workers});
    for (int run = 0; run < (sanitized ? 2 : 5); ++run) {
      weft::cancellation stop;
      std::atomic<int> submitted = 0, ran = 0;
      struct spread {
        std::atomic<int>&submitted, &ran;
        void more() const {
          for (int i = 0; i < 2; ++i) {
            ++submitted;
            weft::async([this] {
              ++ran;
              if (!weft::cancelled()) more();
            });
          }
        }
      } const s{submitted, ran};
      std::thread other([&] {
        while (ran < 100) std::this_thread::yield();
        stop.cancel();
      });
      weft::finish(stop, [&] { s.more(); });
      other.join();
      CHECK(ran + static_cast<int>(stop.skipped()) == submitted);
    }
  }
}

TEST_CASE("cancellation: one for the scopes of two runtimes, and for many at a time") {
  weft::runtime first({.workers = 2}), second({.workers = 3});
  weft::cancellation stop;
  std::atomic<int> submitted = 0, ran = 0;
  const auto many = [&] {
    weft::finish(stop, [&] {
      for (int i = 0; i < 50; ++i) {
        ++submitted;
        weft::async([&] {
          if (++ran == 200) stop.cancel();
        });
      }
    });
  };
  for (int i = 0; i < 10; ++i) {
    first.submit(many);
    second.submit(many);
  }
  first.wait();
  second.wait();
  CHECK((submitted == 1000 && stop.cancelled()));
  CHECK(ran + static_cast<int>(stop.skipped()) == submitted);
}

TEST_CASE("cancellation: on a thread that no runtime knows asyncs are calls, and are skipped in the same way") {
  std::thread([] {
    weft::cancellation stop, inner, failing;
    int order = 0;
    const int got = weft::finish(stop, [&] {
      weft::async([&] { order = order * 10 + 1; });
      weft::finish(inner, [&] {
        inner.cancel();
        weft::async([&] { order = order * 10 + 2; });
        CHECK(weft::cancelled());
      });
      CHECK(!weft::cancelled());
      weft::async([&] {
        order = order * 10 + 3;
        stop.cancel();
      });
      weft::finish(stop, [&] { weft::async([&] { order = order * 10 + 4; }); });
      CHECK(weft::cancelled());
      return 5;
    });
    CHECK((got == 5 && order == 13 && stop.skipped() == 2 && inner.skipped() == 1));
    CHECK(thrown_by([&] { weft::finish(failing, [] { weft::async([] { throw std::runtime_error("x"); }); }); }) == "x");
    CHECK((failing.cancelled() && !weft::cancelled()));
    weft::finish(stop, [] { throw weft::cancelled_error(); });
  }).join();
}

TEST_CASE("cancellation: in virtual time the same tasks are skipped in every run") {
  for (const unsigned workers : {1u, 2u, 7u, 64u}) {
    std::pair<double, std::uint64_t> first;
    for (int run = 0; run < 3; ++run) {
      weft::runtime rt({.workers = workers, .machine = "virtual"});
      weft::cancellation stop;
      counts c;
      std::vector<std::unique_ptr<weft::handle<int>>> data;
      for (int i = 0; i < 20; ++i) data.push_back(std::make_unique<weft::handle<int>>(0));
      weft::finish(stop, [&] {
        for (int i = 0; i < 200; ++i)
          rt.submit(weft::write(*data[static_cast<std::size_t>(i % 20)]), weft::cost(1e3), [&](int&) {
            if (++c.ran == 50) stop.cancel();
          });
      });
      rt.wait();
      CHECK((c.ran + static_cast<int>(stop.skipped()) == 200 && stop.skipped() > 0));
      const std::pair<double, std::uint64_t> now(rt.now_ns(), stop.skipped());
      if (run == 0) first = now;
      CHECK(now == first);
    }
  }
}

TEST_CASE("cancellation: many tasks that write data of their own cost as much each as few") {
  weft::runtime rt({.workers = 2});
  weft::cancellation stop;
  std::vector<weft::handle<int>> data(sanitized ? 2'000 : 50'000);
  const deadline limit("cancellation: many tasks", sanitized ? 600 : 120);
  in_cancelled(stop, [&] {
    for (weft::handle<int>& x : data) rt.submit(weft::write(x), [](int& v) { ++v; });
  });
  CHECK(stop.skipped() == data.size());
}
