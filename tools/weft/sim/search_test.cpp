// The search against machines that are formulas, where the best is known.
#include "search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace weft::tool::sim {
namespace {

using model = double (*)(const point&);

double grain_of(const point& p) { return std::atof(p.grain.c_str()); }

// 20,000 tasks of 300 ns. What the scheduler does for each is serial, and takes the longer the more workers there are.
double short_tasks(const point& p) {
  const double tasks = 20'000 / grain_of(p), cost = p.policy == "central" ? 60 : 100;
  return std::max(tasks * cost * (1 + 0.05 * p.workers), 20'000 * 300.0 / p.workers + 1000 * grain_of(p));
}

// Creation by another pays only with another policy, and neither alone.
double both_or_neither(const point& p) {
  const bool a = p.policy == "central", b = p.creation == "decoupled";
  return 6e6 / p.workers * (a && b ? 1.0 : a ? 1.4 : b ? 3.0 : 1.5);
}

double as_well_as_it_gets(const point& p) { return 6e6 / p.workers * 1.01; }

row made(const point& p, model of) {
  row r;
  r.at = p;
  r.run.makespan_ns = of(p);
  r.run.workers = p.workers;
  r.run.work = 6'000'000;
  r.run.tasks = 20'000;
  r.run.why.span = 300;
  r.speedup = 6e6 / r.run.makespan_ns;
  return r;
}

std::vector<row> series(model of) {
  std::vector<row> rows;
  for (const unsigned w : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
    rows.push_back(made({"virtual", "local", "inline", "1", "recorded", w}, of));
  return rows;
}

search_space space() {
  return {.workers = {1, 2, 4, 8, 16, 32, 64},
          .policies = {"local", "random", "central"},
          .splits = {},
          .merges = true,
          .creations = true};
}

struct tally {
  model of;
  std::vector<point> points;
  std::vector<row> operator()(const std::vector<point>& all) {
    std::vector<row> rows;
    for (const point& p : all) {
      CHECK(std::ranges::none_of(points, [&p](const point& q) { return changes(p, q) == 0; }));
      points.push_back(p);
      rows.push_back(made(p, of));
    }
    return rows;
  }
};

combination found(model of, tally& t, const search_space& in = space()) {
  const std::vector<row> rows = series(of);
  return *search(rows, rows, in, std::ref(t));
}

}  // namespace

TEST_CASE("search: tasks that are too short want more workers only when they are merged") {
  tally t{short_tasks, {}};
  const combination c = found(short_tasks, t);
  CHECK(c.base.at.workers < 16);
  CHECK(c.best.at.workers == 64);
  double least = 1e18;
  for (const unsigned w : space().workers)
    for (unsigned k = 1; k <= 64; k *= 2)
      for (const std::string& policy : space().policies)
        least = std::min(least, short_tasks({"virtual", policy, "inline", std::to_string(k), "recorded", w}));
  CHECK(c.best.run.makespan_ns <= 1.01 * least);
  CHECK(c.tried == t.points.size());
  CHECK(c.tried <= 64);
}

TEST_CASE("search: from one change that helps to another that helps only then") {
  tally t{both_or_neither, {}};
  const combination c = found(both_or_neither, t);
  CHECK(c.best.at.policy == "central");
  CHECK(c.best.at.creation == "decoupled");
  CHECK(c.best.at.grain == "1");  // as good as any other, and nothing to do
  CHECK(c.gain() == doctest::Approx(1.0 / 3));
}

TEST_CASE("search: where nothing can gain enough nothing is tried") {
  tally t{as_well_as_it_gets, {}};
  search_space s = space();
  s.gain_least = 0.05;
  const combination c = found(as_well_as_it_gets, t, s);
  CHECK(t.points.empty());
  CHECK(changes(c.best.at, c.base.at) == 0);
}

TEST_CASE("search: limits hold") {
  tally few{short_tasks, {}};
  search_space s = space();
  s.points_max = 5;
  CHECK(found(short_tasks, few, s).tried == 5);

  std::vector<row> rows = series(short_tasks);
  for (row& r : rows) r.run.replay = replay_sums{.events = 1000, .digest = {}};
  s = space();
  s.events_max = 2000;  // merged by k: a k-th of the events, and always a fourth in the first round
  tally t{short_tasks, {}};
  CHECK(search(rows, rows, s, std::ref(t)).has_value());
  double events = 0;
  for (const point& p : t.points) events += std::floor(1000 / grain_of(p));
  CHECK(events <= 2000);
  CHECK(events > 1000);
}

TEST_CASE("search: what fails is left out, and without a row there is nothing to find") {
  const std::vector<row> rows = series(short_tasks);
  const auto c = search(rows, rows, space(), [](const std::vector<point>& all) {
    std::vector<row> failed(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) failed[i].at = all[i], failed[i].error = "no memory";
    return failed;
  });
  REQUIRE(c.has_value());
  CHECK(changes(c->best.at, c->base.at) == 0);
  CHECK(!search({}, {}, space(), [](const std::vector<point>&) { return std::vector<row>(); }).has_value());
}

}  // namespace weft::tool::sim
