// Who makes something visible and then looks for sleepers, and who says that it sleeps and then looks for what is
// visible: never both in vain (sleep.md). Of every noun that makes something visible, and of each way to rely on
// somebody else.
#include <doctest/doctest.h>

#include "sched/idle/attention.hpp"
#include "sched/idle/overflow.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/queues/deque.hpp"
#include "sched/queues/inbox.hpp"
#include "sched/queues/pile.hpp"
#include "weak/sides/sides.hpp"

namespace weft::weak {
namespace {

using M = bells;
using detail::record;

// --- what becomes visible

struct in_an_inbox {
  explicit in_an_inbox(sched::sleep<M>&, M&) {}
  void says() { box.push(&r); }
  bool sees() { return !box.empty(); }
  record r;
  sched::inbox<M> box;
};
struct several_in_an_inbox : in_an_inbox {
  using in_an_inbox::in_an_inbox;
  void says() { box.push_all(&r, &r, 1); }
};
struct on_a_pile {
  explicit on_a_pile(sched::sleep<M>&, M&) {}
  void says() { pile.push(&r); }
  bool sees() { return !pile.empty(); }
  record r;
  sched::pile<M> pile;
};
struct a_pause_that_ends {
  explicit a_pause_that_ends(sched::sleep<M>&, M&) { word.pause(); }
  void says() { word.start(); }
  bool sees() { return !word.paused(); }
  sched::attention<M> word;
};
struct an_urgent_task {
  explicit an_urgent_task(sched::sleep<M>&, M&) {}
  void says() { word.add_urgent(); }
  bool sees() { return word.called_now(); }
  sched::attention<M> word;
};
struct in_a_deque {
  explicit in_a_deque(sched::sleep<M>&, M&) { sched::deque<M>::open(w, true, {.first = 4, .most = 4}, nullptr); }
  ~in_a_deque() { sched::deque<M>::close(w); }
  void says() {
    sched::deque<M>::push_in_loop(w, &r);
    sched::deque<M>::expose(w);
  }
  bool sees() { return sched::deque<M>::stealable(w); }
  record r;
  detail::worker w;
};

struct in_an_overflow {
  explicit in_an_overflow(sched::sleep<M>& asleep, M& machine) : over(machine, asleep) {}
  void says() { over.take_over(&r, &r, 1); }
  bool sees() { return !over.empty(); }
  record r;
  sched::overflow<M> over;
};

// --- who is told, and how

// Worker `Id` falls asleep; there are `Id` + 1.
template <class What, unsigned Id, bool ByName = false> struct told {
  explicit told(M& m) : machine(m), what(asleep, m) { asleep.open(Id + 1); }
  void side(unsigned core) {
    if (core == 1) {
      what.says();
      ByName ? asleep.notify(machine, Id) : asleep.notify(machine);
    } else {
      static_cast<void>(asleep.announce(Id));
      sleeps = !what.sees();
    }
  }
  const char* wrong() { return sleeps && !machine.rung(Id) ? "one sleeps beside what it has not seen" : nullptr; }
  M& machine;
  sched::sleep<M> asleep;
  What what;
  bool sleeps = false;
};

// The same of who relies on worker 1, which searches, gives up and falls asleep; worker 2 sleeps all the time.
template <class What> struct relied_on {
  explicit relied_on(M& m) : machine(m), what(asleep, m) {
    asleep.open(3);
    static_cast<void>(asleep.announce(2));
    static_cast<void>(asleep.begin_search());
  }
  void side(unsigned core) {
    if (core == 1) {
      what.says();
      asleep.notify(machine);
    } else {
      asleep.give_up();
      static_cast<void>(asleep.announce(1));
      sleeps = !what.sees();
    }
  }
  const char* wrong() {
    return sleeps && !machine.rung(1) && !machine.rung(2) ? "who was relied on sleeps, and nobody is woken" : nullptr;
  }
  M& machine;
  sched::sleep<M> asleep;
  What what;
  bool sleeps = false;
};

// A searcher that comes and goes beside it: who loses the exchange to it, or sees it, relies on it.
template <class What> struct comes_and_goes : relied_on<What> {
  explicit comes_and_goes(M& m) : relied_on<What>(m) { this->asleep.give_up(); }
  void side(unsigned core) {
    if (core == 1) return relied_on<What>::side(1);
    if (this->asleep.begin_search()) return relied_on<What>::side(2);
    static_cast<void>(this->asleep.announce(1));
    this->sleeps = !this->what.sees();
  }
};

// Worker 1 has searched and found something else, or was called for something of its own and looks; worker 2 falls
// asleep meanwhile, or slept before.
template <class What> struct finds_something_else : relied_on<What> {
  explicit finds_something_else(M& m) : relied_on<What>(m) { static_cast<void>(this->asleep.retract(2)); }
  void side(unsigned core) {
    if (core == 1) {
      relied_on<What>::side(1);
    } else if (core == 2) {
      this->asleep.found(this->machine);
    } else {
      static_cast<void>(this->asleep.announce(2));
      this->sleeps = !this->what.sees();
    }
  }
};
template <class What> struct called_for_its_own : relied_on<What> {
  using relied_on<What>::relied_on;
  void side(unsigned core) {
    if (core == 1) return relied_on<What>::side(1);
    this->sleeps = true;
    this->asleep.found_own(this->machine, [this] { return this->what.sees(); });
  }
};

// Who finds no sleeper after all has counted as a searcher meanwhile.
template <class What> struct finds_no_sleeper : relied_on<What> {
  explicit finds_no_sleeper(M& m) : relied_on<What>(m) {
    this->asleep.give_up();
    static_cast<void>(this->asleep.retract(2));
    static_cast<void>(this->asleep.announce(1));
  }
  void side(unsigned core) {
    if (core == 1) return relied_on<What>::side(1);
    if (core == 2) return this->asleep.notify(this->machine);
    if (!this->asleep.retract(1)) return;
    static_cast<void>(this->asleep.announce(1));
    this->sleeps = !this->what.sees();
  }
};

// The main thread keeps what it has to itself because somebody searches, and says that it relies on that; the searcher
// asks, when it has found something else, whether anyone did.
struct keeps_for_a_searcher {
  explicit keeps_for_a_searcher(M& m) : machine(m) {
    asleep.open(3);
    static_cast<void>(asleep.announce(2));
    static_cast<void>(asleep.begin_search());
  }
  void side(unsigned core) {
    if (core == 1)
      keeps = asleep.somebody_comes_by();
    else
      asleep.found_own(machine, [this] { return asleep.is_relied_on(); });
  }
  const char* wrong() { return keeps && !machine.rung(2) ? "what is kept nobody comes for" : nullptr; }
  M& machine;
  sched::sleep<M> asleep;
  bool keeps = false;
};
// Or it keeps it because nobody sleeps, or somebody searches; who falls asleep comes by when it has said so, unless it
// sees another one that searches.
struct keeps_while_none_sleeps {
  explicit keeps_while_none_sleeps(M& m) : machine(m) {
    asleep.open(3);
    static_cast<void>(asleep.begin_search());
  }
  void side(unsigned core) {
    if (core == 1) {
      M::store(kept, std::uint8_t{1}, base::relaxed);
      keeps = asleep.somebody_comes_by();
    } else {
      if (core == 2) asleep.give_up();
      static_cast<void>(asleep.announce(core - 1));
      if (asleep.somebody_searches()) return;
      static_cast<void>(M::barrier_everywhere());
      if (M::load(kept, base::relaxed) != 0) comes = true;
    }
  }
  const char* wrong() { return keeps && !comes ? "what is kept nobody comes for" : nullptr; }
  M& machine;
  sched::sleep<M> asleep;
  detail::cell<std::uint8_t> kept;
  bool keeps = false, comes = false;
};

// Something for one worker alone, which is asked whether it sleeps.
template <class What, bool Apart> struct for_one {
  explicit for_one(M& m) : machine(m), what(asleep, m) {
    asleep.open(2);
    if (Apart) asleep.set_apart(1);
  }
  void side(unsigned core) {
    if (core == 1) {
      what.says();
      if (!asleep.is_asleep(1)) return;
      Apart ? asleep.notify_apart(machine) : asleep.notify(machine, 1);
    } else {
      static_cast<void>(asleep.announce(1));
      sleeps = !what.sees();
    }
  }
  const char* wrong() { return sleeps && !machine.rung(1) ? "one sleeps beside what is for it alone" : nullptr; }
  M& machine;
  sched::sleep<M> asleep;
  What what;
  bool sleeps = false;
};

// Two fall asleep, of many whose other ones sleep; the later one knows that all sleep, and sees what the other has
// left.
template <unsigned First, unsigned Second, bool Apart = false> struct all_fall_asleep {
  explicit all_fall_asleep(M&) {
    asleep.open(Second + 1);
    if (Apart) asleep.set_apart(Second);
    for (unsigned id = 0; id < Second; ++id)
      if (id != First) static_cast<void>(asleep.announce(id));
  }
  void side(unsigned core) {
    left[core - 1].write() = 1;
    if (!asleep.announce(core == 1 ? First : Second)) return;
    ++last;
    static_cast<void>(left[2 - core].read());
  }
  const char* wrong() { return last == 0 ? "both sleep, and neither knows" : nullptr; }
  sched::sleep<M> asleep;
  base::plain<unsigned> left[2];
  unsigned last = 0;
};
// The same of the reserve that goes away.
struct the_reserve_goes {
  explicit the_reserve_goes(M&) {
    asleep.open(1, true);
    asleep.set_reserve_away(false);
  }
  void side(unsigned core) {
    left[core - 1].write() = 1;
    if (core == 1) asleep.set_reserve_away(true);
    if (core == 1 ? !asleep.all_asleep() : !asleep.announce(0)) return;
    ++last;
    static_cast<void>(left[2 - core].read());
  }
  const char* wrong() { return last == 0 ? "both are gone, and neither knows" : nullptr; }
  sched::sleep<M> asleep;
  base::plain<unsigned> left[2];
  unsigned last = 0;
};
// Who looks for a stall counts announcements, and sees what was there before those.
template <bool Again> struct looks_for_a_stall {
  explicit looks_for_a_stall(M&) { asleep.open(2); }
  void side(unsigned core) {
    if (core == 1) {
      left.write() = 1;
      Again ? asleep.look_again() : static_cast<void>(asleep.announce(1));
    } else if (asleep.announcements() != 0) {
      static_cast<void>(left.read());
    }
  }
  const char* wrong() { return nullptr; }
  sched::sleep<M> asleep;
  base::plain<unsigned> left;
};

}  // namespace

TEST_CASE("two sides: what becomes visible, and who falls asleep") {
  of_sides<told<in_an_inbox, 1>>(2);
  of_sides<told<several_in_an_inbox, 1>>(2);
  of_sides<told<on_a_pile, 1>>(2);
  of_sides<told<a_pause_that_ends, 1>>(2);
  of_sides<told<an_urgent_task, 1>>(2);
  of_sides<told<in_a_deque, 1>>(2);
  of_sides<told<in_an_overflow, 1>>(2);
}

TEST_CASE("two sides: what becomes visible, and who falls asleep among many") {
  of_sides<told<in_an_inbox, 70>>(2);
  of_sides<told<in_an_inbox, 70, true>>(2);
}

TEST_CASE("two sides: what becomes visible, and who searches") {
  of_sides<relied_on<in_an_inbox>>(2);
  of_sides<comes_and_goes<in_an_inbox>>(2);
  of_sides<finds_something_else<in_an_inbox>>(3);
  of_sides<called_for_its_own<in_an_inbox>>(2);
  of_sides<finds_no_sleeper<in_an_inbox>>(3);
}

TEST_CASE("two sides: what is kept, and who comes by") {
  of_sides<keeps_for_a_searcher>(2);
  of_sides<keeps_while_none_sleeps>(3);
}

TEST_CASE("two sides: what is for one alone") {
  of_sides<for_one<in_an_inbox, false>>(2);
  of_sides<for_one<in_an_inbox, true>>(2);
}

TEST_CASE("two sides: who falls asleep last") {
  of_sides<all_fall_asleep<0, 1>>(2);
  of_sides<all_fall_asleep<0, 65>>(2);
  of_sides<all_fall_asleep<0, 1, true>>(2);
  of_sides<the_reserve_goes>(2);
  of_sides<looks_for_a_stall<true>>(2);
  of_sides<looks_for_a_stall<false>>(2);
}

}  // namespace weft::weak
