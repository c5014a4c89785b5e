// `weft export FILE --format F [-o OUT]`: a trace in a format that other programs show.
#include <unistd.h>

#include "apps/progress.hpp"
#include "command.hpp"
#include "output.hpp"
#include "trace/export.hpp"

namespace weft::tool {

namespace {

// Beyond, Graphviz takes minutes to hours, and the picture has more lines than anybody can follow.
constexpr std::uint64_t graph_nodes_max = 5'000;
constexpr std::uint64_t graph_edges_max = 20'000;
// Of a timeline: some 100 MB to hold and as much to write. Perfetto itself does not go on with more.
constexpr std::uint64_t arrows_max = 2'000'000;
constexpr double loaded = 0.4;  // of the time that a timeline of 10^6 tasks takes

class export_command final : public command {
 public:
  explicit export_command(const command_line& root) {
    line_ = root.add_subcommand("export", "Turn a trace into a timeline or a graph for other programs");
    line_.add_option("FILE", path_, "The trace").required();
    line_
        .add_option("--format", format_,
                    "perfetto (timeline for ui.perfetto.dev), dot (graph of tasks for Graphviz), data-dot (graph of "
                    "data versions), csv (table of tasks for weft import)")
        .required()
        .one_of({"perfetto", "dot", "data-dot", "csv"})
        .type_name("NAME");
    line_.add_option("-o,--output", output_, "Where to; replaced if it exists; - is standard output")
        .capture_default_str()
        .type_name("OUT");
    line_.add_option("--arrows", arrows_, "Timelines: last (what each task waited for), all (every dependency) or none")
        .capture_default_str()
        .one_of({"last", "all", "none"})
        .type_name("NAME");
    line_.add_flag("--children", children_, "Timelines: arrows from tasks to those they submitted, too");
    const option limit =
        line_.add_option("--limit", limit_, "Graphs: only the first N tasks").in_range(1, SIZE_MAX).type_name("N");
    line_.add_flag("--force", force_, "Graphs, and --arrows all: whatever the size").excludes(limit);
    line_.add_flag("--json", json_, "One JSON object on stdout, about what was written to OUT");
    line_.footer("Example:\n  weft export run.weft --format perfetto -o run.pftrace\n"
                 "  weft export run.weft --format dot --limit 200 | dot -Tsvg > run.svg");
  }

  int run() override {
    const bool to_stdout = output_ == "-";
    const bool timeline = format_ == "perfetto", table = format_ == "csv";
    if (json_ && to_stdout) throw weft::error("export: --json speaks about a file; name one with -o OUT");
    if (timeline && (limit_ != SIZE_MAX || (force_ && arrows_ != "all")))
      throw weft::error("export: --limit and --force are for graphs; a timeline takes every task");
    if (table && (limit_ != SIZE_MAX || force_))
      throw weft::error("export: --limit and --force are for graphs; a table has every task");
    if (!timeline && (children_ || arrows_ != "last"))
      throw weft::error("export: --arrows and --children are for timelines; a graph has every arrow");
    if (to_stdout && timeline && isatty(STDOUT_FILENO) == 1)
      throw weft::error("export: this format is not for a terminal; name a file with -o OUT, or pipe it on");
    keep_apart("export", {{"the trace", path_}}, {{"-o", output_}});
    apps::progress bar("weft export", stderr);
    bar.section(0, loaded);
    const trace::file f = trace::load(path_, [&bar](double done) { bar.report(done); });
    bar.section(loaded, 1);
    if (f.lost > 0)
      std::fprintf(stderr, "weft: export: %lld records of this run were lost, so some tasks and arrows are missing\n",
                   static_cast<long long>(f.lost));
    if (!table) timeline ? check_arrows(f) : check_size(f);
    output_file out("-o", output_);
    const auto tell = [&bar](double done) { bar.report(done); };
    const counts found = timeline ? write_timeline(f, out, tell)
                         : table  ? write_table(f, out, tell)
                                  : write_graph(f, out, tell);
    out.finish();
    bar.finish();
    if (!to_stdout) report(f, found, out.bytes());
    return exit_ok;
  }

 private:
  using teller = std::function<void(double)>;
  using counts = std::vector<std::pair<const char*, std::uint64_t>>;

  void check_size(const trace::file& f) const {
    if (force_) return;
    const trace::graph_size size =
        format_ == "dot" ? trace::task_graph_size(f, limit_) : trace::data_graph_size(f, limit_);
    if (size.nodes <= graph_nodes_max && size.edges <= graph_edges_max) return;
    throw weft::error("export: a picture of " + std::to_string(size.nodes) + " nodes and " +
                      std::to_string(size.edges) +
                      " edges shows nothing; take the first N tasks with --limit N, use "
                      "--format perfetto, or insist with --force");
  }

  // Every reader of what many added is an arrow from each of them: as many as the square of what was recorded.
  void check_arrows(const trace::file& f) const {
    if (force_ || arrows_ != "all") return;
    const std::uint64_t arrows = trace::dependencies(f, SIZE_MAX);
    if (arrows <= arrows_max) return;
    throw weft::error(
        "export: --arrows all makes " + std::to_string(arrows) +
        " arrows of this trace, more than a timeline can show; take --arrows last, or insist with --force");
  }

  counts write_timeline(const trace::file& f, output_file& out, const teller& tell) const {
    using enum trace::arrow_choice;
    const trace::timeline_options opt{arrows_ == "all" ? all : arrows_ == "none" ? nothing : last, children_, tell};
    const trace::written w = write_perfetto(f, opt, out);
    return {{"tasks", f.tasks.size()}, {"slices", w.slices}, {"arrows", w.arrows}};
  }

  static counts write_table(const trace::file& f, output_file& out, const teller& tell) {
    const trace::table_size t = trace::write_table(f, out, tell);
    const auto say = [](std::uint64_t n, const char* what) {
      if (n != 0) std::fprintf(stderr, "weft: export: %llu %s\n", static_cast<unsigned long long>(n), what);
    };
    say(t.not_run, "tasks did not run, and are left out");
    say(t.nested, "tasks were submitted by others; in a table the main program submits all, and nothing says when");
    say(t.resources, "accesses are units of resources, which a table does not have");
    return {{"tasks", t.tasks}};
  }

  counts write_graph(const trace::file& f, output_file& out, const teller& tell) const {
    const trace::graph_size g =
        format_ == "dot" ? write_task_graph(f, limit_, out, tell) : write_data_graph(f, limit_, out, tell);
    return {{"tasks", f.tasks.size()}, {"nodes", g.nodes}, {"edges", g.edges}};
  }

  void report(const trace::file& f, const counts& all, std::uint64_t bytes) const {
    json object = {{"ok", true}, {"trace", path_}, {"format", format_}, {"output", output_}, {"lost", f.lost}};
    std::string line = output_ + ":";
    for (const auto& [name, value] : all) {
      object[name] = value;
      line += " " + std::to_string(value) + " " + name + ",";
    }
    object["bytes"] = bytes;
    line += " " + std::to_string(bytes) + " bytes";
    if (format_ == "perfetto") line += "; open it at https://ui.perfetto.dev";
    write_stdout(json_ ? json_text(object) : line + "\n");
  }

  std::string path_, format_, output_ = "-", arrows_ = "last";
  std::size_t limit_ = SIZE_MAX;
  bool children_ = false, force_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<command> make_export_command(const command_line& root) {
  return std::make_unique<export_command>(root);
}

}  // namespace weft::tool
