// The sources that are queues: each finds what placement puts there, oldest first, and says before sleep whether there
// is anything.
#include "sched/place/queues.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct four_workers {
  notes machine;
  testing::scheduler<notes> s{machine, 4};
  urgent_source<notes> urgent{s.placement, s.attention};
  own_source<notes> own{s.placement};
  box_source<notes> box;
  central_source<notes> central{s.placement};
  overflow_source<notes> overflow{s.placement};
  node_source<notes> nodes{s.placement};
  pile_source<notes> piles{s.placement};
  four_workers() {
    s.open_with_policy();
    piles.open(s.places);
  }
  void put(destination to, task& t, unsigned by = 0) {
    s.policy.next = to;
    s.placement.place(s.crew[by], &t.r);
  }
};

}  // namespace

TEST_CASE("queues: one that is for all gives everybody the oldest") {
  four_workers t;
  task a, b;
  CHECK((!t.central.visible(t.s.crew[0]) && t.central.take(t.s.crew[0]) == nullptr));
  t.put(destination::central(), a);
  t.put(destination::central(), b, 2);
  CHECK(t.central.visible(t.s.crew[3]));
  CHECK(t.central.take(t.s.crew[3]) == &a.r);
  CHECK(t.central.take(t.s.crew[1]) == &b.r);
  CHECK(!t.central.visible(t.s.crew[0]));
}

TEST_CASE("queues: what a deque has no room for is for everybody, and who takes it has the rest within reach") {
  four_workers t;
  task all[40];
  worker<notes>& owner = t.s.crew[2];
  worker<notes>& other = t.s.crew[1];
  CHECK((!t.overflow.visible(other) && t.overflow.take(other) == nullptr));
  owner.slots_max = other.slots_max = 16;
  for (task& x : all) t.s.placement.push_own(owner, &x.r);
  CHECK(t.overflow.visible(other));
  std::vector<const record*> taken;
  while (t.overflow.visible(other)) {
    record* const r = t.overflow.take(other);
    REQUIRE(r != nullptr);
    taken.push_back(r);
    CHECK(other.look.has_own() == (deque<notes>::size(other) != 0));
    for (record* x = deque<notes>::pop(other); x != nullptr; x = deque<notes>::pop(other)) taken.push_back(x);
    other.look.nothing_own();
  }
  CHECK(t.overflow.take(other) == nullptr);
  CHECK(taken.front() == &all[0].r);
  for (record* x = deque<notes>::pop(owner); x != nullptr; x = deque<notes>::pop(owner)) taken.push_back(x);
  std::sort(taken.begin(), taken.end());
  CHECK(taken.size() == std::size(all));
  CHECK(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
}

TEST_CASE("queues: an inbox is its worker's") {
  four_workers t;
  task a;
  t.put(destination::worker(2), a);
  for (const unsigned other : {0u, 1u, 3u}) {
    CHECK(!t.box.visible(t.s.crew[other]));
    CHECK(t.box.take(t.s.crew[other]) == nullptr);
  }
  CHECK(t.box.visible(t.s.crew[2]));
  CHECK(t.box.take(t.s.crew[2]) == &a.r);
  CHECK(!t.box.is().shared);
}

TEST_CASE("queues: members of teams are their worker's, in order, whether or not they have a parent") {
  four_workers t;
  task parent, a, b, next;
  a.r.parent = &parent.r;
  team_source<notes> members{t.s.placement, t.s.crew};
  worker<notes>& w = t.s.crew[2];
  CHECK((!members.visible(w) && members.take(w) == nullptr));
  w.team_box.push(&a.r);
  w.team_box.push(&b.r);
  w.team_box.push(&next.r);
  t.s.placement.push_own(w, &parent.r);
  detail::poke(w.tick_limit, 0u);
  CHECK((members.visible(w) && !members.visible(t.s.crew[1]) && members.take(t.s.crew[1]) == nullptr));
  CHECK((members.take(w) == &a.r && members.take(w) == &b.r));
  CHECK((detail::peek(w.tick_limit) == 0 && w.look.has_found_member() &&
         w.look.has_own()));  // it looks here before each body
  CHECK(members.take(w) == &next.r);
  CHECK(detail::peek(w.tick_limit) == w.usual_ticks());
}

TEST_CASE("queues: an urgent task is taken and uncounted, and the deque comes into question again") {
  four_workers t;
  task hurried, kept;
  worker<notes>& w = t.s.crew[1];
  w.pace.coarse = true;
  deque<notes>::push(w, &kept.r);
  CHECK(t.urgent.take(w) == nullptr);
  t.put(destination::urgent(), hurried);
  CHECK(t.urgent.visible(w));
  CHECK(t.urgent.take(w) == &hurried.r);
  CHECK(!t.s.attention.called());
  CHECK(w.look.has_own());
  CHECK(!deque<notes>::has_private(w));  // it does not wait for the urgent body
  CHECK(t.own.take(w) == &kept.r);
}

TEST_CASE("queues: the own deque is asked only if it was passed over, until it is empty") {
  four_workers t;
  task a, b;
  worker<notes>& w = t.s.crew[0];
  t.put(destination::own(), a);
  t.put(destination::own(), b);
  CHECK(t.own.take(w) == nullptr);
  w.look.left_own();
  CHECK(t.own.take(w) == &b.r);  // newest first
  CHECK(t.own.take(w) == &a.r);
  CHECK(w.look.has_own());
  CHECK(t.own.take(w) == nullptr);
  CHECK(!w.look.has_own());
}

TEST_CASE("queues: who looks for a stall sees what is in a deque that others may rob") {
  four_workers t;
  task a;
  CHECK(!t.own.visible(t.s.crew[0]));
  t.put(destination::own(), a);  // thieves starve, so it is shared at once
  CHECK(t.own.visible(t.s.crew[0]));
  CHECK(!t.own.visible(t.s.crew[1]));
  CHECK(t.s.own(0).size() == 1);
}

TEST_CASE("queues: a worker takes from its own memory node first, then from the others in turn") {
  four_workers t;
  task mine, theirs;
  CHECK(!t.nodes.visible(t.s.crew[0]));
  t.put(destination::node(0), theirs);
  t.put(destination::node(1), mine);
  CHECK(t.nodes.visible(t.s.crew[3]));
  CHECK(t.nodes.take(t.s.crew[3]) == &mine.r);
  CHECK(t.nodes.take(t.s.crew[3]) == &theirs.r);
  CHECK(t.nodes.take(t.s.crew[3]) == nullptr);
  CHECK(!t.nodes.visible(t.s.crew[0]));
}

TEST_CASE("queues: a pile gives its own workers the newest, others as many of the oldest as they are") {
  four_workers t;
  task x[7];
  CHECK((t.piles.take(t.s.crew[3]) == nullptr && !t.piles.visible(t.s.crew[3])));
  for (task& one : x) t.put(destination::pile(1), one);
  CHECK(t.piles.visible(t.s.crew[0]));
  CHECK(t.piles.take(t.s.crew[3]) == &x[6].r);
  // Two workers are at node 0: one runs the oldest, and the next is there for the other.
  CHECK(t.piles.take(t.s.crew[0]) == &x[0].r);
  CHECK((t.s.placement.piles()[0].size() == 1 && t.s.placement.piles()[1].size() == 4));
  CHECK(t.piles.take(t.s.crew[1]) == &x[1].r);
  CHECK(detail::peek(t.s.crew[0].counted.steals) == 1);
  CHECK(t.piles.take(t.s.crew[2]) == &x[5].r);
}

TEST_CASE("queues: a policy that uses no nodes leaves none to look at") {
  notes machine;
  testing::scheduler<notes> s(machine, 2);
  place::tree places = testing::places_of(2);
  policy plain(places);
  s.placement.open(plain, places);
  node_source<notes> nodes(s.placement);
  CHECK(s.placement.nodes().empty());
  CHECK((nodes.take(s.crew[0]) == nullptr && !nodes.visible(s.crew[0])));
}

TEST_CASE("queues: busy workers come by now and then at those that nobody else may empty") {
  four_workers t;
  CHECK((t.box.is().now_and_then && t.central.is().now_and_then && t.nodes.is().now_and_then));
  CHECK((t.urgent.is().shared && t.central.is().shared && t.nodes.is().shared));
  const std::initializer_list<source<notes>*> all = {&t.urgent, &t.own, &t.box, &t.central, &t.nodes};
  for (const source<notes>* s : all) CHECK(!s->is().while_paused);
}

}  // namespace weft::sched
