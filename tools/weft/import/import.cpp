// `weft import FILE -o run.weft`: a graph that another system recorded, as a trace like our own.
#include <cmath>
#include <cstdio>
#include <optional>

#include "apps/progress.hpp"
#include "formats.hpp"
#include "make_trace.hpp"
#include "tools/weft/command.hpp"
#include "tools/weft/output.hpp"
#include "tools/weft/output_file.hpp"
#include "tools/weft/report/text.hpp"
#include "tools/weft/sim/fidelity.hpp"

namespace weft::tool {

namespace {

using foreign::ns;

constexpr double told_from = 0.1;  // of the recorded time: a replay that is farther off is explained

struct unit_name {
  const char* name;
  double ns;
};
constexpr unit_name units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

std::string formats_text() {
  std::string text = "Formats:\n";
  for (const foreign::format& f : foreign::formats()) {
    text += std::string("  ") + f.name + std::string(12 - std::string_view(f.name).size(), ' ') + f.what + "\n";
    if (f.beside != nullptr) text += std::string(14, ' ') + "with --with FILE: " + f.beside + "\n";
  }
  return text;
}

std::string several(std::uint64_t n, const char* one, const char* more) {
  return std::to_string(n) + " " + (n == 1 ? one : more);
}

class import_command final : public command {
 public:
  explicit import_command(const command_line& root) {
    line_ = root.add_subcommand("import", "Make a trace of a graph of tasks that another system recorded");
    line_.add_option("FILE", path_, "What another system wrote; - is standard input").required();
    line_.add_option("-o,--output", output_, "The trace; a trace that is there is replaced")
        .required()
        .type_name("OUT");
    line_.add_option("--format", format_, "What FILE is: " + names(foreign::formats()) + "; default: by its content")
        .type_name("NAME");
    line_.add_option("--with", beside_, "A second file that belongs to it").type_name("FILE");
    line_.add_option("--workers", workers_, "How many workers the original had, if the file does not say")
        .in_range(1, foreign::workers_max)
        .type_name("N");
    line_.add_option("--unit", unit_, "Files without a unit: what 1 is; default: ms, of csv ns")
        .one_of({"ns", "us", "ms", "s"})
        .type_name("UNIT");
    line_.add_option("--weight", weight_, "dot: the attribute of a node that is its duration").type_name("NAME");
    line_.add_flag("--no-replay", no_replay_, "Do not replay it beside the recorded time");
    line_.add_flag("--json", json_, "One JSON object on stdout");
    line_.footer(formats_text() + "Example:\n  weft import graph.dot --workers 4 -o run.weft\n  weft whatif run.weft");
  }

  int run() override {
    sim::settings::hold_environment();
    keep_apart("import", {{"FILE", path_}, {"--with", beside_}}, {{"-o", output_}});
    foreign::demand_place_for_trace(output_);
    apps::progress bar("weft import", stderr);
    const auto tell = [&bar](double done) { bar.report(done); };
    bar.section(0, 0.4);
    foreign::source from(path_);
    const foreign::format& format = foreign::format_of(from, format_);
    foreign::graph g(from);
    read(from, format, g, tell);
    foreign::normalise(g);
    const foreign::dependences d(g);
    const std::vector<foreign::index> order = foreign::submission_order(g, d);
    const foreign::layout l = foreign::lay_out(g, d, order);
    note_contradictions(g, d, l);
    bar.section(0.4, 0.7);
    const foreign::made made = foreign::make_trace(output_, g, l, order, format.name, tell);
    bar.section(0.7, 1);
    found f{g, l, format.name, made, 0, foreign::longest_chain(g, d), {}, {}, {}};
    for (const foreign::task& t : g.tasks) f.work += t.duration;
    replay(f, tell);
    bar.finish();
    write_stdout(json_ ? json_text(object(f)) : text(f));
    return exit_ok;
  }

 private:
  struct found {
    const foreign::graph& g;
    const foreign::layout& l;
    const char* format;
    foreign::made made;
    ns work, chain;
    std::optional<double> recorded, replayed;
    std::string why;  // of the difference, or of there being none
    [[nodiscard]] double off() const { return *replayed / *recorded - 1; }
  };

  void read(foreign::source& from, const foreign::format& format, foreign::graph& g,
            const std::function<void(double)>& tell) const {
    foreign::reading how;
    how.weight = weight_;
    how.tell = tell;
    for (const unit_name& u : units)
      if (unit_ == u.name) how.unit_ns = u.ns;
    if (!weight_.empty() && std::string_view(format.name) != "dot")
      throw weft::error("import: --weight is for dot, and " + from.path() + " is " + format.name);
    if (!beside_.empty() && format.beside == nullptr)
      throw weft::error("import: --with is for formats of two files, and " + from.path() + " is " + format.name);
    std::optional<foreign::source> beside;
    if (!beside_.empty()) how.beside = &beside.emplace(beside_);
    format.read(from, how, g);
    if (g.tasks.empty()) from.fail("has no tasks, so there is nothing to make a trace of");
    if (workers_ != 0) g.workers = workers_;
  }

  // A recorded run that did not wait where the graph says so was of another graph, or its clocks differ.
  static void note_contradictions(foreign::graph& g, const foreign::dependences& d, const foreign::layout& l) {
    if (!l.is_recorded) return;
    std::vector<ns> end(d.nodes(), 0);
    std::uint64_t early = 0;
    for (foreign::index n = 0; n < d.tasks(); ++n) end[n] = l.begin[n] + g.tasks[n].duration;
    const auto passes_on = [&](foreign::index n) {
      for (const foreign::index next : d.after(n)) {
        if (next >= d.tasks())
          end[next] = std::max(end[next], end[n]);
        else if (l.begin[next] + foreign::clocks_ns < end[n])
          ++early;
      }
    };
    for (foreign::index n = 0; n < d.nodes(); ++n) passes_on(n);
    g.note(early, "times a task began before one that it waits for had ended: what the file says of the order was not "
                  "kept, or clocks differ");
  }

  void replay(found& f, const std::function<void(double)>& tell) const {
    if (f.g.makespan != foreign::no_time)
      f.recorded = static_cast<double>(f.g.makespan);
    else if (f.l.is_recorded)
      f.recorded = static_cast<double>(f.l.end);
    if (!f.recorded || no_replay_ || (!f.l.is_recorded && f.g.workers == 0)) return;
    const trace::file t = trace::load_database(output_, {});
    sim::settings asked;
    for (const char* own : {"TRACE", "COUNTERS", "PAUSED", "SCHEDULE"}) asked.set(own, "");
    asked.set("MACHINE", "virtual");
    const sim::fidelity x = sim::measure(t, sim::script(t), asked, false, tell);
    if (!x.known()) {
      f.why = "it cannot be replayed: " + x.unknown;
      return;
    }
    f.replayed = x.replayed_ns;
    if (std::abs(f.off()) > told_from) f.why = explanation(f);
  }

  static std::string explanation(const found& f) {
    const auto time = [](double t) { return report::duration(t); };
    const double share = static_cast<double>(f.work) / f.l.workers;
    const std::string bodies = "the bodies alone take " + time(share) +
                               " on so many workers, and the longest chain of them " +
                               time(static_cast<double>(f.chain));
    if (f.off() > 0) return bodies + "; so the recorded run kept less order than the file tells, or had more workers";
    const double rest = *f.recorded - std::max(share, static_cast<double>(f.chain));
    return bodies + "; " + time(rest) +
           " of the recorded time are in neither: what the file does not tell, as queues, transfers, what tasks were "
           "started by, and dependences that are not in it";
  }

  [[nodiscard]] std::string text(const found& f) const {
    table t(false);
    const auto time = [](double x) { return report::duration(x); };
    std::string order = several(f.g.edges.size(), "edge", "edges");
    if (!f.g.data.empty())
      order += ", " + several(f.g.accesses.size(), "access", "accesses") + " to " +
               several(f.g.data.size(), "datum", "data");
    t.row({"  tasks", std::to_string(f.g.tasks.size()), order});
    t.row({"  workers", std::to_string(f.l.workers),
           f.l.is_recorded ? "with the recorded times"
           : f.g.workers == 0
               ? "one after the other: the file has no times of starts, and does not say how many there were"
               : "laid out here: the file has no times of starts"});
    t.row({"  work", time(static_cast<double>(f.work)), "in bodies"});
    t.row({"  longest chain", time(static_cast<double>(f.chain)), "of bodies"});
    if (f.recorded) t.row({"  recorded", time(*f.recorded), "for all of it"});
    if (f.replayed) {
      char off[32];
      std::snprintf(off, sizeof off, "%+.1f %%", 100 * f.off());
      t.row({"  replayed", time(*f.replayed), std::string(off) + " of the recorded time"});
    }
    std::string out = printable_lines(output_) + ", from " + printable_lines(path_) + " (" + f.format + ")\n";
    out += t.text({}, false);
    if (!f.why.empty()) out += "  " + f.why + "\n";
    for (const std::string& note : f.g.notes) out += "  " + printable_lines(note) + "\n";
    return out;
  }

  [[nodiscard]] json object(const found& f) const {
    const auto number = [](const std::optional<double>& x) { return x ? json(*x) : json(); };
    return {{"ok", true},
            {"file", path_},
            {"format", f.format},
            {"output", output_},
            {"tasks", f.g.tasks.size()},
            {"edges", f.g.edges.size()},
            {"accesses", f.g.accesses.size()},
            {"data", f.g.data.size()},
            {"workers", f.l.workers},
            {"recorded_times", f.l.is_recorded},
            {"work_ns", f.work},
            {"longest_chain_ns", f.chain},
            {"recorded_ns", number(f.recorded)},
            {"replayed_ns", number(f.replayed)},
            {"error", f.replayed ? json(f.off()) : json()},
            {"why", f.why},
            {"notes", f.g.notes}};
  }

  std::string path_, output_, format_, beside_, unit_, weight_;
  unsigned workers_ = 0;
  bool no_replay_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<command> make_import_command(const command_line& root) {
  return std::make_unique<import_command>(root);
}

}  // namespace weft::tool
