// The gates of a pipeline, step by step: who may take what, whose turn it is, who goes on with whom. Random schedules:
// pipelines_model_test.cpp.
#include "sched/join/pipelines.hpp"

#include <doctest/doctest.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace weft::sched {
namespace {

using kind = pipeline_work::kind;
using turn = pipeline_turn;

// A machine whose time the test says: it passes where somebody waits.
struct clockwork {
  template <class T> static T load(const detail::cell<T>& c, base::order) { return c.raw; }
  template <class T> static void store(detail::cell<T>& c, T v, base::order) { c.raw = v; }
  template <class T> static T exchange(detail::cell<T>& c, T v, base::order) { return std::exchange(c.raw, v); }
  static void relax(unsigned) { now += 1'000'000; }
  static void touch(const void*, std::size_t, bool) {}
  static void enter_runtime() {}
  static void leave_runtime() {}
  static std::uint64_t now_ps() { return now; }
  static inline std::uint64_t now = 1'000'000'000;
};
struct crew_of_two {
  [[nodiscard]] static unsigned workers() { return 2; }
  static void decides(by) {}
};

// Two serial stages, 1 and 2, behind the first; three items at a time.
struct three_slots {
  clockwork machine;
  crew_of_two crew;
  pipelines<clockwork, crew_of_two> gates{machine, crew};
  std::array<pipeline_slot, 3> slots;
  std::array<std::uint64_t, 3> turns{};
  pipeline_state p;

  three_slots() {
    p.slots = slots.data();
    p.slot_count = 3;
    p.turns = turns.data();
    p.stage_count = 3;
    gates.open(p, 10);
    gates.admit(p, 10, 4'000'000);
  }
  pipeline_work take() { return gates.take(p, 0, false); }
  std::uint64_t begin() {
    const pipeline_work w = take();
    CHECK(w.what == kind::begin);
    static_cast<void>(gates.produced(p, true));
    return w.item;
  }
};

}  // namespace

TEST_CASE("pipelines: one that is opened anew knows nothing of its last life") {
  three_slots x;
  x.p.closing = x.p.has_gained = true;
  x.p.asked = 3, x.p.came = 2, x.p.losses = 1;
  detail::poke(x.p.helped, 1u);
  x.gates.open(x.p, 10);
  CHECK((x.p.held && !x.p.closing && !x.p.has_gained && x.p.asked == 0 && x.p.came == 0 && x.p.losses == 0));
  CHECK(detail::peek(x.p.helped) == 0);
  x.gates.admit(x.p, 20, 4'000'000);
  CHECK(x.turns == std::array<std::uint64_t, 3>{20, 20, 20});
  CHECK(x.begin() == 20);
}

TEST_CASE("pipelines: one is in the first stage, and items are numbered on") {
  three_slots x;
  CHECK((x.take().what == kind::begin && x.take().what == kind::nothing));
  CHECK(x.gates.produced(x.p, true));
  CHECK((x.begin() == 11 && x.begin() == 12));
  CHECK(x.take().what == kind::nothing);  // three have begun
  x.gates.over(x.p, 10);
  CHECK(x.begin() == 13);
  x.gates.over(x.p, 11);
  CHECK(x.take().what == kind::begin);
  CHECK(!x.gates.produced(x.p, false));
  CHECK((x.p.ended && x.take().what == kind::nothing));
}

TEST_CASE("pipelines: who waits is told when the first stage is free, when an item is through, and when one fails") {
  three_slots x;
  CHECK(x.take().what == kind::begin);
  x.p.waiting = 1;
  std::uint64_t seen = peek(x.p.news);
  const auto told = [&] {
    const std::uint64_t before = std::exchange(seen, peek(x.p.news));
    return seen != before;
  };
  static_cast<void>(x.gates.produced(x.p, true));
  CHECK(told());
  x.gates.over(x.p, 10);
  CHECK(told());
  const std::uint64_t next = x.begin();
  static_cast<void>(told());
  x.gates.fail(x.p, next, std::make_exception_ptr(std::runtime_error("no")));
  CHECK(told());
}

TEST_CASE("pipelines: who comes too early waits, and who leaves before it lets it go on") {
  three_slots x;
  for (std::uint64_t n = 10; n < 13; ++n) CHECK(x.begin() == n);
  CHECK((x.gates.arrive(x.p, 11, 1) == turn::later && x.gates.park(x.p, 11, 1) == turn::later));
  CHECK(x.gates.arrive(x.p, 10, 1) == turn::mine);
  CHECK(x.take().what == kind::nothing);
  CHECK(!x.gates.leave(x.p, 10, 1, false));
  const pipeline_work w = x.take();
  CHECK((w.what == kind::resume && w.item == 11 && w.stage == 1));
  CHECK(!x.gates.leave(x.p, 11, 1, false));
  CHECK((x.gates.arrive(x.p, 11, 2) == turn::later && x.gates.park(x.p, 11, 2) == turn::later));
  CHECK(x.gates.arrive(x.p, 10, 2) == turn::mine);
  CHECK(x.gates.leave(x.p, 10, 2, true));  // 11 is the caller's
  CHECK(!x.gates.leave(x.p, 11, 2, true));
  CHECK((x.gates.arrive(x.p, 12, 1) == turn::mine && !x.gates.leave(x.p, 12, 1, false)));
  CHECK((x.gates.arrive(x.p, 12, 2) == turn::mine && !x.gates.leave(x.p, 12, 2, true)));
  for (const pipeline_slot& s : x.slots) CHECK((s.item == detail::no_item && s.stage == 0));
}

TEST_CASE("pipelines: a turn that comes while a value is put down is not missed") {
  three_slots x;
  CHECK((x.begin() == 10 && x.begin() == 11));
  CHECK(x.gates.arrive(x.p, 11, 1) == turn::later);
  CHECK(!x.gates.leave(x.p, 10, 1, false));
  CHECK(x.gates.park(x.p, 11, 1) == turn::mine);
  CHECK(x.slots[11 % 3].stage == 0);
}

TEST_CASE("pipelines: behind an item that has failed none goes on, and the first of them is told") {
  three_slots x;
  for (std::uint64_t n = 10; n < 13; ++n) CHECK(x.begin() == n);
  CHECK((x.gates.arrive(x.p, 12, 1) == turn::later && x.gates.park(x.p, 12, 1) == turn::later));
  x.gates.fail(x.p, 11, std::make_exception_ptr(std::runtime_error("eleven")));
  CHECK(x.take().what == kind::nothing);
  CHECK(x.gates.arrive(x.p, 10, 1) == turn::mine);  // before it all goes on
  x.gates.fail(x.p, 10, std::make_exception_ptr(std::runtime_error("ten")));
  x.gates.fail(x.p, 11, std::make_exception_ptr(std::runtime_error("again")));
  CHECK(x.p.failed == 10);
  CHECK_THROWS_WITH(std::rethrow_exception(x.p.why), "ten");
  CHECK(x.slots[12 % 3].stage == 1);  // lies there
}

TEST_CASE("pipelines: where several gain nothing no more items begin") {
  three_slots x;
  bool closed = false;
  for (int look = 0; look < 3 && !closed; ++look)
    for (std::uint64_t i = 0; i < base::pipeline_look_items && !closed; ++i) {
      const pipeline_work w = x.gates.take(x.p, clockwork::now - 2'000'000, false);  // it was in a stage all the time
      closed = w.what == kind::nothing;
      if (closed) break;
      clockwork::now += 2'000'000;
      static_cast<void>(x.gates.produced(x.p, true));
      x.gates.over(x.p, w.item);
    }
  CHECK((closed && x.p.closing && !x.p.ended && !x.p.has_gained));
}

TEST_CASE("pipelines: where several gain they go on") {
  three_slots x;
  for (std::uint64_t i = 0; i < 10 * base::pipeline_look_items; ++i) {
    const pipeline_work w = x.gates.take(x.p, clockwork::now - 4'000'000, false);  // two at a time
    REQUIRE(w.what == kind::begin);
    clockwork::now += 2'000'000;
    static_cast<void>(x.gates.produced(x.p, true));
    x.gates.over(x.p, w.item);
  }
  CHECK((!x.p.closing && x.p.has_gained));
}

TEST_CASE("pipelines: stages that are slower than they were alone are no gain") {
  three_slots x;  // alone 4 us
  bool closed = false;
  for (std::uint64_t i = 0; i < 3 * base::pipeline_look_items && !closed; ++i) {
    const pipeline_work w = x.gates.take(x.p, clockwork::now - 10'000'000, false);  // two at a time, of 10 us each
    closed = w.what == kind::nothing;
    if (closed) break;
    clockwork::now += 5'000'000;
    static_cast<void>(x.gates.produced(x.p, true));
    x.gates.over(x.p, w.item);
  }
  CHECK((closed && x.p.closing && !x.p.has_gained));
}

TEST_CASE("pipelines: another worker is asked once at a time") {
  three_slots x;
  CHECK(x.take().what == kind::begin);
  CHECK(x.gates.produced(x.p, true));
  x.gates.ask(x.p);
  CHECK(x.take().what == kind::begin);
  CHECK(!x.gates.produced(x.p, true));
  CHECK(detail::peek(x.p.helped) == 0);
  const pipeline_work w = x.gates.take(x.p, 0, true);
  CHECK((w.what == kind::begin && detail::peek(x.p.helped) == 1));
  CHECK(x.gates.produced(x.p, true));
}

TEST_CASE("pipelines: items that are short are not worth another worker, nor one that was long by chance") {
  detail::pipeline_pace pace;
  const three_slots x;
  x.gates.set_pace(pace);
  CHECK(pace.share_min == rules::usual().ps(by::pipeline_share));
  std::uint64_t now = 0;
  for (int i = 0; i < 20; ++i) CHECK(!pace.is_worth_sharing(pace.items * 10'000, now += 1'000'000));
  CHECK(pace.items == detail::pipeline_pace::items_max);
  CHECK(!pace.is_worth_sharing(4'000'000'000 / 64 * pace.items / 1000, now));  // short still
  CHECK(!pace.is_worth_sharing(pace.items * 2'000'000, now));
  CHECK(pace.is_worth_sharing(pace.items * 2'000'000, now));
  pace.was_shared(false, now);
  CHECK(!pace.is_worth_sharing(1'000'000'000, now));
  CHECK(pace.is_worth_sharing(1'000'000'000, now + 2 * pace.again));
}

}  // namespace weft::sched
