// `weft whatif TARGET`: the same run on many machines, with many numbers of workers, policies, creations and grains.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

#include "advise.hpp"
#include "apps/progress.hpp"
#include "flags.hpp"
#include "grain.hpp"
#include "page.hpp"
#include "result.hpp"
#include "scratch.hpp"
#include "sweep.hpp"
#include "tools/weft/child.hpp"
#include "tools/weft/command.hpp"
#include "tools/weft/output.hpp"
#include "tools/weft/report/text.hpp"

namespace weft::tool {

namespace {

constexpr unsigned workers_of_any_size = 64;  // of a machine with any number of cores, up to which a sweep goes
constexpr std::size_t points_max = 10'000;    // more is a slip of the keyboard
constexpr double program_seconds_max = 3600;

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
    if (std::ranges::count(workers_, 0u) != 0) throw weft::error("whatif: --workers 0 cannot be; a run needs one");
    std::vector<sim::point> all;
    for (const std::string& machine : machines_) {
      const std::vector<unsigned> workers = workers_.empty() ? workers_of(base, machine) : workers_;
      for (const std::string& policy : policies_)
        for (const std::string& creation : creations_)
          for (const std::string& grain : grains_)
            for (const unsigned n : workers) all.push_back({machine, policy, creation, grain, n});
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

  [[nodiscard]] sim::settings settings_of(const sim::point& p) const {
    sim::settings s = flags_.values();
    s.set("MACHINE", p.machine);
    s.set("POLICY", p.policy);
    s.set("CREATION", p.creation);
    s.set("WORKERS", std::to_string(p.workers));
    return s;
  }

  std::vector<json> sweep_all(apps::progress& bar, const sim::point_work& work) {
    const std::vector<sim::point> all = points();
    std::vector<json> rows =
        sim::sweep(all, jobs_ == 0 ? usable_cpus() : jobs_, work, [&](double done) { bar.report(done); });
    bar.finish();
    for (std::size_t i = 0; i < all.size(); ++i) {
      json about = {{"machine", all[i].machine},
                    {"policy", all[i].policy},
                    {"creation", all[i].creation},
                    {"grain", all[i].grain},
                    {"workers", all[i].workers}};
      about.update(rows[i]);
      rows[i] = keep_asked(std::move(about), all[i]);
    }
    return rows;
  }

  // A machine file calls itself as it likes; the row says what was asked for.
  static json keep_asked(json row, const sim::point& p) {
    row["machine"] = p.machine;
    row["workers"] = p.workers;
    return row;
  }

  // --- a trace

  std::vector<json> sweep_trace() {
    apps::progress bar("weft whatif", stderr);
    if (flags_.values().value("BODY") == "measured")
      throw weft::error("whatif: --body measured is for programs; a trace has no bodies to measure");
    const grained whole(trace::load(command_[0]));
    for (const std::string& n : whole.script.notes()) std::fprintf(stderr, "weft: whatif: %s\n", n.c_str());
    const double work = body_time(whole.script, whole.file) / flags_.speed;
    std::map<std::string, std::unique_ptr<grained>> others;
    for (std::string& text : grains_) {
      const sim::grain g = sim::grain::parse(text);
      text = g.text();
      if (g.factor > 1 && !others.contains(text))
        others[text] = std::make_unique<grained>(sim::regrain(whole.file, whole.script, g));
    }
    return sweep_all(bar, [&](const sim::point& p, const std::function<void(double)>& tell) {
      const grained& of = p.grain == "1" ? whole : *others.at(p.grain);
      sim::settings s = settings_of(p);
      if (s.value("WINDOW").empty()) s.set("WINDOW", whole.file.about("window"));
      const sim::replayed r = sim::replay(of.file, of.script, {s, flags_.keep_gaps(), flags_.speed}, tell);
      const trace::file result = sim::as_trace(of.file, r);
      const report::analysis a = report::analyse(result);
      json row = sim::to_json(result, a, sim::judge(result, a, r.counts.bandwidth_wait_ns));
      sim::add_replay(row, r);
      return with_ratios(std::move(row), p, work);
    });
  }

  static double body_time(const sim::script& s, const trace::file& f) {
    double sum = 0;
    for (std::size_t t = 0; t < f.tasks.size(); ++t) {
      for (const sim::step& x : s.of(t)) sum += static_cast<double>(x.before);
      sum += static_cast<double>(s.rest(t));
    }
    return sum;
  }

  static json with_ratios(json row, const sim::point& p, double work) {
    row["creation"] = p.creation;
    row["grain"] = p.grain;
    const double makespan = row["makespan_ns"].get<double>();
    row["speedup"] = makespan > 0 ? work / makespan : 0;
    row["efficiency"] = row["speedup"].get<double>() / p.workers;
    return row;
  }

  // --- a program

  std::vector<json> sweep_program() {
    if (!grains_.empty() || flags_.keep_gaps() || flags_.speed != 1)
      throw weft::error("whatif: --grain, --submitter and --speed are for traces; a program does what it does");
    apps::progress bar("weft whatif", stderr);
    return sweep_all(bar, [&](const sim::point& p, const std::function<void(double)>&) {
      const sim::scratch folder;
      sim::settings s = settings_of(p);
      const std::string path = (folder.path() / "run.weft").string();
      static_cast<void>(sim::try_out(s));
      s.set("TRACE", path);
      const sim::settings::in_force until_done(s);
      const child_result done = run_child(command_, program_seconds_max);
      if (done.late) throw weft::error(command_[0] + " did not end within an hour");
      if (done.status != 0)
        throw weft::error(command_[0] + " ended with status " + std::to_string(done.status) + ": " +
                          done.err.substr(0, done.err.find('\n')));
      if (!std::filesystem::exists(path)) throw weft::error(command_[0] + " made no runtime of Weft");
      const trace::file f = trace::load(path);
      const report::analysis a = report::analyse(f);
      json row = sim::to_json(f, a, sim::judge(f, a));
      const double work = row["work_ns"].get<double>();
      return with_ratios(std::move(row), p, work);
    });
  }

  // --- the answer

  int answer(const std::vector<json>& rows) {
    std::vector<json> good;
    std::string first_error;
    for (const json& r : rows) {
      if (!r.contains("error")) {
        good.push_back(r);
        continue;
      }
      const std::string why = r["error"].get<std::string>();
      if (first_error.empty()) first_error = why;
      if (!json_)
        std::fprintf(stderr, "weft: whatif: %s, %u workers: %s\n", r["machine"].get<std::string>().c_str(),
                     r["workers"].get<unsigned>(), why.c_str());
    }
    if (good.empty()) throw weft::error(first_error);
    const std::vector<sim::advice> told = sim::advise(good);
    if (!page_.empty()) sim::write_page(page_, command_[0], good, told);
    write_stdout(json_ ? as_json(rows, told) : as_text(good, told));
    return good.size() == rows.size() ? exit_ok : exit_check_failed;
  }

  [[nodiscard]] std::string as_json(const std::vector<json>& rows, const std::vector<sim::advice>& told) const {
    json list = json::array();
    for (const sim::advice& a : told) list.push_back({{"kind", a.kind}, {"text", a.text}});
    return json_text({{"ok", true},
                      {"target", command_[0]},
                      {"rows", rows},
                      {"advice", list},
                      {"html", page_.empty() ? json(nullptr) : json(page_)}});
  }

  [[nodiscard]] std::string as_text(const std::vector<json>& rows, const std::vector<sim::advice>& told) const {
    std::vector<std::string> varied;
    for (const char* key : {"machine", "policy", "creation", "grain"})
      if (std::ranges::any_of(rows, [&](const json& r) { return r[key] != rows[0][key]; })) varied.emplace_back(key);
    table t(true);
    std::vector<std::vector<style>> styles{std::vector<style>(varied.size() + 6, style::bold)};
    std::vector<std::string> head = varied;
    for (const char* h : {"workers", "makespan", "speed-up", "efficiency", "utilisation", "binds"})
      head.emplace_back(h);
    t.row(head);
    for (const json& r : rows) {
      std::vector<std::string> cells;
      for (const std::string& key : varied) cells.push_back(r[key].get<std::string>());
      const bool cores = r["binds"] == "cores";
      cells.push_back(std::to_string(r["workers"].get<unsigned>()));
      cells.push_back(report::duration(r["makespan_ns"].get<double>()));
      cells.push_back(short_number(r["speedup"].get<double>()));
      cells.push_back(sim::percent(r["efficiency"].get<double>()));
      cells.push_back(sim::percent(r["utilisation"].get<double>()));
      cells.push_back(r["binds"].get<std::string>());
      t.row(cells);
      styles.emplace_back(cells.size(), style::plain);
      styles.back().back() = cores ? style::green : style::red;
    }
    const bool colour = colour_wanted();
    std::string out = paint(command_[0], style::bold, colour) + "\n" + t.text(styles, colour);
    for (const sim::advice& a : told) out += "- " + a.text + "\n";
    if (!page_.empty()) out += "page: " + page_ + "\n";
    return out;
  }

  sim::flags flags_;
  std::vector<unsigned> workers_;
  std::vector<std::string> policies_, machines_, creations_, grains_;
  std::vector<std::string> command_;
  std::string page_;
  unsigned jobs_ = 0;
  bool json_ = false, program_ = false;
};

}  // namespace

std::unique_ptr<command> make_whatif_command(const command_line& root) {
  return std::make_unique<whatif_command>(root);
}

}  // namespace weft::tool
