// Members for several workers at one moment: who gets which, and whether the first is to wait.
#include "sched/place/team_boxes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct fixture {
  notes machine;
  testing::scheduler<notes> s{machine, 4};
  crew<notes>& all = s.crew;
  team_boxes<notes> boxes{machine, s.sleep, all};
  std::vector<task> tasks{4};
  std::vector<detail::record*> members;
  std::vector<base::plain<std::uint16_t>> asleep;
  fixture() {
    for (task& t : tasks) members.push_back(&t.r);
  }
  std::vector<detail::record*> content(unsigned id) {
    std::vector<detail::record*> found;
    while (detail::record* r = all[id].team_box.pop()) found.push_back(r);
    return found;
  }
};

using records = std::vector<detail::record*>;

}  // namespace

TEST_CASE("team boxes: the first member is the caller's, and each of the others in the box of its worker") {
  fixture f;
  const std::array<std::uint16_t, 3> ids = {1, 0, 3};
  CHECK(f.boxes.put(f.all[1], ids, std::span(f.members).first(3), f.asleep));
  CHECK(f.content(0) == records{f.members[1]});
  CHECK(f.content(1).empty());
  CHECK(f.content(2).empty());
  CHECK(f.content(3) == records{f.members[2]});
  for (const unsigned id : {0u, 3u}) CHECK(detail::peek(f.all[id].tick_limit) == 0);  // they look before the next body
  CHECK(f.asleep.empty());
}

TEST_CASE("team boxes: behind what stands there already the first member waits, too") {
  fixture f;
  const std::array<std::uint16_t, 3> ids = {3, 1, 2};
  f.all[3].team_box.push(f.members[3]);
  CHECK(!f.boxes.put(f.all[3], ids, std::span(f.members).first(3), f.asleep));
  CHECK(f.content(3) == records{f.members[3], f.members[0]});
  CHECK(f.content(1) == records{f.members[1]});
  CHECK(f.content(2) == records{f.members[2]});
}

TEST_CASE("team boxes: of seats that all are others' each gets its own") {
  fixture f;
  const std::array<std::uint16_t, 2> ids = {0, 2};
  f.boxes.summon(ids, std::span(f.members).first(2));
  CHECK(f.content(0) == records{f.members[0]});
  CHECK(f.content(2) == records{f.members[1]});
  for (unsigned id = 0; id < 4; ++id) CHECK(f.all[id].team_box.empty());
}

}  // namespace weft::sched
