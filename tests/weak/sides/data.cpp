// What one core hands over to another by a word of the scheduler, and plain data behind it: each noun alone.
#include <doctest/doctest.h>

#include "ordered/commit_order.hpp"
#include "sched/idle/quiescence.hpp"
#include "sched/place/gang.hpp"
#include "sched/queues/deque.hpp"
#include "sched/queues/inbox.hpp"
#include "sched/queues/pull.hpp"
#include "sched/teams/gate.hpp"
#include "sched/teams/team_pool.hpp"
#include "weak/sides/sides.hpp"

namespace weft::weak {
namespace {

using M = bells;
using datum = base::plain<unsigned>;
using detail::record;

// --- src/ordered

// Tasks in order, and one that is put before two of them, whose labels move: neither is found at the other's place.
struct labels {
  explicit labels(M&) {
    for (unsigned i = 0; i < 3; ++i) {
      t[i].call.timestamp = 2 * i;
      admitted.insert(t[i]);
    }
    for (unsigned i = 1; i < 3; ++i) detail::poke(t[i].label, detail::peek(t[0].label) + i);
    t[3].call.timestamp = 1;
  }
  void side(unsigned core) {
    if (core == 1) return admitted.insert(t[3]);
    for (unsigned i = 0; i < 2; ++i)
      if (!speculative::precedes(t[1], t[2]) || speculative::precedes(t[2], t[1])) ordered = false;
  }
  const char* wrong() { return ordered ? nullptr : "a task is found behind one that comes after it"; }
  speculative::task t[4];
  speculative::admitted_tasks admitted;
  bool ordered = true;
};

// --- src/sched

// A request is taken, created and done with; who sees neither it nor that somebody is at it sees what was made of it.
struct a_request {
  explicit a_request(M&) { box.push(&r); }
  void side(unsigned core) {
    if (core == 1) {
      base::acquire_lock<M>(creating);
      static_cast<void>(box.pop());
      made.write() = 1;
      base::release_lock<M>(creating);
    } else if (box.none() && base::shared(creating).load(base::acquire) == 0) {
      static_cast<void>(made.read());
    }
  }
  const char* wrong() { return nullptr; }
  record r;
  sched::inbox<M> box;
  detail::cell<std::uint8_t> creating;
  datum made;
};

// Members that leave: the last has the team for itself. Of those that wait in a barrier somebody lets them go.
struct members_that_leave {
  using gate = sched::gate<M>;
  explicit members_that_leave(M&) { gate::make(t, 2); }
  void side(unsigned core) {
    left[core - 1].write() = 1;
    if (gate::leaves(t, false) != gate::departure::was_last) return;
    ++last;
    static_cast<void>(left[2 - core].read());
  }
  const char* wrong() { return last == 1 ? nullptr : "not one member was the last"; }
  detail::team_state t;
  datum left[2];
  unsigned last = 0;
};
struct one_comes_and_one_leaves {
  using gate = sched::gate<M>;
  explicit one_comes_and_one_leaves(M&) { gate::make(t, 2); }
  void side(unsigned core) {
    did[core - 1].write() = 1;
    if (core == 1) {
      const std::uint32_t now = gate::phase(t);
      if (gate::comes(t))
        static_cast<void>(gate::opens(t));
      else
        while (!gate::is_over(t, now)) M::relax(1);
      static_cast<void>(did[1].read());
    } else if (gate::leaves(t, false) == gate::departure::opens) {
      static_cast<void>(gate::opens(t));
    }
  }
  const char* wrong() { return nullptr; }
  detail::team_state t;
  datum did[2];
};
// One member lists itself, whoever opens finds it.
struct one_sets_itself_aside {
  using gate = sched::gate<M>;
  explicit one_sets_itself_aside(M&) { gate::make(t, 2); }
  void side(unsigned core) {
    const std::uint32_t now = gate::phase(t);
    did[core - 1].write() = 1;
    if (gate::comes(t)) {
      placed = gate::opens(t);
    } else if (gate::lists(t, &r, now)) {
      return;
    }
    ++through;
    static_cast<void>(did[2 - core].read());
  }
  const char* wrong() {
    return through + (placed == &r ? 1 : 0) == 2 ? nullptr : "who has set itself aside is forgotten";
  }
  detail::team_state t;
  record r;
  record* placed = nullptr;
  datum did[2];
  unsigned through = 0;
};

// Seats that two workers answer for; the last to answer calls the other one.
struct two_seats {
  using gang = sched::gang<interleave::unsteady>;
  explicit two_seats(M& m) : machine(m) {
    const std::uint16_t ids[] = {1, 2};
    g.make(ids);
  }
  void side(unsigned core) {
    const unsigned i = core - 1;
    before[i].write() = 1;
    if (g.answers(i, gang::answer::held) == gang::step::complete) {
      static_cast<void>(before[1 - i].read());
      if (!g.is_held(1 - i)) lost = true;
      job.write() = 1;
      g.tell(machine, 1 - i, gang::call::job);
    } else if (g.await(machine, i, core * 100'000) == gang::call::job) {
      static_cast<void>(job.read());
    }
  }
  const char* wrong() { return lost ? "who is held is not seen to be" : nullptr; }
  interleave::unsteady& machine;
  gang g;
  datum before[2], job;
  bool lost = false;
};

// Tasks that the owner shares, and a thief takes; or that the thief shares in its name.
template <bool Pulls> struct a_theft {
  explicit a_theft(M&) { sched::deque<M>::open(w, true, {.first = 4, .most = 4}, nullptr); }
  ~a_theft() { sched::deque<M>::close(w); }
  void side(unsigned core) {
    if (core == 1) {
      for (unsigned i = 0; i < 3; ++i) {
        made[i].write() = 1;
        sched::deque<M>::push_in_loop(w, &tasks[i]);
        if (!Pulls || i == 1) sched::deque<M>::share(w);
      }
      return;
    }
    sched::loot loot;
    for (unsigned tries = 0; tries < 12; ++tries) {
      if (Pulls && tries % 4 == 0) static_cast<void>(sched::pull<M>::from(w));
      if (sched::deque<M>::steal(w, loot, [](std::uint32_t n) { return n; }) != sched::steal_result::taken) continue;
      for (unsigned i = 0; i < loot.count; ++i) static_cast<void>(made[loot.tasks[i] - tasks].read());
      taken += loot.count;
    }
  }
  const char* wrong() { return taken + sched::deque<M>::size(w) == 3 ? nullptr : "a task is lost, or is there twice"; }
  detail::worker w;
  record tasks[3];
  datum made[3];
  unsigned taken = 0;
};

// A team that a worker keeps, which its last member gives back.
struct a_kept_team {
  explicit a_kept_team(M&) : t(&pool.take(w)) {}
  void side(unsigned core) {
    if (core == 1) {
      used.write() = 1;
      pool.give_back(*t);
    } else if (&pool.take(w) == t) {
      used.write() = 2;
    }
  }
  const char* wrong() { return nullptr; }
  sched::worker<M> w;
  sched::team_pool<M> pool;
  sched::team<M>* t;
  datum used;
};

// Two workers finish the last tasks, each looks when it falls asleep whether all is over; somebody waits for that.
struct the_end_of_all {
  explicit the_end_of_all(M& m) : outside(m, asleep, pool), end(all, outside) {
    all.open(3, false);
    for (unsigned i = 0; i < 2; ++i) end.created(all[i + 1], tasks[i]);
  }
  void side(unsigned core) {
    if (core == 3) {
      end.await(self);
      if (end.reached()) told = true;
    } else {
      end.finished(all[core]);
      if (end.is_over_at_last()) told = true;
    }
  }
  const char* wrong() { return told ? nullptr : "it is over, and who waits is not told"; }
  sched::sleep<M> asleep;
  task::pool<M> pool{64};
  sched::crew<M> all;
  sched::guests<M> outside;
  sched::quiescence<M> end;
  record tasks[2];
  sched::waiter self;
  bool told = false;
};
// A task that submits another one before it is done: the sums are not equal in between.
struct one_after_the_other {
  explicit one_after_the_other(M& m) : outside(m, asleep, pool), end(all, outside) {
    all.open(2, false);
    end.created(all[0], tasks[0]);
  }
  void side(unsigned core) {
    if (core == 1) {
      end.created(all[1], tasks[1]);
      end.finished(all[0]);
      done.write() = 1;
      end.finished(all[1]);
    } else if (end.reached()) {
      static_cast<void>(done.read());
    }
  }
  const char* wrong() { return nullptr; }
  sched::sleep<M> asleep;
  task::pool<M> pool{64};
  sched::crew<M> all;
  sched::guests<M> outside;
  sched::quiescence<M> end;
  record tasks[2];
  datum done;
};

}  // namespace

TEST_CASE("two sides: thefts") {
  of_sides<a_theft<false>>(2);
  of_sides<a_theft<true>>(2);
}
TEST_CASE("two sides: labels") { of_sides<labels>(2); }
TEST_CASE("two sides: requests") { of_sides<a_request>(2); }
TEST_CASE("two sides: members of a team") {
  of_sides<members_that_leave>(2);
  of_sides<one_comes_and_one_leaves>(2);
  of_sides<one_sets_itself_aside>(2);
}
TEST_CASE("two sides: gangs") { of_sides<two_seats>(2); }
TEST_CASE("two sides: kept teams") { of_sides<a_kept_team>(2); }
TEST_CASE("two sides: the end of all") {
  of_sides<the_end_of_all>(3);
  of_sides<one_after_the_other>(2);
}

}  // namespace weft::weak
