// Teams in the scheduler: how many members are made, what a team's records say, and what loops hand out. What programs
// see: tests/conformance/teams.cpp; the barrier: gate_test.cpp, gate_model_test.cpp.
#include "sched/teams/teams.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "weft/runtime.hpp"

namespace weft::sched {
namespace {

// The lengths of what is handed out of so many iterations to a team of `width`.
[[nodiscard]] std::vector<std::uint64_t> taken(std::uint64_t count, std::uint64_t least, bool guided, unsigned width) {
  std::vector<std::uint64_t> lengths;
  weft::runtime rt({.workers = 1, .machine = "virtual"});
  rt.submit([&] {
    detail::team_state t{};
    t.width = width;
    std::uint64_t length = 0, begin = 0;
    for (std::uint64_t at; (at = detail::self()->engine->team_take(t, count, least, guided, length)) < count;) {
      CHECK(at == begin);
      begin += length;
      lengths.push_back(length);
    }
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
      CHECK(task->subtasks);  // from its submission on, so that a trace says it
      CHECK(me->order == (t.width() > 1 ? t.rank() : 1));
    });
    rt.wait();
    CHECK(children == width);
    CHECK(rt.statistics().tasks == (width > 1 ? width + 1 : 1));
  }
}

TEST_CASE("teams: a guided loop hands out less and less, a dynamic one the same") {
  using lengths = std::vector<std::uint64_t>;
  CHECK(taken(100, 30, false, 2) == lengths{30, 30, 30, 10});
  CHECK(taken(64, 2, true, 2) == lengths{16, 12, 9, 6, 5, 4, 3, 2, 2, 2, 2, 1});
  CHECK(taken(3, 5, true, 4) == lengths{3});
  CHECK(taken(0, 1, false, 2).empty());
}

}  // namespace weft::sched
