// Events: on both machines, with 1 to 16 workers, from threads outside, with exceptions, with a creator. What a stalled
// program says of them is in behaviour_events.cpp.
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "everywhere.hpp"
#include "quick.hpp"
#include "replay.hpp"
#include "thrown.hpp"
#include "weft/weft.hpp"

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Both machines, in order of time, inline and with a creator.
void with_workers(const char* name, const std::function<void(weft::runtime&)>& check) {
  for (const char* machine : both_machines)
    for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u})
      for (const char* creation : {"inline", "decoupled"}) {
        if (workers == 1 && *creation == 'd') continue;
        const deadline limit(std::string(name) + " on " + machine + ", " + creation + ", workers " +
                             std::to_string(workers));
        INFO(machine << " " << creation << " workers " << workers);
        weft::runtime rt({.workers = workers, .machine = machine, .model = {.schedule = "time"}, .creation = creation});
        check(rt);
      }
}

// The same where threads are real.
void on_host(const char* name, const std::function<void(weft::runtime&)>& check) {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
    const deadline limit(std::string(name) + ", workers " + std::to_string(workers));
    INFO("host, workers " << workers);
    weft::runtime rt({.workers = workers, .machine = "host"});
    check(rt);
  }
}

}  // namespace

// Catches: accesses that finish when the body returns, as without the clause.
TEST_CASE("events: what follows a task waits for its event, which another task fulfils") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0}, log{0};
    weft::event e("arrived");
    bool fulfilled = false;
    rt.submit(weft::write(a), weft::completes(e), [](int& x) { x = 1; });
    rt.submit(weft::read(a), weft::write(log), [&fulfilled](const int& x, int& l) { l = fulfilled ? x : -1; });
    rt.submit([&e, &fulfilled] {
      fulfilled = true;
      e.fulfil();
    });
    rt.wait();
    CHECK(log.unguarded() == 1);
    CHECK(e.fulfilled());
  });
}

TEST_CASE("events: fulfilled before the body has run, and before its task was submitted") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0};
    weft::event early, earlier;
    earlier.fulfil();
    rt.pause();
    rt.submit(weft::write(a), weft::completes(early), [](int& x) { ++x; });
    rt.submit(weft::write(a), weft::completes(earlier), [](int& x) { x *= 10; });
    early.fulfil();
    rt.start();
    CHECK(rt.get(a) == 10);
    rt.wait();
  });
}

// Catches: the body's wait for its children that waits for the event, too, and an event that ends a task whose body
// waits.
TEST_CASE("events: the body waits for its children while its event is outstanding or comes meanwhile") {
  everywhere([](weft::runtime& rt) {
    weft::event e;
    weft::handle<int> sum{0};
    int seen = -1, after = 0;
    rt.submit(weft::completes(e), weft::write(sum), [&](int& s) {
      weft::handle<int> part{0};
      for (int i = 0; i < 3; ++i) rt.submit(weft::add(part), [](int& x) { ++x; });
      rt.wait();
      rt.submit(weft::add(part), [&e](int& x) {
        ++x;
        e.fulfil();
      });
      rt.submit(weft::add(part), [](int& x) { ++x; });
      rt.wait();
      s = seen = part.unguarded();
    });
    rt.submit(weft::read(sum), [&after](const int& s) { after = s; });
    rt.wait();
    CHECK(seen == 5);
    CHECK(after == 5);
  });
}

TEST_CASE("events: a task inside another completes with one, and the parent waits for it") {
  everywhere([](weft::runtime& rt) {
    weft::event e;
    std::atomic<int> order{0};
    int child = 0, parent = 0;
    rt.submit([&] {
      rt.submit(weft::completes(e), [&] { child = ++order; });
      rt.submit([&] { e.fulfil(); });
      rt.wait();
      parent = e.fulfilled() ? ++order : -1;
    });
    rt.wait();
    CHECK(child == 1);
    CHECK(parent == 2);
  });
}

TEST_CASE("events: waits in bodies and of the main thread") {
  everywhere([](weft::runtime& rt) {
    weft::event first("first"), second("second");
    std::atomic<int> woken{0};
    for (int i = 0; i < 5; ++i)
      rt.submit([&] {
        first.wait();
        ++woken;
      });
    rt.submit(weft::completes(second), [&] { first.fulfil(); });
    rt.submit([&] { second.fulfil(); });
    second.wait();
    first.wait();
    rt.wait();
    CHECK(woken == 5);
    first.wait();  // at once
  });
}

TEST_CASE("events: a promise of a later task, many at once, in any order") {
  everywhere([](weft::runtime& rt) {
    constexpr std::size_t n = 40;
    std::vector<std::unique_ptr<weft::event>> events;
    std::vector<weft::handle<int>> data(n);
    int sum = 0;
    weft::handle<int&> total(sum);
    for (std::size_t i = 0; i < n; ++i) events.push_back(std::make_unique<weft::event>());
    for (std::size_t i = 0; i < n; ++i)
      rt.submit(weft::write(data[i]), weft::completes(*events[i]), [i](int& x) { x = static_cast<int>(i); });
    for (std::size_t i = 0; i < n; ++i)
      rt.submit(weft::read(data[i]), weft::add(total), [](const int& x, int& s) { s += x; });
    for (std::size_t i = n; i-- > 0;) rt.submit([&e = *events[i]] { e.fulfil(); });
    CHECK(rt.get(total) == static_cast<int>(n * (n - 1) / 2));
    rt.wait();
  });
}

TEST_CASE("events: a failure is the task's, after the body has returned") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0}, b{0};
    weft::event e("reply");
    bool body_ran = false, skipped = true;
    rt.submit(weft::write(a), weft::completes(e), [&](int&) { body_ran = true; });
    rt.submit(weft::read(a), weft::write(b), [&](const int&, int&) { skipped = false; });
    e.fail(std::make_exception_ptr(std::runtime_error("no reply")));
    CHECK(thrown([&] { static_cast<void>(rt.get(b)); }) == "no reply");
    CHECK(thrown([&] { rt.wait(); }) == "no reply");
    CHECK(body_ran);
    CHECK(skipped);
    CHECK(thrown([&] { e.wait(); }) == "no reply");
    CHECK(thrown([&] { rt.wait(); }) == "");  // told once
  });
}

// Catches: a hang for want of an event that nobody will fulfil.
TEST_CASE("events: a body that throws, or is skipped, is not waited for, and a late fulfil does nothing") {
  everywhere([](weft::runtime& rt) {
    weft::handle<int> a{0}, b{0};
    weft::event thrower, skips;
    rt.submit(weft::write(a), weft::completes(thrower), [](int&) { throw std::runtime_error("broken"); });
    rt.submit(weft::read(a), weft::write(b), weft::completes(skips), [](const int&, int&) {});
    std::string waited;
    rt.submit([&] { waited = thrown([&] { thrower.wait(); }); });
    CHECK(thrown([&] { rt.wait(); }) == "broken");
    CHECK(waited == "broken");
    CHECK(thrower.fulfilled());
    CHECK(skips.fulfilled());
    CHECK(contains(thrown([&] { skips.wait(); }), "skipped"));
    thrower.fulfil();
    skips.fail(std::make_exception_ptr(std::runtime_error("late")));
    rt.wait();
  });
}

// Catches: two that both find the event unused. One of them must be refused, and the other's task must end.
TEST_CASE("events: of two threads that complete with one event one is refused, whenever they come") {
  weft::runtime rt({.workers = 2, .machine = "host"});
  const int rounds = hurried ? 2'000 : 20'000;
  std::vector<std::unique_ptr<weft::event>> all(static_cast<std::size_t>(rounds));
  for (auto& e : all) e = std::make_unique<weft::event>("one");
  std::atomic<int> at[2] = {};
  std::atomic<int> refused{0};
  const auto submit_all = [&](int me) {
    for (int i = 0; i < rounds; ++i) {
      at[me] = i + 1;
      for (int spins = 0; at[1 - me] <= i;)
        if (++spins > 2'000) std::this_thread::yield();
      if (!thrown([&] { rt.submit(weft::completes(*all[static_cast<std::size_t>(i)]), [] {}); }).empty()) ++refused;
    }
  };
  std::thread first(submit_all, 0), second(submit_all, 1);
  first.join();
  second.join();
  CHECK(refused == rounds);
  for (auto& e : all) e->fulfil();
  rt.wait();
}

TEST_CASE("events: misuse is told") {
  with_workers("events: misuse is told", [](weft::runtime& rt) {
    weft::event e("once");
    e.fulfil();
    CHECK(contains(thrown([&] { e.fulfil(); }), "event 'once' is fulfilled a second time"));
    CHECK(contains(thrown([&] { e.fail(nullptr); }), "empty"));
    weft::event one("one");
    weft::handle<int> a{0};
    rt.submit(weft::write(a), weft::completes(one), [](int& x) { x = 3; });
    CHECK(contains(thrown([&] { rt.submit(weft::completes(one), [] {}); }),
                   "two tasks are to complete with event 'one'"));
    one.fulfil();
    CHECK(rt.get(a) == 3);
    CHECK(contains(thrown([&] { rt.submit(weft::completes(one), [] {}); }), "two tasks"));
    rt.wait();
    // Refused for another reason: the event is as it was.
    weft::event again("again");
    CHECK(contains(thrown([&] { rt.submit(weft::completes(again), weft::pin(999), [] {}); }), "pinned"));
    rt.submit(weft::completes(again), [] {});
    again.fulfil();
    rt.wait();
  });
}

TEST_CASE("events: of one runtime they are not another's") {
  weft::runtime first({.workers = 2, .machine = "virtual"}), second({.workers = 2, .machine = "virtual"});
  weft::event e("mine");
  first.submit(weft::completes(e), [] {});
  std::string said;
  second.submit([&] { said = thrown([&] { e.wait(); }); });
  second.wait();
  CHECK(contains(said, "event 'mine' is in use by another runtime"));
  e.fulfil();
  first.wait();
}

// Catches: a fulfil from outside that wakes nobody, and an event touched after its owner learned that it is over.
TEST_CASE("events: threads outside fulfil, fail and wait") {
  on_host("events: threads outside*", [](weft::runtime& rt) {
    for (int round = 0; round < 20; ++round) {
      auto e = std::make_unique<weft::event>();
      weft::handle<int> a{0};
      std::thread device;
      rt.submit(weft::write(a), weft::completes(*e), [&](int& x) {
        device = std::thread([&x, gone = e.get(), round] {
          if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
          x = 7;
          gone->fulfil();
        });
      });
      std::thread other([&] { e->wait(); });
      other.join();
      CHECK(rt.get(a) == 7);
      e.reset();
      rt.wait();
      device.join();
    }
  });
}

TEST_CASE("events: the last task ends on a thread outside while all workers sleep and others wait") {
  on_host("events: the last task*", [](weft::runtime& rt) {
    for (int round = 0; round < 5; ++round) {
      weft::event e;
      rt.submit(weft::completes(e), [] {});
      std::thread waits([&rt] { rt.wait(); });
      std::thread device([&e] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        e.fulfil();
      });
      waits.join();
      device.join();
      rt.wait();
    }
  });
}

// Catches: a runtime that ends while a thread that fulfilled is still on its way out of it.
TEST_CASE("events: a runtime may end as soon as its last event was fulfilled") {
  const deadline limit("events: a runtime may end*");
  for (int round = 0; round < 100; ++round) {
    weft::event e;
    std::thread device;
    {
      weft::runtime rt({.workers = 2, .machine = "host", .pin = false});
      rt.submit(weft::completes(e), [] {});
      device = std::thread([&e] { e.fulfil(); });
    }
    device.join();
  }
}

TEST_CASE("events: a thread outside waits before any runtime has the event") {
  const deadline limit("events: a thread outside waits before*");
  weft::event e("later"), alone("alone");
  std::atomic<int> over{0};
  std::thread first([&] { e.wait(), ++over; }), second([&] { alone.wait(), ++over; });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(over == 0);
  alone.fulfil();
  second.join();
  weft::runtime rt({.workers = 1, .machine = "host"});
  rt.submit(weft::completes(e), [&] { e.fulfil(); });
  first.join();  // with one worker, whose thread is here: the reserve runs the task
  CHECK(over == 2);
  rt.wait();
}

TEST_CASE("events: the destructor waits for an event that a task completes with") {
  on_host("events: the destructor waits*", [](weft::runtime& rt) {
    weft::handle<int> a{0};
    std::atomic<weft::event*> started{nullptr};
    std::thread device([&] {
      while (started == nullptr) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      started.load()->fulfil();
    });
    {
      weft::event e;
      rt.submit(weft::write(a), weft::completes(e), [&](int& x) {
        x = 5;
        started = &e;
      });
    }
    CHECK(started != nullptr);
    device.join();
    rt.wait();
    CHECK(a.unguarded() == 5);
  });
}

// ---- modelled time

TEST_CASE("events: a modelled machine fulfils at a time, and nobody waits for that") {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u})
    for (const char* creation : {"inline", "decoupled"}) {
      if (workers == 1 && *creation == 'd') continue;
      const deadline limit("events: a modelled machine*");
      INFO("workers " << workers << " " << creation);
      weft::runtime rt({.workers = workers, .machine = "virtual", .model = {.schedule = "time"}, .creation = creation});
      weft::handle<int> a{0};
      weft::event later("later"), sooner("sooner");
      double began = 0, ended = 0, sooner_at = 0;
      rt.submit(weft::write(a), weft::completes(later), weft::cost(1000), [&](int& x) {
        x = 1;
        began = rt.now_ns();
        later.fulfil_after(1e6);
        sooner.fulfil_after(2e5);
      });
      rt.submit(weft::read(a), [&](const int&) { ended = rt.now_ns(); });
      rt.submit([&] {
        sooner.wait();
        sooner_at = rt.now_ns();
      });
      rt.wait();
      CHECK(ended >= began + 1e6);
      CHECK(ended < began + 1e6 + 2e5);
      CHECK(sooner_at >= began + 2e5);
      CHECK(sooner_at < began + 4e5);
    }
}

TEST_CASE("events: of those at a time the earliest comes first, in every order of events") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    INFO("WEFT_SEED=" << seed);
    weft::runtime rt({.workers = 3, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}});
    weft::event e[3];
    std::vector<int> order;
    rt.submit([&] {
      e[2].fulfil_after(3e5);
      e[0].fulfil_after(1e5);
      e[1].fulfil_after(2e5);
    });
    weft::handle<void> log;
    for (int i = 0; i < 3; ++i) rt.submit(weft::completes(e[i]), [] {});
    for (int i = 0; i < 3; ++i) {
      e[i].wait();
      order.push_back(i);
    }
    rt.wait();
    CHECK(order == std::vector<int>{0, 1, 2});
  }
}

TEST_CASE("events: a time is for modelled machines, a number, and forgotten when the event comes first") {
  {
    weft::runtime host({.workers = 2, .machine = "host"});
    weft::event here;
    host.submit(weft::completes(here), [&] { CHECK(contains(thrown([&] { here.fulfil_after(1); }), "modelled")); });
    host.submit([&] { here.fulfil(); });
    host.wait();
  }
  weft::runtime rt({.workers = 2, .machine = "virtual"});
  weft::event e;
  CHECK(contains(thrown([&] { e.fulfil_after(-1); }), "must be 0 to 10^15"));
  {
    weft::event gone;
    rt.submit(weft::completes(gone), [&] {
      gone.fulfil_after(1e9);
      gone.fulfil();
    });
    rt.wait();
    weft::event never;
    never.fulfil_after(1e9);
  }
  rt.submit([] {});
  rt.wait();
  CHECK(rt.now_ns() < 1e9);
  std::string second;
  rt.submit([&] {
    weft::event over;
    over.fulfil();
    second = thrown([&] { over.fulfil_after(1); });
  });
  rt.wait();
  CHECK(contains(second, "second time"));
}
