// Teams in replays: as recorded, at other widths, and with learned ones.
#include "team_plan.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>

#include "replay.hpp"
#include "sim_made.hpp"
#include "weft/error.hpp"

namespace weft::tool::sim {
namespace {

// A chain of teams of 1, 2 and 4: a tenth is serial.
void chain(runtime& rt) {
  handle<int> order(0);
  for (int i = 0; i < 30; ++i)
    rt.submit(team(1u << (i % 3)), write(order), named("panel"),
              [](team_context& t, int&) { charge(1e6 * (0.1 + 0.9 / t.width())); });
  rt.wait();
}
constexpr double ms = 1e9;  // in picoseconds

[[nodiscard]] replayed at(const recorded& run, const char* width) {
  settings s;
  for (const char* own : {"TRACE", "SCHEDULE", "PAUSED", "COUNTERS"}) s.set(own, "");
  s.set("MACHINE", "virtual");
  s.set("WORKERS", "4");
  return replay(run.file, script(run.file), {s, false, 1, team_wish::parse(width)}, [](double) {});
}

}  // namespace

TEST_CASE("team plan: what can be wished for") {
  CHECK(team_wish::parse("recorded").text() == "recorded");
  CHECK(team_wish::parse("learned").text() == "learned");
  CHECK(team_wish::parse("12").text() == "12");
  for (const char* wrong : {"", "0", "-1", "2x", "Learned", "70000"})
    CHECK_THROWS_AS(static_cast<void>(team_wish::parse(wrong)), weft::error);
}

TEST_CASE("team plan: a replay as recorded takes as long, and at a width what that width took") {
  const recorded run(4, chain);
  REQUIRE(run.file.teams.size() == 30);
  const double alone = 1, two = 0.55, four = 0.325;
  const auto takes = [&](const char* width, double milliseconds) {
    const auto found = static_cast<double>(at(run, width).makespan_ps) / ms;
    INFO(std::string(width) << ": " << found);
    CHECK(found >= milliseconds);
    CHECK(found <= milliseconds * 1.04);
  };
  takes("recorded", 10 * (alone + two + four));
  takes("1", 30 * alone);
  takes("2", 30 * two);
  takes("4", 30 * four);
  CHECK_THROWS_WITH_AS(static_cast<void>(at(run, "3")), doctest::Contains("teams of 3 were not recorded for 'panel'"),
                       weft::error);
  CHECK(static_cast<double>(at(run, "learned").makespan_ps) / ms < 30 * four * 1.3);  // four are trials
}

TEST_CASE("team plan: between two widths that were recorded, and beyond them") {
  const recorded run(4, chain);
  const team_plan plan(run.file, team_wish::parse("learned"));
  const std::uint32_t t = run.file.teams[2].task;  // of 4
  CHECK(plan.is_team(t));
  CHECK(plan.members(t).size() == 4);
  CHECK(plan.is_member(plan.members(t)[3]));
  CHECK(!plan.is_member(t));
  CHECK(plan.part(t, 4) < 0);
  CHECK(plan.part(t, 2) == doctest::Approx(0.55e6).epsilon(0.05));
  CHECK(plan.part(t, 3) < plan.part(t, 2));
  CHECK(plan.part(t, 3) > 0.325e6);
  CHECK(plan.part(t, 8) == doctest::Approx(4 * 0.325e6 / 8).epsilon(0.05));
  CHECK((plan.clause(t).least == 1 && plan.clause(t).most == 4 && plan.clause(t).is_learned));
}

TEST_CASE("team plan: what members submit is submitted at every width, and their data moves") {
  std::atomic<int> below = 0;
  const recorded run(4, [&below](runtime& rt) {
    handle<int> x(0);
    x.bytes(1 << 20);
    for (int i = 0; i < 4; ++i) {
      for (const unsigned width : {1u, 2u, 3u, 4u})
        rt.submit(team(width), write(x), named("wide"), [&](team_context& t, int&) {
          for (unsigned n = t.rank(); n < 12; n += t.width()) rt.submit(cost(1e4), [&] { ++below; });
          charge(1e5 / t.width());
        });
    }
    rt.wait();
  });
  CHECK(below == 16 * 12);
  for (const char* width : {"recorded", "1", "2", "3", "4", "learned"}) {
    const replayed r = at(run, width);
    int ran = 0;
    for (std::size_t t = 0; t < run.file.tasks.size(); ++t)
      if (run.file.tasks[t].name == trace::none && r.tasks[t].ran) ++ran;
    INFO(std::string(width));
    CHECK(ran == 16 * 12);
  }
}

}  // namespace weft::tool::sim
