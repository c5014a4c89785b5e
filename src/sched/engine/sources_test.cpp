// The lists of sources: which policy has which, and in which order.
#include "sched/engine/sources.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "little_engine.hpp"

namespace weft::sched {
namespace {

using testing::notes;

// Says what the test tells it to.
struct says : policy {
  using policy::policy;
  search_levels levels() const noexcept override { return looks; }
  bool uses_nodes() const noexcept override { return nodes; }
  bool uses_piles() const noexcept override { return piles; }
  bool pushes() const noexcept override { return pushed; }
  search_levels looks = search_levels::flat;
  bool nodes = false, piles = false, pushed = false;
};
struct some final : source<notes> {
  explicit some(const char* name) : source<notes>(name, {}) {}
  detail::record* take(worker<notes>&) override { return nullptr; }
  bool visible(worker<notes>&) noexcept override { return false; }
};

struct fixture {
  notes machine;
  testing::little_engine<notes> s;
  sources<notes> lists{s, s.place};
  creation<notes> creates{nullptr, s, s.registrar, s.place.stealing, s.place.own};
  says rules{s.places};
  some room{"room"}, alarms{"alarms"}, in_order{"in order"};
  explicit fixture(unsigned workers = 4, bool with_reserve = false) : s(machine, workers, with_reserve) { s.open(); }

  [[nodiscard]] std::vector<std::string> of(unsigned id, source<notes>* at_times = nullptr,
                                            source<notes>* ordered = nullptr) {
    lists.open(s.places, rules);
    lists.list(s.crew[id], {at_times, ordered, creates, room});
    std::vector<std::string> names;
    for (const source<notes>* x : s.crew[id].sources) names.emplace_back(x->name());
    return names;
  }
};
using names = std::vector<std::string>;

constexpr const char *members = "the members of teams", *urgent = "the queue of urgent tasks", *mail = "the inbox",
                     *deque_of_its_own = "the own deque", *left_over = "what deques had no room for",
                     *central = "the central queue", *others = "the deques of others",
                     *leaf = "the deques at the same cache", *node = "the deques at the same memory node",
                     *home = "the queue of the own memory node", *over = "waits that are over";

}  // namespace

TEST_CASE("sources: by default the own deque, what is for all, the others, and waits last") {
  CHECK(fixture().of(1) == names{members, urgent, mail, deque_of_its_own, left_over, central, others, "room", over});
}

TEST_CASE("sources: near to far goes from the cache to the machine, and then on") {
  fixture f;
  f.rules.looks = search_levels::near_to_far;
  f.rules.nodes = true;
  const names got = f.of(1);
  const names wanted{members, urgent, mail, deque_of_its_own, left_over, leaf, home, node, central};
  CHECK(names(got.begin(), got.begin() + 9) == wanted);
  CHECK(got[got.size() - 3] == others);
}

TEST_CASE("sources: who looks near only sees nobody else, but for the reserve; upwards leaves out the node's") {
  fixture near(4, true), up(4, true);
  near.rules.looks = search_levels::near_only;
  up.rules.looks = search_levels::upwards;
  up.rules.nodes = true;
  const names reserve{"the deque of the reserve"};
  CHECK(near.of(1) ==
        names{members, urgent, mail, deque_of_its_own, left_over, leaf, node, central, reserve[0], "room", over});
  CHECK(up.of(1) ==
        names{members, urgent, mail, deque_of_its_own, left_over, home, central, leaf, reserve[0], "room", over});
}

TEST_CASE("sources: the reserve looks everywhere, whatever the policy says") {
  fixture f(4, true);
  f.rules.looks = search_levels::near_only;
  CHECK(f.of(4) == names{members, urgent, mail, deque_of_its_own, left_over, central, others, "room", over});
}

TEST_CASE("sources: what a policy never names is not looked for, and what it may name is") {
  fixture f;
  const std::size_t plain = f.of(1).size();
  fixture all;
  all.rules.nodes = all.rules.piles = all.rules.pushed = true;
  CHECK(all.of(1).size() == plain + 4);  // nodes, piles, pushed to it, pushed to others
}

TEST_CASE("sources: a creator has requests and nothing that others could run; who is told the order has only that") {
  fixture f;
  CHECK(f.creates.open(3));
  const names creator = f.of(3);
  CHECK(creator[1] == members);
  CHECK((creator.size() == 5 && creator.back() == over));

  fixture ordered;
  CHECK(ordered.of(1, &ordered.alarms, &ordered.in_order) == names{"alarms", "in order", "room", over});
}

}  // namespace weft::sched
