// A creator that leaves, and comes back, and who submits meanwhile; and what is awaited that nobody has submitted.
#include "sched/admit/creation.hpp"

#include <doctest/doctest.h>

#include "little_engine.hpp"
#include "sched/admit/window.hpp"
#include "sched/idle/events.hpp"

#include "weak/sides/sides.hpp"
#include "weft/event.hpp"

namespace weft::weak {
namespace {

using M = bells;

// Worker 0 submits, 2 creates, 1 sleeps, or falls asleep.
struct decoupled {
  explicit decoupled(M& m) : machine(m), s(m, 3) {
    s.open();
    static_cast<void>(creates.open(0));
  }
  void request() {
    s.quiescence.created(s.crew[0], t.r);
    creates.request(s.crew[0], &t.r);
  }
  M& machine;
  testing::little_engine<M> s;
  sched::creation<M> creates{nullptr, s, s.registrar, s.place.stealing, s.place.own};
  testing::task t;
};

// Either who submits sees that the creator is away, or that sees the request: somebody is woken.
struct a_creator_leaves : decoupled {
  explicit a_creator_leaves(M& m) : decoupled(m) { static_cast<void>(s.sleep.announce(1)); }
  void side(unsigned core) { core == 1 ? request() : creates.leaves(); }
  const char* wrong() { return machine.rung(1) ? nullptr : "a request is left, and its creator is away"; }
};
// Who falls asleep sees that it is away, or is woken.
struct one_falls_asleep : decoupled {
  using decoupled::decoupled;
  void side(unsigned core) {
    if (core == 1) {
      request();
      return creates.leaves();
    }
    static_cast<void>(s.sleep.announce(1));
    sleeps = !creates.visible(s.crew[1]);
  }
  const char* wrong() { return sleeps && !machine.rung(1) ? "one sleeps beside a request" : nullptr; }
  bool sleeps = false;
};
// It is back before it looks: who still takes it for away has told others, in vain.
struct a_creator_is_back : decoupled {
  explicit a_creator_is_back(M& m) : decoupled(m) {
    creates.leaves();
    static_cast<void>(s.sleep.announce(1));
  }
  void side(unsigned core) {
    if (core == 1) return request();
    creates.is_back();
    static_cast<void>(s.sleep.announce(2));
    sees = creates.all_requests().visible(s.crew[2]);
  }
  const char* wrong() { return sees || machine.rung(2) ? nullptr : "a request is left, and its creator sleeps"; }
  bool sees = false;
};

// The last event is settled, or a wait for the end begins: one of the two sees the other.
struct an_event_is_settled {
  explicit an_event_is_settled(M& m) : outside(m, asleep, pool), end(all, outside) {
    all.open(2, false);
    x.handle = &h;
    static_cast<void>(board.list(x));
  }
  void side(unsigned core) {
    if (core == 1) {
      board.settled(1);
      if (end.is_over_for_some()) told = true;
    } else {
      end.await(self);
      if (board.outstanding() == 0) told = true;
    }
  }
  const char* wrong() { return told ? nullptr : "all is over, and who waits is not told"; }
  detail::handle_state h;
  detail::event_wait x;
  sched::event_board board;
  sched::sleep<M> asleep;
  task::pool<M> pool{2};
  sched::crew<M> all;
  sched::guests<M> outside;
  sched::quiescence<M> end;
  sched::waiter self;
  bool told = false;
};
// The call that ended an event is over, and the runtime may end.
struct a_call_of_events {
  explicit a_call_of_events(M&) { board.begin_call(); }
  void side(unsigned core) {
    if (core == 1) {
      did.write() = 1;
      board.end_call();
    } else if (!board.calls_under_way()) {
      static_cast<void>(did.read());
    }
  }
  const char* wrong() { return nullptr; }
  sched::event_board board;
  base::plain<unsigned> did;
};
struct an_event {
  explicit an_event(M&) {}
  void side(unsigned core) {
    if (core == 1) {
      did.write() = 1;
      e.fulfil();
    } else if (e.fulfilled()) {
      static_cast<void>(did.read());
    }
  }
  const char* wrong() { return nullptr; }
  event e;
  base::plain<unsigned> did;
};
// A waiter that is set aside for room says so before it looks, and who gives back asks after that.
struct room_for_a_submitter final : private sched::window_needs {
  explicit room_for_a_submitter(M&) {}
  void side(unsigned core) {
    if (core == 1) {
      w.comes();
      if (M::load(room, base::seq_cst) != 0) told = true;
    } else {
      M::store(room, 1u, base::seq_cst);
      if (w.anyone()) told = true;
    }
  }
  const char* wrong() { return told ? nullptr : "there is room, and who waits for it is not told"; }
  void wake(sched::submitter&) noexcept override {}
  std::uint64_t tasks_begun() noexcept override { return 0; }
  bool has_room(std::uint8_t, std::size_t) noexcept override { return false; }
  sched::window<M> w{*this, 64};
  detail::cell<std::uint32_t> room;
  bool told = false;
};
// A call from outside is over, or all fall asleep.
struct a_call_from_outside {
  explicit a_call_from_outside(M& m) : machine(m), outside(m, asleep, pool) {
    asleep.open(1);
    outside.begin_call();
  }
  void side(unsigned core) {
    if (core == 1)
      outside.end_call();
    else if (asleep.announce(0) && !outside.calls_under_way())
      looked = true;
  }
  const char* wrong() { return looked || machine.rung(0) ? nullptr : "all sleep, and nobody looks for a stall"; }
  M& machine;
  sched::sleep<M> asleep;
  task::pool<M> pool{1};
  sched::guests<M> outside;
  bool looked = false;
};

}  // namespace

TEST_CASE("two sides: a creator") {
  of_sides<a_creator_leaves>(2);
  of_sides<one_falls_asleep>(2);
  of_sides<a_creator_is_back>(2);
}
TEST_CASE("two sides: events") {
  of_sides<an_event_is_settled>(2);
  of_sides<a_call_of_events>(2);
  of_sides<an_event>(2);
}
TEST_CASE("two sides: a full window") { of_sides<room_for_a_submitter>(2); }
TEST_CASE("two sides: a call from outside") { of_sides<a_call_from_outside>(2); }

}  // namespace weft::weak
