#include "section.hpp"

#include <initializer_list>
#include <span>

#include "threads.hpp"
#include "weft/lab/oracle.hpp"
#include "weft/lab/swarm.hpp"

namespace weft::apps::order {

namespace {

void add_spread(result& r, const std::string& what, const oracle_spread& s) {
  r.add(what + "_mean", s.mean);
  r.add(what + "_90th", s.percentile_90);
}

void add_oracle(result& r, const oracle_statistics& o) {
  r.add("instructions", o.instructions);
  r.add("critical_path", o.critical_path, "instructions");
  add_spread(r, "size", o.size);
  add_spread(r, "reads", o.reads);
  add_spread(r, "writes", o.writes);
  r.add("parallelism", o.parallelism.unlimited);
  r.add("parallelism_window_1024", o.parallelism.window_1024);
  r.add("parallelism_window_64", o.parallelism.window_64);
  r.add("parallelism_in_flight_1024", o.parallelism.in_flight_1024);
  r.add("parallelism_in_flight_64", o.parallelism.in_flight_64);
  r.add("parallelism_sequential", o.parallelism.sequential);
  r.add("is_loop", o.is_loop);
}

constexpr double chip_hz = 2e9;

// What the paper's figures are made of. Shares are of all cycles of all cores.
struct shares {
  double all;
  [[nodiscard]] double of(std::uint64_t cycles) const noexcept {
    return all == 0 ? 0 : static_cast<double>(cycles) / all;
  }
};

shares add_cores(result& r, const swarm_statistics& s) {
  const shares share{static_cast<double>(s.cores * s.cycles)};
  r.add("cores", s.cores);
  r.add("tiles", s.tiles);
  r.add("cycles", s.cycles, "cycles");
  r.add("share_committed", share.of(s.core_cycles.committed));
  r.add("share_stall", share.of(s.core_cycles.stall));
  r.add("share_empty", share.of(s.core_cycles.empty));
  r.add("traffic_memory", s.traffic.memory, "bytes");
  return share;
}

void add_swarm(result& r, const swarm_statistics& s) {
  const shares share = add_cores(r, s);
  r.add("share_aborted", share.of(s.core_cycles.aborted));
  r.add("share_spill", share.of(s.core_cycles.spill));
  r.add("aborts", s.aborts.all());
  r.add("aborts_false_positive", s.aborts.false_positive);
  r.add("task_queue_average", s.task_queue_average(), "entries");
  r.add("commit_queue_average", s.commit_queue_average(), "entries");
  r.add("tasks_enqueued", s.tasks.enqueued);
  r.add("tasks_spilled", s.tasks.spilled);
  r.add("coalescers", s.tasks.coalescers);
  r.add("splitters", s.tasks.splitters);
  r.add("overflowed", s.tasks.overflowed);
  r.add("under_way_max", s.tasks.under_way_max);
  r.add("checks_global", s.checks.global);
  r.add("checks_tile_or_global", s.checks.tile + s.checks.global);
  r.add("checks_bloom", s.checks.bloom);
  r.add("checks_compared", s.checks.compared);
  r.add("traffic_enqueue", s.traffic.enqueue, "bytes");
  r.add("traffic_abort", s.traffic.abort, "bytes");
  r.add("traffic_gvt", s.traffic.gvt, "bytes");
}

// A line a sample, its values separated by spaces.
void add_samples(result& r, std::span<const swarm_sample> all) {
  if (all.empty()) return;
  std::string text = "cycle tile task_queue commit_queue commits aborts task spill stall empty";
  for (const swarm_sample& s : all) {
    text += "\n";
    for (const std::uint64_t x : std::initializer_list<std::uint64_t>{
             s.cycle, s.tile, s.task_queue, s.commit_queue, s.commits, s.aborts, s.core_cycles.task,
             s.core_cycles.spill, s.core_cycles.stall, s.core_cycles.empty})
      text += std::to_string(x) + " ";
    text.pop_back();
  }
  r.add("samples", text);
}

}  // namespace

void run_section(result& r, runtime& rt, ordered& q) {
  q.run();
  describe_section(r, rt, q);
}

void describe_section(result& r, runtime& rt, ordered& q) {
  r.describe(rt);
  const ordered_counts c = q.counts();
  r.seconds = c.seconds;
  r.add("executor", std::string(q.executor_name()));
  r.add("calls_committed", c.committed);
  r.add("calls_started", c.started);
  if (q.executor_name() == "oracle") add_oracle(r, oracle_of(q));
  if (q.executor_name() != "swarm") return;
  add_swarm(r, statistics_of(q));
  add_samples(r, samples_of(q));
}

void describe_threads(result& r, runtime& rt, const swarm_statistics& s) {
  r.describe(rt);
  r.seconds = static_cast<double>(s.cycles) / chip_hz;
  r.add("executor", std::string("threads"));
  add_cores(r, s);
}

check each_call_once(ordered& q, std::uint64_t expected) {
  const std::uint64_t is = q.counts().committed;
  return {"each_call_once", is == expected,
          std::to_string(is) + " calls committed, " + std::to_string(expected) + " expected"};
}

}  // namespace weft::apps::order
