// The look from outside: what it reports and after how long, that it says so once, and that its thread rests while
// nobody waits. The thread is the test's own: between two looks `pause` decides what has happened.
#include "sched/join/watch.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "capture.hpp"
#include "running_engine.hpp"
#include "sched/place/queues.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

constexpr std::uint64_t stuck_ns = 3'000'000'000;

struct fixture {
  // The watch's thread is not made: the test calls what it would run.
  struct patient : notes {
    void start_helper(void (*entry_point)(void*), void* argument) {
      ++made;
      run = [entry_point, argument] { entry_point(argument); };
    }
    static bool block_for(detail::cell<std::uint32_t>&, std::uint64_t ns) { return pause(ns); }
    static void block(detail::cell<std::uint32_t>&) { ++rests, static_cast<void>(pause(0)); }
    static void signal(detail::cell<std::uint32_t>&) { ++signals; }
    [[nodiscard]] std::uint64_t now_ps() const noexcept { return clock_ps; }
    unsigned made = 0;
    std::function<void()> run;
    static inline std::function<bool(std::uint64_t ns)> pause;
    static inline unsigned rests = 0, signals = 0;
  };
  patient machine;
  testing::little_engine<patient> s{machine, 2};
  stacks<patient> fibers{std::size_t{64} << 10, nullptr, nullptr};
  suspension<patient> aside{machine, s.sleep, fibers, s.recording, s.readiness, s.quiescence};
  admission<patient> room{s, aside, s.place.stealing, 1024};
  event_board events;
  watch<patient> looks{s, aside, events, room};
  waiter outside;
  guests<patient>::wait listed{s.guests, outside, nullptr};  // a thread waits for everything
  central_source<patient> central{s.placement};

  fixture() {
    s.open();
    patient::rests = patient::signals = 0;
    for (const auto& w : s.crew) w->sources = {&central};
  }
  // Looks so many times, one period of the watch's own apart; before each, `happens` is called.
  std::string look(
      int times, const std::function<void()>& happens = [] {}) {
    return stderr_of([&] {
      patient::pause = [&, left = times](std::uint64_t ns) mutable {
        machine.clock_ps += ns * 1000;
        happens();
        if (--left < 0) looks.stop();
        return false;
      };
      looks.call();
      machine.run();
      patient::pause = nullptr;
    });
  }
  void all_in_bodies(const char* first, const char* second) {
    detail::poke(s.crew[0].body_name, first);
    detail::poke(s.crew[1].body_name, second);
  }
};

[[nodiscard]] bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("watch: every worker is in a body for too long and a task waits: said with their names") {
  fixture f;
  task waits;
  f.looks.open(stuck_ns);
  f.all_in_bodies("spins", nullptr);
  f.s.placement.central().push(&waits.r);
  const std::string text = f.look(20);
  CHECK(f.machine.made == 1);
  CHECK(has(text, "every worker is in a body"));
  CHECK(has(text, "worker 0: task 'spins'"));
  CHECK(has(text, "worker 1: an unnamed task"));
  CHECK(text.find("every worker") == text.rfind("every worker"));  // once
  CHECK(f.s.placement.central().pop() == &waits.r);
}

TEST_CASE("watch: nothing is said where a task begins now and then, none waits, one worker is idle, or it is off") {
  task waits;
  {
    fixture f;
    f.looks.open(stuck_ns);
    f.s.placement.central().push(&waits.r);
    CHECK(f.look(20, [&] { count_one(f.s.crew[1].tasks); }).empty());
    CHECK(f.s.placement.central().pop() == &waits.r);
  }
  {
    fixture f;
    f.looks.open(stuck_ns);
    CHECK(f.look(20).empty());
  }
  {
    fixture f;
    f.looks.open(stuck_ns);
    f.s.placement.central().push(&waits.r);
    static_cast<void>(f.s.sleep.announce(1));
    CHECK(f.look(20).empty());
    CHECK(f.s.placement.central().pop() == &waits.r);
  }
  {
    fixture f;
    f.looks.open(0);
    f.s.placement.central().push(&waits.r);
    CHECK(f.look(20).empty());
    CHECK(f.s.placement.central().pop() == &waits.r);
  }
}

TEST_CASE("watch: all sleep and an event is outstanding: said after two seconds, with what waits for it") {
  fixture f;
  event_state e;
  e.name = "reply";
  detail::event_wait x;
  x.event = &e;
  CHECK(f.events.list(x));
  for (unsigned id = 0; id < 2; ++id) static_cast<void>(f.s.sleep.announce(id));
  f.looks.open(stuck_ns);
  CHECK(f.looks.events_may_come());
  const std::string text = f.look(20);
  CHECK(has(text, "waits for event 'reply'"));
  CHECK(text.find("no task has run") == text.rfind("no task has run"));  // once
  CHECK(f.events.delist(x));
}

TEST_CASE(
    "watch: a thread outside waits, all sleep and the main thread does not wait: said once, with what is awaited") {
  fixture f;
  detail::handle_state h;
  detail::set_name(h, "total");
  f.outside.awaited = &h;
  task never;
  f.s.quiescence.created(f.s.crew[0], never.r);
  for (unsigned id = 0; id < 2; ++id) static_cast<void>(f.s.sleep.announce(id));
  f.looks.open(stuck_ns);
  int looks = 0;
  const std::string text = f.look(30, [&] {
    if (++looks < 15) return;  // about to be listed on the handle, and not there yet
    f.outside.a = {reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_read), 1};
  });
  CHECK(has(text, "a thread waits for"));
  CHECK(has(text, "'total'"));
  CHECK(has(text, "for 7 s no task has run"));  // fifteen half seconds, and not when it would have been due else
  CHECK(has(text, "1 tasks are not done"));
  CHECK(text.find("no task has run") == text.rfind("no task has run"));  // once
  f.s.quiescence.finished(f.s.crew[0]);
}

TEST_CASE("watch: a thread outside that waits is no standstill while a call of one is under way, or all is done") {
  for (const bool is_done : {true, false}) {
    fixture f;
    task never;
    if (!is_done) f.s.quiescence.created(f.s.crew[0], never.r);
    for (unsigned id = 0; id < 2; ++id) static_cast<void>(f.s.sleep.announce(id));
    f.looks.open(stuck_ns);
    if (!is_done) f.s.guests.begin_call();
    CHECK(f.look(20).empty());
    if (!is_done) f.s.guests.end_call();
    if (!is_done) f.s.quiescence.finished(f.s.crew[0]);
  }
}

TEST_CASE("watch: its thread is made once, is not called while it is awake, and rests while nobody waits") {
  fixture f;
  f.looks.open(stuck_ns);
  f.looks.call();
  f.looks.call();
  CHECK(f.machine.made == 1);
  CHECK(fixture::patient::signals == 0);
  {
    const base::locked<fixture::patient> hold(f.s.guests.waits_lock());
    CHECK(const_cast<guests<fixture::patient>::list&>(f.s.guests.waits()).pop() == &f.outside);
  }
  CHECK(f.look(6).empty());
  CHECK(fixture::patient::rests > 0);
  {
    const base::locked<fixture::patient> hold(f.s.guests.waits_lock());
    const_cast<guests<fixture::patient>::list&>(f.s.guests.waits()).push(f.outside);
  }
}

}  // namespace weft::sched
