// What a policy answers that answers nothing itself.
#include "sched/policies/policy.hpp"

#include <doctest/doctest.h>

#include <set>

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

}  // namespace weft::sched
