// Teams in the scheduler: how many members are made, what a team's records say, and what loops hand out. What programs
// see: tests/conformance/teams.cpp; the barrier: gate_test.cpp, gate_model_test.cpp.
#include "sched/teams.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "weft/runtime.hpp"

namespace weft::sched {
namespace {

[[nodiscard]] std::vector<std::uint64_t> taken(std::uint64_t count, loop_schedule how, unsigned width) {
  std::vector<std::uint64_t> lengths;
  weft::runtime rt({.workers = width, .machine = "virtual"});
  rt.submit(weft::team(width), [&](team_context& t) {
    if (t.rank() != 0) return t.barrier();
    std::uint64_t begin = 0, end = 0;
    t.for_each(
        std::uint64_t{0}, count,
        [&](std::uint64_t i) {
          if (i == end && i != 0) lengths.push_back(end - begin), begin = i;
          end = i + 1;
        },
        how);
    lengths.push_back(end - begin);
  });
  rt.wait();
  return lengths;
}

}  // namespace

TEST_CASE("teams: each member is a task of its own, a child of the team's, and is counted") {
  for (const unsigned width : {1u, 2u, 5u}) {
    weft::runtime rt({.workers = 5, .machine = "virtual"});
    unsigned children = 0;
    const detail::record* task = nullptr;
    rt.submit(weft::team(width), weft::named("t"), [&](team_context& t) {
      const detail::record* const me = detail::self()->current;
      children += me->name != nullptr && std::string(me->name) == "t";
      if (task == nullptr) task = t.width() > 1 ? me->parent : me;
      CHECK((t.width() > 1 ? me->parent : me) == task);
      CHECK(me->order == (t.width() > 1 ? t.rank() : 1));
    });
    rt.wait();
    CHECK(children == width);
    CHECK(rt.statistics().tasks == (width > 1 ? width + 1 : 1));
  }
}

TEST_CASE("teams: a guided loop hands out less and less, a dynamic one the same") {
  const std::vector<std::uint64_t> dynamic_lengths = taken(100, weft::dynamic(30), 2);
  std::uint64_t all = 0;
  for (const std::uint64_t n : dynamic_lengths) all += n;
  CHECK(all == 100);
  const std::vector<std::uint64_t> lengths = taken(64, weft::guided(2), 2);
  REQUIRE(!lengths.empty());
  all = 0;
  for (const std::uint64_t n : lengths) all += n;
  CHECK(all == 64);
}

}  // namespace weft::sched
