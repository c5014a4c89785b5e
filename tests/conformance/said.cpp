// What a program is told that cannot go on, word by word: who waits, for what, where it is and what comes of it. One
// line of said.expect for each; a modelled machine finds the same each time.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "capture.hpp"
#include "expected.hpp"
#include "replay.hpp"
#include "sanitized.hpp"
#include "weft/guest.hpp"
#include "weft/weft.hpp"

namespace {

using weft::named;
using weft::read;
using weft::write;

struct data {
  weft::handle<int> a, b, c;
  weft::stream<int> s{"numbers"}, unnamed;
  weft::resource units{2};
  weft::event e{"signal"}, other;
  weft::reduction<long> sum{0L};
  data() {
    a.name("a");
    b.name("b");
    sum.name("sum");
    units.name("units");
  }
};

std::string told(const std::function<void()>& call) {
  try {
    call();
  } catch (const weft::error& e) {
    return e.what();
  }
  return "nothing";
}

// A task that holds h for writing and waits for what `inside` submits.
template <class Inside> void holds(weft::runtime& rt, weft::handle<int>& h, const char* name, Inside inside) {
  rt.submit(write(h), named(name), [&rt, inside](int&) {
    inside();
    rt.wait();
  });
}

struct {
  const char* name;
  void (*submit)(weft::runtime& rt, data& d);
} const stuck[] = {
    {"a child needs what its parent holds",
     [](weft::runtime& rt, data& d) {
       holds(rt, d.a, "parent", [&] { rt.submit(write(d.a), named("child"), [](int&) {}); });
     }},
    {"and others behind them",
     [](weft::runtime& rt, data& d) {
       holds(rt, d.a, "parent", [&] { rt.submit(read(d.a), write(d.b), [](int, int&) {}); });
       for (int i = 0; i < 12; ++i) rt.submit(read(d.a), write(d.c), named("behind"), [](int, int&) {});
     }},
    {"a wait for a handle that the task holds by a child's",
     [](weft::runtime& rt, data& d) {
       rt.submit(write(d.a), named("one"), [&](int&) { weft::charge(100), rt.wait(d.b); });
       rt.submit(write(d.b), named("two"), [&](int&) { weft::charge(100), rt.wait(d.a); });
     }},
    {"an add that is held",
     [](weft::runtime& rt, data& d) {
       rt.submit(weft::add(d.a), named("adds"), [&](int&) {
         rt.submit(weft::add(d.a), named("adds more"), [](int&) {});
         rt.wait();
       });
     }},
    {"units that are held",
     [](weft::runtime& rt, data& d) {
       rt.submit(weft::use(d.units, 2), named("uses"), [&] {
         rt.submit(weft::use(d.units), named("wants"), [] {});
         rt.wait();
       });
     }},
    {"elements that nobody pushes",
     [](weft::runtime& rt, data& d) {
       rt.submit(weft::push(d.s, 2), [](std::span<int>) {});
       rt.submit(weft::pop(d.s, 3), named("pops"), [](std::span<const int>) {});
       rt.submit(weft::pop(d.unnamed, 1, 4), [](std::span<const int>) {});
     }},
    {"elements whose push waits",
     [](weft::runtime& rt, data& d) {
       rt.submit(weft::pop(d.s, 3), named("pops"), [](std::span<const int>) {});
       holds(rt, d.a, "parent", [&] { rt.submit(write(d.a), named("child"), [](int&) {}); });
       rt.submit(weft::push(d.s, 2), [](std::span<int>) {});
       rt.submit(weft::push(d.s, 2), read(d.a), named("pushes"), [](std::span<int>, int) {});
     }},
    {"a wait for elements in a body",
     [](weft::runtime& rt, data& d) {
       rt.submit(named("producer"), [&] {
         rt.submit(weft::pop(d.s, 1), named("pops"), [](std::span<const int>) {});
         rt.wait();
         rt.submit(weft::push(d.s, 1), [](std::span<int>) {});
       });
     }},
    {"children that are not done",
     [](weft::runtime& rt, data& d) {
       rt.submit(weft::subtasks(), write(d.a), named("leaves"),
                 [&](int&) { rt.submit(read(d.a), named("left"), [](int) {}); });
     }},
    {"a scope in a body",
     [](weft::runtime& rt, data& d) {
       rt.submit(write(d.a), named("finishes"),
                 [&](int&) { weft::finish([&] { rt.submit(read(d.a), named("inner"), [](int) {}); }); });
     }},
    {"a member that waits for the others",
     [](weft::runtime& rt, data& d) {
       rt.submit(weft::team(2), write(d.a), named("team"), [&](weft::team_context& t, int&) {
         if (t.rank() == 0) {
           rt.submit(read(d.a), named("child"), [](int) {});
           rt.wait();
         }
         t.barrier();
       });
     }},
    {"a guest whose team cannot come",
     [](weft::runtime& rt, data& d) {
       rt.submit(weft::team(2), write(d.a), named("team"), [&](weft::team_context& t, int&) {
         if (t.rank() == 0) {
           rt.submit(read(d.a), named("child"), [](int) {});
           rt.wait();
         }
         weft::guest(t, [](weft::guest_context&) {});
       });
     }},
    {"a reduction that is read by its own task",
     [](weft::runtime& rt, data& d) {
       rt.submit(weft::reduce(d.sum), named("reduces"), [&](long&) {
         rt.submit(read(d.sum), named("reads"), [](long) {});
         rt.wait();
       });
     }},
    {"a graph behind a task",
     [](weft::runtime& rt, data& d) {
       holds(rt, d.a, "parent", [&] {
         weft::graph g(rt, [&](weft::recorder& r) { r.submit(write(d.a), named("node"), [](int&) {}); });
         g.run();
       });
     }},
    {"a body that forks and waits",
     [](weft::runtime& rt, data& d) {
       rt.submit(write(d.a), named("forks"), [&](int&) {
         weft::fork_join([&] { weft::charge(3e4); },
                         [&] {
                           rt.submit(read(d.a), named("child"), [](int) {});
                           rt.wait();
                         });
       });
     }},
    {"a cancelled scope",
     [](weft::runtime& rt, data& d) {
       rt.submit(write(d.a), named("cancels"), [&](int&) {
         weft::cancellation stop;
         weft::finish(stop, [&] {
           rt.submit(read(d.a), named("inner"), [](int) {});
           stop.cancel();
         });
       });
     }},
    {"tasks of many kinds",
     [](weft::runtime& rt, data& d) {
       holds(rt, d.a, "a\ttab and a line\n", [&] { rt.submit(weft::add(d.a), [](int&) {}); });
       rt.submit(read(d.a), weft::concurrent(d.b), weft::push(d.s, 2), [](int, int&, std::span<int>) {});
       rt.submit(weft::pop(d.s, 1), weft::use(d.units), [](std::span<const int>) {});
     }},
};

}  // namespace

TEST_CASE("said: to the main thread, which waits for all" * doctest::skip(real_threads_only)) {
  expected all("tests/conformance/said.expect", "all, ");
  for (const auto& s : stuck)
    for (const char* creation : {"inline", "decoupled"}) {
      const deadline limit(s.name);
      std::string text, later;
      const std::string printed = stderr_of([&] {
        data d;
        weft::runtime rt({.workers = 2, .machine = "virtual", .model = {.mode = "coarse"}, .creation = creation});
        text = told([&] { s.submit(rt, d), rt.wait(); });
        later = told([&] { rt.wait(); });
      });
      all.compare(std::string(s.name) + ", " + creation, text + "; again: " + later + "; printed: " + printed);
    }
}

TEST_CASE("said: to the main thread, which waits for a handle or an event" * doctest::skip(real_threads_only)) {
  expected all("tests/conformance/said.expect", "one, ");
  for (const auto& s : stuck)
    for (const bool handle : {false, true}) {
      const deadline limit(s.name);
      std::string text;
      const std::string printed = stderr_of([&] {
        data d;
        weft::runtime rt({.workers = 2, .machine = "virtual", .model = {.mode = "coarse"}});
        s.submit(rt, d);
        text = handle ? told([&] { rt.wait(d.a); }) : told([&] {
          rt.submit(weft::completes(d.other), [] {});
          d.e.wait();
        });
      });
      all.compare(std::string(s.name) + (handle ? ", handle" : ", event"), text + "; printed: " + printed);
    }
}
