// What the rows of Weft's own policies answer, word by word. That each robs everybody: registry_test.cpp; how they run
// programs: tests/conformance/policy.cpp.
#include "sched/policies/built_in.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

namespace weft::sched {
namespace {

using to = answers::to;
using queue = destination::queue;

// Two memory nodes of two workers.
[[nodiscard]] place::tree four() {
  return place::tree({{.cpu = 0}, {.cpu = 1}, {.cpu = 2, .cache = 1, .node = 1}, {.cpu = 3, .cache = 1, .node = 1}}, 4);
}
[[nodiscard]] detail::record hinted(std::uint8_t near) {
  detail::record r{};
  r.near = near & 63u;
  return r;
}
constexpr std::uint8_t second = 2;  // the wish for node 1

// Where a row sends a task, as a word and a number.
[[nodiscard]] std::string sent(const answers& says, unsigned self, const detail::record& r) {
  const place::tree places = four();
  base::random rng(1);
  built_in p(says, places);
  p.hint_given();
  const destination d = p.ready(self, r, rng);
  constexpr const char* words[] = {"own", "central", "urgent", "worker", "node", "pile"};
  const std::string word = words[static_cast<unsigned>(d.where)];
  return d.where == queue::node || d.where == queue::pile ? word + ' ' + std::to_string(d.number) : word;
}

}  // namespace

TEST_CASE("built in: where each word sends a task, with hints and without") {
  const detail::record plain{}, there = hinted(second), all = hinted(locality::spans);
  struct line {
    to ready;
    const char *plain, *away, *here, *outside, *spans;
  };
  constexpr line lines[] = {
      {to::own, "own", "own", "own", "own", "own"},
      {to::central, "central", "central", "central", "central", "central"},
      {to::pile, "pile 0", "pile 0", "pile 1", "central", "pile 0"},
      {to::hinted, "own", "node 1", "own", "node 1", "central"},
      {to::hinted_or_all, "central", "node 1", "own", "node 1", "central"},
      {to::address, "own", "node 1", "node 1", "node 1", "own"},
  };
  for (const line& l : lines) {
    const answers says{.ready = l.ready};
    CAPTURE(static_cast<int>(l.ready));
    CHECK(sent(says, 0, plain) == l.plain);
    CHECK(sent(says, 0, there) == l.away);
    CHECK(sent(says, 2, there) == l.here);
    CHECK(sent(says, policy::nobody, there) == l.outside);
    CHECK(sent(says, 0, all) == l.spans);
  }
}

TEST_CASE("built in: a policy is asked for what it names, and for nothing else") {
  const place::tree places = four();
  for (unsigned word = 0; word <= static_cast<unsigned>(to::round); ++word) {
    const answers says{.ready = static_cast<to>(word)};
    const built_in p(says, places);
    CAPTURE(word);
    const bool pushed = says.ready == to::cheapest || says.ready == to::cheap_by_chance || says.ready == to::round;
    const bool node = says.ready == to::hinted || says.ready == to::hinted_or_all || says.ready == to::address;
    CHECK(p.always_own_deque() == (says.ready == to::own));
    CHECK(p.uses_nodes() == node);
    CHECK(p.uses_piles() == (says.ready == to::pile));
    CHECK(p.pushes() == pushed);
    CHECK(p.pushes_to_far_end() == (says.ready == to::round));
  }
}

TEST_CASE("built in: in turn go tasks that were ready when the program submitted them, and no others (SuperGlue 3.2)") {
  const place::tree places = four();
  const answers says{.ready = to::round};
  built_in p(says, places);
  base::random rng(1);
  detail::record at_once{}, waited{}, of_body{}, body{}, scope{};
  begin(at_once, detail::record_state::filling);
  begin(of_body, detail::record_state::filling);
  begin(waited, detail::record_state::ready);
  of_body.parent = &body;
  scope.kind = detail::record_kind::scope;
  const auto next = [&](unsigned self, const detail::record& r) {
    const destination d = p.ready(self, r, rng);
    CHECK((d.where == queue::own || (d.where == queue::worker && d.bounded)));
    return d.where == queue::own ? -1 : static_cast<int>(d.number);
  };
  for (const int to : {0, 1, 2, 3, 0, 1}) CHECK(next(0, at_once) == to);
  CHECK(next(0, waited) == -1);
  CHECK(next(0, of_body) == -1);
  at_once.parent = &scope;  // of a finish in the program
  CHECK(next(0, at_once) == 2);
  for (const int to : {0, 1, 2}) CHECK(next(policy::nobody, at_once) == to);
}

TEST_CASE("built in: sleepers are woken by chance where a row says so") {
  const place::tree places = four();
  CHECK_FALSE(built_in(answers{}, places).wakes_by_chance());
  const answers says{.wakes_by_chance = true};
  CHECK(built_in(says, places).wakes_by_chance());
}

TEST_CASE("built in: partners are for those who would rob the nearest anywhere") {
  const place::tree places = four();
  const auto has = [&places](const answers& says) { return built_in(says, places).has_partners(); };
  CHECK(has({}));
  CHECK_FALSE(has({.victim = answers::from::chance}));
  CHECK_FALSE(has({.levels = search_levels::near_to_far}));
}

TEST_CASE("built in: a policy that waits for hints says the defaults until there are some") {
  const place::tree places = four();
  const answers says{.ready = to::hinted, .levels = search_levels::near_to_far, .once_hinted = true};
  built_in p(says, places);
  base::random rng(1);
  CHECK((p.awaits_hints() && p.always_own_deque() && p.uses_nodes() && p.has_partners()));
  CHECK(p.ready(0, hinted(second), rng).where == queue::own);
  p.hint_given();
  CHECK(p.ready(0, hinted(second), rng).where == queue::node);
  CHECK_FALSE(p.has_partners());

  const place::tree one({{.cpu = 0}, {.cpu = 1}}, 2);
  CHECK_FALSE(make_built_in(says, one)->awaits_hints());
  CHECK(make_built_in(says, places)->awaits_hints());
}

TEST_CASE("built in: by chance a sweep starts anywhere and goes round, and takes what its row says") {
  const place::tree places = four();
  const answers says{.victim = answers::from::chance, .how_many = answers::share::one};
  built_in p(says, places);
  base::random rng(3);
  std::set<unsigned> first;
  for (unsigned sweep = 0; sweep < 50; ++sweep) {
    std::set<unsigned> named;
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned v = p.victim(1, i, rng);
      if (i == 0) first.insert(v);
      named.insert(v);
    }
    CHECK(named == std::set<unsigned>{0, 2, 3});
  }
  CHECK(first == std::set<unsigned>{0, 2, 3});
  CHECK(p.how_many(0, 1, 9) == 1);
  CHECK(built_in(answers{}, places).how_many(0, 1, 9) == 5);
}

TEST_CASE("built in: each name stands once") {
  std::set<std::string> names;
  for (const built_in_row& r : built_in_rows()) names.insert(r.name.name);
  CHECK(names.size() == built_in_count);
  CHECK(std::string(built_in_rows().front().name.name) == "local");
}

}  // namespace weft::sched
