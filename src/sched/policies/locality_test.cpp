// Where hints send a task: the sums against those by hand, byte for byte where the data say so.
#include "sched/policies/locality.hpp"

#include <doctest/doctest.h>

namespace weft::sched {
namespace {

using where = memory_placement;

// Four nodes in a ring, one worker each.
struct ring {
  place::tree places{{{.cpu = 0, .cache = 0, .node = 0},
                      {.cpu = 1, .cache = 1, .node = 1},
                      {.cpu = 2, .cache = 2, .node = 2},
                      {.cpu = 3, .cache = 3, .node = 3}},
                     4,
                     {{0, 1, 2, 1}, {1, 0, 1, 2}, {2, 1, 0, 1}, {1, 2, 1, 0}}};
  locality wish;
  ring() { wish.open(places); }
  [[nodiscard]] int of(std::initializer_list<detail::near_clause> hints) const {
    const std::uint8_t near = wish.of(hints.begin(), hints.size());
    return near == locality::none ? -1 : near == locality::spans ? -2 : static_cast<int>(wish.node(near));
  }
};
constexpr int nothing = -1, the_machine = -2;
[[nodiscard]] detail::near_clause part(where how, std::uint64_t offset, std::uint64_t bytes, std::uint64_t whole) {
  return {{how, offset, whole}, bytes};
}

}  // namespace

TEST_CASE("locality: one node, or nothing known") {
  const ring r;
  CHECK(r.of({near_node(2)}) == 2);
  CHECK(r.of({near_node(7)}) == 3);
  CHECK(r.of({part(where::first_touch(), 0, 100, 100)}) == nothing);
  CHECK(r.of({part(where::first_touch(), 0, 1000, 1000), near_node(1)}) == 1);
  CHECK(r.of({part(where::blocked(), 0, 0, 4000)}) == nothing);  // an empty range
}

TEST_CASE("locality: an address is a share of the machine, counted round") {
  const ring r;
  CHECK((r.of({near_address(0)}) == 0 && r.of({near_address(0.2499)}) == 0 && r.of({near_address(0.25)}) == 1));
  CHECK((r.of({near_address(0.75)}) == 3 && r.of({near_address(0.999999)}) == 3 && r.of({near_address(1)}) == 0));
  CHECK((r.of({near_address(7.5)}) == 2 && r.of({near_address(-0.25)}) == 3 && r.of({near_address(-1e-20)}) == 3));
  CHECK((r.of({near_address(0.0 / 0.0)}) == 0 && r.of({near_address(1e300)}) == 0));
  for (int i = 0; i < 1000; ++i) CHECK(r.of({near_address(i / 1000.0)}) == i / 250);
}

TEST_CASE("locality: half-open ranges of blocked data, at and across the ends of blocks") {
  const ring r;
  const auto at = [&](std::uint64_t from, std::uint64_t to) {
    return r.of({part(where::blocked(), from, to - from, 4000)});
  };
  CHECK((at(0, 1000) == 0 && at(1000, 2000) == 1 && at(3000, 4000) == 3));  // an end at a block's end is not the next's
  CHECK((at(999, 1000) == 0 && at(1000, 1001) == 1));
  CHECK((at(0, 4000) == the_machine && at(500, 1500) == the_machine));
  CHECK((at(500, 1499) == 0 && at(501, 1501) == 1));
  CHECK(r.of({part(where::blocked(), 3, 3, 7)}) == 2);  // 7 bytes in blocks of two: 3 | 4 5
}

TEST_CASE("locality: blocks in turns, and chunks everywhere") {
  const ring r;
  const auto cyclic = where::block_cyclic(10);
  CHECK(r.of({part(cyclic, 40, 10, 1000)}) == 0);
  CHECK(r.of({part(cyclic, 55, 10, 1000)}) == the_machine);
  CHECK(r.of({part(cyclic, 54, 10, 1000)}) == 1);
  CHECK(r.of({part(cyclic, 0, 400, 1000)}) == the_machine);
  CHECK(r.of({part(where::interleaved(), 0, 40'000, 40'000)}) == the_machine);
  CHECK(r.of({part(where::interleaved(), 0, 4000, 4000)}) == 0);  // one page
}

TEST_CASE("locality: several hints count by their bytes, and what lies elsewhere by its way") {
  const ring r;
  CHECK(r.of({part(where::on_node(0), 0, 10, 10), part(where::on_node(1), 0, 30, 30)}) == 1);
  CHECK(r.of({part(where::on_node(0), 0, 10, 10), part(where::on_node(1), 0, 10, 10)}) == the_machine);
  // 51 of 100 bytes on node 0; from there the others have a way of 49 x 2, from node 1 all together of 51 x 1 + 49 x 1.
  CHECK(r.of({part(where::on_node(0), 0, 51, 51), part(where::on_node(2), 0, 49, 49)}) == 0);
  CHECK(r.of({part(where::on_node(0), 0, 52, 52), part(where::on_node(1), 0, 24, 24),
              part(where::on_node(2), 0, 24, 24)}) == 0);
}

TEST_CASE("locality: a machine with one node is one place; beyond 62 nodes, too") {
  const place::tree one({{.cpu = 0}, {.cpu = 1}}, 2);
  locality wish;
  wish.open(one);
  const auto hint = near_node(5);
  CHECK(wish.node(wish.of(&hint, 1)) == 0);
  std::vector<place::core> cores;
  for (unsigned i = 0; i < 70; ++i) cores.push_back({.cpu = i, .cache = i, .node = i});
  const place::tree many(cores, 70);
  locality far;
  far.open(many);
  CHECK(far.of(&hint, 1) == locality::spans);
}

}  // namespace weft::sched
