// See fidelity.hpp.
#include "fidelity.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "flags.hpp"
#include "replay.hpp"
#include "tools/weft/report/analysis.hpp"
#include "tools/weft/report/text.hpp"

namespace weft::tool::sim {

namespace {

constexpr double worth_a_word = 0.05;  // as a gain

// Settings with which the recorded run can be had once more. Errors: weft::error.
settings recorded_settings(const trace::file& f, settings s, const std::string& machine) {
  s.set("MACHINE", machine);
  s.set("POLICY", f.about("policy"));
  s.set("CREATION", f.about("creation"));
  s.set("SEED", f.about("seed"));
  take_recorded(s, "WORKERS", f, "workers");
  static_cast<void>(try_out(s));
  return s;
}

std::string exact_percent(double share) {
  if (share >= 0.1) return percent(share);
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

bool is_modelled(const std::string& machine) { return !machine.empty() && machine != "host"; }

}  // namespace

std::vector<point> as_recorded(const trace::file& f, const settings& asked, const std::string& otherwise, bool asap,
                               std::string& why) {
  std::vector<std::string> machines{otherwise};
  if (const std::string own = f.about("machine"); is_modelled(own)) machines.insert(machines.begin(), own);
  for (const std::string& machine : machines) {
    try {
      const settings s = recorded_settings(f, asked, machine);
      const auto workers = static_cast<unsigned>(std::strtoul(s.value("WORKERS").c_str(), nullptr, 10));
      const std::string creation = s.value("CREATION").empty() ? "inline" : s.value("CREATION");
      point p{machine, s.value("POLICY"), creation, "1", "recorded", workers};
      p.as_recorded = true;
      std::vector<point> all{p};
      p.keeps_gaps = true;
      if (asap) all.push_back(p);
      return all;
    } catch (const weft::error& e) {
      why = e.what();
    }
  }
  return {};
}

fidelity compare(const trace::file& f, const std::vector<row>& rows, const std::string& why) {
  fidelity x;
  x.unknown = why;
  if (rows.empty()) return x;
  x.unknown = rows[0].error;
  if (!x.known()) return x;
  x.at = rows[0].at;
  x.on_real_cores = !is_modelled(f.about("machine"));
  x.recorded_ns = static_cast<double>(report::analyse(f).sums.makespan);
  x.replayed_ns = rows[0].run.makespan_ns;
  if (rows.size() > 1 && rows[1].error.empty()) x.with_gaps_ns = rows[1].run.makespan_ns;
  if (!(x.recorded_ns > 0)) x.unknown = "the recorded run took no time";
  return x;
}

fidelity measure(const trace::file& f, const script& s, const settings& asked, bool keep_gaps,
                 const std::function<void(double)>& tell) {
  std::string why;
  std::vector<point> points = as_recorded(f, asked, asked.value("MACHINE"), false, why);
  if (points.empty()) return compare(f, {}, why);
  row r{points[0], "", {}, 0};
  try {
    settings there = settings_at(r.at, asked);
    there.set("TRACE", "");
    there.set("SEED", f.about("seed"));
    r.run.makespan_ns = static_cast<double>(replay(f, s, {there, keep_gaps}, tell).makespan_ps) / 1e3;
  } catch (const weft::error& e) {
    r.error = e.what();
  }
  return compare(f, {r}, why);
}

double fidelity::off(double makespan_ns) const noexcept {
  return known() ? std::abs(makespan_ns / recorded_ns - 1) : 0;
}

std::string fidelity::share() const { return known() ? exact_percent(error()) : "not known"; }

std::string fidelity::origin() const {
  if (!known()) return unknown;
  return "as it was recorded the run takes " + report::duration(replayed_ns) + " when replayed, and took " +
         report::duration(recorded_ns);
}

std::string fidelity::text() const {
  if (!known()) return "how far predictions are off is not known: " + unknown;
  const std::string machine = report::printable(at.machine, 80);
  std::string out = "as it was recorded (" + (on_real_cores ? "on real cores, here on " + machine : machine) + ", " +
                    std::to_string(at.workers) + (at.workers == 1 ? " worker" : " workers") + ", policy " + at.policy +
                    (at.creation == "inline" ? "" : ", creation " + at.creation) + ") the run takes " +
                    report::duration(replayed_ns) + " when replayed, and took " + report::duration(recorded_ns) +
                    ": predictions are off by " + exact_percent(error());
  if (error() >= error_of_use)
    out += ", too far to advise anything";
  else if (error() > worth_a_word)
    out += ", and no smaller gain is told";
  if (with_gaps_ns > 0 && error() > worth_a_word && 2 * off(with_gaps_ns) < error())
    out += "; the main program's own computing is left out: with --submitter trace they are off by " +
           exact_percent(off(with_gaps_ns));
  return out;
}

json to_json(const fidelity& x) {
  if (!x.known()) return {{"error", nullptr}, {"unknown", x.unknown}, {"text", x.text()}};
  return {{"error", x.error()},           {"recorded_ns", x.recorded_ns},
          {"replayed_ns", x.replayed_ns}, {"machine", x.at.machine},
          {"policy", x.at.policy},        {"creation", x.at.creation},
          {"workers", x.at.workers},      {"text", x.text()}};
}

}  // namespace weft::tool::sim
