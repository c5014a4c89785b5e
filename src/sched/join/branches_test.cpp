// The second halves of forks that somebody else takes: how they meet the body that forked, and what they leave it.
#include "sched/join/branches.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "machine/virtual/virtual.hpp"
#include "sched/queues/pull.hpp"
#include "scheduler.hpp"
#include "weft/weft.hpp"

namespace weft::sched {
namespace {

// A branch on a stack, as a body whose record is `of` offers it.
struct made : detail::branch {
  explicit made(detail::record* of = nullptr) noexcept {
    invoke = nullptr;
    make_ready(*this, of);
  }
};

using M = machine::host;

bool is_kept(detail::place_of_body& at, detail::branch& b) { return detail::keep(at, b) == detail::not_begun::nothing; }

}  // namespace

TEST_CASE("branches: one that is taken gets what a running task has, and a name from the body that forked") {
  detail::record body{};
  body.name = "sort";
  body.order = 7;
  made b(&body);
  branches<M>::begins(b);
  CHECK(std::string(b.name) == "sort");
  CHECK(b.order == 7);
  CHECK(detail::peek(b.pending) == detail::record::body_share);
  CHECK((b.access_count == 0 && b.exclusives == 0 && !b.has_children && !b.urgent && !b.subtasks && !b.has_waited));
  CHECK(b.declared_cost_ps(1) == 0);  // no duration of its own
  b.urgent = b.subtasks = b.waits_exclusive = b.has_children = b.internal = b.has_waited = b.is_call = true;
  b.plain = false, b.denied = 3, b.exclusives = 2, b.access_count = 5, b.size_class = 4,
  b.near = 9;  // a stack had that
  make_ready(b, &body);
  branches<M>::begins(b);
  CHECK((!b.urgent && !b.subtasks && !b.waits_exclusive && !b.has_children && !b.internal && !b.has_waited));
  CHECK((b.plain && !b.is_call && b.denied == 0 && b.exclusives == 0 && b.access_count == 0 && b.size_class == 0));
  made alone;
  branches<M>::begins(alone);
  CHECK(alone.name == nullptr);
  CHECK(alone.order == 0);
}

TEST_CASE("branches: the newest that is kept is taken back, and nothing that is covered, claimed or elsewhere") {
  M machine;
  testing::scheduler<M> s(machine, 2);
  s.open();
  detail::worker& w = s.crew[1];
  detail::place_of_body& at = *w.where;
  detail::poke(w.hooked, std::uint8_t{0});
  detail::poke(w.asked, std::uint8_t{0});
  detail::record body{};
  w.current = &body;
  made a, b;
  CHECK(is_kept(at, a));
  CHECK(detail::taken_back(at, a));
  CHECK(!kept<M>::any(w));

  CHECK((is_kept(at, a) && is_kept(at, b)));
  CHECK(!deque<M>::has_private(w));   // the deque is not needed
  CHECK(!detail::taken_back(at, a));  // b lies above it
  CHECK(detail::taken_back(at, b));
  detail::poke(w.claimed, std::uint8_t{1});
  CHECK(!detail::taken_back(at, a));  // a thief may look at it
  CHECK(!deque<M>::take_kept(w, b));
  CHECK(deque<M>::take_kept(w, a));  // it has not
  CHECK(a.parent == &body);
  CHECK(detail::peek(w.claimed) == 0);

  CHECK(is_kept(at, a));
  deque<M>::push(w, &b);  // what a body submits is newer than what it has forked before
  CHECK(!detail::taken_back(at, a));
  CHECK(deque<M>::pop(w) == &b);
  CHECK(deque<M>::pop(w) == &a);
  w.current = nullptr;
}

TEST_CASE(
    "branches: more than the deque has room for are offered, oldest first, and half of them where a thief starves") {
  M machine;
  testing::scheduler<M> s(machine, 2);
  s.open();
  detail::worker& w = s.crew[1];
  detail::poke(w.hooked, std::uint8_t{0});
  detail::poke(w.asked, std::uint8_t{0});
  const std::uint32_t room = w.deque.mask + 1;
  for (const std::uint32_t n : {1u, 2u, room - 1, room, room + 1, 9 * room, 1000u}) {
    std::vector<made> all(n);
    for (made& b : all) CHECK(is_kept(*w.where, b));
    if (n % 2 == 0) {
      deque<M>::offer_half(w);
      CHECK(deque<M>::size(w) == n / 2);
      CHECK(kept<M>::size(detail::peek(w.kept)) == n / 2);
      CHECK(detail::taken_back(*w.where, all[n - 1]));
      CHECK(is_kept(*w.where, all[n - 1]));
    }
    deque<M>::offer_kept(w);
    CHECK(!kept<M>::any(w));
    std::uint32_t i = n;
    while (detail::record* r = deque<M>::pop(w)) CHECK((i > 0 && r == &all[--i]));
    CHECK(i == 0);
  }
}

TEST_CASE("branches: of more than a deque can ever hold the oldest overflow, and none is lost") {
  M machine;
  testing::scheduler<M> s(machine, 2);
  s.open();
  detail::worker& w = s.crew[1];
  w.slots_max = 16;
  detail::poke(w.hooked, std::uint8_t{0});
  for (const std::uint32_t n : {16u, 17u, 33u, 100u}) {
    detail::poke(w.asked, std::uint8_t{0});  // who empties what is shared says so
    std::vector<made> all(n);
    for (made& b : all) CHECK(is_kept(*w.where, b));
    deque<M>::offer_kept(w);
    CHECK(!kept<M>::any(w));
    CHECK(deque<M>::size(w) <= 16);
    std::uint32_t i = n;
    while (detail::record* r = deque<M>::pop(w)) CHECK((i > 0 && r == &all[--i]));
    CHECK((i == 0) == (n <= 16));
    std::uint32_t oldest = 0;
    while (detail::record* r = s.placement.overflow().pop_some(1)) CHECK(r == &all[oldest++]);
    CHECK(oldest == i);
  }
}

TEST_CASE("branches: a stack that was set aside, if only for a moment, takes nothing back the short way") {
  weft::runtime rt({.workers = 1});
  bool came_back = false;
  const auto moves = [](const weft::here& at) { return detail::peek(at.on->moves); };
  rt.submit([&] {
    weft::handle<int> h;
    const auto got = weft::fork_join(
        [&](weft::here& at) {
          const std::uint64_t before = moves(at);
          rt.submit(weft::write(h), [](int& x) { x = 3; });
          const int x = rt.get(h);
          came_back = moves(at) != before;
          CHECK(!kept<M>::any(*at.on));
          return x;
        },
        [] { return 4; });
    CHECK(got == std::pair(3, 4));
  });
  rt.wait();
  CHECK(came_back);
}

TEST_CASE("branches: a worker on real cores that nobody looks at is not hooked") {
  weft::runtime rt({.workers = 2});
  std::uint8_t hooked = 1;
  rt.submit([&hooked] { hooked = detail::peek(detail::self()->hooked); });
  rt.wait();
  CHECK(hooked == 0);
}

TEST_CASE("branches: a worker that is hooked has them offered by the slow half") {
  detail::worker w;
  REQUIRE(detail::peek(w.hooked) == detail::hooked_always);
  detail::place_of_body at{&w};
  made a;
  CHECK(is_kept(at, a));  // no engine: nothing is offered
  CHECK(!kept<M>::any(w));
  CHECK(!detail::taken_back(at, a));
  CHECK(detail::join_slowly(w, a));  // so the caller runs it
  detail::drop_slowly(w, a);
}

// Catches: the first body begins, or the second is counted by two.
TEST_CASE(
    "branches: in a cancelled scope a fork whose branch a thief has moved ends like one whose first body throws") {
  if (!M::barrier_everywhere()) return;  // no thief moves anything
  struct counted : detail::branch {
    counted() noexcept {
      invoke = [](detail::record& r, detail::errand what) {
        static_cast<counted&>(r).skipped += what == detail::errand::skip ? 1 : 100;
      };
    }
    unsigned skipped = 0;
  };
  weft::runtime rt({.workers = 1, .machine = "host"});
  rt.submit([] {
    weft::cancellation stop;
    weft::finish(stop, [&stop] {
      detail::worker& w = *detail::self();
      const auto kept_and_moved = [&w](counted& b) {
        detail::poke(b.older, detail::peek(w.kept));
        detail::poke_release(w.kept, static_cast<detail::branch*>(&b));
        CHECK(pull<M>::from(w));
        return detail::heed(*w.where, b);
      };
      stop.cancel();
      counted b;
      CHECK(kept_and_moved(b) == detail::not_begun::first);
      CHECK_THROWS_AS(detail::give_up_fork(*w.where, b, detail::not_begun::first, 3, 50), weft::cancelled_error);
      CHECK(b.skipped == 1);
    });
    CHECK(stop.skipped() == 3);
  });
  rt.wait();
}

TEST_CASE("branches: who takes its branch back leaves nothing out of reach behind a body that may be long") {
  using V = machine::virtual_machine;
  weft::runtime rt({.workers = 1, .machine = "virtual"});
  bool kept = false, keeps = true;
  rt.submit([&] {
    auto& w = static_cast<worker<V>&>(*detail::self());
    rt.submit([] {});
    weft::fork_join(
        [&] {
          kept = deque<V>::has_private(w);
          w.pace.coarse = true;
        },
        [&] { keeps = deque<V>::has_private(w); });
  });
  rt.wait();
  CHECK(kept);
  CHECK(!keeps);
}

TEST_CASE("branches: whoever comes second, the body or the branch, sees the other") {
  // On one modelled worker nobody takes anything; on two the second body is taken while the first runs, and ends before
  // it or after it.
  for (const double first : {1'000.0, 500'000.0})
    for (const bool fails : {false, true}) {
      weft::runtime rt({.workers = 2, .machine = "virtual"});
      const double from = rt.now_ns();
      std::vector<int> who;
      std::string said;
      try {
        weft::fork_join([&] { weft::charge(first), who.push_back(1); },
                        [&] {
                          weft::charge(100'000);
                          who.push_back(2);
                          if (fails) throw std::runtime_error("second");
                        });
      } catch (const std::runtime_error& e) {
        said = e.what();
      }
      CHECK(said == (fails ? "second" : ""));
      CHECK(who == (first < 100'000 ? std::vector{1, 2} : std::vector{2, 1}));
      if (first > 100'000) CHECK(rt.now_ns() - from < first + 10'000);
    }
}

}  // namespace weft::sched
