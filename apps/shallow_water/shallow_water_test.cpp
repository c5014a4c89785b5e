// The discretisation against known derivatives, the tasks against a plain loop in every order a machine may choose, and
// the checks against the mistakes they are there to find.
#include "shallow_water.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string_view>

namespace weft::apps::shallow_water {
namespace {

constexpr double turn = 6.283185307179586;

struct setting {
  mesh m;
  std::vector<row> rows;
  explicit setting(std::size_t side) : m(scatter(side, 1)), rows(assemble(m)) {}
};

result judged(const setting& s, const problem& p, const options& opt) {
  runtime rt(opt);
  progress silent("test");
  const outcome found = simulate(rt, p, s.m, s.rows, silent);
  result r;
  r.describe(rt);
  judge(r, p, s.m, s.rows, found);
  if (p.omitted_task == problem::nothing && p.repeated_step == problem::nothing)
    CHECK(r.counts.tasks == p.task_count(found.tiles));
  return r;
}

bool passed(const result& r, std::string_view name) {
  for (const check& c : r.checks)
    if (c.name == name) return c.passed;
  return false;
}

std::vector<options> every_machine() {
  std::vector<options> all;
  for (unsigned workers : {1u, 2u, 3u, 7u}) all.push_back({.workers = workers});
  for (unsigned workers : {1u, 4u, 16u}) {
    all.push_back({.workers = workers, .machine = "virtual"});
    for (std::uint64_t seed : {1u, 2u, 3u, 4u})
      all.push_back({.workers = workers, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}});
  }
  return all;
}

// Largest errors of d/dx, d/dy and the filter for sin(turn x) cos(turn y).
struct errors {
  double dx = 0, dy = 0, filter = 0;
};
errors derivative_errors(std::size_t side) {
  const setting s(side);
  errors worst;
  for (std::size_t n = 0; n < s.rows.size(); ++n) {
    const point at = s.m.nodes[n];
    double dx = 0, dy = 0, filter = 0;
    for (const entry& e : s.rows[n]) {
      const point p = s.m.nodes[e.column];
      const double f = std::sin(turn * p.x) * std::cos(turn * p.y);
      dx += e.dx * f, dy += e.dy * f, filter += e.filter * f;
    }
    worst.dx = std::fmax(worst.dx, std::fabs(dx - turn * std::cos(turn * at.x) * std::cos(turn * at.y)));
    worst.dy = std::fmax(worst.dy, std::fabs(dy + turn * std::sin(turn * at.x) * std::sin(turn * at.y)));
    const double biharmonic = 4 * std::pow(turn, 4) * std::sin(turn * at.x) * std::cos(turn * at.y);
    worst.filter = std::fmax(worst.filter, std::fabs(filter + biharmonic * std::pow(s.m.spacing(), 3)));
  }
  return worst;
}

}  // namespace

TEST_CASE("shallow water: derivatives converge with the fourth power of the spacing") {
  const errors coarse = derivative_errors(20), fine = derivative_errors(40);
  CHECK(coarse.dx < 0.05);
  CHECK(coarse.dy < 0.05);
  CHECK(fine.dx < coarse.dx / 10);
  CHECK(fine.dy < coarse.dy / 10);
  CHECK(fine.filter < coarse.filter / 8);  // it vanishes with the third power itself
}

TEST_CASE("shallow water: rows have 31 different nodes in order, and constants have no derivative") {
  const setting s(side_min);
  for (const row& r : s.rows) {
    double dx = 0, dy = 0, filter = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      CHECK((i == 0 || r[i - 1].column < r[i].column));
      dx += r[i].dx, dy += r[i].dy, filter += r[i].filter;
    }
    CHECK(std::fabs(dx) + std::fabs(dy) + std::fabs(filter) < 1e-9);
  }
}

TEST_CASE("shallow water: tiles hold every nonzero once, and the empty ones are dropped") {
  const setting s(40);
  for (const std::size_t block : {std::size_t{1600}, std::size_t{999}, std::size_t{200}, std::size_t{160}}) {
    const std::vector<tile> tiles = cut(s.rows, block);
    const std::size_t blocks = (1600 + block - 1) / block;
    std::size_t entries = 0;
    for (const tile& t : tiles) {
      CHECK(!t.entries.empty());
      CHECK(t.lines.back().last == t.entries.size());
      entries += t.entries.size();
    }
    CHECK(entries == s.rows.size() * stencil_size);
    CHECK(tiles.size() <= blocks * blocks);
    if (block <= 200) CHECK(tiles.size() == blocks * 3);  // itself and both neighbours
  }
}

TEST_CASE("shallow water: both clauses on every machine, in random orders too") {
  const setting s(24);
  for (const options& opt : every_machine())
    for (const tile_access access : {tile_access::add, tile_access::write}) {
      INFO("WEFT_WORKERS=" << opt.workers << " WEFT_MACHINE=" << std::string(opt.machine ? opt.machine : "host")
                           << " WEFT_SCHEDULE=" << std::string(opt.model.schedule ? opt.model.schedule : "time")
                           << " WEFT_SEED=" << opt.seed << " access " << static_cast<int>(access));
      const result r = judged(s, {.side = 24, .block = 50, .steps = 9, .ahead = 3, .access = access}, opt);
      for (const check& c : r.checks) CHECK_MESSAGE(c.passed, c.name << ": " << c.detail);
    }
}

TEST_CASE("shallow water: more generators than steps, one generator, one block, a block a node") {
  const setting s(side_min);
  struct {
    std::size_t block, steps, ahead;
  } const cases[] = {{40, 3, 5}, {40, 5, 5}, {40, 6, 5}, {40, 12, 1}, {144, 7, 2}, {1000, 7, 5}, {1, 2, 2}, {50, 1, 1}};
  for (const auto& c : cases)
    for (const char* machine : {"host", "virtual"}) {
      CAPTURE(c.block);
      CAPTURE(c.steps);
      CAPTURE(c.ahead);
      const problem p{.side = side_min, .block = c.block, .steps = c.steps, .ahead = c.ahead};
      CHECK(judged(s, p, {.workers = 3, .machine = machine}).ok());
    }
}

TEST_CASE("shallow water: tasks in flight stay bounded however many steps") {
  const setting s(side_min);
  runtime rt({.workers = 4, .machine = "virtual"});
  progress silent("test");
  const problem p{.side = side_min, .block = 20, .steps = 500, .ahead = 5};
  const outcome found = simulate(rt, p, s.m, s.rows, silent);
  CHECK(found.steps_in_flight_max >= 2);
  CHECK(found.steps_in_flight_max <= p.steps_in_flight_limit());
}

TEST_CASE("shallow water: long runs stay smooth and keep their mass") {
  const setting s(20);
  const problem p{.side = 20, .block = 400, .steps = 3000};
  const result r = judged(s, p, {.workers = 1});
  for (const check& c : r.checks) CHECK_MESSAGE(c.passed, c.name << ": " << c.detail);
}

TEST_CASE("shallow water: a tile left out is found") {
  const setting s(20);
  for (const tile_access access : {tile_access::add, tile_access::write})
    for (const std::uint64_t task : {0u, 13u, 100u, 400u}) {
      CAPTURE(task);
      problem p{.side = 20, .block = 50, .steps = 6, .access = access};
      p.omitted_task = task;
      const result r = judged(s, p, {.workers = 2});
      CHECK(!r.ok());
      CHECK(!passed(r, access == tile_access::write ? "same_bits_as_serial" : "near_serial"));
    }
}

TEST_CASE("shallow water: a step generated twice is found") {
  const setting s(side_min);
  problem p{.side = side_min, .block = 50, .steps = 8};
  p.repeated_step = 6;
  const result r = judged(s, p, {.workers = 2});
  CHECK(!passed(r, "every_step_generated_once"));
  CHECK(!passed(r, "near_serial"));
}

TEST_CASE("shallow water app: runs, and refuses a clause it does not know") {
  app a = shallow_water_app();
  progress silent("test");
  for (const option& o : a.options) {
    if (std::string_view(o.name) == "side") *std::get<std::size_t*>(o.target) = 30;
    if (std::string_view(o.name) == "block") *std::get<std::size_t*>(o.target) = 100;
    if (std::string_view(o.name) == "steps") *std::get<std::size_t*>(o.target) = 10;
  }
  const result r = a.run({.workers = 2}, silent);
  for (const check& c : r.checks) CHECK_MESSAGE(c.passed, c.name << ": " << c.detail);
  for (const option& o : a.options)
    if (std::string_view(o.name) == "access") *std::get<std::string*>(o.target) = "reduce";
  CHECK_THROWS_AS(a.run({.workers = 2}, silent), weft::error);
}

TEST_CASE("shallow water: matrices in one memory node make all cores wait for its bandwidth") {
  const setting s(200);  // 40 MB of matrices, above all caches of that machine
  progress silent("test");
  double seconds[2];
  std::uint64_t waited_ns[2];
  for (const bool serially : {false, true}) {
    const problem p{.side = 200, .block = 1000, .steps = 4, .assembled_serially = serially};
    runtime rt({.machine = "opteron-6220-interlagos-16"});
    const outcome found = simulate(rt, p, s.m, s.rows, silent);
    seconds[serially] = found.seconds;
    const runtime::counts c = rt.statistics();
    waited_ns[serially] = c.bandwidth_wait_ns;
    CHECK(c.tasks == p.task_count(found.tiles));
    CHECK(c.local_bytes + c.remote_bytes >=
          s.rows.size() * sizeof(row));  // the matrices came from memory once at least
  }
  CHECK(seconds[true] > 1.5 * seconds[false]);
  CHECK(waited_ns[true] > 2 * waited_ns[false]);
}

TEST_CASE("shallow water: steps mix, and no more of them begin than generators and blocks allow") {
  const setting s(60);
  progress silent("test");
  for (const std::size_t ahead : {1u, 5u}) {
    const problem p{.side = 60, .block = 100, .steps = 12, .ahead = ahead};
    runtime rt({.workers = 8, .machine = "virtual"});
    const outcome found = simulate(rt, p, s.m, s.rows, silent);
    CHECK(found.steps_begun_in_first >= 1);
    CHECK(found.steps_begun_in_first <= p.steps_in_flight_limit());
    runtime one({.workers = 1, .machine = "virtual"});
    const problem alone{.side = 60, .block = 3600, .steps = 12, .ahead = ahead};  // one block: step after step
    CHECK(simulate(one, alone, s.m, s.rows, silent).steps_begun_in_first == 1);
  }
}

}  // namespace weft::apps::shallow_water
