// N-body as a measurement. The default is the paper's: 8192 particles in 32 blocks of 256, 16 steps (SuperGlue §6.1,
// Figure 9), chosen there because work is just scarce enough for 64 workers to show what the clauses are worth: with
// `add` at most 16 tasks can run at a time, with `reduce` all 528 of a step. On 64 modelled workers (--machine virtual)
// this is 62 times the speed of one with `reduce` and 15 times with `add`. `write` comes to 15 as well, because the
// wave of one step starts behind that of the step before.
#include <memory>

#include "nbody.hpp"

namespace weft::apps {

namespace {

struct parameters {
  nbody::problem problem;
  std::string access = "reduce";
};

result run(const parameters& chosen, const weft::options& opt, progress& bar) {
  nbody::problem p = chosen.problem;
  p.access = nbody::parse_access(chosen.access);
  // Positions, velocities and forces; the start and the serial run's copies of them; one buffer per worker.
  require_memory("nbody: --n " + std::to_string(p.n), 40.0 * sizeof(double) * static_cast<double>(p.n));
  runtime rt(opt);
  const std::vector<nbody::particles> start = nbody::lattice(p.n, p.block, opt.seed);
  const nbody::outcome found = nbody::simulate(rt, p, start, bar);
  result r;
  r.seconds = found.seconds;
  r.describe(rt);
  const double n = static_cast<double>(p.n);
  const double pairs = static_cast<double>(p.steps) * n * (n - 1) / 2;
  r.add("n", std::uint64_t{p.n});
  r.add("blocks", std::uint64_t{p.blocks()});
  r.add("steps", std::uint64_t{p.steps});
  r.add("access", chosen.access);
  r.add("force_tasks", p.force_tasks());
  r.add("ns_per_pair", r.seconds * 1e9 / pairs);
  r.add("gflops", nbody::flops_per_pair * pairs / r.seconds * 1e-9, "GFLOP/s");
  nbody::judge(r, p, start, found);
  return r;
}

}  // namespace

app nbody_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "nbody",
          .summary = "Lennard-Jones particles, all pairs of blocks add to both: reduce, add or write",
          .example = "nbody --access reduce --workers 2",
          .options = {{"n", "number of particles", &p->problem.n, 2, 1'000'000},
                      {"block", "particles per block", &p->problem.block, 1, 1'000'000},
                      {"steps", "number of time steps", &p->problem.steps, 1, 1000},
                      {"access", "how force tasks access forces: reduce (default), add or write", &p->access}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
