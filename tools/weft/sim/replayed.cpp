// What a replay came to, for those who look at it: as a trace, and as one number.
#include "replay.hpp"

namespace weft::tool::sim {

std::uint64_t replayed::digest() const noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](std::uint64_t value) {
    hash ^= value;
    hash *= 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!tasks[t].ran) continue;
    add(t);
    add(std::uint64_t{tasks[t].from_worker} << 16 | tasks[t].to_worker);
    add(tasks[t].from_ps);
    add(tasks[t].to_ps);
  }
  return hash;
}

trace::file as_trace(const trace::file& of, const replayed& r) {
  trace::file f;
  f.path = of.path;
  f.meta = of.meta;
  f.meta["machine"] = r.machine;
  f.meta["policy"] = r.policy;
  f.format = of.format == 1 ? 1 : 3;  // as format 3: what the main program did is known; what format 1 lacks is not
  f.names = of.names;
  f.kinds = of.kinds;
  f.flags = of.flags;
  f.handles = of.handles;
  f.accesses = of.accesses;
  f.tasks = of.tasks;
  f.waits = r.waits;
  f.strands = of.strands;
  f.steps = of.steps;
  f.stays = r.stays;
  f.pipelines = of.pipelines;
  f.passes = of.passes;
  f.helps = of.helps;
  f.sections = of.sections;
  f.bodies = of.bodies;
  f.touches = of.touches;
  f.numbered = of.numbered;
  f.crews = of.crews;
  f.own_in_strands = r.own_in_strands;
  f.passed = r.passed;
  f.duration_ns = static_cast<ns>(r.makespan_ps / 1000);
  for (unsigned w = 0; w < r.workers; ++w) f.workers.push_back({w, none, -1});
  for (const more_member& m : r.more) {
    trace::task x = of.tasks[m.team];
    x.id = f.tasks.back().id + 1;
    x.parent = m.team;
    x.rank = static_cast<std::int32_t>(m.rank);
    f.tasks.push_back(x);
  }
  for (std::size_t t = 0; t < f.tasks.size(); ++t) {
    trace::task& x = f.tasks[t];
    const task_run& n = t < r.tasks.size() ? r.tasks[t] : r.more[t - r.tasks.size()].run;
    x.submitter = n.submitter;
    x.submitted_ns = static_cast<ns>(n.submitted_ps / 1000);
    x.own_ns = n.own;
    x.at_near = -1;  // which node a worker of that machine is at is not known here
    x.is_call = n.is_call;
    x.worker = n.ran ? n.from_worker : none;
    x.started_ns = n.ran ? static_cast<ns>(n.from_ps / 1000) : trace::no_time;
    x.finished_ns = n.ran ? static_cast<ns>(n.to_ps / 1000) : trace::no_time;
    x.result = n.ran ? trace::outcome::done : trace::outcome::not_run;
  }
  return f;
}

}  // namespace weft::tool::sim
