// What a program is told that cannot go on for want of an event or a version, or whose bodies block their cores.
// Not in quick: it waits for reports that come after seconds.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "capture.hpp"
#include "replay.hpp"
#include "thrown.hpp"
#include "weft/weft.hpp"

namespace {

using std::chrono::milliseconds;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

unsigned occurrences(const std::string& text, const std::string& part) {
  unsigned n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

void modelled(const char* name, const std::function<void(weft::runtime&)>& check) {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u})
    for (const char* creation : {"inline", "decoupled"}) {
      if (workers == 1 && *creation == 'd') continue;
      if (sanitized && workers != 1 && workers != 3) continue;
      const deadline limit(std::string(name) + ", workers " + std::to_string(workers));
      INFO("virtual " << creation << " workers " << workers);
      weft::runtime rt({.workers = workers, .machine = "virtual", .model = {.schedule = "time"}, .creation = creation});
      check(rt);
    }
}

}  // namespace

TEST_CASE("event stalls: on a modelled machine the wait names event and task" * doctest::skip(real_threads_only)) {
  modelled("event stalls: on a modelled*", [](weft::runtime& rt) {
    std::string said, destroyed;
    destroyed = stderr_of([&] {
      weft::handle<int> page{0};
      weft::event e("arrival");
      rt.submit(weft::write(page), weft::completes(e), weft::named("read page"), [](int&) {});
      rt.submit(weft::read(page), weft::named("parse"), [](const int&) {});
      said = thrown([&] { rt.wait(); });
    });
    INFO(said);
    CHECK(contains(said, "task 'read page' waits for event 'arrival'"));
    CHECK(contains(said, "task 'parse' waits for version 1"));
    CHECK(contains(destroyed, "event 'arrival' is destroyed before it was fulfilled"));
    CHECK(contains(thrown([&] { rt.wait(); }), "event 'arrival' was destroyed"));  // its task has failed with that
  });
}

TEST_CASE("event stalls: bodies and the main thread that wait are named" * doctest::skip(real_threads_only)) {
  modelled("event stalls: bodies*", [](weft::runtime& rt) {
    weft::event e("signal");
    std::string said, main_said;
    rt.submit(weft::named("listener"), [&e] { e.wait(); });
    said = thrown([&] { rt.wait(); });
    main_said = thrown([&] { e.wait(); });
    INFO(said << "\n" << main_said);
    CHECK(contains(said, "task 'listener' waits inside its body for event 'signal'"));
    CHECK(contains(main_said, "the main thread waits for event 'signal'"));
    e.fulfil();
    rt.wait();
  });
}

TEST_CASE("event stalls: a wait for a version that nobody submits" * doctest::skip(real_threads_only)) {
  modelled("event stalls: a wait for a version*", [](weft::runtime& rt) {
    weft::handle<int> a{0};
    a.name("ledger");
    rt.submit(weft::write(a), [](int& x) { ++x; });
    std::string said = thrown([&] { rt.wait(a, 3); });
    INFO(said);
    CHECK(contains(said, "the main thread waits for version 3 of handle 'ledger', which is at 1"));
    rt.submit(weft::named("reader"), [&] { rt.wait(a, 2); });
    said = thrown([&] { rt.wait(); });
    INFO(said);
    CHECK(contains(said, "task 'reader' waits inside its body for version 2 of handle 'ledger', which is at 1"));
    rt.submit(weft::write(a), [](int& x) { ++x; });
    rt.wait();
    CHECK(a.version() == 2);
  });
}

TEST_CASE("event stalls: bodies that yield to one another for ever are an error in virtual time" *
          doctest::skip(real_threads_only)) {
  const deadline limit("event stalls: bodies that yield*", 300);
  weft::runtime rt({.workers = 2, .machine = "virtual", .model = {.schedule = "time"}});
  bool never = false;
  for (int i = 0; i < 3; ++i)
    rt.submit([&never] {
      while (!never) weft::yield();
    });
  CHECK(contains(thrown([&] { rt.wait(); }), "nothing else has happened"));
}

// Catches: a stall declared although a thread outside will fulfil, and silence.
TEST_CASE("event stalls: on real cores nothing is thrown, and after two seconds one report names tasks and events") {
  const deadline limit("event stalls: on real cores*", 100);
  for (const unsigned workers : {1u, 3u}) {
    const std::string said = stderr_of([workers] {
      weft::handle<int> a{0};
      weft::event e("door bell"), other("door");
      weft::runtime rt({.workers = workers, .machine = "host"});
      rt.submit(weft::write(a), weft::completes(e), weft::named("porter"), [](int&) {});
      rt.submit(weft::named("guest"), [&other] { other.wait(); });
      std::thread outside([&] {
        std::this_thread::sleep_for(milliseconds(4'000));
        e.fulfil();
        other.fulfil();
      });
      rt.wait();
      outside.join();
    });
    INFO(said);
    CHECK(occurrences(said, "no task has run") == 1);
    CHECK(contains(said, "task 'porter' completes with event 'door bell'"));
    CHECK(contains(said, "task 'guest' waits for event 'door'"));
  }
}

TEST_CASE("event stalls: bodies that block their cores are named, once") {
  const deadline limit("event stalls: bodies that block*", 100);
  for (const unsigned workers : {1u, 2u, 4u}) {
    const std::string said = stderr_of([workers] {
      weft::runtime rt({.workers = workers, .machine = "host", .stuck_ms = 300});
      std::atomic<unsigned> in{0};
      std::atomic<bool> over{false};
      std::thread outside([&] {
        std::this_thread::sleep_for(milliseconds(2'500));
        over = true;
      });
      for (unsigned i = 0; i <= workers; ++i)
        rt.submit(weft::named("spinner"), [&, workers] {
          ++in;
          while (in <= workers && !over) std::this_thread::sleep_for(milliseconds(1));
        });
      rt.wait();
      outside.join();
    });
    INFO(said);
    CHECK(occurrences(said, "every worker is in a body") == 1);
    CHECK(contains(said, "worker 0: task 'spinner'"));
  }
}

// A long body while nothing else waits, and bodies that end now and then, are no news.
TEST_CASE("event stalls: long bodies are not reported while no other task waits, nor with a limit of 0") {
  const deadline limit("event stalls: long bodies*", 100);
  CHECK(stderr_of([] {
          weft::runtime rt({.workers = 2, .machine = "host", .stuck_ms = 200});
          for (int i = 0; i < 2; ++i) rt.submit([] { std::this_thread::sleep_for(milliseconds(1'000)); });
          rt.wait();
          weft::runtime silent({.workers = 1, .machine = "host", .stuck_ms = 0});
          for (int i = 0; i < 2; ++i) silent.submit([] { std::this_thread::sleep_for(milliseconds(500)); });
          silent.wait();
          weft::event late("late");  // what comes from outside may take its time as well
          silent.submit(weft::completes(late), [] {});
          std::thread outside([&] {
            std::this_thread::sleep_for(milliseconds(3'000));
            late.fulfil();
          });
          silent.wait();
          outside.join();
        }) == "");
}
