// Which widths a leader may choose from, what makes two teams one kind of task, and the way from choice to measurement.
#include "sched/teams/widths.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "interleave.hpp"
#include "machine/host/host.hpp"
#include "place/tree.hpp"
#include "weft/clause.hpp"

namespace weft::sched {
namespace {

using learned = widths<machine::host>;
using place = width_table::place;
using aim = width_table::aim;

struct ground {
  weft::place::tree places;
  groups who;
  learned all;
  std::uint64_t now = 0;

  ground() : places(cores(), 12) { who.open(places); }
  // Two nodes of three caches of two cores.
  [[nodiscard]] static std::vector<weft::place::core> cores() {
    std::vector<weft::place::core> all;
    for (unsigned i = 0; i < 12; ++i) all.push_back({i, i / 2, i / 6});
    return all;
  }
  // As wide as the first trial says.
  [[nodiscard]] learned::course first(const char* name, std::uint64_t size) {
    detail::record r{};
    r.name = name;
    return all.choose(who, 3, r, detail::team_clause{1, 0xffff}.learned().sized(size), 1, 12, aim::time, now);
  }
  void measured(const learned::course& c, std::uint64_t ps) {
    now += ps;
    all.measured(c, now, ps, ps);
  }
};

}  // namespace

TEST_CASE("widths: powers of two, the sizes of places, and the bounds; each with what its members share") {
  ground g;
  const auto options = learned::options_of(g.who, 3, 1, 12);
  const std::vector<width_table::option> expected{{1, place::leaf}, {2, place::leaf},    {4, place::node},
                                                  {6, place::node}, {8, place::machine}, {12, place::machine}};
  REQUIRE(options.count == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(options.list[i] == expected[i]);
  const auto bounded = learned::options_of(g.who, 3, 3, 7);
  const std::vector<std::uint16_t> widths{3, 4, 6, 7};
  REQUIRE(bounded.count == widths.size());
  for (std::size_t i = 0; i < widths.size(); ++i) CHECK(bounded.list[i].width == widths[i]);
  CHECK(learned::options_of(g.who, 3, 5, 5).count == 1);
}

TEST_CASE("widths: the size of a task is what its clause says, else its data's bytes, else its cost") {
  detail::record r{};
  CHECK(learned::size_class(r, {1, 1}) == 0);
  r.cost_ps = 1000;
  CHECK(learned::size_class(r, {1, 1}) == 10);
  CHECK(learned::size_class(r, detail::team_clause{1, 1}.sized(5)) == 3);
  CHECK(learned::size_class(r, detail::team_clause{1, 1}.sized(7)) == 3);
  CHECK(learned::size_class(r, detail::team_clause{1, 1}.sized(8)) == 4);
}

TEST_CASE("widths: one name and size is one kind, wherever the text lies") {
  ground g;
  const char here[] = "panel", there[] = "panel";
  const auto a = g.first(here, 100);
  CHECK(g.first(there, 70).of == a.of);
  CHECK(g.first("panel", 200).of != a.of);
  CHECK(g.first("trail", 100).of != a.of);
  CHECK(g.first(nullptr, 100).of != a.of);
  CHECK(g.first(nullptr, 100).of == g.first(nullptr, 100).of);
}

TEST_CASE("widths: what was measured decides, and who finds the table taken does as the last one did") {
  ground g;
  for (int i = 0; i < 100; ++i) {
    const auto c = g.first("x", 1);
    g.measured(c, c.as.of.width == 6 ? 50 : 100);
  }
  auto best = g.first("x", 1);
  for (int i = 0; i < 3 && best.as.of.width != 6; ++i) {  // a trial is two runs, and may be on
    g.measured(best, 100);
    best = g.first("x", 1);
  }
  CHECK(best.as.of.width == 6);
  base::acquire_lock<machine::host>(best.of->lock);
  const auto meanwhile = g.first("x", 1);
  CHECK((meanwhile.as.of.width == 6 && !meanwhile.as.counts));
  g.measured(meanwhile, 1);  // forgotten, and nobody waits
  base::release_lock<machine::host>(best.of->lock);
}

TEST_CASE("widths: of one class the large ones take longer, which is no change of the load") {
  ground g;
  unsigned best = 0;
  for (unsigned i = 0; i < 400; ++i) {
    const std::uint64_t size = i / 8 % 2 == 0 ? 127 : 64;
    const auto c = g.first("z", size);
    if (i >= 200 && c.as.of.width == 6) ++best;
    g.measured(c, size * (c.as.of.width == 6 ? 1000 : 2000));
  }
  CHECK(best >= 180);
}

TEST_CASE("widths: of teams that run side by side those that fail say nothing, and hold up no trial") {
  ground g;
  std::set<unsigned> told;  // to all kinds
  for (int i = 0; i < 400; ++i) {
    const auto a = g.first("x", 1), b = g.first("y", 1);
    g.now += 1000;
    if (!a.as.counts) told.insert(a.as.of.width);
    g.all.measured(i % 2 == 0 ? a : b, g.now, 1000, 1000);
    g.all.gives_up(i % 2 == 0 ? b : a, g.now);
  }
  CHECK(told.size() > 2);
}

TEST_CASE("widths: from several threads at once") {
  ground g;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&g] {
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        const auto c = g.first("y", 1 + i % 64);
        REQUIRE((c.of != nullptr && c.as.of.width >= 1 && c.as.of.width <= 12));
        g.all.measured(c, 0, 100, 100);
      }
    });
  for (std::thread& t : threads) t.join();
}

// Whoever comes second has looked before the first had noted it, and must not note it again.
TEST_CASE("widths: leaders that meet a new kind at the same time have one between them") {
  using unsteady = interleave::unsteady;
  interleave::all_seeds(100, [](std::uint64_t seed) -> const char* {
    interleave::play<unsteady> play(seed);
    const weft::place::tree places(ground::cores(), 12);
    groups who;
    who.open(places);
    widths<unsteady> all;
    std::vector<decltype(all.choose(who, 0, std::declval<detail::record&>(), {}, 1, 12, aim::time, 0).of)> kinds;
    unsigned left = 3;
    const auto core = [&](unsigned) {
      detail::record r{};
      r.name = "new";
      const auto c = all.choose(who, 3, r, detail::team_clause{1, 0xffff}.learned().sized(1), 1, 12, aim::time, 0);
      kinds.push_back(c.of);
      --left;
    };
    if (!play.run(3, core, [&] { return left == 0; })) return "they do not come to an end";
    return kinds[0] != nullptr && kinds[1] == kinds[0] && kinds[2] == kinds[0] ? nullptr : "they have several";
  });
}

TEST_CASE("widths: more kinds than are kept learn nothing, and get the widest") {
  ground g;
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("name " + std::to_string(i));
  unsigned kept = 0;
  for (const std::string& n : names)
    if (g.first(n.c_str(), 1).of != nullptr) ++kept;
  CHECK(kept == 256);
  const auto last = g.first(names.back().c_str(), 1);
  CHECK((last.of == nullptr && last.as.of.width == 12));
  g.measured(last, 1);
}

}  // namespace weft::sched
