// `weft sim TARGET`: a program or a recorded run on a machine that is modelled, and what came of it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "apps/progress.hpp"
#include "fidelity.hpp"
#include "flags.hpp"
#include "replay.hpp"
#include "result.hpp"
#include "tools/weft/child.hpp"
#include "tools/weft/command.hpp"
#include "tools/weft/energy.hpp"
#include "tools/weft/output.hpp"
#include "tools/weft/output_file.hpp"
#include "tools/weft/report/text.hpp"
#include "tools/weft/scratch.hpp"
#include "tools/weft/trace/unseen.hpp"

namespace weft::tool {

namespace {

// How far off a prediction is likely to be, and why.
struct doubt {
  std::string share, why;
};

// What a look at the clock takes, which is taken off each body that is measured, is not the same each time.
doubt of_measuring(const sim::modelled& m) {
  using clock = std::chrono::steady_clock;
  constexpr int rounds = 16, looks = 64;
  double look_ns = 1e9;
  for (int r = 0; r < rounds; ++r) {
    const clock::time_point from = clock::now();
    clock::time_point to = from;
    for (int i = 0; i < looks; ++i) to = clock::now();
    look_ns = std::min(look_ns, std::chrono::duration<double, std::nano>(to - from).count() / looks);
  }
  const double body_ns = m.tasks == 0 ? 0 : static_cast<double>(m.work) / static_cast<double>(m.tasks);
  char share[32];
  std::snprintf(share, sizeof share, "%.1f %%", body_ns > 0 ? 100 * look_ns / (look_ns + body_ns) : 100.0);
  return {share, "by the clock alone, which takes " + report::duration(look_ns) + " beside bodies of " +
                     report::duration(body_ns) + "; what workers take from each other in caches is not in it"};
}

std::string text(const std::string& title, const sim::modelled& m, const std::optional<doubt>& error, bool colour) {
  table t(false);
  std::vector<std::vector<style>> styles;
  const auto row = [&](const char* key, std::string value, std::string rest = "", style s = style::plain) {
    t.row({std::string("  ") + key, std::move(value), std::move(rest)});
    styles.push_back({style::plain, s});
  };
  const auto time = [](double ns) { return report::duration(ns); };
  const sim::verdict& v = m.why;
  row("machine", report::printable(m.machine, 80));
  row("policy", m.policy);
  row("workers", std::to_string(m.workers));
  row("tasks", std::to_string(m.tasks), std::to_string(m.steals) + " stolen");
  row("makespan", time(m.makespan_ns), "of modelled time", style::bold);
  row("work", time(static_cast<double>(m.work)), "in bodies");
  row("speed-up", short_number(m.speedup()), "against one worker's work");
  row("utilisation", sim::percent(v.busy + v.program), "of the workers' time",
      v.busy > 0.9 ? style::green : style::plain);
  row("critical path", time(static_cast<double>(v.span)), "of bodies");
  row("binds", sim::text(v.binds), sim::reason(m), v.binds == sim::limit::cores ? style::green : style::red);
  row("joules", energy_text(m.energy), energy_kinds(m.energy));
  if (error) row("error", error->share, error->why);
  if (!m.unseen.empty()) row("caution", "", m.unseen + ", so what binds, and how far, is not known");
  if (!m.caution.empty()) row("caution", "", m.caution);
  return paint(title, style::bold, colour) + "\n" + t.text(styles, colour);
}

class sim_command final : public command {
 public:
  explicit sim_command(const command_line& root) {
    line_ = root.add_subcommand("sim", "Run a program, or replay a trace, on a modelled machine");
    add_options(line_);
    line_.prefix_command();
    line_.footer("TARGET is a trace, or a program that uses Weft; what follows a program is the program's.\n"
                 "Example:\n  weft sim --machine virtual --workers 16 ./my_program --its --options\n"
                 "  weft sim run.weft --workers 64 --policy random");
  }

  int run() override {
    sim::settings::hold_environment();
    const std::vector<std::string> words = line_.remaining();
    if (words.empty()) throw weft::error("sim: name a trace or a program; see weft sim --help");
    if (words[0].starts_with('-')) throw weft::error("sim: unknown option \"" + words[0] + "\"; see weft sim --help");
    if (sim::what_is(words[0]) == sim::target::program) return run_program(words);
    const command_line again("", "sim");
    add_options(again);
    again.parse_words({words.begin() + 1, words.end()});
    return run_trace(words[0]);
  }

 private:
  void add_options(const command_line& line) {
    flags_.add_to(line, true);
    line.add_option("--team", team_, "Traces: how wide teams are: recorded, learned, or a number; default: recorded")
        .type_name("N");
    line.add_option("--trace", trace_, "Keep the modelled run as a trace in this file").type_name("FILE");
    line.add_option("-o,--output", output_, "Where the result goes; default: stdout, of programs stderr")
        .type_name("FILE");
    line.add_flag("--json", json_, "The result as one JSON object");
  }

  // --- a trace

  // Before anything else is done.
  void demand_outputs(const char* what, const std::string& target, const sim::settings& s) const {
    keep_apart("sim", {{what, target}, {"the machine file", s.value("MACHINE")}},
               {{"--trace", trace_}, {"-o", output_}});
    demand_writable("-o", output_);
  }

  int run_trace(const std::string& path) {
    sim::settings settings = flags_.values();
    demand_outputs("the trace", path, settings);
    if (!trace_.empty()) settings.set("TRACE", trace_);
    if (settings.value("BODY") == "measured")
      throw weft::error("sim: --body measured is for programs; a trace has no bodies to measure");
    static_cast<void>(sim::try_out(settings));
    apps::progress bar("weft sim", stderr);
    bar.section(0, 0.1);
    const trace::file f = trace::load(path, [&bar](double done) { bar.report(done); });
    const sim::script script(f);
    if (settings.value("WORKERS").empty() && settings.value("MACHINE") == "virtual")
      sim::take_recorded(settings, "WORKERS", f, "workers");
    if (settings.value("WINDOW").empty()) sim::take_recorded(settings, "WINDOW", f, "window");
    static_cast<void>(sim::try_out(settings));
    bar.section(0.1, 0.5);
    const sim::replayed r =
        sim::replay(f, script, {settings, flags_.keep_gaps(), flags_.speed, sim::team_wish::parse(team_)},
                    [&](double done) { bar.report(done); });
    const trace::file result = sim::as_trace(f, r);
    const report::analysis a = report::analyse(result);
    const sim::verdict v = sim::judge(result, a, sim::unseen_of(r));
    bar.section(0.5, 1);
    const sim::fidelity error =
        sim::measure(f, script, settings, flags_.keep_gaps(), [&](double done) { bar.report(done); });
    bar.finish();
    say(script.notes());
    say(r.notes);
    sim::modelled m = sim::make_result(result, a, v, r);
    m.caution = sim::caution_of(settings.value("MODE"), m);
    m.unseen = trace::unseen(f);
    json object = sim::to_json(m);
    object["fidelity"] = sim::to_json(error);
    answer(text(path, m, doubt{error.share(), error.origin()}, colour_wanted()), object, stdout);
    return exit_ok;
  }

  // --- a program

  int run_program(const std::vector<std::string>& program) {
    sim::settings settings = flags_.values();
    if (flags_.keep_gaps() || flags_.speed != 1 || team_ != "recorded")
      throw weft::error("sim: --submitter, --speed and --team are for traces; a program does what it does");
    demand_outputs("the program", program[0], settings);
    static_cast<void>(sim::try_out(settings));
    const scratch folder("sim");
    const std::filesystem::path trace = trace_.empty() ? folder.path() / "run.weft" : std::filesystem::absolute(trace_);
    std::error_code ignored;
    const auto older = std::filesystem::last_write_time(trace, ignored);
    settings.set("TRACE", trace.string());
    const int status = run_in_place(program, settings.environment());
    if (status < 0) {
      std::fprintf(stderr, "weft: sim: %s was ended by signal %d (%s)\n", printable_lines(program[0]).c_str(), -status,
                   ::strsignal(-status));
      return 128 - status;
    }
    std::error_code none;
    const auto now = std::filesystem::last_write_time(trace, none);
    if (none || (!ignored && now == older)) {
      if (status == 0)
        throw weft::error("sim: " + program[0] +
                          " made no runtime of Weft, or did not end it, so there is nothing to tell");
      std::fprintf(stderr, "weft: sim: %s ended with status %d and made no trace\n",
                   printable_lines(program[0]).c_str(), status);
      return status;
    }
    tell_runs(program[0], trace, settings);
    return status;
  }

  // A program may make several runtimes one after the other: run.weft, run.2.weft, and so on.
  void tell_runs(const std::string& program, const std::filesystem::path& first, const sim::settings& settings) {
    std::string words;
    json all = json::array();
    for (unsigned n = 1;; ++n) {
      std::filesystem::path path = first;
      if (n > 1) path.replace_filename(first.stem().string() + "." + std::to_string(n) + first.extension().string());
      if (!std::filesystem::exists(path)) break;
      const trace::file f = trace::load(path.string());
      if (n > 1 && !trace_.empty() && f.about("program") != all[0]["program"]) break;  // of an earlier run
      const report::analysis a = report::analyse(f);
      const sim::verdict v = sim::judge(f, a);
      sim::modelled m = sim::make_result(f, a, v);
      m.caution = sim::caution_of(settings.value("MODE"), m);
      m.unseen = trace::unseen(f);
      all.push_back(sim::to_json(m));
      all.back()["program"] = f.about("program");
      if (f.lost > 0) std::fprintf(stderr, "weft: sim: %lld records were lost\n", static_cast<long long>(f.lost));
      if (f.about("machine") == "host")
        std::fprintf(stderr, "weft: sim: %s chooses the machine host itself, so it ran on real cores\n",
                     program.c_str());
      std::optional<doubt> error;
      if (settings.value("BODY") == "measured" && f.about("machine") != "host") error = of_measuring(m);
      if (error) all.back()["error"] = {{"share", error->share}, {"why", error->why}};
      words += text(program + (n > 1 ? ", runtime " + std::to_string(n) : ""), m, error, isatty(STDERR_FILENO) == 1);
    }
    json out = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) out["further_runtimes"].push_back(all[i]);
    answer(words, out, stderr);
  }

  void answer(const std::string& words, const json& object, std::FILE* otherwise) const {
    const std::string out = json_ ? json_text(object) : words;
    if (!output_.empty()) {
      write_whole("-o", output_, out);
    } else if (otherwise == stdout) {
      write_stdout(out);
    } else {
      std::fputs(out.c_str(), otherwise);
    }
  }

  static void say(const std::vector<std::string>& notes) {
    for (const std::string& n : notes) std::fprintf(stderr, "weft: sim: %s\n", printable_lines(n).c_str());
  }

  sim::flags flags_;
  std::string trace_, output_, team_ = "recorded";
  bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_sim_command(const command_line& root) { return std::make_unique<sim_command>(root); }

}  // namespace weft::tool
