// The n-body program against an all-pairs loop that knows no blocks, in every order a machine may choose, and the
// checks against the mistakes they are there to find.
#include "nbody.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

namespace weft::apps::nbody {
namespace {

constexpr force_access kinds[] = {force_access::reduce, force_access::add, force_access::write};

result judged(const problem& p, const options& opt) {
  runtime rt(opt);
  progress silent("test");
  const std::vector<particles> start = lattice(p.n, p.block, 1);
  const outcome found = simulate(rt, p, start, silent);
  result r;
  r.describe(rt);
  judge(r, p, start, found);
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

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

TEST_CASE("nbody: every clause on every machine, in random orders too") {
  for (const options& opt : every_machine())
    for (const force_access access : kinds) {
      const problem p{.n = 120, .block = 11, .steps = 5, .access = access};
      INFO("WEFT_WORKERS=" << opt.workers << " WEFT_MACHINE=" << std::string(opt.machine ? opt.machine : "host")
                           << " WEFT_SCHEDULE=" << std::string(opt.model.schedule ? opt.model.schedule : "time")
                           << " WEFT_SEED=" << opt.seed << " access " << static_cast<int>(access));
      const result r = judged(p, opt);
      CHECK(r.ok());
      for (const check& c : r.checks) CHECK_MESSAGE(c.passed, c.name << ": " << c.detail);
      // A group of reduces is closed by a task of the library's own.
      if (access != force_access::reduce) CHECK(r.counts.tasks == p.force_tasks() + p.move_tasks());
      if (access == force_access::reduce) CHECK(r.counts.tasks >= p.force_tasks() + p.move_tasks());
    }
}

TEST_CASE("nbody: blocks that do not divide the particles, one block, one particle a block") {
  struct {
    std::size_t n, block, steps;
  } const cases[] = {{2, 1, 1}, {2, 256, 3}, {9, 4, 7}, {27, 27, 2}, {28, 27, 2}, {30, 1, 2}, {65, 8, 3}};
  for (const auto& c : cases)
    for (const force_access access : kinds) {
      CAPTURE(c.n);
      CAPTURE(c.block);
      CHECK(judged({.n = c.n, .block = c.block, .steps = c.steps, .access = access}, {.workers = 2}).ok());
    }
}

TEST_CASE("nbody: with write the same bits on every machine") {
  const problem p{.n = 100, .block = 16, .steps = 6, .access = force_access::write};
  const std::vector<particles> start = lattice(p.n, p.block, 5);
  progress silent("test");
  const std::vector<particles> expected = simulate_serially(p, start);
  for (const options& opt : every_machine()) {
    runtime rt(opt);
    const outcome found = simulate(rt, p, start, silent);
    for (std::size_t b = 0; b < expected.size(); ++b) {
      CHECK(same_bits(found.blocks[b].position.x, expected[b].position.x));
      CHECK(same_bits(found.blocks[b].velocity.z, expected[b].velocity.z));
    }
  }
}

TEST_CASE("nbody: block kernels are the sum over all pairs") {
  const std::vector<particles> one = lattice(50, 50, 3);
  const std::vector<particles> cut = lattice(50, 7, 3);
  const vectors& all = one[0].position;
  std::vector<forces> f;
  for (const particles& p : cut) f.push_back({vectors(p.position.size())});
  for (std::size_t a = 0; a < cut.size(); ++a) {
    add_forces_within(cut[a].position, f[a]);
    for (std::size_t b = a + 1; b < cut.size(); ++b) add_forces_between(cut[a].position, cut[b].position, f[a], f[b]);
  }
  for (std::size_t i = 0; i < 50; ++i) {
    double expected = 0;
    for (std::size_t j = 0; j < 50; ++j) {
      if (j == i) continue;
      const double dx = all.x[i] - all.x[j], dy = all.y[i] - all.y[j], dz = all.z[i] - all.z[j];
      const double r = std::sqrt(dx * dx + dy * dy + dz * dz);
      expected += 24 * (2 * std::pow(r, -13) - std::pow(r, -7)) * dx / r;
    }
    CHECK(f[i / 7].sum.x[i % 7] == doctest::Approx(expected).epsilon(1e-10));
  }
  for (const forces& sum : f) CHECK(sum.contributions == cut.size());
}

TEST_CASE("nbody: two particles at the minimum of the potential stay there") {
  std::vector<particles> pair = lattice(2, 2, 1);
  pair[0].position.x = {0, std::pow(2, 1.0 / 6)};
  for (auto* v :
       {&pair[0].position.y, &pair[0].position.z, &pair[0].velocity.x, &pair[0].velocity.y, &pair[0].velocity.z})
    *v = {0, 0};
  const std::vector<particles> after = simulate_serially({.n = 2, .block = 2, .steps = 1000}, pair);
  CHECK(after[0].position.x[1] - after[0].position.x[0] == doctest::Approx(pair[0].position.x[1]).epsilon(1e-12));
  CHECK(measure(pair, 0).energy == doctest::Approx(-1));
  CHECK(measure(pair, 0).closest_pair == doctest::Approx(1.122462));
}

TEST_CASE("nbody: a pair task left out is found, by its count and by where particles are") {
  for (const force_access access : kinds)
    for (const std::uint64_t task : {0u, 1u, 10u, 11u, 200u, 329u}) {  // first to last of 66 in each of 5 steps
      CAPTURE(task);
      problem p{.n = 120, .block = 11, .steps = 5, .access = access};
      REQUIRE(p.force_tasks() == 330);
      p.omitted_task = task;
      const result r = judged(p, {.workers = 2});
      CHECK(!r.ok());
      CHECK(!passed(r, "every_pair_once"));
      CHECK(!passed(r, access == force_access::write ? "same_bits_as_serial" : "near_serial"));
    }
}

TEST_CASE("nbody: a wrong velocity and a NaN are found") {
  const problem p{.n = 60, .block = 10, .steps = 3};
  const std::vector<particles> start = lattice(p.n, p.block, 1);
  outcome found{simulate_serially(p, start)};
  result good;
  judge(good, p, start, found);
  CHECK(good.ok());
  found.blocks[2].velocity.y[4] += 3;
  result bad;
  judge(bad, p, start, found);
  CHECK(!passed(bad, "near_serial"));
  CHECK(!passed(bad, "momentum"));
  CHECK(!passed(bad, "energy"));
  found.blocks[2].position.y[4] = std::numeric_limits<double>::quiet_NaN();
  result worse;
  judge(worse, p, start, found);
  CHECK(!passed(worse, "near_serial"));
  CHECK(!passed(worse, "momentum"));
  CHECK(!passed(worse, "energy"));
}

TEST_CASE("nbody: reduce fills all workers, add at most half as many as blocks, and write fewer still") {
  double speedup[3];
  for (const force_access access : kinds) {
    runtime rt({.workers = 16, .machine = "virtual"});
    runtime alone({.workers = 1, .machine = "virtual"});
    progress silent("test");
    const problem p{.n = 2048, .block = 128, .steps = 4, .access = access};
    const std::vector<particles> start = lattice(p.n, p.block, 1);
    speedup[static_cast<int>(access)] =
        simulate(alone, p, start, silent).seconds / simulate(rt, p, start, silent).seconds;
  }
  CHECK(speedup[0] > 12);
  CHECK(speedup[1] < 8.5);  // 16 blocks; tasks within a block need only one
  CHECK(speedup[2] < speedup[1]);
}

TEST_CASE("nbody app: runs, and refuses a clause it does not know") {
  app a = nbody_app();
  progress silent("test");
  for (const option& o : a.options) {
    if (std::string_view(o.name) == "n") *std::get<std::size_t*>(o.target) = 300;
    if (std::string_view(o.name) == "block") *std::get<std::size_t*>(o.target) = 50;
  }
  CHECK(a.run({.workers = 2}, silent).ok());
  for (const option& o : a.options)
    if (std::string_view(o.name) == "access") *std::get<std::string*>(o.target) = "push";
  CHECK_THROWS_AS(a.run({.workers = 2}, silent), weft::error);
}

}  // namespace weft::apps::nbody
