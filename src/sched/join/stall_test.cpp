// A program that cannot go on: it is found when everybody sleeps and the program waits, and in no other case; every
// wait outside of tasks is ended, and the report names who waits for what.
#include "sched/join/stall.hpp"

#include <doctest/doctest.h>

#include <string>

#include "running_engine.hpp"
#include "sched/place/queues.hpp"

namespace weft::sched {
namespace {

using detail::kind_write;
using testing::notes;
using testing::task;

// While the main thread waits, `then` is called with everybody asleep, and afterwards the wait is ended in any case.
template <class Then> void while_all_sleep(testing::running_engine& s, waiter& self, Then then) {
  s.suspension.suspend(s.w, self, {trace::why::all}, [&](worker<notes>& here) {
    s.quiescence.await(self);
    s.fall_asleep();
    then();
    s.wake_up();
    if (s.quiescence.delist(self)) s.placement.place(here, &self.r);
  });
}

struct fixture {
  notes machine;
  testing::running_engine s{machine, 2};
  task never;  // submitted, and nobody can run it
  fixture() {
    never.r.order = 1;
    s.quiescence.created(s.w, never.r);
  }
};

}  // namespace

TEST_CASE("stall: everybody sleeps, the program waits, and something is not done: the wait is ended") {
  fixture f;
  waiter self;
  while_all_sleep(f.s, self, [&] {
    const std::uint64_t before = f.s.sleep.announcements();
    f.s.stall.look(f.s.w);
    CHECK(f.s.sleep.announcements() != before);  // another that found the same, and waits to end them too, looks again
  });
  CHECK(self.stalled);
  CHECK(!f.s.stall.told());
  try {
    f.s.stall.raise(true);
  } catch (const error& e) {
    CHECK(std::string(e.what()).find("no task can run any more") != std::string::npos);
  }
  CHECK(f.s.stall.told());
}

TEST_CASE("stall: not while something is visible, somebody is awake, or everything is done") {
  fixture f;
  box_source<notes> box;
  f.s.crew[1].sources = {&box};
  task t(detail::record_state::ready);
  waiter a, b, c;
  while_all_sleep(f.s, a, [&] {
    f.s.crew[1].box.push(&t.r);
    f.s.stall.look(f.s.w);
    CHECK(f.s.crew[1].box.pop() == &t.r);
  });
  CHECK(!a.stalled);
  while_all_sleep(f.s, b, [&] {
    static_cast<void>(f.s.sleep.retract(1));
    f.s.stall.look(f.s.w);
  });
  CHECK(!b.stalled);
  f.s.quiescence.finished(f.s.w);
  while_all_sleep(f.s, c, [&] { f.s.stall.look(f.s.w); });
  CHECK(!c.stalled);
  f.s.crew[1].sources.clear();
}

// Catches: what lies where the worker that looks has no place to look, and whose finder has said that it sleeps, but
// not looked a last time. The creator is such a worker: it finds nothing in the queues of all.
TEST_CASE("stall: not while somebody else may still see something, in a queue of all or in one of its own") {
  struct queue final : source<notes> {
    explicit queue(bool shared) : source<notes>("a queue", {.shared = shared}) {}
    [[nodiscard]] detail::record* take(worker<notes>&) override { return nullptr; }
    [[nodiscard]] bool visible(worker<notes>& w) noexcept override { return w.id == 1 && has_some; }
    bool has_some = true;
  } of_all(true), its_own(false);
  fixture f;
  f.s.crew[1].sources = {&of_all, &its_own};
  f.s.stall.open();
  waiter a, b, c;
  its_own.has_some = false;
  while_all_sleep(f.s, a, [&] { f.s.stall.look(f.s.w); });
  CHECK(!a.stalled);
  std::swap(its_own.has_some, of_all.has_some);
  while_all_sleep(f.s, b, [&] { f.s.stall.look(f.s.w); });
  CHECK(!b.stalled);
  its_own.has_some = false;
  while_all_sleep(f.s, c, [&] { f.s.stall.look(f.s.w); });
  CHECK(c.stalled);
  f.s.crew[1].sources.clear();
}

TEST_CASE("stall: not while a thread's call is under way, the runtime is paused, or the program is in no wait") {
  fixture f;
  waiter a, b;
  while_all_sleep(f.s, a, [&] {
    f.s.guests.begin_call();
    f.s.stall.look(f.s.w);
    f.s.guests.end_call();
  });
  CHECK(!a.stalled);
  while_all_sleep(f.s, b, [&] {
    f.s.attention.pause();
    f.s.stall.look(f.s.w);
    f.s.attention.start();
  });
  CHECK(!b.stalled);
  f.s.fall_asleep();
  f.s.stall.look(f.s.w);
  f.s.wake_up();
  CHECK(f.s.machine.woken.size() == 1);  // by the end of the call above: somebody was to look again
}

TEST_CASE("stall: threads outside are let go too, with the same report, from whatever they wait in") {
  fixture f;
  detail::handle_state h;
  detail::set_name(h, "total");
  task holds;
  CHECK(f.s.submit(0, holds.uses(h, kind_write)));
  CHECK(f.s.own(0).size() == 1);
  waiter self, for_all, for_handle;
  {
    const guests<notes>::wait one(f.s.guests, for_all, nullptr);
    const guests<notes>::wait two(f.s.guests, for_handle, &h);
    f.s.quiescence.await(for_all);
    for_handle.r.access_count = 1;
    for_handle.a = {reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_read), h.registered};
    {
      const base::locked<notes> hold(h.lock);
      CHECK(access::wait_unless_available<notes>(h, &for_handle.r));
    }
    while_all_sleep(f.s, self, [&] { f.s.stall.look(f.s.w); });
    for (waiter* x : {&for_all, &for_handle}) {
      CHECK(x->stalled);
      CHECK_THROWS_AS(f.s.stall.raise(false), error);
    }
  }
  CHECK(h.waiters_head == nullptr);
  CHECK(!f.s.stall.told());  // the program itself has not heard of it
  access::woken list;
  access::settle<notes>(holds.r, list);
}

}  // namespace weft::sched
