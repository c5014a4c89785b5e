// Where a ready task goes: each destination leads to its own queue and wakes whom it must; what clauses fix is stronger
// than the policy; and the policy is asked about every task, those included that would run at once.
#include "sched/place/placement.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "scheduler.hpp"
#include "weft/runtime.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;
using queue = destination::queue;
using records = std::vector<detail::record*>;

// Four workers on two memory nodes; the policy answers what the test says.
struct ruled {
  notes machine;
  testing::scheduler<notes> s{machine, 4};
  worker<notes> guest;
  explicit ruled(destination answer) {
    s.open_with_policy();
    s.policy.next = answer;
    guest.role = role::guest;
    guest.id = worker<notes>::no_id;
  }
  // Where the only task is, after place(); says "lost" by -1 and "twice" by -2.
  [[nodiscard]] int where() {
    int found = -1;
    const auto look = [&found](const records& in, int name) {
      if (!in.empty()) found = found == -1 && in.size() == 1 ? name : -2;
    };
    for (unsigned id = 0; id < 4; ++id) look(s.own(id), static_cast<int>(id));
    for (unsigned id = 0; id < 4; ++id) look(s.content(s.crew[id].box), 10 + static_cast<int>(id));
    for (unsigned n = 0; n < s.placement.nodes().size(); ++n)
      look(s.content(s.placement.nodes()[n]), 20 + static_cast<int>(n));
    for (unsigned n = 0; n < s.placement.piles().size(); ++n)
      look(s.content(s.placement.piles()[n]), 40 + static_cast<int>(n));
    look(s.content(s.placement.central()), 30);
    look(s.content(s.placement.urgent()), 31);
    return found;
  }
};
constexpr int box_of = 10, node = 20, central = 30, urgent = 31, pile_of = 40;

}  // namespace

TEST_CASE("placement: each destination is its queue") {
  const std::pair<destination, int> all[] = {{destination::own(), 1},
                                             {destination::central(), central},
                                             {destination::urgent(), urgent},
                                             {destination::worker(2), box_of + 2},
                                             {destination::worker(1), box_of + 1},
                                             {destination::node(0), node + 0},
                                             {destination::node(1), node + 1},
                                             {destination::pile(1), pile_of + 1}};
  for (const auto& [answer, place] : all) {
    ruled t(answer);
    task x;
    t.s.placement.place(t.s.crew[1], &x.r);
    CHECK(x.r.state == detail::record_state::ready);
    CHECK(t.where() == place);
  }
}

TEST_CASE("placement: a pin is stronger than everything, priority stronger than the policy") {
  for (const destination answer : {destination::own(), destination::central(), destination::node(1)}) {
    ruled t(answer);
    task pinned, hurried, both;
    pinned.r.pin = 3;
    both.r.pin = 2;
    hurried.r.urgent = both.r.urgent = true;
    t.s.placement.place(t.s.crew[0], &pinned.r);
    CHECK(t.where() == box_of + 3);
    t.s.placement.place(t.s.crew[0], &both.r);
    CHECK(t.where() == box_of + 2);
    CHECK(!t.s.attention.called());
    t.s.placement.place(t.s.crew[0], &hurried.r);
    CHECK(t.s.attention.called());  // announced before it is there
    CHECK(t.where() == urgent);
  }
}

TEST_CASE("placement: a guest has no deque: what would stay goes to all") {
  ruled t(destination::own());
  task x, pinned, hurried;
  t.s.placement.place(t.guest, &x.r);
  CHECK(t.where() == central);
  pinned.r.pin = 1;
  t.s.placement.place(t.guest, &pinned.r);
  CHECK(t.where() == box_of + 1);
  hurried.r.urgent = true;
  t.s.placement.place(t.guest, &hurried.r);
  CHECK(t.where() == urgent);
  t.s.policy.next = destination::node(1);
  task y;
  t.s.placement.place(t.guest, &y.r);
  CHECK(t.where() == node + 1);
}

TEST_CASE("placement: without a question too a guest's tasks go to all") {
  notes machine;
  testing::scheduler<notes> s(machine, 2);
  s.open();
  worker<notes> guest;
  guest.role = role::guest;
  guest.id = worker<notes>::no_id;
  task x;
  s.placement.place(guest, &x.r);
  CHECK(s.content(s.placement.central()) == records{&x.r});
  CHECK(s.policy.asked.empty());
}

TEST_CASE("placement: the policy is asked about every task, whatever its clauses say, and by whom") {
  ruled t(destination::own());
  task plain, pinned, hurried, outside;
  pinned.r.pin = 2;
  hurried.r.urgent = true;
  t.s.placement.place(t.s.crew[1], &plain.r);
  t.s.placement.place(t.s.crew[0], &pinned.r);
  t.s.placement.place(t.s.crew[3], &hurried.r);
  t.s.placement.place(t.guest, &outside.r);
  const std::vector<testing::answers::question> all = {
      {1, &plain.r}, {0, &pinned.r}, {3, &hurried.r}, {policy::nobody, &outside.r}};
  CHECK(t.s.policy.asked == all);
}

TEST_CASE("placement: it is asked about a task that may run at once, too") {
  ruled t(destination::own());
  task plain;
  plain.r.plain = true;
  worker<notes>& w = t.s.crew[1];
  CHECK(t.s.placement.follows(w, plain.r));
  CHECK(t.s.policy.asked.size() == 1);
  t.s.policy.next = destination::worker(1);
  CHECK(t.s.placement.follows(w, plain.r));
  for (const destination elsewhere : {destination::worker(2), destination::central(), destination::node(0)}) {
    t.s.policy.next = elsewhere;
    CHECK(!t.s.placement.follows(w, plain.r));
  }
  CHECK(t.s.policy.asked.size() == 5);
}

TEST_CASE("placement: what follows without a policy: tasks that may run here, neither urgent nor pinned elsewhere") {
  notes machine;
  testing::scheduler<notes> s(machine, 2);
  s.open();
  CHECK(s.placement.own_only());
  task x, pinned, hurried, waiting;
  CHECK(s.placement.follows(s.crew[1], x.r));
  pinned.r.pin = 1;
  CHECK(s.placement.follows(s.crew[1], pinned.r));
  CHECK(!s.placement.follows(s.crew[0], pinned.r));
  hurried.r.urgent = true;
  CHECK(!s.placement.follows(s.crew[1], hurried.r));
  waiting.r.kind = detail::record_kind::resume;
  CHECK(!s.placement.follows(s.crew[1], waiting.r));
}

TEST_CASE("placement: what was to follow and is put off stays with its worker, out of reach if it is pinned there") {
  notes machine;
  testing::scheduler<notes> s(machine, 2);
  s.open();
  task plain, pinned;
  pinned.r.pin = 1;
  s.placement.put_off(s.crew[1], &plain.r);
  CHECK(s.own(1) == records{&plain.r});
  s.placement.put_off(s.crew[1], &pinned.r);
  CHECK(s.own(1).empty());
  CHECK(s.content(s.crew[1].box) == records{&pinned.r});
  ruled t(destination::worker(1));
  task named;
  t.s.placement.put_off(t.s.crew[1], &named.r);
  CHECK(t.where() == box_of + 1);
}

TEST_CASE("placement: a waiting stack asks no policy: it goes on where it became ready, or where it must") {
  ruled t(destination::central());
  waiter anywhere, main;
  anywhere.r.kind = main.r.kind = detail::record_kind::resume;
  anywhere.r.pin = detail::record::unpinned;
  t.s.placement.place(t.s.crew[2], &anywhere.r);
  CHECK(t.where() == 2);
  main.r.pin = 0;
  t.s.placement.place(t.s.crew[2], &main.r);
  CHECK(t.where() == box_of + 0);
  CHECK(t.s.policy.asked.empty());
}

TEST_CASE("placement: a thread from outside is signalled and in no queue") {
  ruled t(destination::central());
  waiter x;
  x.r.kind = detail::record_kind::external;
  t.s.placement.place(t.s.crew[0], &x.r);
  CHECK(detail::peek(x.signal) != 0);
  CHECK(t.where() == -1);
}

TEST_CASE("placement: whoever sleeps is woken: anybody for a shared queue, the one for its own") {
  ruled t(destination::central());
  for (unsigned id = 0; id < 4; ++id) static_cast<void>(t.s.sleep.announce(id));
  task x, y, z;
  t.s.placement.place(t.s.crew[0], &x.r);
  CHECK(t.machine.take_woken().size() == 1);
  t.s.sleep.give_up();  // as the one that was woken
  t.s.policy.next = destination::worker(3);
  t.s.placement.place(t.s.crew[0], &y.r);
  CHECK(t.machine.take_woken() == std::vector<unsigned>{3});
  t.s.sleep.give_up();
  t.s.policy.next = destination::worker(1);
  t.s.placement.place(t.s.crew[1], &z.r);
  CHECK(t.machine.take_woken().empty());  // whoever places it is awake
}

TEST_CASE("placement: long bodies leave nothing out of reach, short ones only what thieves do not ask for") {
  notes machine;
  testing::scheduler<notes> s(machine, 2);
  s.open();
  worker<notes>& w = s.crew[0];
  task x, y, z;
  deque<notes>::push(w, &x.r);
  deque<notes>::push(w, &y.r);
  w.pace.coarse = true;
  s.placement.keep_within_reach(w);
  CHECK(!deque<notes>::has_private(w));
  deque<notes>::push(w, &z.r);
  w.pace.coarse = false;
  s.placement.keep_within_reach(w);
  CHECK(deque<notes>::has_private(w));  // there is something to steal
  CHECK(s.own(0).size() == 3);
}

TEST_CASE("placement: what a body submits the short way is put within reach where thieves starve") {
  using H = machine::host;
  weft::runtime rt({.workers = 1, .machine = "host"});
  std::uint32_t within_reach[3] = {};
  rt.submit([&] {
    auto& w = static_cast<worker<H>&>(*detail::self());
    for (int i = 0; i < 8; ++i) rt.submit([] {});
    const auto look = [&] { return shared_part::of(H::load(w.shared, base::relaxed)).size; };
    within_reach[0] = look();
    rt.submit([] {});
    within_reach[1] = look();
    theft<H>::starve(w);
    rt.submit([] {});
    within_reach[2] = look();
  });
  rt.wait();
  CHECK(within_reach[1] == within_reach[0]);
  CHECK(within_reach[2] > within_reach[1]);
}

// What it was to be woken for is all that there is: nobody else looks there.
TEST_CASE("placement: a main thread that goes away leaves its box to others, and the seats in it to nobody") {
  notes machine;
  testing::scheduler<notes> s(machine, 2);
  s.open();
  task member;
  worker<notes>& main = s.crew.main();
  transition(member.r, detail::record_state::filling, detail::record_state::ready);
  main.team_box.push(&member.r);
  sched::gang<notes> g;
  const std::vector<std::uint16_t> both{0, 1};
  g.make(both);
  s.placement.team_boxes().seats_of_main().expect(g);
  s.placement.team_boxes().main_goes_away();
  CHECK(g.answers(1, sched::gang<notes>::answer::held) == sched::gang<notes>::step::complete);
  CHECK(!g.is_held(0));
  CHECK(main.team_box.pop() == &member.r);
}

}  // namespace weft::sched
