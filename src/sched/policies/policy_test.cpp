// What a policy answers that answers nothing itself, and what the registered ones say about the questions they want to
// be asked. How they run programs: tests/conformance/policy.cpp.
#include "sched/policies/policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "weft/error.hpp"

namespace weft::sched {
namespace {

[[nodiscard]] place::tree four() {
  return place::tree({{.cpu = 0}, {.cpu = 1}, {.cpu = 2, .cache = 1, .node = 1}, {.cpu = 3, .cache = 1, .node = 1}}, 4);
}

}  // namespace

TEST_CASE("policy: by default tasks stay, and the nearest worker is robbed first") {
  const place::tree places = four();
  policy p(places);
  const detail::record r{};
  base::random rng(1);
  CHECK(p.ready(2, r, rng).where == destination::queue::own);
  CHECK(p.ready(policy::nobody, r, rng).where == destination::queue::own);
  CHECK((p.always_own_deque() && !p.uses_nodes() && !p.pushes()));
  CHECK(p.victim(0, 0, rng) == 1);
  CHECK(p.victim(3, 0, rng) == 2);
  std::set<unsigned> named;
  for (unsigned i = 0; i < 3; ++i) named.insert(p.victim(0, i, rng));
  CHECK(named == std::set<unsigned>{1, 2, 3});
}

TEST_CASE("policy: destinations say where and, of workers and nodes, which") {
  CHECK((destination::worker(7).where == destination::queue::worker && destination::worker(7).number == 7));
  CHECK((destination::node(3).where == destination::queue::node && destination::node(3).number == 3));
  CHECK((destination::pushed(7).where == destination::queue::worker && destination::pushed(7).number == 7));
  CHECK((destination::pushed(7).bounded && !destination::worker(7).bounded));
  CHECK(destination::central().where == destination::queue::central);
  CHECK(destination::urgent().where == destination::queue::urgent);
}

TEST_CASE("policy: each registered one is found by its name, an unknown name is answered with those there are") {
  const place::tree places = four();
  for (const policy_entry& e : policies()) {
    CHECK(&find_policy(e.name.name) == &e);
    CHECK(make_policy(e, places) != nullptr);
  }
  try {
    static_cast<void>(find_policy("no such policy"));
    FAIL_CHECK("it was found");
  } catch (const error& e) {
    for (const policy_entry& p : policies()) CHECK(std::string(e.what()).find(p.name.name) != std::string::npos);
  }
}

// Over one sweep everybody must have a chance. What is drawn names somebody else each time, and everybody in a few
// sweeps.
TEST_CASE("policy: no registered one robs itself, and each comes to everybody") {
  const place::tree places = four();
  for (const policy_entry& e : policies()) {
    const auto p = make_policy(e, places);
    base::random rng(7);
    for (unsigned self = 0; self < 4; ++self) {
      std::set<unsigned> named;
      for (unsigned sweep = 0; sweep < 20; ++sweep)
        for (unsigned i = 0; i < 3; ++i) named.insert(p->victim(self, i, rng));
      INFO(e.name.name);
      CHECK(named.size() == 3);
      CHECK(named.count(self) == 0);
      CHECK(*named.rbegin() < 4);
    }
  }
}

}  // namespace weft::sched
