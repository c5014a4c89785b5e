// `weft sim TARGET`: a program or a recorded run on a machine that is modelled, and what came of it.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "apps/progress.hpp"
#include "flags.hpp"
#include "replay.hpp"
#include "result.hpp"
#include "scratch.hpp"
#include "tools/weft/child.hpp"
#include "tools/weft/command.hpp"
#include "tools/weft/output.hpp"
#include "tools/weft/report/text.hpp"

namespace weft::tool {

namespace {

std::string text(const std::string& title, const json& j, const sim::verdict& v, bool colour) {
  table t(false);
  std::vector<std::vector<style>> styles;
  const auto row = [&](const char* key, std::string value, std::string rest = "", style s = style::plain) {
    t.row({std::string("  ") + key, std::move(value), std::move(rest)});
    styles.push_back({style::plain, s});
  };
  const auto time = [&](const char* key) { return report::duration(j[key].get<double>()); };
  row("machine", j["machine"].get<std::string>());
  row("policy", j["policy"].get<std::string>());
  row("workers", std::to_string(j["workers"].get<std::uint64_t>()));
  row("tasks", std::to_string(j["tasks"].get<std::uint64_t>()),
      std::to_string(j["steals"].get<std::uint64_t>()) + " stolen");
  row("makespan", time("makespan_ns"), "of modelled time", style::bold);
  row("work", time("work_ns"), "in bodies");
  row("speed-up", short_number(j["speedup"].get<double>()), "against one worker's work");
  row("utilisation", sim::percent(v.busy + v.program), "of the workers' time",
      v.busy > 0.9 ? style::green : style::plain);
  row("critical path", time("span_ns"), "of bodies");
  row("binds", sim::text(v.binds), sim::reason(v.binds), v.binds == sim::limit::cores ? style::green : style::red);
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
    line.add_option("--trace", trace_, "Keep the modelled run as a trace in this file").type_name("FILE");
    line.add_option("-o,--output", output_, "Where the result goes; default: stdout, of programs stderr")
        .type_name("FILE");
    line.add_flag("--json", json_, "The result as one JSON object");
  }

  // --- a trace

  int run_trace(const std::string& path) {
    sim::settings settings = flags_.values();
    if (!trace_.empty()) settings.set("TRACE", trace_);
    if (settings.value("BODY") == "measured")
      throw weft::error("sim: --body measured is for programs; a trace has no bodies to measure");
    apps::progress bar("weft sim", stderr);
    const trace::file f = trace::load(path);
    const sim::script script(f);
    if (settings.value("WORKERS").empty() && settings.value("MACHINE") == "virtual")
      settings.set("WORKERS", f.about("workers"));
    if (settings.value("WINDOW").empty()) settings.set("WINDOW", f.about("window"));
    static_cast<void>(sim::try_out(settings));
    bar.section(0.1, 0.9);
    const sim::replayed r =
        sim::replay(f, script, {settings, flags_.keep_gaps(), flags_.speed}, [&](double done) { bar.report(done); });
    const trace::file result = sim::as_trace(f, r);
    const report::analysis a = report::analyse(result);
    const sim::verdict v = sim::judge(result, a, r.counts.bandwidth_wait_ns);
    bar.finish();
    say(script.notes());
    say(r.notes);
    json out = sim::to_json(result, a, v);
    sim::add_replay(out, r);
    answer(text(path, out, v, colour_wanted()), out, stdout);
    return exit_ok;
  }

  // --- a program

  int run_program(const std::vector<std::string>& program) {
    sim::settings settings = flags_.values();
    if (flags_.keep_gaps() || flags_.speed != 1)
      throw weft::error("sim: --submitter and --speed are for traces; a program does what it does");
    static_cast<void>(sim::try_out(settings));
    const sim::scratch folder;
    const std::filesystem::path trace = trace_.empty() ? folder.path() / "run.weft" : std::filesystem::absolute(trace_);
    std::error_code ignored;
    const auto older = std::filesystem::last_write_time(trace, ignored);
    settings.set("TRACE", trace.string());
    const int status = run_in_place(program, settings.environment());
    if (status < 0) {
      std::fprintf(stderr, "weft: sim: %s was ended by signal %d (%s)\n", program[0].c_str(), -status,
                   ::strsignal(-status));
      return 128 - status;
    }
    std::error_code none;
    const auto now = std::filesystem::last_write_time(trace, none);
    if (none || (!ignored && now == older)) {
      if (status == 0)
        throw weft::error("sim: " + program[0] +
                          " made no runtime of Weft, or did not end it, so there is nothing to tell");
      std::fprintf(stderr, "weft: sim: %s ended with status %d and made no trace\n", program[0].c_str(), status);
      return status;
    }
    tell_runs(program[0], trace);
    return status;
  }

  // A program may make several runtimes one after the other: run.weft, run.2.weft, and so on.
  void tell_runs(const std::string& program, const std::filesystem::path& first) {
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
      all.push_back(sim::to_json(f, a, v));
      all.back()["program"] = f.about("program");
      if (f.lost > 0) std::fprintf(stderr, "weft: sim: %lld records were lost\n", static_cast<long long>(f.lost));
      if (f.about("machine") == "host")
        std::fprintf(stderr, "weft: sim: %s chooses the machine host itself, so it ran on real cores\n",
                     program.c_str());
      words +=
          text(program + (n > 1 ? ", runtime " + std::to_string(n) : ""), all.back(), v, isatty(STDERR_FILENO) == 1);
    }
    json out = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) out["further_runtimes"].push_back(all[i]);
    answer(words, out, stderr);
  }

  void answer(const std::string& words, const json& object, std::FILE* otherwise) const {
    const std::string out = json_ ? json_text(object) : words;
    if (!output_.empty()) {
      std::ofstream file(output_);
      file << out << std::flush;
      if (!file) throw output_error("cannot write " + output_);
    } else if (otherwise == stdout) {
      write_stdout(out);
    } else {
      std::fputs(out.c_str(), otherwise);
    }
  }

  static void say(const std::vector<std::string>& notes) {
    for (const std::string& n : notes) std::fprintf(stderr, "weft: sim: %s\n", n.c_str());
  }

  sim::flags flags_;
  std::string trace_, output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_sim_command(const command_line& root) { return std::make_unique<sim_command>(root); }

}  // namespace weft::tool
