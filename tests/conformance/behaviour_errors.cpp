// What happens when a body throws: the same exception on every machine and schedule, dependents skipped, nothing left
// broken afterwards; and what misuse gives. Each case says which promise of the public headers it holds.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "capture.hpp"
#include "replay.hpp"
#include "thrown.hpp"
#include "weft/weft.hpp"

namespace {

[[noreturn]] void fail(const char* text) { throw std::runtime_error(text); }

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

// Catches: "first" taken by time instead of program order. The first to throw in time is the last submitted.
TEST_CASE("errors: the wait rethrows the exception that is first in submission order") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> gate, late;
    for (int round = 0; round < 20; ++round) {
      rt.submit(weft::write(gate), [](int& x) { weft::charge(50'000), ++x; });
      rt.submit(weft::read(gate), [](const int&) { fail("first"); });
      for (int i = 0; i < 5; ++i) rt.submit([] { fail("second"); });
      CHECK(thrown([&] { rt.wait(); }) == "first");
      CHECK(thrown([&] { rt.wait(); }) == "");  // told once
    }
  });
}

// Catches: a body that runs on data its producer never made.
TEST_CASE("errors: what depends on a failed task is skipped, what does not is not") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> a{1}, b{2}, c{3};
    std::atomic<int> skipped{0}, ran{0};
    rt.submit(weft::write(a), [](int& x) {
      x = 10;
      fail("a");
    });
    rt.submit(weft::read(a), weft::write(b), [&](const int&, int&) { ++skipped; });
    rt.submit(weft::read(b), [&](const int&) { ++skipped; });  // one step further
    rt.submit(weft::write(a), [&](int&) { ++skipped; });
    rt.submit(weft::write(c), [&](int& x) { ++ran, ++x; });
    CHECK(thrown([&] { rt.wait(); }) == "a");
    CHECK(skipped == 0);
    CHECK(ran == 1);
    CHECK(c.unguarded() == 4);
    // Healed: the same handles work again.
    rt.submit(weft::read(a), weft::write(b), [](const int& x, int& y) { y = x + 1; });
    rt.submit(weft::add(b), [](int& y) { ++y; });
    CHECK(rt.get(b) == 12);
    CHECK(thrown([&] { rt.wait(); }) == "");
  });
}

// A reader that fails makes nothing: its handle stays good. Catches poison spread by reading.
TEST_CASE("errors: a failed reader does not poison what it reads") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> a{1};
    int ran = 0;
    rt.submit(weft::read(a), [](const int&) { fail("reader"); });
    rt.submit(weft::write(a), [&](int&) { ++ran; });
    CHECK(thrown([&] { rt.wait(); }) == "reader");
    CHECK(ran == 1);
  });
}

TEST_CASE("errors: every kind that changes a handle poisons it") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> w, a, c;
    std::atomic<int> ran{0};
    rt.submit(weft::write(w), [](int&) { fail("w"); });
    rt.submit(weft::add(a), [](int&) { fail("a"); });
    rt.submit(weft::concurrent(c), [](int&) { fail("c"); });
    rt.submit(weft::read(w), [&](const int&) { ++ran; });
    rt.submit(weft::read(a), [&](const int&) { ++ran; });
    rt.submit(weft::read(c), [&](const int&) { ++ran; });
    CHECK(thrown([&] { rt.wait(); }) == "w");
    CHECK(ran == 0);
  });
}

TEST_CASE("errors: a wait for a poisoned handle rethrows, for another one it does not") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    weft::handle<int> bad, good;
    rt.submit(weft::write(bad), [](int&) { fail("bad"); });
    rt.submit(weft::write(good), [](int& x) { x = 1; });
    CHECK(thrown([&] { CHECK(rt.get(good) == 1); }) == "");
    CHECK(thrown([&] { rt.wait(bad); }) == "bad");
    CHECK(thrown([&] { rt.wait(); }) == "bad");
  });
}

// A wait inside a task is the end of its children's scope: the parent may catch and go on.
TEST_CASE("errors: a child's exception comes out of the wait inside its parent") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    std::string first, second;
    rt.submit([&] {
      for (const char* text : {"child 1", "child 2", "child 3"}) rt.submit([text] { fail(text); });
      first = thrown([&] { rt.wait(); });
      rt.submit([] { fail("child 4"); });
      second = thrown([&] { rt.wait(); });
    });
    CHECK(thrown([&] { rt.wait(); }) == "");
    CHECK(first == "child 1");
    CHECK(second == "child 4");
  });
}

TEST_CASE("errors: an exception that no parent waits for comes out above, in its parent's place") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    rt.submit([&] { rt.submit([&] { rt.submit([] { fail("grandchild of the first"); }); }); });
    rt.submit([] { fail("the second"); });
    CHECK(thrown([&] { rt.wait(); }) == "grandchild of the first");
    rt.submit([&] {
      rt.submit([] { fail("child"); });
      fail("the parent itself");
    });
    const std::string which = thrown([&] { rt.wait(); });
    CHECK((which == "child" || which == "the parent itself"));
  });
}

// What is handed up to one place must keep its order there: which one is first must not depend on the schedule.
TEST_CASE("errors: several exceptions below one task, the same one is reported on every schedule") {
  std::string parent_first;  // what the first run said: which of the two it is, is not promised
  on_both_machines([&](const weft::options& o) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      INFO("WEFT_SEED=" << seed);
      weft::options with_seed = o;
      with_seed.seed = seed;
      weft::runtime rt(with_seed);
      rt.submit([&] {
        rt.submit([] { weft::charge(3'000), fail("child 1"); });
        rt.submit([] { fail("child 2"); });
      });
      CHECK(thrown([&] { rt.wait(); }) == "child 1");
      rt.submit([&] {
        rt.submit([] { weft::charge(1'000), fail("child"); });
        weft::charge(1'000);
        fail("parent");
      });
      const std::string said = thrown([&] { rt.wait(); });
      if (parent_first.empty()) parent_first = said;
      CHECK(said == parent_first);
    }
  });
}

TEST_CASE("errors: exceptions of any type, and one inside a catch block that waits") {
  on_both_machines([](const weft::options& o) {
    weft::runtime rt(o);
    rt.submit([] { throw 42; });
    int caught = 0;
    try {
      rt.wait();
    } catch (int x) {
      caught = x;
    }
    CHECK(caught == 42);
    // The exception being handled stays with the stack that handles it, whoever else throws meanwhile.
    std::string inner, outer;
    rt.submit([&] {
      try {
        fail("mine");
      } catch (...) {
        for (int i = 0; i < 4; ++i) rt.submit([] { static_cast<void>(thrown([] { fail("another"); })); });
        rt.wait();
        inner = thrown([] { throw; });
      }
    });
    rt.wait();
    CHECK(inner == "mine");
  });
}

TEST_CASE("errors: an exception that nobody waits for is reported when the runtime ends") {
  on_both_machines([](const weft::options& o) {
    const std::string said = stderr_of([&] {
      weft::runtime rt(o);
      rt.submit([] { fail("lost socket"); });
    });
    CHECK(contains(said, "lost socket"));
    CHECK(contains(said, "weft:"));
    CHECK(stderr_of([&] {
            weft::runtime rt(o);
            rt.submit([] { fail("noticed"); });
            static_cast<void>(thrown([&] { rt.wait(); }));
          }) == "");
  });
}

TEST_CASE("errors: one handle with two kinds of access names the handle and changes nothing") {
  on_both_machines([](const weft::options& o) {
    if (o.creation[0] == 'd') return;  // the wait throws then: creation.cpp
    weft::runtime rt(o);
    weft::handle<int> h{1};
    h.name("the ledger");
    auto ran = std::make_shared<int>(0);
    const std::string said =
        thrown([&] { rt.submit(weft::read(h), weft::write(h), [ran](const int&, int&) { ++*ran; }); });
    CHECK(contains(said, "the ledger"));
    rt.submit(weft::write(h), [](int& x) { ++x; });  // the refused task holds no version
    CHECK(rt.get(h) == 2);
    rt.wait();
    CHECK(*ran == 0);
    CHECK(ran.use_count() == 1);  // its closure is gone
  });
}

TEST_CASE("errors: a handle in use by another runtime is refused by name, and free again after the wait") {
  on_both_machines([](const weft::options& o) {
    if (o.creation[0] == 'd') return;  // the wait throws then: creation.cpp
    weft::runtime one(o);
    weft::runtime two(o);
    weft::handle<int> h{0};
    h.name("shared");
    std::atomic<bool> go{std::string(o.machine) == "virtual"};
    one.submit(weft::write(h), [&](int& x) {
      while (!go) weft::charge(10);
      weft::charge(100'000);
      ++x;
    });
    const std::string said = thrown([&] { two.submit(weft::write(h), [](int& x) { ++x; }); });
    go = true;
    CHECK(contains(said, "shared"));
    one.wait();
    two.submit(weft::write(h), [](int& x) { x *= 10; });
    CHECK(two.get(h) == 10);
  });
}

TEST_CASE("errors: options that cannot be meant") {
  auto said = [](weft::options o) { return thrown([&] { weft::runtime rt(o); }); };
  CHECK(contains(said({.workers = 100'000}), "workers"));
  CHECK(contains(said({.machine = "abacus"}), "abacus"));
  CHECK(contains(said({.policy = "fifo?"}), "local"));  // names what there is
  CHECK(contains(said({.machine = "virtual", .model = {.schedule = "backwards"}}), "schedule"));
  CHECK(contains(said({.machine = "host", .model = {.schedule = "random"}}), "schedule"));
  CHECK(contains(said({.window = 1}), "window"));
  CHECK(contains(said({.stack_kib = 1}), "stack"));
}
