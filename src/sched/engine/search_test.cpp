// What a worker does next: its newest task, then its sources, then sleep, with one more look in between; and when the
// runtime ends, nothing.
#include "sched/engine/search.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "running_engine.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

// The search of worker 1. Its sources in the engine's order, and `late`, which the tests fill in.
struct fixture {
  struct late_source final : source<notes> {
    late_source() : source("late", {}) {}
    [[nodiscard]] detail::record* take(worker<notes>&) override { return std::exchange(has, nullptr); }
    // The first look before sleep is where somebody makes a task visible.
    [[nodiscard]] bool visible(worker<notes>&) noexcept override {
      if (comes != nullptr) has = std::exchange(comes, nullptr);
      return has != nullptr;
    }
    detail::record* comes = nullptr;
    detail::record* has = nullptr;
  };
  notes machine;
  testing::running_engine s{machine, 5};
  urgent_source<notes> urgent{s.placement, s.attention};
  box_source<notes> box;
  central_source<notes> central{s.placement};
  late_source late;
  creation<notes> creates{nullptr, s, s.registrar, s.place.stealing, s.place.own};
  search<notes> looks{s, s.place.stealing, creates, s.admission, s.stall, base::search_ns};
  worker<notes>& w = s.crew[1];

  fixture() {
    for (const auto& x : s.crew) x->sources = {&urgent, &s.place.own, &box, &central, &late, &s.place.stealing};
    // Whoever parks here for good would hang the test.
    machine.at_park = [this](unsigned id) { end(id); };
  }
  void end(unsigned id) {
    looks.stop();
    s.sleep.notify(machine, id);
  }
  void keep(task& t) { deque<notes>::push(w, &t.r); }
};

}  // namespace

TEST_CASE("search: the newest own task first, and no source is asked") {
  fixture f;
  task a, b, c;
  f.keep(a);
  f.keep(b);
  f.s.placement.central().push(&c.r);
  CHECK(f.looks.next_or_sleep(f.w) == &b.r);
  CHECK(f.looks.next_or_sleep(f.w) == &a.r);
  CHECK(f.looks.next_or_sleep(f.w) == &c.r);
  CHECK(f.machine.parked == 0);
}

TEST_CASE("search: an urgent task comes before the own ones, which are not forgotten") {
  fixture f;
  task own, hurried(detail::record_state::filling);
  hurried.r.urgent = true;
  f.keep(own);
  f.s.placement.place(f.s.crew[0], &hurried.r);
  CHECK(f.looks.next_or_sleep(f.w) == &hurried.r);
  CHECK(f.looks.next_or_sleep(f.w) == &own.r);
}

TEST_CASE("search: a worker that never runs dry comes by where others wait for it") {
  fixture f;
  task own, pinned;
  f.keep(own);
  f.w.box.push(&pinned.r);
  f.w.tick = detail::peek(f.w.tick_limit) - 1;
  CHECK(f.looks.next_or_sleep(f.w) == &own.r);
  f.keep(own);
  f.w.tick = detail::peek(f.w.tick_limit);
  f.w.pace.timed = false;
  CHECK(f.looks.next_or_sleep(f.w) == &pinned.r);
  CHECK(f.w.tick == 0);
  CHECK(f.w.pace.timed);  // and times the next body, to know whether they are still as long
  CHECK(f.s.own(1).size() == 1);
}

TEST_CASE("search: while paused nothing is taken, and what there is stays in sight") {
  fixture f;
  task own, common;
  f.keep(own);
  f.s.placement.central().push(&common.r);
  f.s.attention.pause();
  CHECK(f.looks.next_or_sleep(f.w) == nullptr);
  CHECK(f.machine.parked == 1);
  CHECK(!deque<notes>::has_private(f.w));  // whoever looks for a stall must see it
  CHECK(f.s.own(1).size() == 1);
  CHECK(f.s.content(f.s.placement.central()).size() == 1);
}

TEST_CASE("search: it goes on for a bounded time, then the worker sleeps until it is woken with work") {
  fixture f;
  task t;
  f.machine.at_park = [&](unsigned id) {
    CHECK(id == 1);
    f.s.placement.central().push(&t.r);
    f.s.sleep.notify(f.machine);
  };
  CHECK(f.looks.next_or_sleep(f.w) == &t.r);
  CHECK(f.machine.parked == 1);
  CHECK(f.machine.clock_ps >= base::search_ns * 1000);
  CHECK(f.machine.clock_ps < 4 * base::search_ns * 1000);
  CHECK(detail::peek(f.w.counted.sleeps) == 1);
}

TEST_CASE("search: what becomes visible after sleep was announced is found, and nobody sleeps") {
  fixture f;
  task t;
  f.late.comes = &t.r;
  CHECK(f.looks.next_or_sleep(f.w) == &t.r);
  CHECK(f.machine.parked == 0);
  CHECK(!f.s.sleep.retract(1));  // the announcement is taken back
}

TEST_CASE("search: who is claimed while it takes its announcement back takes the wake, and then the work") {
  fixture f;
  task t;
  f.late.comes = &t.r;
  struct claiming final : source<notes> {
    fixture& f;
    explicit claiming(fixture& of) : source("claims", {}), f(of) {}
    [[nodiscard]] detail::record* take(worker<notes>&) override { return nullptr; }
    [[nodiscard]] bool visible(worker<notes>&) noexcept override {
      f.s.sleep.notify(f.machine, 1);
      return false;
    }
  } claims(f);
  f.w.sources.insert(f.w.sources.begin(), &claims);
  f.machine.at_park = [](unsigned) {};  // a wake came first: it returns at once
  CHECK(f.looks.next_or_sleep(f.w) == &t.r);
  CHECK(f.machine.parked == 1);
  CHECK(detail::peek(f.w.counted.sleeps) == 0);
}

TEST_CASE("search: what the main thread keeps private while it is away is pulled before anybody sleeps") {
  fixture f;
  task t(detail::record_state::ready);
  deque<notes>::push(f.s.crew.main(), &t.r);
  CHECK(f.looks.next_or_sleep(f.w) == &t.r);
  CHECK(f.machine.parked == 0);
}

TEST_CASE("search: while the main thread submits one searcher stays awake") {
  fixture f;
  struct submissions final : source<notes> {
    explicit submissions(worker<notes>& main) : source("submissions", {}), main_(main) {}
    [[nodiscard]] detail::record* take(worker<notes>&) override {
      detail::poke(main_.created, detail::peek(main_.created) + 1);
      return detail::peek(main_.created) == 400 ? &last.r : nullptr;
    }
    [[nodiscard]] bool visible(worker<notes>&) noexcept override { return false; }
    task last;

   private:
    worker<notes>& main_;
  } all(f.s.crew.main());
  detail::poke(f.s.crew.main().away, true);
  f.w.sources.push_back(&all);
  CHECK(f.looks.next_or_sleep(f.w) == &all.last.r);
  CHECK(f.machine.parked == 0);
  CHECK(f.machine.clock_ps > 10 * base::search_ns * 1000);
}

TEST_CASE("search: who was relied on and turns to something else leaves word, also of what is private") {
  fixture f;
  CHECK(!f.looks.anything_left(f.w));
  CHECK(f.s.sleep.search_alone());
  CHECK(!f.s.sleep.search_alone());
  detail::poke(f.s.crew.main().away, true);
  CHECK(f.looks.anything_left(f.w));
  detail::poke(f.s.crew.main().away, false);
  f.s.sleep.give_up();
}

TEST_CASE("search: the end of the runtime ends it, without sleep") {
  fixture f;
  f.looks.stop();
  CHECK(f.looks.stopping());
  CHECK(f.looks.next_or_sleep(f.w) == nullptr);
  CHECK(f.machine.parked == 0);
}

TEST_CASE("search: the creator is away while it runs what is pinned to it, and back when it looks again") {
  fixture f;
  REQUIRE(f.creates.open(2));
  worker<notes>& creator = f.s.crew[2];
  creator.sources = {&f.box, &f.creates.all_requests()};
  task pinned, request;
  creator.box.push(&pinned.r);
  CHECK(f.looks.next_or_sleep(creator) == &pinned.r);
  f.creates.request(f.s.crew[0], &request.r);
  CHECK(f.creates.visible(f.w));  // anybody may create now
  CHECK(f.looks.next_or_sleep(creator) == nullptr);
  CHECK(f.machine.parked == 1);
  CHECK(f.creates.created_so_far() == 1);
  CHECK(f.s.own(2).size() == 1);
}

}  // namespace weft::sched
