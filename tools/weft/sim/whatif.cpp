// `weft whatif TARGET`: the same run on many machines, with many numbers of workers, policies, creations and grains.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "advise.hpp"
#include "apps/progress.hpp"
#include "fidelity.hpp"
#include "flags.hpp"
#include "grain.hpp"
#include "page.hpp"
#include "result.hpp"
#include "sweep.hpp"
#include "tools/weft/child.hpp"
#include "tools/weft/command.hpp"
#include "tools/weft/output.hpp"
#include "tools/weft/output_file.hpp"
#include "tools/weft/report/gil.hpp"
#include "tools/weft/report/text.hpp"
#include "tools/weft/scratch.hpp"
#include "tools/weft/trace/unseen.hpp"

namespace weft::tool {

namespace {

constexpr unsigned workers_of_any_size = 64;  // of a machine with any number of cores, up to which a sweep goes
constexpr std::size_t points_max = 10'000;    // more is a slip of the keyboard
constexpr double program_seconds_max = 3600;
constexpr std::uint64_t search_events = 10'000'000;  // a few seconds; a search may take twice what was asked for, too

// A run with one grain, ready to be replayed.
struct grained {
  grained(trace::file f) : file(std::move(f)), script(file) {}
  trace::file file;
  sim::script script;
};

class whatif_command final : public command {
 public:
  explicit whatif_command(const command_line& root) {
    line_ = root.add_subcommand("whatif", "Replay a trace, or run a program, on many modelled machines");
    add_options(line_);
    line_.prefix_command();
    line_.footer("TARGET is a trace, or a program that uses Weft; what follows a program is the program's.\n"
                 "Example:\n  weft whatif run.weft --workers 1,2,4,8,16,32,64 --policies local,random "
                 "--html whatif.html");
  }

  int run() override {
    sim::settings::hold_environment();
    const std::vector<std::string> words = line_.remaining();
    if (words.empty()) throw weft::error("whatif: name a trace or a program; see weft whatif --help");
    if (words[0].starts_with('-'))
      throw weft::error("whatif: unknown option \"" + words[0] + "\"; see weft whatif --help");
    program_ = sim::what_is(words[0]) == sim::target::program;
    if (!program_) {
      const command_line again("", "whatif");
      add_options(again);
      again.parse_words({words.begin() + 1, words.end()});
    }
    command_ = words;
    std::vector<named_file> read = {{program_ ? "the program" : "the trace", words[0]}};
    for (const std::string& machine : machines_) read.push_back({"the machine file", machine});
    keep_apart("whatif", read, {{"--html", page_}});
    demand_writable("--html", page_);
    const sim::interruption hear;
    return answer(program_ ? sweep_program() : sweep_trace());
  }

 private:
  void add_options(const command_line& line) {
    // One word a list: what follows it may be the target.
    const auto list = [&line](const char* name, auto& into, const char* help) {
      line.add_option(name, into, help).delimiter(',').one_word().type_name("LIST");
    };
    list("--workers", workers_, "Numbers of workers; default: 1, 2, 4, ... up to the machine's cores, or 64");
    list("--policies,--policy", policies_, "Scheduling policies; default: local");
    list("--machines,--machine", machines_, "Modelled machines; default: virtual");
    list("--creation", creations_, "inline, decoupled; default: inline");
    list("--grain", grains_, "Traces: 4 merges tasks by four, /4 splits each in four; default: 1");
    list("--team", teams_, "Traces: widths of teams, \"learned\", \"recorded\"; default: recorded");
    flags_.add_to(line, false);
    line.add_option("-j,--jobs", jobs_, "Points at a time; default: all usable cores")
        .in_range(1, workers_max)
        .type_name("N");
    line.add_option("--html", page_, "Write a page with the curves").type_name("FILE");
    line.add_flag("--json", json_, "One JSON object on stdout");
  }

  // --- the points

  std::vector<sim::point> points() {
    const auto or_else = [](std::vector<std::string>& list, const char* otherwise) {
      if (list.empty()) list = {otherwise};
    };
    const sim::settings base = flags_.values();
    or_else(machines_, base.value("MACHINE").c_str());
    or_else(policies_, base.value("POLICY").empty() ? "local" : base.value("POLICY").c_str());
    or_else(creations_, base.value("CREATION").empty() ? "inline" : base.value("CREATION").c_str());
    or_else(grains_, "1");
    or_else(teams_, "recorded");
    if (std::ranges::count(workers_, 0u) != 0) throw weft::error("whatif: --workers 0 cannot be; a run needs one");
    std::vector<sim::point> all;
    for (const std::string& machine : machines_) {
      const std::vector<unsigned> workers = workers_.empty() ? workers_of(base, machine) : workers_;
      for (const std::string& policy : policies_)
        for (const std::string& creation : creations_)
          for (const std::string& grain : grains_)
            for (const std::string& team : teams_)
              for (const unsigned n : workers) all.push_back({machine, policy, creation, grain, team, n});
    }
    if (all.size() > points_max)
      throw weft::error("whatif: " + std::to_string(all.size()) + " points are more than " +
                        std::to_string(points_max));
    return all;
  }

  static std::vector<unsigned> workers_of(sim::settings s, const std::string& machine) {
    s.set("MACHINE", machine);
    s.set("WORKERS", "");
    s.set("CREATION", "");
    const unsigned cores = machine == "virtual" ? workers_of_any_size : sim::try_out(s);
    std::vector<unsigned> all;
    for (unsigned n = 1; n < cores; n *= 2) all.push_back(n);
    all.push_back(cores);
    return all;
  }

  struct swept {
    std::vector<sim::row> rows, good;
    std::vector<sim::advice> told;
    std::optional<sim::fidelity> fidelity;  // of a trace
    std::string unseen;                     // then nothing is advised
  };

  // The points that were asked for, beside the run `as_recorded` if there is a trace of it, and then what the limits
  // met there suggest: nothing is advised untried.
  swept sweep_all(apps::progress& bar, const std::vector<sim::point>& asked, const sim::point_work& work,
                  const trace::file* of = nullptr) {
    constexpr double asked_part = 0.4, tried_part = 0.6;
    swept s;
    const unsigned at_once = jobs_ == 0 ? usable_cpus() : jobs_;
    std::string why;
    std::vector<sim::point> first;
    if (of != nullptr) first = sim::as_recorded(*of, flags_.values(), asked[0].machine, !flags_.keep_gaps(), why);
    const auto twins = static_cast<std::ptrdiff_t>(first.size());
    first.insert(first.end(), asked.begin(), asked.end());
    bar.section(0, asked_part);
    s.rows = sim::sweep(first, at_once, work, [&](double done) { bar.report(done); });
    if (of != nullptr) s.fidelity = sim::compare(*of, {s.rows.begin(), s.rows.begin() + twins}, why);
    s.rows.erase(s.rows.begin(), s.rows.begin() + twins);
    for (const sim::row& r : s.rows)
      if (r.error.empty()) s.good.push_back(r);
    for (const sim::row& r : s.good)
      if (s.unseen.empty()) s.unseen = r.run.unseen;
    const double error = s.fidelity ? s.fidelity->error() : 0;
    if (!s.good.empty() && s.unseen.empty() && error < sim::error_of_use && !sim::interruption::wanted()) {
      sim::means m{.trace = !program_, .gil_share = of != nullptr ? report::gil_share(*of) : 0, .policies = {}};
      for (const choice& c : policies())
        if (!c.follows_hints || has_hints_) m.policies.emplace_back(c.name);
      const std::vector<sim::finding> found = sim::find_limits(s.good, m);
      std::vector<sim::point> more;
      for (const sim::finding& f : found)
        for (const sim::proposal& x : f.proposals) more.push_back(x.at);
      bar.section(asked_part, tried_part);
      const std::vector<sim::row> tried = more.empty()
                                              ? std::vector<sim::row>()
                                              : sim::sweep(more, at_once, work, [&](double done) { bar.report(done); });
      double part = tried_part;  // how many rounds a search takes is not known: each has half of what is left
      const std::vector<sim::combination> combined =
          combine(s.good, tried, m, error, [&](const std::vector<sim::point>& points) {
            bar.section(part, (part + 1) / 2);
            part = (part + 1) / 2;
            return sim::sweep(points, at_once, work, [&](double done) { bar.report(done); });
          });
      s.told = sim::advise(s.good, found, tried, combined, error);
    }
    bar.finish();
    return s;
  }

  // Of each machine. `tried`: what was proposed about its limits.
  std::vector<sim::combination> combine(const std::vector<sim::row>& good, const std::vector<sim::row>& tried,
                                        const sim::means& m, double error, const sim::run_points& run) const {
    std::vector<sim::combination> all;
    for (const std::vector<sim::row>& series : sim::base_series(good)) {
      sim::search_space space{.workers = {},
                              .policies = m.policies,
                              .splits = {},
                              .merges = m.trace,
                              .creations = true,
                              .events_max = 0,
                              .gain_least = sim::least_gain(error)};
      std::vector<sim::row> known;
      const auto is_here = [&](const sim::row& r) { return r.at.machine == series[0].at.machine; };
      std::ranges::copy_if(good, std::back_inserter(known), is_here);
      std::uint64_t events = 0;
      for (const sim::row& r : known) events += r.run.replay ? r.run.replay->events : 0;
      if (program_) space.points_max = known.size();  // each is a run of it, however long that takes
      if (!program_) space.events_max = std::max(search_events, 2 * events);
      for (const sim::row& r : tried)
        if (is_here(r) && r.error.empty() && !r.at.path_first && !r.at.without_gil) known.push_back(r);
      for (const sim::row& r : series)
        if (std::ranges::count(space.workers, r.at.workers) == 0) space.workers.push_back(r.at.workers);
      for (const sim::row& r : tried)
        if (is_here(r) && r.at.grain.starts_with('/') && std::ranges::count(space.splits, r.at.grain) == 0)
          space.splits.push_back(r.at.grain);
      if (const auto found = sim::search(series, known, space, run)) all.push_back(*found);
    }
    return all;
  }

  // --- a trace

  // What a point replays: the run as it was, with another grain, with the critical path first, or without waits for a
  // lock. Made in the process of the point, which no other shares.
  static std::unique_ptr<grained> variant(const grained& whole, const sim::point& p) {
    if (p.path_first) {
      trace::file first = whole.file;
      const report::analysis a = report::analyse(whole.file);
      for (const report::step& s : sim::chain_of_bodies(whole.file, a).steps)
        if (const std::uint32_t t = a.parts.all[s.piece].task; t != report::none) first.tasks[t].priority = true;
      return std::make_unique<grained>(std::move(first));
    }
    if (p.without_gil) {
      auto free = std::make_unique<grained>(whole.file);
      const std::vector<report::ns> waits = report::gil_waits(whole.file);
      for (std::size_t t = 0; t < waits.size(); ++t) free->script.shorten(t, waits[t]);
      return free;
    }
    const sim::grain g = sim::grain::parse(p.grain);
    return g.factor > 1 ? std::make_unique<grained>(sim::regrain(whole.file, whole.script, g)) : nullptr;
  }

  swept sweep_trace() {
    apps::progress bar("weft whatif", stderr);
    if (flags_.values().value("BODY") == "measured")
      throw weft::error("whatif: --body measured is for programs; a trace has no bodies to measure");
    for (std::string& text : grains_) text = sim::grain::parse(text).text();
    for (std::string& text : teams_) text = sim::team_wish::parse(text).text();
    const std::vector<sim::point> asked = points();
    const grained whole(trace::load(command_[0]));
    for (const std::string& n : whole.script.notes())
      std::fprintf(stderr, "weft: whatif: %s\n", printable_lines(n).c_str());
    has_hints_ = std::ranges::any_of(whole.file.tasks, [](const trace::task& t) { return t.near != trace::unhinted; });
    const double work = body_time(whole.script, whole.file) / flags_.speed;
    sim::settings recorded;
    sim::take_recorded(recorded, "WINDOW", whole.file, "window");
    return sweep_all(
        bar, asked,
        [&](const sim::point& p, const std::function<void(double)>& tell) {
          const std::unique_ptr<grained> other = variant(whole, p);
          const grained& of = other != nullptr ? *other : whole;
          sim::settings s = sim::settings_at(p, flags_.values());
          if (s.value("WINDOW").empty()) s.set("WINDOW", recorded.value("WINDOW"));
          if (p.as_recorded) s.set("SEED", whole.file.about("seed"));
          const sim::replayed r = sim::replay(
              of.file, of.script,
              {s, p.keeps_gaps || flags_.keep_gaps(), p.as_recorded ? 1 : flags_.speed, sim::team_wish::parse(p.team)},
              tell);
          const trace::file result = sim::as_trace(of.file, r);
          const report::analysis a = report::analyse(result);
          sim::modelled run = sim::make_result(result, a, sim::judge(result, a, sim::unseen_of(r)), r);
          run.unseen = trace::unseen(of.file);
          return against(std::move(run), work);
        },
        &whole.file);
  }

  static double body_time(const sim::script& s, const trace::file& f) {
    double sum = 0;
    for (std::size_t t = 0; t < f.tasks.size(); ++t) {
      for (const sim::step& x : s.of(t)) sum += static_cast<double>(x.before);
      sum += static_cast<double>(s.rest(t));
    }
    for (const trace::strand_step& x : f.steps) sum += static_cast<double>(x.own_ps) * 1e-3;
    return sum;
  }

  [[nodiscard]] sim::worked against(sim::modelled run, double work) const {
    run.caution = sim::caution_of(flags_.values().value("MODE"), run);
    const double speedup = run.makespan_ns > 0 ? work / run.makespan_ns : 0;
    return {std::move(run), speedup};
  }

  // --- a program

  swept sweep_program() {
    if (!grains_.empty() || !teams_.empty() || flags_.keep_gaps() || flags_.speed != 1)
      throw weft::error("whatif: --grain, --team, --submitter and --speed are for traces; a program does what it does");
    apps::progress bar("weft whatif", stderr);
    return sweep_all(bar, points(), [&](const sim::point& p, const std::function<void(double)>&) {
      const scratch folder("whatif");
      sim::settings s = sim::settings_at(p, flags_.values());
      const std::string path = (folder.path() / "run.weft").string();
      static_cast<void>(sim::try_out(s));
      s.set("TRACE", path);
      const child_result done = run_child(command_, program_seconds_max, s.environment());
      if (done.late) throw weft::error(command_[0] + " did not end within an hour");
      if (done.status != 0)
        throw weft::error(command_[0] + " ended with status " + std::to_string(done.status) + ": " +
                          done.err.substr(0, done.err.find('\n')));
      if (!std::filesystem::exists(path)) throw weft::error(command_[0] + " made no runtime of Weft");
      const trace::file f = trace::load(path);
      const report::analysis a = report::analyse(f);
      sim::modelled run = sim::make_result(f, a, sim::judge(f, a));
      run.unseen = trace::unseen(f);
      const auto work = static_cast<double>(run.work);
      return against(std::move(run), work);
    });
  }

  // --- the answer

  int answer(const swept& s) {
    const bool interrupted = sim::interruption::wanted();
    if (interrupted) {
      std::fprintf(stderr, "\nweft: whatif: interrupted: %zu of %zu points are done\n", s.good.size(), s.rows.size());
      if (s.good.empty()) sim::interruption::obey();
    }
    std::string first_error;
    for (const sim::row& r : s.rows) {
      if (r.error.empty()) continue;
      if (first_error.empty()) first_error = r.error;
      if (!json_ && !interrupted)
        std::fprintf(stderr, "weft: whatif: %s, %u workers: %s\n", printable_lines(r.at.machine).c_str(), r.at.workers,
                     printable_lines(r.error).c_str());
    }
    if (s.good.empty()) throw weft::error(first_error);
    if (!page_.empty()) sim::write_page(page_, command_[0], s.good, s.told, s.fidelity ? &*s.fidelity : nullptr);
    write_stdout(json_ ? as_json(s) : as_text(s));
    if (interrupted) sim::interruption::obey();
    return s.good.size() == s.rows.size() ? exit_ok : exit_check_failed;
  }

  [[nodiscard]] std::string as_json(const swept& s) const {
    json list = json::array();
    for (const sim::row& r : s.rows) list.push_back(to_json(r));
    return json_text({{"ok", true},
                      {"target", command_[0]},
                      {"rows", list},
                      {"unseen", s.unseen.empty() ? json(nullptr) : json(s.unseen)},
                      {"fidelity", s.fidelity ? to_json(*s.fidelity) : json(nullptr)},
                      {"advice", to_json(s.told)},
                      {"html", page_.empty() ? json(nullptr) : json(page_)}});
  }

  [[nodiscard]] std::string as_text(const swept& s) const {
    const std::vector<sim::row>& rows = s.good;
    const std::pair<const char*, std::string sim::point::*> keys[] = {{"machine", &sim::point::machine},
                                                                      {"policy", &sim::point::policy},
                                                                      {"creation", &sim::point::creation},
                                                                      {"grain", &sim::point::grain},
                                                                      {"team", &sim::point::team}};
    std::vector<std::string> head;
    std::vector<std::string sim::point::*> varied;
    for (const auto& [name, key] : keys) {
      if (std::ranges::all_of(rows, [&](const sim::row& r) { return r.at.*key == rows[0].at.*key; })) continue;
      head.emplace_back(name);
      varied.push_back(key);
    }
    for (const char* h : {"workers", "makespan", "speed-up", "efficiency", "utilisation", "binds"})
      head.emplace_back(h);
    table t(true);
    std::vector<std::vector<style>> styles{std::vector<style>(head.size(), style::bold)};
    t.row(head);
    for (const sim::row& r : rows) {
      std::vector<std::string> cells;
      for (const auto key : varied) cells.push_back(report::printable(r.at.*key, 60));
      cells.push_back(std::to_string(r.at.workers));
      cells.push_back(report::duration(r.run.makespan_ns));
      cells.push_back(short_number(r.speedup));
      cells.push_back(sim::percent(r.efficiency()));
      cells.push_back(sim::percent(r.run.why.busy + r.run.why.program));
      cells.push_back(sim::text(r.run.why.binds));
      t.row(cells);
      styles.emplace_back(cells.size(), style::plain);
      styles.back().back() = r.run.why.binds == sim::limit::cores ? style::green : style::red;
    }
    const bool colour = colour_wanted();
    std::string out = paint(report::printable(command_[0], 200), style::bold, colour) + "\n" + t.text(styles, colour);
    if (!s.unseen.empty())
      out += "caution: " + s.unseen + ", so speed-ups and what binds are not known, and nothing is advised\n";
    std::vector<std::string> cautions;
    for (const sim::row& r : rows)
      if (!r.run.caution.empty() && std::ranges::count(cautions, r.run.caution) == 0) cautions.push_back(r.run.caution);
    for (const std::string& c : cautions) out += "caution: " + c + "\n";
    if (s.fidelity) out += "- " + s.fidelity->text() + "\n";
    for (const sim::advice& a : s.told) out += "- " + a.text + "\n";
    if (!page_.empty()) out += "page: " + page_ + "\n";
    return out;
  }

  sim::flags flags_;
  std::vector<unsigned> workers_;
  std::vector<std::string> policies_, machines_, creations_, grains_, teams_;
  std::vector<std::string> command_;
  std::string page_;
  unsigned jobs_ = 0;
  bool has_hints_ = false;  // the trace: then policies that follow them are worth a try
  bool json_ = false, program_ = false;
};

}  // namespace

std::unique_ptr<command> make_whatif_command(const command_line& root) {
  return std::make_unique<whatif_command>(root);
}

}  // namespace weft::tool
