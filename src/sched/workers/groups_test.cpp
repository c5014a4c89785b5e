// Who the members of a team are: blocks of the smallest place that has enough, around the worker that took it.
#include "sched/workers/groups.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace weft::sched {
namespace {

using list = std::vector<std::uint16_t>;

// Two nodes of two caches of four cores.
[[nodiscard]] place::tree sixteen() {
  std::vector<place::core> cores;
  for (unsigned i = 0; i < 16; ++i) cores.push_back({i, i / 4, i / 8});
  return {cores, 16};
}
[[nodiscard]] list around(const groups& g, unsigned worker, unsigned width, unsigned absent = groups::nobody) {
  list members;
  g.around(worker, width, absent, members);
  return members;
}

}  // namespace

TEST_CASE("groups: the smallest place that has so many, in blocks, and the one who took it first") {
  const place::tree places = sixteen();
  groups g;
  g.open(places);
  CHECK(g.widest() == 16);
  CHECK(around(g, 5, 1) == list{5});
  CHECK(around(g, 5, 2) == list{5, 4});
  CHECK(around(g, 6, 2) == list{6, 7});
  CHECK(around(g, 6, 4) == list{6, 4, 5, 7});
  CHECK(around(g, 6, 3) == list{6, 4, 5});
  CHECK(around(g, 7, 3) == list{7, 5, 6});  // the last block is moved back to fit
  CHECK(around(g, 2, 5) == list{2, 0, 1, 3, 4});
  for (unsigned worker = 8; worker < 16; ++worker)
    for (const std::uint16_t m : around(g, worker, 5)) CHECK(m >= 8);  // of its node, which five do not divide
  CHECK(around(g, 13, 8) == list{13, 8, 9, 10, 11, 12, 14, 15});
  CHECK(around(g, 3, 16).size() == 16);
}

TEST_CASE("groups: one who is absent is replaced, unless there are too few") {
  const place::tree places = sixteen();
  groups g;
  g.open(places);
  CHECK(around(g, 1, 2, 0) == list{1, 2});
  CHECK(around(g, 5, 2, 0) == list{5, 4});
  CHECK(around(g, 0, 2, 0) == list{0, 1});  // it has taken the task, so it is there
  CHECK(around(g, 1, 16, 0).size() == 16);
  g.leave_out(15);
  CHECK(g.widest() == 15);
  CHECK(around(g, 14, 2) == list{14, 13});
  CHECK(around(g, 15, 2) == list{15, 12});  // a team that it takes itself
  CHECK(around(g, 15, 1) == list{15});
  CHECK(around(g, 15, 15, 0).size() == 15);
  for (unsigned width = 1; width <= 15; ++width) {
    const list members = around(g, 15, width);
    CHECK(members.front() == 15);
    CHECK(std::is_sorted(members.begin() + 1, members.end()));
  }
  for (unsigned worker = 0; worker < 15; ++worker)
    for (unsigned width = 1; width <= 15; ++width) {
      const list members = around(g, worker, width, 0);
      CHECK(members.size() == width);
      CHECK(members.front() == worker);
      CHECK(std::is_sorted(members.begin() + 1, members.end()));
      CHECK(std::set<std::uint16_t>(members.begin(), members.end()).size() == width);
      CHECK(std::count(members.begin(), members.end(), 15) == 0);
      if (worker != 0 && width < 15) CHECK(std::count(members.begin(), members.end(), 0) == 0);
    }
}

TEST_CASE("groups: more workers than cores, and one worker") {
  std::vector<place::core> cores{{0, 0, 0}, {1, 0, 0}};
  const place::tree five(cores, 5), one({{0, 0, 0}}, 1);
  groups g, single;
  g.open(five);
  single.open(one);
  CHECK(around(g, 4, 2) == list{4, 3});
  CHECK(around(g, 2, 4) == list{2, 0, 1, 3});
  CHECK((single.widest() == 1 && around(single, 0, 1) == list{0}));
}

TEST_CASE("party: remembers the members of the last team, and of no other") {
  const place::tree places = sixteen();
  groups g;
  g.open(places);
  party last;
  for (const unsigned absent : {groups::nobody, 0u})
    for (const unsigned width : {1u, 2u, 4u, 8u, 2u})
      for (const unsigned worker : {5u, 5u, 0u, 5u})
        CHECK(last.around(g, worker, width, absent) == around(g, worker, width, absent));
}

}  // namespace weft::sched
