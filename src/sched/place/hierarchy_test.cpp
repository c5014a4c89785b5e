// Near to far: whom a worker robs at each level, what it hears of a leaf without tasks, and whose queue is its own.
#include "sched/place/hierarchy.hpp"

#include <doctest/doctest.h>

#include "sched/balance/tempo.hpp"
#include "sched/replay/recording.hpp"
#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

// Eight workers: two at each cache, two caches at each node.
struct near_answers : testing::answers {
  using answers::answers;
  search_levels levels() const noexcept override { return search_levels::near_only; }
};
struct eight_workers {
  notes machine;
  testing::scheduler<notes> s{machine, 8, true};
  place::tree places{[] {
                       std::vector<place::core> cores;
                       for (unsigned i = 0; i < 8; ++i) cores.push_back({.cpu = i, .cache = i / 2, .node = i / 4});
                       return cores;
                     }(),
                     8};
  near_answers rules{places};
  stealing<notes> thieves{machine, s.sleep, s.crew, s.placement, s.tempo, s.recording};
  mates_source<notes> leaf{mates_source<notes>::level::leaf, s.crew, s.placement, thieves};
  mates_source<notes> node{mates_source<notes>::level::node, s.crew, s.placement, thieves};
  home_source<notes> home{s.placement};
  reserve_source<notes> left_behind{s.crew, thieves};

  eight_workers() {
    s.placement.open(rules, places);
    thieves.open(rules);
    leaf.open(places, true);
    node.open(places, true);
  }
  // On the deque of `by`, and within reach of others.
  void put(task& t, unsigned by) {
    rules.next = destination::own();
    s.placement.place(s.crew[by], &t.r);
    s.placement.expose(s.crew[by]);
  }
};

}  // namespace

TEST_CASE("hierarchy: each level has its own mates, and nobody else") {
  eight_workers t;
  task at_leaf, at_node, elsewhere;
  t.put(at_leaf, 1);
  t.put(at_node, 2);
  t.put(elsewhere, 5);
  worker<notes>& w = t.s.crew[0];
  CHECK((t.leaf.visible(w) && t.node.visible(w)));
  CHECK(t.leaf.take(w) == &at_leaf.r);
  CHECK(t.leaf.take(w) == nullptr);
  CHECK(t.node.take(w) == &at_node.r);
  CHECK(t.node.take(w) == nullptr);
  CHECK((!t.leaf.visible(w) && !t.node.visible(w)));
  CHECK(t.leaf.take(t.s.crew[4]) == &elsewhere.r);
}

TEST_CASE("hierarchy: a leaf called idle is passed over, and busy again when somebody sees a task there") {
  eight_workers t;
  task a;
  t.put(a, 1);
  t.s.placement.leaves().found_empty(0);  // as a thief that looked just before the push
  worker<notes>& w = t.s.crew[0];
  CHECK(t.leaf.take(w) == nullptr);
  CHECK(t.leaf.visible(w));
  CHECK(t.leaf.take(w) == &a.r);
}

TEST_CASE("hierarchy: a leaf called idle is busy again when an owner there shares what it had kept private") {
  eight_workers t;
  task shared, kept;
  t.rules.next = destination::own();
  worker<notes>&owner = t.s.crew[1], &thief = t.s.crew[0];
  t.s.placement.place(owner, &shared.r);
  t.s.placement.place(owner, &kept.r);
  CHECK(t.leaf.take(thief) == &shared.r);
  CHECK(t.leaf.take(thief) == nullptr);
  t.s.placement.keep_within_reach(owner);
  CHECK(t.leaf.take(thief) == &kept.r);
}

TEST_CASE(
    "hierarchy: who finds nothing ends the calm, at its leaf and where the policy wants it at those of the node") {
  eight_workers t;
  auto& leaves = t.s.placement.leaves();
  const auto calm_all = [&] {
    for (unsigned w : {0u, 2u, 4u}) leaves.pushed(w, 9);
  };
  calm_all();
  CHECK(t.leaf.take(t.s.crew[1]) == nullptr);
  CHECK((!leaves.calm(0) && leaves.calm(2) && leaves.calm(4)));
  calm_all();
  CHECK(t.node.take(t.s.crew[1]) == nullptr);
  CHECK((leaves.calm(0) && !leaves.calm(2) && leaves.calm(4)));
}

TEST_CASE("hierarchy: the queue of the own node is nobody else's") {
  eight_workers t;
  task a;
  t.rules.next = destination::node(1);
  t.s.placement.place(t.s.crew[0], &a.r);
  CHECK(!t.home.visible(t.s.crew[3]));
  CHECK(t.home.take(t.s.crew[3]) == nullptr);
  CHECK(t.home.visible(t.s.crew[6]));
  CHECK(t.home.take(t.s.crew[6]) == &a.r);
}

TEST_CASE("hierarchy: what the reserve leaves is seen from every leaf") {
  eight_workers t;
  task a, b;
  for (task* x : {&a, &b}) t.put(*x, 8);
  for (const unsigned id : {0u, 7u}) {
    worker<notes>& w = t.s.crew[id];
    CHECK((!t.leaf.visible(w) && !t.node.visible(w) && t.left_behind.visible(w)));
    CHECK(t.left_behind.take(w) == (id == 0 ? &a.r : &b.r));
  }
  CHECK(!t.left_behind.visible(t.s.crew[0]));
  CHECK(t.left_behind.take(t.s.crew[0]) == nullptr);
}

}  // namespace weft::sched
