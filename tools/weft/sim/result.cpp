// See result.hpp.
#include "result.hpp"

#include <cmath>
#include <cstdio>

#include "tools/weft/report/text.hpp"

namespace weft::tool::sim {

namespace {

std::string hexadecimal(std::uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}

json names(const trace::file& f, const report::figures& s) {
  json all = json::array();
  for (const report::name_figures& n : s.names)
    all.push_back({{"name", n.name == none ? json(nullptr) : json(report::printable(f.names[n.name], 60))},
                   {"count", n.count},
                   {"total_ns", n.body.total},
                   {"median_ns", n.body.median},
                   {"max_ns", n.body.max}});
  return all;
}

}  // namespace

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

const char* reason(limit l) noexcept {
  constexpr const char* texts[] = {
      "the workers are busy with bodies: more of them would help",
      "the longest chain of tasks: more workers do not help",
      "the main program cannot submit any faster",
      "memory cannot deliver any faster",
      "tasks were ready and workers free: the runtime's own work, steals and locks took the time",
      "workers had nothing ready to run, though no bound is near: the order of tasks, or their sizes"};
  return texts[static_cast<std::size_t>(l)];
}

json to_json(const trace::file& f, const report::analysis& a, const verdict& v) {
  const double work = static_cast<double>(a.sums.work), makespan = static_cast<double>(v.makespan);
  return {
      {"ok", true},
      {"makespan_ns", v.makespan},
      {"workers", f.workers.size()},
      {"machine", f.about("machine")},
      {"policy", f.about("policy")},
      {"tasks", a.sums.ran()},
      {"work_ns", a.sums.work},
      {"span_ns", v.span},
      {"speedup", makespan > 0 ? work / makespan : 0},
      {"utilisation", v.busy + v.program},
      {"binds", text(v.binds)},
      {"bounds_ns", {{"cores", v.work_bound}, {"critical path", v.span}, {"creation", v.creation_bound}}},
      {"shares",
       {{"bodies", v.busy}, {"program", v.program}, {"late", v.late}, {"idle", v.idle}, {"bandwidth", v.bandwidth}}},
      {"program_ns", a.sums.program},
      {"names", names(f, a.sums)},
      {"path_names", v.path_names},
      {"steals", f.steals.size()},
      {"sleeps", a.sums.sleeps}};
}

void add_replay(json& out, const replayed& r) {
  out["makespan_ns"] = static_cast<double>(r.makespan_ps) / 1e3;
  out["steals"] = r.counts.steals;
  out["sleeps"] = r.counts.sleeps;
  out["events"] = r.counts.events;
  out["transfers"] = r.counts.transfers;
  out["line_waits_ns"] = r.counts.line_waits_ns;
  out["remote_bytes"] = r.counts.remote_bytes;
  out["local_bytes"] = r.counts.local_bytes;
  out["cached_bytes"] = r.counts.cached_bytes;
  out["digest"] = hexadecimal(r.digest());
  out["host_seconds"] = r.host_seconds;
  out["tasks_per_second"] = r.host_seconds > 0 ? static_cast<double>(r.counts.tasks) / r.host_seconds : 0;
}

}  // namespace weft::tool::sim
