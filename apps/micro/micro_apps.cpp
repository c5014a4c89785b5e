// The four micro-benchmarks as apps. Sizes are the papers' where they fit into a second or so on two cores, scaled down
// where they do not; the options take them back up:
//
//   micro-grain         §7.1: 2400 tasks (4 workers) or 12,800 (64). §5.2: --tasks 6400 --created-before
//   micro-dependencies  §5.3: --tasks 64000 --accesses 640000000 --grain-ns 50000
//   micro-graph         §7.2: 20 tiles (4 workers) or 50 (64). §5.1: --tiles 64 --tile 256 --mflops 2350
//   micro-count         §7.3: --grain-ns 30000 (100,000 cycles), 4 workers
//
// papers/superglue/expected.json has the arguments of each of the paper's experiments.
//
// One runtime serves all runs of an app, so its start is in none of the times; the first run of each app is a warm-up.
#include <algorithm>
#include <functional>
#include <memory>

#include "dependencies.hpp"
#include "graph.hpp"
#include "independent_tasks.hpp"

namespace weft::apps {

using namespace micro;

namespace {

constexpr std::size_t grain_ns_max = 1'000'000'000;
constexpr std::size_t tasks_max = 10'000'000;
constexpr std::size_t accesses_max = 1'000'000'000;
constexpr std::size_t dependencies_max = 10'000;

struct parameters {
  std::size_t tasks = 2400;
  std::size_t tiles = 20;
  std::size_t tile = 0;
  std::size_t mflops = 2350;
  bool diagonal_first = false;
  std::size_t grain_ns = 1000;
  std::size_t grain_from = 250;
  std::size_t grain_to = 64'000;
  std::size_t accesses = 500'000;
  std::size_t dependencies_from = 0;
  std::size_t dependencies_to = dependencies_max;
  std::size_t repeat = 0;
  std::size_t repeat_default = 5;
  bool created_before = false;
};

void require_tasks_fit(const char* name, std::size_t tasks, std::size_t bytes) {
  require_memory(std::string(name) + ": " + std::to_string(tasks) + " tasks",
                 static_cast<double>(tasks) * static_cast<double>(bytes));
}

// All samples of a table: every row once, then every row again, so that a disturbance spreads over rows.
std::vector<series> sample_all(std::size_t rows, std::size_t repeat, progress& bar,
                               const std::function<sample(std::size_t row)>& run) {
  static_cast<void>(run(0));
  std::vector<series> all(rows);
  for (std::size_t i = 0; i < repeat; ++i)
    for (std::size_t row = 0; row < rows; ++row) {
      all[row].note(run(row));
      bar.report(static_cast<double>(i * rows + row + 1) / static_cast<double>(repeat * rows));
    }
  return all;
}

result summary(runtime& rt, const std::vector<series>& rows, std::size_t repeat, std::uint64_t warm_up_tasks) {
  result r;
  r.describe(rt);
  std::uint64_t wrong = 0;
  for (const series& s : rows) {
    r.seconds += s.total();
    wrong += s.wrong();
  }
  r.add("repeat", std::uint64_t{repeat});
  r.checks.push_back(tasks_in_order(wrong, r.counts.tasks - warm_up_tasks));
  return r;
}

// Rows efficiency_<ns>: the length a task must have is where they come near 1.
void add_efficiencies(result& r, const std::vector<std::size_t>& grains, const std::vector<series>& rows,
                      std::size_t repeat, double tasks) {
  for (std::size_t i = 0; i < grains.size(); ++i) {
    const double ns = static_cast<double>(grains[i]);
    add_row(r, "efficiency_" + std::to_string(grains[i]) + "_ns", rows[i], repeat, "",
            [&](double seconds) { return efficiency(tasks, ns, r.workers, seconds); });
  }
}

// Five traces in one would be five times as large, and tell no more.
std::size_t repeats(const parameters& p, const runtime& rt) {
  if (p.repeat != 0) return p.repeat;
  return rt.trace_path() != nullptr ? 1 : p.repeat_default;
}

std::vector<std::size_t> grains_of(const char* name, const parameters& p) {
  if (p.grain_from <= p.grain_to) return doubled(p.grain_from, p.grain_to);
  throw weft::error(std::string(name) + ": --grain-from " + std::to_string(p.grain_from) + " is above --grain-to " +
                    std::to_string(p.grain_to));
}

result run_grain(const parameters& p, const weft::options& opt, progress& bar) {
  require_tasks_fit("micro-grain", p.tasks, 200);
  const std::vector<std::size_t> grains = grains_of("micro-grain", p);
  weft::options all_live = opt;
  if (p.created_before) all_live.window = tasks_max * 2;
  runtime rt(all_live);
  const std::size_t repeat = repeats(p, rt);
  const creation when = p.created_before ? creation::before : creation::timed;
  const std::vector<series> rows = sample_all(
      grains.size(), repeat, bar, [&](std::size_t i) { return run_independent(rt, p.tasks, grains[i], when); });
  result r = summary(rt, rows, repeat, p.tasks);
  r.add("tasks_per_run", std::uint64_t{p.tasks});
  r.add("created_before", p.created_before);
  add_efficiencies(r, grains, rows, repeat, static_cast<double>(p.tasks));
  return r;
}

// One row: the graph with kernels of unlike length.
result run_kernels(const parameters& p, const weft::options& opt, progress& bar) {
  const std::uint64_t tasks = graph_tasks(p.tiles);
  kernels k = kernels_of(p.tile, static_cast<double>(p.mflops));
  k.diagonal_first = p.diagonal_first;
  runtime rt(opt);
  const std::size_t repeat = repeats(p, rt);
  const std::vector<series> rows = sample_all(1, repeat, bar, [&](std::size_t) { return run_graph(rt, p.tiles, k); });
  result r = summary(rt, rows, repeat, tasks);
  r.add("tiles", std::uint64_t{p.tiles});
  r.add("tasks_per_run", tasks);
  r.add("tile", std::uint64_t{p.tile}, "columns");
  r.add("mflops", std::uint64_t{p.mflops}, "of one core alone");
  add_row(r, "seconds_per_run", rows[0], repeat, "s", [](double seconds) { return seconds; });
  const double gflop = graph_ns(p.tiles, k) * static_cast<double>(p.mflops) * 1e-12;
  add_row(r, "gflops", rows[0], repeat, "GFLOP/s", [&](double seconds) { return gflop / seconds; });
  return r;
}

result run_graphs(const parameters& p, const weft::options& opt, progress& bar) {
  const std::uint64_t tasks = graph_tasks(p.tiles);
  require_tasks_fit("micro-graph", tasks, 400);
  if (p.tile > 0) return run_kernels(p, opt, bar);
  const std::vector<std::size_t> grains = grains_of("micro-graph", p);
  runtime rt(opt);
  const std::size_t repeat = repeats(p, rt);
  const std::vector<series> rows = sample_all(grains.size(), repeat, bar, [&](std::size_t i) {
    return run_graph(rt, p.tiles, alike(static_cast<double>(grains[i])));
  });
  result r = summary(rt, rows, repeat, tasks);
  r.add("tiles", std::uint64_t{p.tiles});
  r.add("tasks_per_run", tasks);
  r.add("longest_path", graph_depth(p.tiles), "tasks");
  add_efficiencies(r, grains, rows, repeat, static_cast<double>(tasks));
  return r;
}

// A row with many dependencies has so few tasks that all their accesses fit into memory.
std::size_t readers(const parameters& p, std::size_t dependencies) {
  if (dependencies <= clauses_max) return p.tasks;
  return std::clamp<std::size_t>(p.accesses / dependencies, 1, p.tasks);
}

std::vector<std::size_t> counts_of(const parameters& p) {
  std::vector<std::size_t> asked;
  for (const std::size_t n : dependency_counts())
    if (n >= p.dependencies_from && n <= p.dependencies_to) asked.push_back(n);
  if (!asked.empty()) return asked;
  throw weft::error("micro-dependencies: there is no row from " + std::to_string(p.dependencies_from) + " to " +
                    std::to_string(p.dependencies_to) + " dependencies; rows are 0, 1, 2, 4 ... 32, 100, 1000, 10000");
}

result run_dependency_table(const parameters& p, const weft::options& opt, progress& bar) {
  require_tasks_fit("micro-dependencies", p.tasks, 1000);
  require_tasks_fit("micro-dependencies", p.accesses, sizeof(detail::access));
  weft::options all_live = opt;
  all_live.window = tasks_max * 2;  // every task is live before the first runs
  runtime rt(all_live);
  const std::size_t repeat = repeats(p, rt);
  const std::vector<std::size_t> counts = counts_of(p);
  const std::vector<series> rows = sample_all(counts.size(), repeat, bar, [&](std::size_t i) {
    return run_dependencies(rt, counts[i], readers(p, counts[i]), p.grain_ns);
  });
  result r = summary(rt, rows, repeat, p.tasks);
  r.add("tasks_per_run", std::uint64_t{p.tasks});
  r.add("grain_ns", std::uint64_t{p.grain_ns}, "ns");
  std::vector<std::size_t> narrow;
  std::vector<double> medians;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool is_wide = counts[i] > clauses_max;
    const auto tasks =
        static_cast<double>(readers(p, counts[i]) + (is_wide ? 2 : 0));  // two write as much as one reads
    const auto overhead = [&](double seconds) {
      return overhead_ns(tasks, static_cast<double>(p.grain_ns), r.workers, seconds);
    };
    if (!is_wide) {
      narrow.push_back(counts[i]);
      medians.push_back(overhead(rows[i].seconds(0.5)));
    }
    add_row(r, "overhead_" + std::to_string(counts[i]) + "_dependencies", rows[i], repeat, "ns per task", overhead);
  }
  if (narrow.size() > 1)
    r.add("ns_per_dependency", slope(narrow, medians), "ns, slope of the straight line that fits best up to 32");
  return r;
}

result run_count(const parameters& p, const weft::options& opt, progress& bar) {
  require_tasks_fit("micro-count", p.tasks, 200);
  std::vector<std::size_t> counts;
  for (std::size_t n = 1000; n < p.tasks; n *= 10) counts.push_back(n);
  counts.push_back(p.tasks);
  runtime rt(opt);
  const std::size_t repeat = repeats(p, rt);
  const std::vector<series> rows = sample_all(counts.size(), repeat, bar, [&](std::size_t i) {
    return run_independent(rt, counts[i], p.grain_ns, creation::timed);
  });
  result r = summary(rt, rows, repeat, counts[0]);
  r.add("grain_ns", std::uint64_t{p.grain_ns}, "ns");
  for (std::size_t i = 0; i < counts.size(); ++i)
    add_row(r, "overhead_" + std::to_string(counts[i]) + "_tasks", rows[i], repeat, "ns per task", [&](double seconds) {
      return overhead_ns(static_cast<double>(counts[i]), static_cast<double>(p.grain_ns), r.workers, seconds);
    });
  return r;
}

option repeat_option(parameters& p) {
  return {"repeat", "runs of each row; median and quartiles are shown; 0: the usual, or 1 if a trace is recorded",
          &p.repeat, 0, 1000};
}
option grain_option(parameters& p) {
  return {"grain-ns", "how long each task waits, in nanoseconds", &p.grain_ns, 0, grain_ns_max};
}
option from_option(parameters& p) {
  return {"grain-from", "shortest task in nanoseconds; then doubled", &p.grain_from, 1, grain_ns_max};
}
option to_option(parameters& p) { return {"grain-to", "longest task in nanoseconds", &p.grain_to, 1, grain_ns_max}; }

}  // namespace

app micro_grain_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "micro-grain",
          .summary = "efficiency over the length of independent tasks",
          .example = "micro-grain --tasks 2400 --workers 2",
          .options = {{"tasks", "number of tasks", &p->tasks, 1, tasks_max},
                      from_option(*p),
                      to_option(*p),
                      repeat_option(*p),
                      {"created-before", "submit all tasks before the clock starts", &p->created_before}},
          .run = [p](const weft::options& opt, progress& bar) { return run_grain(*p, opt, bar); }};
}

app micro_graph_app() {
  auto p = std::make_shared<parameters>();
  return {
      .name = "micro-graph",
      .summary = "efficiency over the length of tasks with the dependences of a factorization",
      .example = "micro-graph --tiles 20 --workers 2",
      .options = {{"tiles", "tiles per side: 20 are 1540 tasks, 50 are 22100", &p->tiles, 1, 300},
                  from_option(*p),
                  to_option(*p),
                  {"tile", "columns of a tile: tasks then take as long as its kernels; 0: all tasks alike", &p->tile, 0,
                   10'000},
                  {"mflops", "with --tile: how fast kernels are on one core, in MFLOP/s", &p->mflops, 1, 10'000'000},
                  {"diagonal-first", "with --tile: priority for what works on the diagonal", &p->diagonal_first},
                  repeat_option(*p)},
      .run = [p](const weft::options& opt, progress& bar) { return run_graphs(*p, opt, bar); }};
}

app micro_dependencies_app() {
  auto p = std::make_shared<parameters>();
  p->tasks = 16'000;
  return {.name = "micro-dependencies",
          .summary = "overhead of a task by its number of dependencies, 0 to 10,000",
          .example = "micro-dependencies --tasks 16000 --workers 2",
          .options = {{"tasks", "number of tasks, up to 32 dependencies", &p->tasks, 1, tasks_max},
                      {"accesses", "above 32 dependencies: how many in all tasks", &p->accesses, 1, accesses_max},
                      {"from", "fewest dependencies of a row", &p->dependencies_from, 0, dependencies_max},
                      {"to", "most dependencies of a row", &p->dependencies_to, 0, dependencies_max},
                      grain_option(*p),
                      repeat_option(*p)},
          .run = [p](const weft::options& opt, progress& bar) { return run_dependency_table(*p, opt, bar); }};
}

app micro_count_app() {
  auto p = std::make_shared<parameters>();
  p->tasks = 1'000'000;
  p->repeat_default = 3;
  return {.name = "micro-count",
          .summary = "overhead of a task by the number of tasks, 1000 to a million",
          .example = "micro-count --tasks 1000000 --workers 2",
          .options = {{"tasks", "largest number of tasks; then a tenth of it down to 1000", &p->tasks, 1, tasks_max},
                      grain_option(*p),
                      repeat_option(*p)},
          .run = [p](const weft::options& opt, progress& bar) { return run_count(*p, opt, bar); }};
}

}  // namespace weft::apps
