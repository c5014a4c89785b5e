// `weft run -- ./PROGRAM` runs a program of the user's that g++ -fopenmp has built (openmp.hpp).
//
// `weft run APP`: makes the app's options into command-line options, runs it, shows what it measured and what it
// checked. Every app is a subcommand, so `weft run cholesky --help` lists exactly what that app understands.
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <variant>

#include "apps/app.hpp"
#include "command.hpp"
#include "energy.hpp"
#include "openmp.hpp"
#include "output.hpp"

namespace weft::tool {

namespace {

json to_json(const apps::field::value_type& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

std::string to_text(const apps::field::value_type& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "yes" : "no";
  if (const auto* u = std::get_if<std::uint64_t>(&value)) return std::to_string(*u);
  if (const auto* d = std::get_if<double>(&value)) return short_number(*d);
  return std::get<std::string>(value);
}

json report_json(const char* name, const apps::result& r, std::uint64_t seed) {
  json out = {{"app", name},
              {"ok", r.ok()},
              {"seconds", r.seconds},
              {"workers", r.workers},
              {"machine", r.machine},
              {"policy", r.policy},
              {"seed", seed},
              {"tasks", r.counts.tasks},
              {"calls", r.counts.calls},
              {"steals", r.counts.steals},
              {"sleeps", r.counts.sleeps},
              {"suspends", r.counts.suspends},
              {"pushed", r.counts.pushed},
              {"refused", r.counts.refused}};
  if (r.machine != "host")
    out.update({{"transfers", r.counts.transfers},
                {"line_waits_ns", r.counts.line_waits_ns},
                {"cached_bytes", r.counts.cached_bytes},
                {"shared_bytes", r.counts.shared_bytes},
                {"modified_bytes", r.counts.modified_bytes},
                {"local_bytes", r.counts.local_bytes},
                {"remote_bytes", r.counts.remote_bytes},
                {"bandwidth_wait_ns", r.counts.bandwidth_wait_ns},
                {"joules", energy_json(r.counts.energy)}});
  out["rules"] = json::object();
  for (std::size_t i = 0; i < scheduler_rules().count; ++i)
    if (r.counts.decided[i] != 0) out["rules"][scheduler_rules().first[i].name] = r.counts.decided[i];
  if (!r.trace.empty()) out["trace"] = r.trace;
  for (const apps::field& f : r.fields) {
    assert(!out.contains(f.name) && "a field of an app may not hide one of the tool");
    out[f.name] = to_json(f.value);
  }
  out["checks"] = json::array();
  for (const apps::check& c : r.checks)
    out["checks"].push_back({{"name", c.name}, {"ok", c.passed}, {"detail", c.detail}});
  return out;
}

std::string report_text(const char* name, const apps::result& r, bool colour) {
  table t(false);
  std::vector<std::vector<style>> styles;
  const auto row = [&](std::string key, std::string value, std::string rest = "", style s = style::plain) {
    t.row({"  " + std::move(key), std::move(value), std::move(rest)});
    styles.push_back({style::plain, s});
  };
  row("seconds", short_number(r.seconds), r.machine == "host" ? "" : "of modelled time");
  row("workers", std::to_string(r.workers));
  row("machine", r.machine);
  row("policy", r.policy);
  if (!r.trace.empty()) row("trace", r.trace);
  row("tasks", std::to_string(r.counts.tasks), std::to_string(r.counts.steals) + " stolen");
  if (r.machine != "host") row("joules", energy_text(r.counts.energy), energy_kinds(r.counts.energy));
  for (const apps::field& f : r.fields) row(f.name, to_text(f.value), f.unit);
  for (const apps::check& c : r.checks)
    row("check " + c.name, c.passed ? "ok" : "FAILED", c.detail, c.passed ? style::green : style::red);
  return paint(name, style::bold, colour) + "\n" + t.text(styles, colour);
}

class run_command final : public command {
 public:
  explicit run_command(const command_line& root) : apps_(apps::all_apps()) {
    line_ = root.add_subcommand("run", "Run a program, time it and check its result");
    add_common(line_);
    for (apps::app& a : apps_) add_app(a);
    line_.add_option("PROGRAM", program_, "Or a program that g++ -fopenmp has built, by its path, and its arguments");
    line_.allow_extras();  // after the apps, which must not inherit it: for the message about an unknown app
    line_.footer("Without APP, lists the apps. A path runs a program of yours that g++ -fopenmp has built.\n"
                 "Example:\n  weft run cholesky --n 4096 --workers 2\n  weft run --workers 2 -- ./a.out");
  }

  int run() override {
    for (std::size_t i = 0; i < apps_.size(); ++i)
      if (lines_[i].parsed()) return run_app(apps_[i]);
    const std::vector<std::string> others = line_.remaining();
    for (const std::string& option : others)
      if (!program_.empty() && option != "--" && option.starts_with('-'))
        throw weft::error("run: unknown option \"" + option +
                          "\"; options of your program come behind it, and it behind "
                          "--: weft run -- " +
                          program_[0] + " " + option);
    const std::vector<std::string> extras = program_.empty() ? others : program_;
    if (extras.empty()) return list_apps();
    if (extras[0].find('/') != std::string::npos) return run_program(extras);
    if (extras[0].starts_with('-')) throw weft::error("run: unknown option \"" + extras[0] + "\"; see weft run --help");
    throw weft::error("run: unknown app \"" + extras[0] + "\"; known are " + names(apps_) +
                      "; a program of your own is given by its path: weft run -- ./" + extras[0]);
  }

 private:
  void add_common(const command_line& line) {
    flags_.add_to(line);
    line.add_option("--trace", trace_, "Record a trace in this file, an SQLite database").type_name("FILE");
    line.add_option("--counters", counters_, "With --trace: counters to read around each task, as cycles,instructions")
        .type_name("LIST");
    line.add_flag("--json", json_, "One JSON object on stdout");
  }

  void add_app(apps::app& a) {
    const command_line line = line_.add_subcommand(a.name, a.summary);
    lines_.push_back(line);
    for (const apps::option& o : a.options) add_option(line, o);
    for (const apps::option& o : a.options)
      if (o.excludes != nullptr)
        line.get_option("--" + std::string(o.name)).excludes(line.get_option("--" + std::string(o.excludes)));
    add_common(line);
    line.footer("Example:\n  weft run " + std::string(a.example));
  }

  static void add_option(const command_line& line, const apps::option& o) {
    const std::string name = "--" + std::string(o.name);
    if (bool* const* flag = std::get_if<bool*>(&o.target)) {
      line.add_flag(name, **flag, o.help);
    } else if (std::size_t* const* number = std::get_if<std::size_t*>(&o.target)) {
      line.add_option(name, **number, o.help).capture_default_str().in_range(o.min, o.max).type_name("N");
    } else {
      line.add_option(name, *std::get<std::string*>(o.target), o.help);
    }
  }

  int run_app(const apps::app& a) {
    options opt = flags_.values();
    if (!trace_.empty()) opt.trace = trace_.c_str();
    if (!counters_.empty()) opt.counters = counters_.c_str();
    ::program_invocation_short_name = const_cast<char*>(a.name);  // so a trace is of that program, and not of "weft"
    apps::progress bar(std::string("weft run ") + a.name, stderr);
    const apps::result r = a.run(opt, bar);
    bar.finish();
    write_stdout(json_ ? json_text(report_json(a.name, r, opt.seed)) : report_text(a.name, r, colour_wanted()));
    if (r.ok()) return exit_ok;
    for (const apps::check& c : r.checks)
      if (!c.passed)
        std::fprintf(stderr, "weft: %s: check %s failed: %s\n", a.name, printable_lines(c.name).c_str(),
                     printable_lines(c.detail).c_str());
    return exit_check_failed;
  }

  int run_program(const std::vector<std::string>& program) const {
    const options opt = flags_.values();
    if (opt.machine != nullptr && std::string_view(opt.machine) != "host")
      throw weft::error("run: --machine " + std::string(opt.machine) +
                        " is for the apps; OpenMP programs run on real cores only: on a modelled machine all threads "
                        "would share one thread's threadprivate and thread_local variables");
    if (json_) throw weft::error("run: --json is for the apps; what your program prints is its own");
    std::vector<std::string> settings;
    const auto set = [&settings](const char* name, const std::string& value) {
      if (!value.empty()) settings.push_back(std::string(name) + "=" + value);
    };
    set("OMP_NUM_THREADS", opt.workers != 0 ? std::to_string(opt.workers) : "");
    set("WEFT_POLICY", opt.policy != nullptr ? opt.policy : "");
    set("WEFT_SEED", opt.seed != options().seed ? std::to_string(opt.seed) : "");
    set("WEFT_TRACE", trace_);
    set("WEFT_COUNTERS", counters_);
    return run_openmp(program, settings);
  }

  int list_apps() const {
    json list = json::array();
    table t(false);
    for (const apps::app& a : apps_) {
      list.push_back({{"name", a.name}, {"summary", a.summary}});
      t.row({"  " + std::string(a.name), a.summary});
    }
    write_stdout(json_ ? json_text({{"ok", true}, {"apps", list}})
                       : "Apps, to be run as `weft run APP`:\n" + t.text({}, false));
    return exit_ok;
  }

  std::vector<apps::app> apps_;
  std::vector<command_line> lines_;
  runtime_flags flags_;
  std::vector<std::string> program_;
  std::string trace_;
  std::string counters_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_run_command(const command_line& root) { return std::make_unique<run_command>(root); }

}  // namespace weft::tool
