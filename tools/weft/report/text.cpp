// See text.hpp.
#include "text.hpp"

#include "gil.hpp"
#include "sections.hpp"
#include "teams.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/weft/energy.hpp"
#include "tools/weft/output.hpp"
#include "tools/weft/trace/unseen.hpp"

namespace weft::tool::report {

namespace {

constexpr std::size_t names_shown_max = 30;
constexpr std::size_t workers_shown_max = 64;
constexpr std::size_t path_ids_max = 1000;  // in JSON; the rest is in the file

std::string percent(double part, double whole) {
  return whole > 0 ? std::to_string(std::lround(100 * part / whole)) + " %" : "-";
}
std::string percent(ns part, ns whole) { return percent(static_cast<double>(part), static_cast<double>(whole)); }
std::string size(double bytes) {
  constexpr struct {
    double size;
    const char* unit;
  } units[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}};
  for (const auto& u : units)
    if (bytes >= u.size * 0.9995) return short_number(bytes / u.size) + " " + u.unit;
  return short_number(bytes) + " B";
}
std::string time(ns x) { return duration(static_cast<double>(x)); }

using painted = std::vector<std::vector<style>>;

std::string heading(const char* title, bool colour) { return "\n" + paint(title, style::bold, colour) + "\n"; }

std::string outcomes(const figures& f) {
  std::string out;
  for (const auto o : {trace::outcome::failed, trace::outcome::skipped, trace::outcome::not_run})
    if (const std::uint64_t n = f.outcomes[static_cast<std::size_t>(o)])
      out += (out.empty() ? "" : ", ") + std::to_string(n) + " " + trace::text(o);
  return out;
}

std::string divided(const figures& f) {
  if (f.program_own < 0 || f.program == 0) return "";
  return ": " + time(f.program - f.program_own) + " submitting, " + time(f.program_own) + " work of its own";
}

std::string stolen_besides(const placing_figures& p) {
  std::string out;
  const auto add = [&](trace::booty what, const char* text) {
    if (const std::uint64_t n = p.stolen[static_cast<std::size_t>(what)])
      out += (out.empty() ? "of these " : ", ") + std::to_string(n) + " " + text;
  };
  add(trace::booty::stack, "stacks that go on");
  add(trace::booty::branch, "branches of forks");
  return out;
}

std::string spanning(const placing_figures& p) {
  return p.spanning == 0 ? "" : "; " + std::to_string(p.spanning) + " more have data on several nodes";
}

// The rules that decided most often.
std::string decisions(const trace::file& r) {
  std::string text;
  for (std::size_t i = 0; i < r.rules.size() && i < 4 && r.rules[i].decided != 0; ++i)
    text +=
        (i == 0 ? "" : ", ") + printable(r.rules[i].name, name_width_max) + " " + std::to_string(r.rules[i].decided);
  return text;
}
std::int64_t decided(const trace::file& r) {
  std::int64_t all = 0;
  for (const trace::rule& x : r.rules) all += x.decided;
  return all;
}
std::string undecided(const trace::file& r) {
  if (!r.rules.empty()) return "no rule has decided anything";
  return r.format < 11 ? "not told by traces before format 11" : "not told where a program was killed";
}
json rules_json(const trace::file& r) {
  if (r.rules.empty()) return nullptr;
  json out = json::object();
  for (const trace::rule& x : r.rules)
    if (x.decided != 0) out[x.name] = x.decided;
  return out;
}

std::string summary(const trace::file& r, const figures& f, bool colour) {
  table t(false);
  painted styles;
  const auto row = [&](const char* key, std::string value, std::string rest, style s = style::plain) {
    t.row({std::string("  ") + key, std::move(value), std::move(rest)});
    styles.push_back({style::plain, s, s == style::red ? s : style::plain});
  };
  const std::string bad = outcomes(f);
  row("tasks", std::to_string(f.ran()), bad, bad.empty() ? style::plain : style::red);
  row("makespan", time(f.makespan), "from the first submission to the last end");
  row("work", time(f.work), "in bodies, and " + time(f.program) + " in the main program" + divided(f));
  row("critical path", time(f.span), "the longest chain of what had to come one after the other");
  row("parallelism", short_number(f.parallelism),
      "workers that the graph keeps busy; there were " + std::to_string(r.workers.size()));
  if (!gil_waits(r).empty())
    row("GIL", percent(gil_share(r), 1), "of the time in bodies they waited for Python's lock");
  const auto room = static_cast<double>(f.makespan) * static_cast<double>(r.workers.size());
  row("utilisation", percent(f.utilisation, 1), "of the workers' time: in bodies or the main program",
      f.utilisation > 0.9 ? style::green : style::plain);
  row("overhead", percent(static_cast<double>(f.overhead), room),
      duration(f.overhead_per_task()) + " a task for the runtime, while tasks were ready");
  row("searching", percent(static_cast<double>(f.searching), room), "nothing was ready");
  row("asleep", percent(static_cast<double>(f.asleep), room), std::to_string(f.sleeps) + " sleeps");
  row("steals", std::to_string(r.steals.size()), stolen_besides(f.placing));
  const placing_figures& p = f.placing;
  if (p.hinted + p.spanning != 0)
    row("near", percent(static_cast<double>(p.at_near), static_cast<double>(p.hinted)),
        "of " + std::to_string(p.hinted) + " tasks with hints began at the memory node they want" + spanning(p));
  if (f.data.all() != 0)
    row("local", percent(f.data.local, f.data.all()),
        "of " + size(f.data.all()) + " that tasks named lay on the memory node of their worker");
  if (p.calls != 0) row("calls", std::to_string(p.calls), "tasks were called in the body that submitted them");
  row("decisions", r.rules.empty() ? "-" : std::to_string(decided(r)),
      decided(r) != 0 ? "by rules: " + decisions(r) : undecided(r));
  if (r.energy.modelled) row("joules", energy_text(r.energy), energy_kinds(r.energy));
  return t.text(styles, colour);
}

std::string name_rows(const trace::file& r, const figures& f, bool colour) {
  table t(true);
  const bool has_places = f.data.all() != 0;
  std::vector<std::string> head = {"  name", "count", "total", "share", "min", "median", "p95", "max", "on path"};
  if (has_places) head.insert(head.end(), {"data", "local"});
  t.row(head);
  for (std::size_t i = 0; i < f.names.size() && i < names_shown_max; ++i) {
    const name_figures& n = f.names[i];
    std::vector<std::string> row = {"  " + printable(name_text(r, n.name), name_width_max),
                                    std::to_string(n.count),
                                    time(n.body.total),
                                    percent(n.body.total, f.work),
                                    time(n.body.min),
                                    time(n.body.median),
                                    time(n.body.p95),
                                    time(n.body.max),
                                    percent(n.path_time, f.span)};
    if (has_places) row.insert(row.end(), {size(n.data.all()), percent(n.data.local, n.data.all())});
    t.row(row);
  }
  std::string out =
      heading("task names, by time in bodies", colour) + t.text({std::vector<style>(head.size(), style::bold)}, colour);
  if (f.names.size() > names_shown_max)
    out += "  and " + std::to_string(f.names.size() - names_shown_max) + " names more: --json has all\n";
  return out;
}

std::string wait_rows(const trace::file& r, const figures& f, bool colour) {
  table t(true);
  t.row({"  name", "for data", "each", "for a worker", "each"});
  const auto each = [](ns total, std::uint64_t n) {
    return duration(static_cast<double>(total) / static_cast<double>(n));
  };
  for (std::size_t i = 0; i < f.names.size() && i < names_shown_max; ++i) {
    const name_figures& n = f.names[i];
    t.row({"  " + printable(name_text(r, n.name), name_width_max), time(n.waited_for_data),
           each(n.waited_for_data, n.count), time(n.waited_for_worker), each(n.waited_for_worker, n.count)});
  }
  std::string out = heading("what tasks waited for, from submission to start", colour) +
                    t.text({std::vector<style>(5, style::bold)}, colour);
  table suspended(true);
  suspended.row({"  reason", "count", "total"});
  bool any = false;
  for (std::size_t i = 0; i < f.waits.size(); ++i) {
    if (f.waits[i].count == 0) continue;
    any = true;
    suspended.row({std::string("  ") + trace::text(static_cast<trace::wait_reason>(i)),
                   std::to_string(f.waits[i].count), time(f.waits[i].total)});
  }
  if (any)
    out += heading("bodies and the main program, set aside", colour) +
           suspended.text({std::vector<style>(3, style::bold)}, colour);
  return out;
}

std::string worker_rows(const figures& f, bool colour) {
  table t(true);
  t.row({"  worker", "tasks", "in bodies", "main program", "asleep", "rest", "utilisation"});
  for (std::size_t w = 0; w < f.workers.size() && w < workers_shown_max; ++w) {
    const worker_figures& x = f.workers[w];
    t.row({"  " + std::to_string(w), std::to_string(x.tasks), time(x.bodies), time(x.program), time(x.asleep),
           time(x.rest), percent(x.bodies + x.program, f.makespan)});
  }
  std::string out = heading("workers", colour) + t.text({std::vector<style>(7, style::bold)}, colour);
  if (f.workers.size() > workers_shown_max)
    out += "  and " + std::to_string(f.workers.size() - workers_shown_max) + " workers more: --json has all\n";
  return out;
}

json name_json(const trace::file& r, const figures& f, const name_figures& n) {
  return {{"name", n.name == none ? json(nullptr) : json(r.names[n.name])},
          {"count", n.count},
          {"total_ns", n.body.total},
          {"share", f.work > 0 ? static_cast<double>(n.body.total) / static_cast<double>(f.work) : 0.0},
          {"min_ns", n.body.min},
          {"median_ns", n.body.median},
          {"p95_ns", n.body.p95},
          {"max_ns", n.body.max},
          {"waited_for_data_ns", n.waited_for_data},
          {"waited_for_worker_ns", n.waited_for_worker},
          {"critical_path_steps", n.on_path},
          {"critical_path_ns", n.path_time},
          {"hinted", n.hinted},
          {"at_near", n.at_near},
          {"local_bytes", n.data.local},
          {"remote_bytes", n.data.remote}};
}

// null: the trace does not say.
json placing_json(const trace::file& r, const placing_figures& p) {
  if (r.format < 4) return nullptr;
  json stolen = json::object();
  for (std::size_t i = 0; i < p.stolen.size(); ++i) stolen[trace::text(static_cast<trace::booty>(i))] = p.stolen[i];
  return {
      {"hinted", p.hinted}, {"at_near", p.at_near}, {"spanning", p.spanning}, {"calls", p.calls}, {"stolen", stolen}};
}

json path_json(const trace::file& r, const analysis& a) {
  json ids = json::array();
  std::uint64_t steps = 0;
  for (const step& s : a.path.steps) {
    const std::uint32_t t = a.parts.all[s.piece].task;
    if (t == none) continue;
    if (++steps <= path_ids_max) ids.push_back(r.tasks[t].id);
  }
  return {{"ns", a.sums.span}, {"main_program_ns", a.sums.path_program}, {"steps", steps}, {"tasks", ids}};
}

}  // namespace

std::string duration(double x) {
  constexpr struct {
    double size;
    const char* unit;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const auto& u : units)
    if (x >= u.size * 0.9995) return short_number(std::max(1.0, x / u.size)) + " " + u.unit;  // 999.6 us reads 1.00 ms
  char text[32];
  std::snprintf(text, sizeof text, x == std::floor(x) || x >= 100 ? "%.0f ns" : "%.1f ns", x);
  return text;
}

std::string name_text(const trace::file& r, std::uint32_t name) { return name == none ? "(unnamed)" : r.names[name]; }

std::string text(const trace::file& r, const analysis& a, bool colour) {
  const figures& f = a.sums;
  std::string out = paint(printable(r.about("program"), 200), style::bold, colour) + ": " +
                    std::to_string(r.workers.size()) + " workers of machine " + printable(r.about("machine"), 80) +
                    ", policy " + printable(r.about("policy"), 80) + ", seed " + printable(r.about("seed"), 80) + "\n";
  if (r.lost > 0)
    out += paint(std::to_string(r.lost) +
                     " RECORDS WERE LOST: every figure is too low, and the critical path may be wrong",
                 style::red, colour) +
           "\n";
  if (a.path.circles > 0)
    out += paint("the trace contradicts itself: tasks wait for each other in a circle; the critical path is a guess",
                 style::red, colour) +
           "\n";
  if (const std::string unseen = trace::unseen(r); !unseen.empty())
    out +=
        paint("caution: " + unseen + ", so utilisation, parallelism and the critical path are wrong where they matter",
              style::red, colour) +
        "\n";
  out += summary(r, f, colour);
  if (f.ran() > 0)
    out += name_rows(r, f, colour) + team_rows(r, teams_of(r, a.names), colour) + wait_rows(r, f, colour) +
           worker_rows(f, colour);
  out += section_rows(sections_of(r), colour);
  const std::vector<advice> hints = trace::unseen(r).empty() ? advise(r, f) : std::vector<advice>();
  if (!hints.empty()) out += heading("advice", colour);
  for (const advice& h : hints) out += "  - " + h.text + "\n";
  return out;
}

json to_json(const trace::file& r, const analysis& a) {
  const figures& f = a.sums;
  json out = {{"ok", true},
              {"file", r.path},
              {"program", r.about("program")},
              {"machine", r.about("machine")},
              {"policy", r.about("policy")},
              {"seed", r.about("seed")},
              {"workers", r.workers.size()},
              {"duration_ns", r.duration_ns},
              {"lost", r.lost},
              {"joules", energy_json(r.energy)},
              {"rules", rules_json(r)}};
  out["tasks"] = f.ran();
  for (std::size_t i = 0; i < f.outcomes.size(); ++i) {
    const auto o = static_cast<trace::outcome>(i);
    out[o == trace::outcome::not_run ? "not_run" : trace::text(o)] = f.outcomes[i];
  }
  out.update({{"makespan_ns", f.makespan},
              {"work_ns", f.work},
              {"main_program_ns", f.program},
              {"main_program_own_ns", f.program_own < 0 ? json(nullptr) : json(f.program_own)},
              {"span_ns", f.span},
              {"parallelism", f.parallelism},
              {"utilisation", f.utilisation},
              {"overhead_ns", f.overhead},
              {"overhead_per_task_ns", f.overhead_per_task()},
              {"searching_ns", f.searching},
              {"asleep_ns", f.asleep},
              {"steals", r.steals.size()},
              {"sleeps", f.sleeps},
              {"contradictions", a.path.circles}});
  out["names"] = json::array();
  for (const name_figures& n : f.names) out["names"].push_back(name_json(r, f, n));
  out["critical_path"] = path_json(r, a);
  out["placing"] = placing_json(r, f.placing);
  out["data"] = {{"local_bytes", f.data.local}, {"remote_bytes", f.data.remote}};
  out["teams"] = teams_json(r, teams_of(r, a.names));
  out["sections"] = sections_json(r, sections_of(r));
  out["waits"] = json::object();
  for (std::size_t i = 0; i < f.waits.size(); ++i)
    out["waits"][trace::text(static_cast<trace::wait_reason>(i))] = {{"count", f.waits[i].count},
                                                                     {"total_ns", f.waits[i].total}};
  out["per_worker"] = json::array();
  for (const worker_figures& w : f.workers)
    out["per_worker"].push_back({{"tasks", w.tasks},
                                 {"bodies_ns", w.bodies},
                                 {"main_program_ns", w.program},
                                 {"asleep_ns", w.asleep},
                                 {"rest_ns", w.rest}});
  out["gil_share"] = gil_waits(r).empty() ? json(nullptr) : json(gil_share(r));
  const std::string unseen = trace::unseen(r);
  out["unseen"] = unseen.empty() ? json(nullptr) : json(unseen);
  out["advice"] = json::array();
  for (const advice& h : unseen.empty() ? advise(r, f) : std::vector<advice>())
    out["advice"].push_back({{"kind", h.kind}, {"text", h.text}});
  return out;
}

}  // namespace weft::tool::report
