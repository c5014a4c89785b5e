// `weft bench`: problems x systems x workers, in nanoseconds. Each sample is a process of its own (bench/runner.cpp),
// and all of them take turns, round after round, so a slow minute of the computer slows every column; the median of the
// rounds counts.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "apps/progress.hpp"
#include "bench_report.hpp"
#include "child.hpp"
#include "command.hpp"
#include "machine_state.hpp"
#include "output.hpp"
#include "output_file.hpp"

namespace weft::tool {

namespace {

constexpr double sample_seconds_max = 120;  // the slowest sample known takes five
constexpr int exit_not_possible = 3;        // of a system's program
constexpr double others_max = 0.1;          // cores used by others from which on figures are not to be trusted
constexpr double milliseconds_quick = 10;   // timed in a sample; about as much goes into its proof and its start
constexpr double milliseconds_full = 100;

template <class List> void demand_known(const std::vector<std::string>& chosen, const List& all, const char* what) {
  for (const std::string& name : chosen)
    if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return one.name == name; }))
      throw weft::error(std::string("bench: unknown ") + what + " \"" + name + "\"; known are " + names(all));
}

bool among(const std::vector<std::string>& chosen, const char* name) {
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end();
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.find_last_of('\n') + 1);
}

class bench_command final : public command {
 public:
  explicit bench_command(const command_line& root) {
    line_ = root.add_subcommand("bench", "Measure what a task costs, problem by problem, against other systems");
    line_
        .add_option("PROBLEM", problems_, "Problems to run: " + names(bench::all_problems()) + "; all if none is given")
        .type_name("");
    line_.add_option("--systems", systems_, "Systems: " + names(bench::all_systems()) + "; all there are by default")
        .delimiter(',')
        .type_name("NAME,...");
    line_.add_option("--workers", workers_, "Numbers of workers, as in 1,2; by default 1 and all usable cores")
        .delimiter(',')
        .in_range(1, workers_max)
        .type_name("N,...");
    line_.add_option("--rounds,--repeat", rounds_, "Rounds; the median counts. From 20 on, also the worst is shown")
        .capture_default_str()
        .in_range(1, 1000)
        .type_name("N");
    line_.add_option("--policy", policy_, "Scheduling policy of Weft").type_name("NAME");
    line_.add_flag("--quick", quick_, "One round of short samples: to see that all is well, not to quote");
    line_.add_option("--out", out_, "Write the JSON object to this file too").type_name("FILE");
    line_.add_option("--markdown", markdown_, "Write the tables to this file, in Markdown").type_name("FILE");
    line_.add_option("--programs", programs_, "Folder with the systems' programs; by default the one they are built in")
        .type_name("DIR");
    line_.add_flag("--json", json_, "One JSON object on stdout: {\"rows\": [...]}");
    line_.footer("Example:\n  weft bench chain1 stencil4 --systems weft,tbb --workers 1,2 --rounds 9");
  }

  int run() override {
    demand_known(problems_, bench::all_problems(), "problem");
    demand_known(systems_, bench::all_systems(), "system");
    keep_apart("bench", {}, {{"--out", out_}, {"--markdown", markdown_}});
    demand_writable("--out", out_);
    demand_writable("--markdown", markdown_);
    if (quick_) rounds_ = 1;
    report r;
    r.all = plan(r.missing);
    for (const std::string& m : r.missing)
      std::fprintf(stderr, "weft: bench: left out: %s\n", printable_lines(m).c_str());
    r.rounds = rounds_;
    r.date = date_and_time();
    r.machine = machine_facts();
    r.environment = settings_in_environment({"WEFT_", "OMP_", "GOMP_", "KMP_", "LIBOMP_", "TBB_", "STARPU_"});
    measure(r);
    if (!out_.empty()) write_whole("--out", out_, json_text(report_json(r)));
    if (!markdown_.empty()) write_whole("--markdown", markdown_, report_markdown(r));
    write_stdout(json_ ? json_text(report_json(r)) : report_text(r, colour_wanted()));
    complain(r);
    return all_correct(r) ? exit_ok : exit_check_failed;
  }

 private:
  [[nodiscard]] std::string program_of(const bench::listed_system& s) const {
    const std::vector<std::string> folders =
        programs_.empty() ? bench::program_folders() : std::vector<std::string>{programs_};
    for (const std::string& folder : folders) {
      const std::string file = folder + "/" + s.program;
      if (access(file.c_str(), X_OK) == 0) return file;
    }
    return "";
  }

  [[nodiscard]] bool runs_any(const bench::listed_system& s) const {
    const auto& all = bench::all_problems();
    return std::any_of(all.begin(), all.end(),
                       [&](const bench::problem& p) { return among(problems_, p.name) && s.runs(p); });
  }

  [[nodiscard]] std::vector<series> plan(std::vector<std::string>& missing) const {
    std::vector<const bench::listed_system*> systems;
    for (const bench::listed_system& s : bench::all_systems()) {
      if (!among(systems_, s.name)) continue;
      if (systems_.empty() && !runs_any(s)) continue;
      if (!program_of(s).empty()) {
        systems.push_back(&s);
        continue;
      }
      const std::string why = std::string(s.name) + " (" + s.summary + "): " +
                              (*s.package != '\0' ? std::string("it was built without the package ") + s.package
                                                  : std::string("its program is missing"));
      if (!systems_.empty())
        throw weft::error("bench: cannot measure " + why + "; `make bench` installs and builds it");
      missing.push_back(why);
    }
    std::vector<unsigned> counts = workers_;
    if (counts.empty()) counts = usable_cpus() > 1 ? std::vector<unsigned>{1, usable_cpus()} : std::vector<unsigned>{1};
    std::vector<series> all;
    for (const bench::problem& p : bench::all_problems()) {
      if (!among(problems_, p.name)) continue;
      for (const bench::listed_system* s : systems) {
        if (!s->runs(p)) continue;
        for (unsigned w : s->parallel ? counts : std::vector<unsigned>{1})
          all.push_back({.problem = &p, .system = s, .workers = w});
      }
    }
    if (all.empty()) throw weft::error("bench: nothing to measure: no system among those chosen has these problems");
    return all;
  }

  void measure(report& r) const {
    apps::progress bar("weft bench", stderr);
    const load_watch watch;
    bool priority = true;
    const double steps = static_cast<double>(rounds_ * r.all.size());
    double done = 0;
    for (std::size_t round = 0; round < rounds_; ++round) {
      for (series& s : r.all) {
        if (s.failed.empty() && s.not_possible.empty() && s.correct) priority = take_sample(s) && priority;
        bar.report(++done / steps);
      }
    }
    for (series& s : r.all) std::sort(s.values.begin(), s.values.end());
    judge_load(r, watch.so_far(), priority);
  }

  // One process, one line of JSON. Returns whether it had the priority it asked for.
  bool take_sample(series& s) const {
    const double milliseconds = quick_ ? milliseconds_quick : milliseconds_full;
    std::vector<std::string> call = {program_of(*s.system),
                                     s.system->name,
                                     s.problem->name,
                                     "--workers",
                                     std::to_string(s.workers),
                                     "--milliseconds",
                                     std::to_string(milliseconds)};
    if (!policy_.empty()) call.insert(call.end(), {"--policy", policy_});
    const child_result got = run_child(call, sample_seconds_max);
    if (got.status == exit_not_possible) {
      s.not_possible = last_line(got.err);
      return true;
    }
    const json reply = json::parse(last_line(got.out));
    if (got.late)
      s.failed = "no answer in " + short_number(sample_seconds_max) + " s";
    else if (got.status != 0)
      s.failed = got.err.empty() ? "its program crashed" : last_line(got.err);
    else if (!reply.is_object() || !reply.contains("value"))
      s.failed = "its program printed no figure";
    if (!s.failed.empty()) return true;
    s.correct = reply["counts_right"].get<bool>() && reply["order_right"].get<bool>();
    s.values.push_back(reply["value"].get<double>());
    s.above = s.above || reply["above"].get<bool>();
    s.remark = reply["remark"].get<std::string>();
    s.comparable = !reply.contains("comparable") || reply["comparable"].get<bool>();
    s.version = reply["version"].get<std::string>();
    s.tasks = reply["tasks"].get<std::uint64_t>();
    return reply["priority"].get<bool>();
  }

  static void judge_load(report& r, const load_watch::load& l, bool priority) {
    r.load = {{"known", l.known},
              {"others_cores", l.others},
              {"stolen_cores", l.stolen},
              {"autogroups", autogroups_on()},
              {"priority", priority}};
    if (!l.known) r.warnings.push_back("cannot tell whether the machine was quiet: /proc/stat is not readable");
    if (l.others > others_max)
      r.warnings.push_back("other programs used " + short_number(l.others) +
                           " cores meanwhile: repeat on a quiet "
                           "machine before quoting any of this");
    if (l.stolen > others_max)
      r.warnings.push_back("the hypervisor took " + short_number(l.stolen) + " cores meanwhile");
    if (l.others > others_max && autogroups_on() && !priority)
      r.warnings.push_back("no right to ask for priority over other sessions (/proc/self/autogroup)");
  }

  static void complain(const report& r) {
    for (const series& s : r.all) {
      if (!s.correct)
        std::fprintf(stderr, "weft: bench: %s computed a wrong result for %s with %u workers\n", s.system->name,
                     s.problem->name, s.workers);
      if (!s.failed.empty())
        std::fprintf(stderr, "weft: bench: %s failed on %s with %u workers: %s\n", s.system->name, s.problem->name,
                     s.workers, s.failed.c_str());
    }
    for (const std::string& w : r.warnings) std::fprintf(stderr, "weft: bench: %s\n", printable_lines(w).c_str());
  }

  std::vector<std::string> problems_;
  std::vector<std::string> systems_;
  std::vector<unsigned> workers_;
  std::size_t rounds_ = 5;
  std::string policy_, out_, markdown_, programs_;
  bool quick_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_bench_command(const command_line& root) { return std::make_unique<bench_command>(root); }

}  // namespace weft::tool
