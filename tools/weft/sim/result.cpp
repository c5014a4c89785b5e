// See result.hpp.
#include "result.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/weft/energy.hpp"
#include "tools/weft/report/text.hpp"

namespace weft::tool::sim {

namespace {

constexpr limit limits[] = {limit::cores,        limit::critical_path, limit::creation, limit::bandwidth,
                            limit::shared_units, limit::contention,    limit::imbalance};

std::string hexadecimal(std::uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}

json names_json(const std::vector<name_sum>& all) {
  json out = json::array();
  for (const name_sum& n : all)
    out.push_back({{"name", n.name ? json(*n.name) : json(nullptr)},
                   {"count", n.count},
                   {"total_ns", n.total},
                   {"median_ns", n.median},
                   {"max_ns", n.max}});
  return out;
}

void add_replay(json& out, const replay_sums& r) {
  out.update({{"events", r.events},
              {"transfers", r.transfers},
              {"line_waits_ns", r.line_waits_ns},
              {"remote_bytes", r.remote_bytes},
              {"local_bytes", r.local_bytes},
              {"cached_bytes", r.cached_bytes},
              {"shared_bytes", r.shared_bytes},
              {"modified_bytes", r.modified_bytes},
              {"written_back_bytes", r.written_back_bytes},
              {"digest", r.digest},
              {"host_seconds", r.host_seconds},
              {"tasks_per_second", r.host_seconds > 0 ? static_cast<double>(r.tasks) / r.host_seconds : 0}});
}

ns whole(const json& j) { return static_cast<ns>(j.get<double>()); }

replay_sums replay_from(const json& j) {
  const auto count = [&j](const char* key) { return j[key].get<std::uint64_t>(); };
  return {.events = count("events"),
          .transfers = count("transfers"),
          .line_waits_ns = count("line_waits_ns"),
          .remote_bytes = count("remote_bytes"),
          .local_bytes = count("local_bytes"),
          .cached_bytes = count("cached_bytes"),
          .shared_bytes = count("shared_bytes"),
          .modified_bytes = count("modified_bytes"),
          .written_back_bytes = count("written_back_bytes"),
          .tasks = count("tasks"),
          .digest = j["digest"].get<std::string>(),
          .host_seconds = j["host_seconds"].get<double>()};
}

verdict verdict_from(const json& j) {
  verdict v;
  const json &bounds = j["bounds_ns"], &shares = j["shares"];
  v.makespan = whole(j["makespan_ns"]);
  v.work_bound = whole(bounds["cores"]);
  v.span = whole(j["span_ns"]);
  v.creation_bound = whole(bounds["creation"]);
  v.busy = shares["bodies"].get<double>();
  v.program = shares["program"].get<double>();
  v.late = shares["late"].get<double>();
  v.bandwidth = shares["bandwidth"].get<double>();
  v.units = shares["units"].get<double>();
  v.idle = shares["idle"].get<double>();
  const auto binds = j["binds"].get<std::string>();
  v.binds = *std::ranges::find_if(limits, [&](limit l) { return binds == text(l); });
  for (const json& n : j["path_names"]) v.path_names.emplace_back(n[0].get<std::string>(), whole(n[1]));
  return v;
}

}  // namespace

unseen unseen_of(const replayed& r) noexcept {
  return {r.counts.bandwidth_wait_ns, r.counts.units_wait_ns - std::min(r.counts.units_wait_ns, r.slowed_ps / 1000)};
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

const char* reason(const modelled& m) noexcept {
  constexpr const char* texts[] = {
      "the workers are busy with bodies: more of them would help",
      "the longest chain of tasks: more workers do not help",
      "the main program cannot submit any faster",
      "memory cannot deliver any faster",
      "cores that share their units slow each other down: more of them would not help much",
      "tasks were ready and workers free: the runtime's own work, steals and locks took the time",
      "workers had nothing ready to run, though no bound is near: the order of tasks, or their sizes"};
  if (m.why.binds == limit::creation && 2 * m.program_own > m.program)
    return "the main program's own work between its submissions: make tasks of it";
  return texts[static_cast<std::size_t>(m.why.binds)];
}

modelled make_result(const trace::file& f, const report::analysis& a, const verdict& v) {
  modelled m{.makespan_ns = static_cast<double>(v.makespan),
             .workers = static_cast<unsigned>(f.workers.size()),
             .machine = f.about("machine"),
             .policy = f.about("policy"),
             .tasks = a.sums.ran(),
             .steals = f.steals.size(),
             .sleeps = a.sums.sleeps,
             .work = a.sums.work,
             .program = a.sums.program,
             .program_own = std::max<ns>(0, a.sums.program_own),
             .why = v,
             .names = {},
             .replay = {},
             .energy = f.energy,
             .unseen = {},
             .caution = {}};
  for (const report::name_figures& n : a.sums.names)
    m.names.push_back({n.name == none ? std::optional<std::string>() : report::printable(f.names[n.name], 60), n.count,
                       n.body.total, n.body.median, n.body.max});
  return m;
}

modelled make_result(const trace::file& f, const report::analysis& a, const verdict& v, const replayed& r) {
  modelled m = make_result(f, a, v);
  m.makespan_ns = static_cast<double>(r.makespan_ps) / 1e3;
  m.steals = r.counts.steals;
  m.sleeps = r.counts.sleeps;
  m.replay = {.events = r.counts.events,
              .transfers = r.counts.transfers,
              .line_waits_ns = r.counts.line_waits_ns,
              .remote_bytes = r.counts.remote_bytes,
              .local_bytes = r.counts.local_bytes,
              .cached_bytes = r.counts.cached_bytes,
              .shared_bytes = r.counts.shared_bytes,
              .modified_bytes = r.counts.modified_bytes,
              .written_back_bytes = r.counts.written_back_bytes,
              .tasks = r.counts.tasks,
              .digest = hexadecimal(r.digest()),
              .host_seconds = r.host_seconds};
  m.energy = r.counts.energy;
  return m;
}

std::string caution_of(const std::string& mode, const modelled& m) {
  constexpr double long_body_ns = 100'000;
  constexpr unsigned few = 64;
  if (mode != "coarse" || m.tasks == 0) return "";
  if (static_cast<double>(m.work) >= long_body_ns * static_cast<double>(m.tasks) && m.workers <= few)
    return "mode coarse: may be off by 10 %, chains of tasks by 15 %; mode fine is right";
  return "mode coarse: with bodies below 100 us or more than 64 workers the time may be a quarter of the right one or "
         "more than twice as long; mode fine is right";
}

json to_json(const modelled& m) {
  const verdict& v = m.why;
  json out = {{"ok", true},
              {"makespan_ns", m.makespan_ns},
              {"workers", m.workers},
              {"machine", m.machine},
              {"policy", m.policy},
              {"tasks", m.tasks},
              {"work_ns", m.work},
              {"span_ns", v.span},
              {"speedup", m.speedup()},
              {"utilisation", v.busy + v.program},
              {"binds", text(v.binds)},
              {"bounds_ns", {{"cores", v.work_bound}, {"critical path", v.span}, {"creation", v.creation_bound}}},
              {"shares",
               {{"bodies", v.busy},
                {"program", v.program},
                {"late", v.late},
                {"idle", v.idle},
                {"bandwidth", v.bandwidth},
                {"units", v.units}}},
              {"program_ns", m.program},
              {"program_own_ns", m.program_own},
              {"names", names_json(m.names)},
              {"path_names", v.path_names},
              {"steals", m.steals},
              {"sleeps", m.sleeps},
              {"joules", energy_json(m.energy)}};
  if (m.replay) add_replay(out, *m.replay);
  if (!m.unseen.empty()) out["unseen"] = m.unseen;
  if (!m.caution.empty()) out["caution"] = m.caution;
  return out;
}

modelled from_json(const json& j) {
  modelled m{.makespan_ns = j["makespan_ns"].get<double>(),
             .workers = j["workers"].get<unsigned>(),
             .machine = j["machine"].get<std::string>(),
             .policy = j["policy"].get<std::string>(),
             .tasks = j["tasks"].get<std::uint64_t>(),
             .steals = j["steals"].get<std::uint64_t>(),
             .sleeps = j["sleeps"].get<std::uint64_t>(),
             .work = whole(j["work_ns"]),
             .program = whole(j["program_ns"]),
             .program_own = whole(j["program_own_ns"]),
             .why = verdict_from(j),
             .names = {},
             .replay = {},
             .energy = energy_from(j["joules"]),
             .unseen = j.contains("unseen") ? j["unseen"].get<std::string>() : "",
             .caution = j.contains("caution") ? j["caution"].get<std::string>() : ""};
  for (const json& n : j["names"])
    m.names.push_back({n["name"].is_null() ? std::optional<std::string>() : n["name"].get<std::string>(),
                       n["count"].get<std::uint64_t>(), whole(n["total_ns"]), whole(n["median_ns"]),
                       whole(n["max_ns"])});
  if (j.contains("digest")) m.replay = replay_from(j);
  return m;
}

}  // namespace weft::tool::sim
