// Taking tasks from other workers: a sweep comes to everybody, whoever had something last is asked first, tiny bodies
// are left to those who move, and what the main thread keeps private while it is away is pulled out.
#include "sched/place/stealing.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct fixture {
  notes machine;
  testing::scheduler<notes> s;
  stealing<notes> thieves{machine, s.sleep, s.crew, s.placement, s.tempo, s.recording};
  explicit fixture(unsigned workers, bool with_reserve = false) : s(machine, workers, with_reserve) {
    s.open();
    thieves.open(s.policy);
  }
  // Worker `id` has t, within reach.
  void give(unsigned id, task& t) {
    transition(t.r, detail::record_state::filling, detail::record_state::ready);
    deque<notes>::push(s.crew[id], &t.r);
    static_cast<void>(deque<notes>::expose(s.crew[id]));
  }
  void make_tiny() {
    pace p;
    for (unsigned i = 0; i < 100; ++i) s.tempo.ran(p, 0);
  }
};

}  // namespace

TEST_CASE("stealing: a sweep comes to everybody, whoever has the task and whoever looks") {
  for (const bool with_reserve : {false, true})
    for (unsigned workers : {2u, 3u, 5u}) {
      fixture f(workers, with_reserve);
      for (unsigned thief = 0; thief < f.s.crew.seats(); ++thief)
        for (unsigned victim = 0; victim < f.s.crew.seats(); ++victim) {
          if (victim == thief) continue;
          INFO(thief << " robs " << victim << " of " << workers << (with_reserve ? " and a reserve" : ""));
          task t;
          CHECK(f.thieves.take(f.s.crew[thief]) == nullptr);
          f.give(victim, t);
          CHECK(f.thieves.visible(f.s.crew[thief]));
          CHECK(!f.thieves.visible(f.s.crew[victim]));  // it robs others
          CHECK(f.thieves.take(f.s.crew[thief]) == &t.r);
          CHECK(f.s.crew[thief].thief.robbed_last == victim);
        }
    }
}

TEST_CASE("stealing: whoever had something last time is asked first, until it has nothing") {
  fixture f(4);
  worker<notes>& w = f.s.crew[0];
  task near, far, more;
  f.give(3, far);
  CHECK(f.thieves.take(w) == &far.r);
  CHECK(detail::peek(w.counted.steals) == 1);
  f.give(1, near);  // which the policy would name first
  f.give(3, more);
  CHECK(f.thieves.take(w) == &more.r);
  CHECK(f.thieves.take(w) == &near.r);
  CHECK(w.thief.robbed_last == 1);
  CHECK(f.thieves.take(w) == nullptr);
  CHECK(w.thief.robbed_last == worker<notes>::no_id);
}

TEST_CASE("stealing: the creator is never the one who had something: it makes for all") {
  fixture f(3);
  f.s.crew[2].role = role::creator;
  task t;
  f.give(2, t);
  CHECK(f.thieves.take(f.s.crew[0]) == &t.r);
  CHECK(f.s.crew[0].thief.robbed_last == worker<notes>::no_id);
}

TEST_CASE("stealing: who got little asks next whom its victim had its own from") {
  fixture f(4);
  worker<notes>&w = f.s.crew[0], &near = f.s.crew[1], &far = f.s.crew[3];
  std::vector<task> of_far(64), of_near(16), of_other(1);
  for (task& t : of_far) f.give(3, t);
  CHECK(f.thieves.rob(near, far) == &of_far[0].r);  // and several more, which are within reach
  CHECK(near.thief.robbed_last == 3);
  for (task& t : of_near) f.give(1, t);
  CHECK(f.thieves.rob(w, near) != nullptr);
  CHECK(w.thief.robbed_last == 1);  // where there was much
  while (deque<notes>::size(near) != 0) CHECK(f.thieves.rob(f.s.crew[2], near) != nullptr);
  CHECK(f.s.crew[2].thief.robbed_last == 3);
  for (task& t : of_other) f.give(1, t);
  CHECK(f.thieves.rob(far, near) == &of_other[0].r);
  CHECK(far.thief.robbed_last == 1);  // which has its own from this one
}

TEST_CASE("stealing: who finds a thief at its victim goes elsewhere, and after so many times goes in") {
  fixture f(3);
  worker<notes>& w = f.s.crew[0];
  task t, other;
  f.give(1, t);
  f.s.crew[1].robbed.raw = 1;
  CHECK(f.thieves.take(w) == nullptr);
  f.give(2, other);
  CHECK(f.thieves.take(w) == &other.r);
  unsigned times = 0;
  detail::record* r = nullptr;
  while (r == nullptr && times < 2 * rules::usual()[by::one_thief]) ++times, r = f.thieves.rob(w, f.s.crew[1]);
  CHECK(r == &t.r);
  CHECK(times == rules::usual()[by::one_thief] + 1);
  CHECK(w.thief.sent_away == 0);
}

TEST_CASE("stealing: who robs itself steals nothing") {
  fixture f(2);
  task t;
  f.give(1, t);
  CHECK(f.thieves.rob(f.s.crew[1], f.s.crew[1]) == &t.r);
  CHECK(detail::peek(f.s.crew[1].counted.steals) == 0);
}

TEST_CASE("stealing: tiny bodies are left to their owners while a thief is reluctant") {
  fixture f(3);
  worker<notes>& w = f.s.crew[1];
  task t;
  f.give(2, t);
  f.make_tiny();
  CHECK(detail::peek(w.thief.reluctant));
  CHECK(f.thieves.take(w) == nullptr);
  detail::poke(w.thief.reluctant, false);
  CHECK(f.thieves.take(w) == &t.r);
}

TEST_CASE("stealing: the main thread, which waits, may have what a worker gives way with, tiny as it is") {
  fixture f(3);
  task kept, given;
  f.make_tiny();
  f.give(1, kept);
  f.give(2, given);
  CHECK(f.thieves.take(f.s.crew[0]) == nullptr);
  detail::poke(f.s.crew[2].thief.gives_way, true);
  CHECK(f.thieves.take(f.s.crew[0]) == &given.r);
  CHECK(f.thieves.take(f.s.crew[0]) == nullptr);
}

TEST_CASE("stealing: reluctance ends when the others stand still, and begins anew when they move") {
  fixture f(2);
  worker<notes>& w = f.s.crew[1];
  f.make_tiny();
  bool asked = false;
  const auto searches = [&asked] { return asked = true; };
  CHECK(!f.thieves.insists(w, searches));  // nobody has moved since the runtime began
  CHECK((!detail::peek(w.thief.reluctant) && !asked));
  count_one(f.s.crew[0].tasks);
  CHECK(f.thieves.insists(w, searches));  // they move: it goes on to search, and keeps away
  CHECK((detail::peek(w.thief.reluctant) && asked));
  CHECK(!f.thieves.insists(w, [] { return true; }));
  CHECK(!detail::peek(w.thief.reluctant));
  count_one(f.s.crew[0].created);
  CHECK(!f.thieves.insists(w, [] { return false; }));  // enough search: it may sleep, and keeps away all the same
  CHECK((detail::peek(w.thief.reluctant) && f.thieves.leaves_them(w)));
}

TEST_CASE("stealing: who took a few tiny tasks, because the others stood still, asks anew whether they move") {
  fixture f(3);
  worker<notes>& w = f.s.crew[1];
  f.make_tiny();
  detail::poke(w.thief.reluctant, false);
  std::vector<task> all(rules::usual()[by::asks_anew] + 1);
  count_one(f.s.crew[0].created);
  for (unsigned i = 0; i < rules::usual()[by::asks_anew]; ++i) {
    f.give(2, all[i]);
    CHECK(!detail::peek(w.thief.reluctant));
    CHECK(f.thieves.take(w) == &all[i].r);
  }
  f.give(2, all.back());
  CHECK(detail::peek(w.thief.reluctant));
  CHECK(f.thieves.take(w) == nullptr);
}

TEST_CASE("stealing: who is guarded by another that searches leaves tiny tasks to that one") {
  fixture f(3);
  worker<notes>& w = f.s.crew[1];
  task t;
  f.make_tiny();
  f.give(2, t);
  CHECK(f.thieves.leaves_them(w));
  CHECK(f.thieves.visible(w));
  w.look.guarded(true);
  CHECK(!f.thieves.visible(w));
  detail::poke(w.thief.reluctant, false);
  CHECK(f.thieves.visible(w));                 // it would take them
  CHECK(!f.thieves.leaves_them(f.s.crew[0]));  // the main thread, when it waits, takes what is given way with
}

TEST_CASE(
    "stealing: where thieves were turned down one asks again, and none sleeps beside it unless another searches") {
  fixture f(3);
  worker<notes>& main = f.s.crew[0];
  worker<notes>& w = f.s.crew[1];
  main.asked.raw = 0;
  CHECK((!f.thieves.visible(w) && !f.thieves.asks_again()));
  main.turns_down.raw = true;
  CHECK(f.thieves.visible(w));
  w.look.guarded(true);
  CHECK(!f.thieves.visible(w));
  w.look.guarded(false);
  CHECK(f.thieves.asks_again());
  CHECK(main.asked.raw == 1);
  CHECK((!f.thieves.visible(w) && !f.thieves.asks_again()));
  detail::branch b;
  detail::poke(main.kept, &b);  // it has not come to a look at that yet, and may not
  CHECK(f.thieves.visible(w));
  detail::poke<const detail::branch*>(main.looked_through, &b);
  CHECK(f.thieves.visible(w));  // may be another one at the same place
  detail::poke(main.claimed, std::uint8_t{1});
  CHECK(!f.thieves.visible(w));
  detail::poke<detail::branch*>(main.kept, nullptr);
}

TEST_CASE("stealing: who has announced sleep looks once more at what is kept, and at what nobody was told of") {
  fixture f(3);
  worker<notes>& owner = f.s.crew[2];
  worker<notes>& w = f.s.crew[1];
  CHECK(!f.thieves.overlooked(w));
  detail::branch b;
  detail::poke(owner.kept, &b);
  CHECK((f.thieves.overlooked(w) && !f.thieves.overlooked(owner)));
  detail::poke(owner.claimed, std::uint8_t{1});
  CHECK(f.thieves.overlooked(w));  // it may have been kept since the list was claimed
  detail::poke<const detail::branch*>(owner.looked_through, &b);
  CHECK(!f.thieves.overlooked(w));
  detail::poke<detail::branch*>(owner.kept, nullptr);
  task t;
  deque<notes>::push(owner, &t.r);
  CHECK(f.thieves.overlooked(w));
  detail::poke(owner.starved, std::uint8_t{0});
  CHECK(!f.thieves.overlooked(w));  // and if that was stored by its owner, there is something to be had
  detail::poke(owner.starved, std::uint8_t{1});
  detail::poke(owner.away, true);
  CHECK(!f.thieves.overlooked(w));  // from there is pulled
  CHECK(f.s.own(2).size() == 1);
}

TEST_CASE("stealing: where bodies are worth it nobody is reluctant") {
  fixture f(2);
  count_one(f.s.crew[0].tasks);
  CHECK(!f.thieves.insists(f.s.crew[1], [] { return true; }));
  detail::poke(f.s.crew[1].thief.reluctant, false);
  f.thieves.look_up(f.s.crew[1], false);
  CHECK(!detail::peek(f.s.crew[1].thief.reluctant));
}

TEST_CASE("stealing: a busy worker with tiny bodies lets the main thread be while that submits") {
  fixture f(2);
  worker<notes>& w = f.s.crew[1];
  task t;
  f.make_tiny();
  deque<notes>::push(w, &t.r);
  const std::uint64_t before = f.machine.clock_ps;
  f.thieves.look_up(w, false);
  CHECK(deque<notes>::has_private(w));  // nobody submits
  CHECK(f.machine.clock_ps == before);
  detail::poke(f.s.crew.main().created, std::uint64_t{1});
  f.thieves.look_up(w, false);
  CHECK(!deque<notes>::has_private(w));  // the main thread may have it meanwhile
  CHECK(f.machine.clock_ps - before >= base::search_ns * 1000);
  CHECK(!detail::peek(w.thief.gives_way));
  CHECK(f.s.own(1).size() == 1);
}

TEST_CASE("stealing: a worker with tiny tasks wakes a main thread that waits idle, and lets it have them") {
  fixture f(3);
  worker<notes>& w = f.s.crew[1];
  f.make_tiny();
  task t;
  const auto gives_way = [&] {
    const std::uint64_t before = f.machine.clock_ps;
    f.thieves.look_up(w, false);
    return f.machine.clock_ps - before >= base::search_ns * 1000;
  };
  f.give(1, t);
  CHECK(!gives_way());  // main is at work
  f.s.sleep.set_busy(0, false);
  CHECK(!f.s.sleep.announce(0));
  CHECK(gives_way());
  CHECK(!f.s.sleep.is_asleep(0));
  w.pace.runs_nested = true;
  CHECK(!gives_way());  // the tasks are not main's
  w.pace.runs_nested = false;
  detail::poke(f.s.crew.main().away, true);
  CHECK(!gives_way());  // nor does it wait
  detail::poke(f.s.crew.main().away, false);
  CHECK(f.thieves.rob(f.s.crew[0], w) == &t.r);
  CHECK(!gives_way());  // there is nothing to have
}

TEST_CASE("stealing: a worker rests more and more seldom for a main thread that makes nothing of it") {
  fixture f(3);
  worker<notes>& w = f.s.crew[1];
  f.make_tiny();
  task t;
  f.give(1, t);
  f.s.sleep.set_busy(0, false);
  unsigned rests = 0;
  const auto looks = [&](unsigned times) {
    for (rests = 0; times != 0; --times) {
      const std::uint64_t before = f.machine.clock_ps;
      f.thieves.look_up(w, false);
      rests += f.machine.clock_ps - before >= base::search_ns * 1000 ? 1 : 0;
    }
    return rests;
  };
  CHECK(looks(1000) < 25);
  CHECK(rests > 7);
  f.machine.at_clock = [&] {
    for (unsigned i = 0; i < ticks_between_looks; ++i) count_one(f.s.crew.main().tasks);
  };
  CHECK(looks(65) > 0);    // which brings something,
  CHECK(looks(10) == 10);  // so it does not wait with the next
}

TEST_CASE("stealing: where the main thread does much while a worker rests, that runs one task and rests again") {
  for (const bool with_reserve : {false, true}) {
    fixture f(2, with_reserve);
    worker<notes>& w = f.s.crew[1];
    worker<notes>& main = f.s.crew.main();
    task t(detail::record_state::ready);
    f.make_tiny();
    deque<notes>::push(w, &t.r);
    const auto rests_again = [&] {
      w.tick = 0;
      f.thieves.look_up(w, false);
      return w.tick == ticks_between_looks - 1;
    };
    f.machine.at_clock = [&] { count_one(main.created); };
    count_one(main.created);
    CHECK(!rests_again());  // a task each microsecond is slow
    f.machine.at_clock = [&] {
      for (unsigned i = 0; i < rules::usual()[by::rests_again] / 8; ++i)
        count_one(with_reserve ? f.s.crew.reserve().tasks : main.tasks);
    };
    count_one(main.created);
    CHECK(rests_again());
    CHECK(!rests_again());  // nothing was submitted, and nobody waits to
    w.tick = 0;
    f.thieves.look_up(w, true);
    CHECK(w.tick == ticks_between_looks - 1);  // the reserve runs what the main thread, at the window, has submitted
    w.pace.runs_nested = true;
    const std::uint64_t before = f.machine.clock_ps;
    w.tick = 0;
    f.thieves.look_up(w, true);
    CHECK((w.tick == 0 && f.machine.clock_ps == before));  // its tasks may come from its own
    count_one(main.created);
    CHECK(!rests_again());
    w.pace.runs_nested = false;
    CHECK(f.thieves.take(main) == nullptr);
    CHECK(f.thieves.rob(main, w) == &t.r);
    count_one(main.created);
    CHECK(!rests_again());  // it has nothing that others may have
  }
}

TEST_CASE("stealing: what an owner keeps private is pulled out, wherever it is") {
  fixture f(3);
  worker<notes>& main = f.s.crew.main();
  worker<notes>& busy = f.s.crew[2];
  worker<notes>& thief = f.s.crew[1];
  const auto pull = [&](worker<notes>& w) { return f.thieves.pull(w) || f.thieves.pull_from_main(w); };
  task t(detail::record_state::ready);
  for (worker<notes>* owner : {&main, &busy}) {
    deque<notes>::push(*owner, &t.r);
    detail::poke(owner->starved, std::uint8_t{0});
    detail::poke(main.away, owner == &main);
    detail::poke(owner->inside, std::uint8_t{1});
    CHECK(pull(thief) == (owner == &busy));  // of a worker it looks twice
    CHECK(!pull(thief));
    CHECK(detail::peek(owner->starved) == 1);  // so it shares when it looks
    detail::poke(owner->inside, std::uint8_t{0});
    detail::poke(owner->pulled, std::uint8_t{1});
    for (int look = 0; look < 2; ++look) CHECK(pull(thief));  // another thief is at it: once more, behind that
    CHECK(!deque<notes>::stealable(*owner));
    detail::poke(owner->pulled, std::uint8_t{0});
    CHECK(!pull(*owner));  // it can help itself
    CHECK(pull(thief));
    CHECK(deque<notes>::stealable(*owner) == (owner == &main));
    if (owner == &busy) CHECK(pull(thief));
    CHECK(detail::peek(owner->pulled) == 0);
    CHECK(f.thieves.take(thief) == &t.r);
    CHECK(!pull(thief));  // there is nothing any more
  }
}

// The barrier of a pull takes a while, and the owner goes on meanwhile.
struct overtaken : notes {
  static bool barrier_everywhere() {
    if (meanwhile) meanwhile();
    return true;
  }
  static inline std::function<void()> meanwhile;
};
TEST_CASE("stealing: an owner that keeps another branch after a pull in vain is looked at once more") {
  overtaken machine;
  testing::scheduler<overtaken> s{machine, 3};
  s.open();
  stealing<overtaken> thieves{machine, s.sleep, s.crew, s.placement, s.tempo, s.recording};
  thieves.open(s.policy);
  worker<overtaken>&thief = s.crew[1], &owner = s.crew[2];
  detail::branch before, then;
  detail::poke(owner.kept, &before);
  CHECK(thieves.pull(thief));  // from now on it stands
  overtaken::meanwhile = [&] {
    detail::poke(owner.kept, &then);
    detail::poke(owner.inside, std::uint8_t{1});
  };
  CHECK(thieves.pull(thief));
  CHECK(thief.thief.watched.newest == &then);
  overtaken::meanwhile = nullptr;
  CHECK(!thieves.pull(thief));  // it is at its end, and sees that thieves starve
  detail::poke<detail::branch*>(owner.kept, nullptr);
}

TEST_CASE("stealing: of a main thread that is away a look is not enough") {
  fixture f(2);
  worker<notes>& main = f.s.crew.main();
  for (const bool away : {false, true}) {
    detail::poke(main.starved, std::uint8_t{0});
    detail::poke(main.away, away);
    CHECK(!f.thieves.pull_from_main(f.s.crew[1]));
    CHECK(detail::peek(main.starved) == (away ? 1 : 0));  // what it pushes next it shares
  }
}

TEST_CASE("stealing: a main thread moves if it has submitted since, and has kept back nothing from before") {
  fixture f(5);
  worker<notes>& main = f.s.crew.main();
  worker<notes>& w = f.s.crew[1];
  task a(detail::record_state::ready), b(detail::record_state::ready);
  detail::poke(main.away, true);
  const auto submits = [&] { detail::poke(main.created, detail::peek(main.created) + 1); };
  submits();
  CHECK(!f.thieves.main_moves(w));  // it had not looked before
  f.thieves.watch_main(w);
  CHECK(!f.thieves.main_moves(w));
  f.thieves.watch_main(w);
  submits();
  CHECK(f.thieves.main_moves(w));
  CHECK(!f.thieves.main_moves(w));  // each look is good for once
  deque<notes>::push(main, &a.r);
  f.thieves.watch_main(w);
  submits();
  CHECK(!f.thieves.main_moves(w));  // that one is still there
  f.thieves.watch_main(w);
  REQUIRE(deque<notes>::expose(main));
  deque<notes>::push(main, &b.r);
  submits();
  CHECK(f.thieves.main_moves(w));
  f.thieves.watch_main(w);
  submits();
  detail::poke(main.away, false);
  CHECK(!f.thieves.main_moves(w));  // it waits, and so runs tasks itself
  std::uint64_t decided[rules::count] = {};
  w.counted.decided.add_to(decided);
  CHECK(decided[static_cast<std::size_t>(by::main_moves)] == 2);
}

}  // namespace weft::sched
