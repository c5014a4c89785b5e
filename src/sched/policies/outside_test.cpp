// A policy that a program brought: what it is asked, with what, and what becomes of answers that cannot be followed.
// How such policies run programs: tests/conformance/own_policies.cpp.
#include "sched/policies/outside.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "capture.hpp"
#include "weft/error.hpp"

namespace weft::sched {
namespace {

[[nodiscard]] place::tree four() {
  return place::tree({{.cpu = 0}, {.cpu = 1}, {.cpu = 2, .cache = 1, .node = 1}, {.cpu = 3, .cache = 1, .node = 1}}, 4);
}
constexpr weft::policy silent{.name = "silent", .about = "a table without functions"};

// What a bad answer makes the table say, and that the answer in its place is right.
template <class Ask> [[nodiscard]] std::string said_by(const weft::policy& table, Ask ask) {
  const place::tree places = four();
  return stderr_of([&] {
    outside p(table, places);
    for (int i = 0; i < 3; ++i) ask(p);
  });
}
[[nodiscard]] std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("outside policy: a table without functions answers as every policy does that answers nothing") {
  const place::tree places = four();
  outside p(silent, places);
  policy usual(places);
  const detail::record r{};
  base::random rng(1);
  CHECK(p.ready(2, r, rng).where == destination::queue::own);
  for (unsigned self = 0; self < 4; ++self)
    for (unsigned i = 0; i < 3; ++i) CHECK(p.victim(self, i, rng) == usual.victim(self, i, rng));
  CHECK((p.how_many(0, 1, 9) == 5 && p.width(0, r, 1, 3) == 3));
  CHECK((p.always_own_deque() && p.has_partners() && !p.uses_nodes() && !p.uses_piles() && !p.pushes()));
  CHECK((p.levels() == usual.levels() && p.elastic() == usual.elastic() && !p.child_first()));
}

TEST_CASE("outside policy: it is told who asks, of what task, and where everybody is") {
  static const detail::record* seen;
  const weft::policy asks{
      .name = "asks",
      .about = "looks at all there is",
      .make = [](const policy_places& p) -> void* {
        CHECK((p.workers() == 4 && p.nodes() == 2 && p.node_of(1) == 0 && p.node_of(2) == 1));
        CHECK((p.neighbour(0, 0) == 1 && p.distance(0, 1) == 1 && p.distance(0, 3) == 3));
        return new int(7);
      },
      .end = [](void* state) { delete static_cast<int*>(state); },
      .ready =
          [](void* state, const policy_places& p, unsigned self, const policy_task& r, chance& draw) {
            CHECK((*static_cast<int*>(state) == 7 && self == 3 && p.workers() == 4));
            CHECK((std::string(r.name()) == "shown" && r.is_urgent() && r.accesses() == 0));
            CHECK((r.hinted_node(p) == 1 && draw.below(1) == 0 && draw.below(5) < 5));
            return destination::node(1);
          },
      .ran =
          [](void* state, unsigned self, const policy_task& r, double ns) {
            CHECK((*static_cast<int*>(state) == 7 && self == 2 && ns == 1.5 && std::string(r.name()) == "shown"));
            seen = nullptr;
          }};
  const place::tree places = four();
  outside p(asks, places);
  detail::record r{};
  r.name = "shown";
  r.urgent = true;
  r.near = 2;  // node 1
  seen = &r;
  base::random rng(1);
  const destination d = p.ready(3, r, rng);
  CHECK((d.where == destination::queue::node && d.number == 1));
  p.ran(2, r, 1500);
  CHECK(seen == nullptr);
  CHECK((!p.always_own_deque() && p.uses_nodes() && p.uses_piles() && p.pushes()));
}

TEST_CASE("outside policy: an answer that cannot be followed is said once, and the default takes its place") {
  const detail::record r{};
  base::random rng(1);
  weft::policy t = silent;
  t.name = "wrong";
  t.ready = [](void*, const policy_places&, unsigned, const policy_task&, chance&) { return destination::worker(4); };
  std::string said = said_by(t, [&](outside& p) { CHECK(p.ready(0, r, rng).where == destination::queue::own); });
  CHECK_MESSAGE(said.find("policy 'wrong' sends a task to worker 4 of 4") != std::string::npos, said);
  CHECK(lines_of(said) == 1);
  t.ready = [](void*, const policy_places&, unsigned, const policy_task&, chance&) { return destination::pile(2); };
  said = said_by(t, [&](outside& p) { CHECK(p.ready(0, r, rng).where == destination::queue::own); });
  CHECK_MESSAGE(said.find("to memory node 2 of 2") != std::string::npos, said);
  t.victim = [](void*, const policy_places&, unsigned self, unsigned, chance&) { return self; };
  said = said_by(t, [&](outside& p) { CHECK((p.victim(1, 0, rng) == 0 && !p.has_partners())); });
  CHECK_MESSAGE(said.find("lets worker 1 of 4 rob worker 1") != std::string::npos, said);
  t.how_many = [](void*, unsigned, unsigned, unsigned available) { return available + 1; };
  said = said_by(t, [&](outside& p) { CHECK(p.how_many(0, 1, 4) == 2); });
  CHECK_MESSAGE(said.find("takes 5 of 4 tasks") != std::string::npos, said);
  t.width = [](void*, unsigned, const policy_task&, unsigned least, unsigned) { return least - 1; };
  said = said_by(t, [&](outside& p) { CHECK(p.width(0, r, 2, 4) == 4); });
  CHECK_MESSAGE(said.find("makes a team of 2 to 4 workers 1 wide") != std::string::npos, said);
  t.ran = [](void*, unsigned, const policy_task&, double) { throw std::runtime_error("no"); };
  said = said_by(t, [&](outside& p) { p.ran(0, r, 1); });
  CHECK_MESSAGE(said.find("throws 'no'") != std::string::npos, said);
  CHECK(lines_of(said) == 1);
}

}  // namespace weft::sched
