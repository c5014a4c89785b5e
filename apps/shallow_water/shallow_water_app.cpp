// The shallow-water stepper as a measurement. The paper ran 655,362 nodes in 131 blocks with 391 nonempty tiles
// (SuperGlue §6.2); `--side 809 --block 5000` has as many blocks, 393 tiles, and 0.1 % fewer nodes. The default takes
// about a second, most of it in sparse matrix times vector, which more cores speed up only until memory is the limit.
#include <memory>

#include "shallow_water.hpp"

namespace weft::apps {

namespace {

struct parameters {
  shallow_water::problem problem;
  std::string access = "add";
};

result run(const parameters& chosen, const weft::options& opt, progress& bar) {
  using namespace shallow_water;
  problem p = chosen.problem;
  p.access = parse_access(chosen.access);
  const double nodes = static_cast<double>(p.nodes());
  require_memory("shallow-water: --side " + std::to_string(p.side),
                 nodes * (2 * sizeof(row) + 2 * (sizeof(node_state) + sizeof(derivatives)) + 3 * sizeof(fields)));
  runtime rt(opt);
  const mesh m = scatter(p.side, opt.seed);
  const std::vector<row> rows = assemble(m);
  const outcome found = simulate(rt, p, m, rows, bar);
  result r;
  r.seconds = found.seconds;
  r.describe(rt);
  const double products = static_cast<double>(p.steps) * stages * stencil_size * nodes;
  r.add("nodes", std::uint64_t{p.nodes()});
  r.add("blocks", std::uint64_t{p.blocks()});
  r.add("tiles", std::uint64_t{found.tiles});
  r.add("steps", std::uint64_t{p.steps});
  r.add("ahead", std::uint64_t{p.ahead});
  r.add("access", chosen.access);
  r.add("assembled_serially", p.assembled_serially);
  r.add("steps_in_flight_max", std::uint64_t{found.steps_in_flight_max});
  r.add("steps_begun_in_first", std::uint64_t{found.steps_begun_in_first});
  r.add("ms_per_step", r.seconds * 1e3 / static_cast<double>(p.steps), "ms");
  r.add("gflops", flops_per_nonzero * products / r.seconds * 1e-9, "GFLOP/s");
  judge(r, p, m, rows, found);
  const std::uint64_t expected = p.task_count(found.tiles);
  r.checks.push_back({"every_task_once", r.counts.tasks == expected,
                      std::to_string(r.counts.tasks) + " of " + std::to_string(expected) + " tasks ran"});
  return r;
}

}  // namespace

app shallow_water_app() {
  auto p = std::make_shared<parameters>();
  return {
      .name = "shallow-water",
      .summary = "shallow water on scattered nodes: sparse tiles, tasks that generate the steps",
      .example = "shallow-water --steps 300 --ahead 5 --workers 2",
      .options = {{"side", "nodes per side of the square", &p->problem.side, shallow_water::side_min, 4000},
                  {"block", "nodes per block", &p->problem.block, 1, 1'000'000},
                  {"steps", "number of time steps", &p->problem.steps, 1, 1'000'000},
                  {"ahead", "steps whose tasks are submitted before the first is done", &p->problem.ahead, 1, 1000},
                  {"assembled-serially", "modelled machines: worker 0 touches all data first, before the clock starts",
                   &p->problem.assembled_serially},
                  {"access", "how tiles add to a block: add (default), or write for the serial bits", &p->access}},
      .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
