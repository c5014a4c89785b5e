// `weft export FILE --format F [-o OUT]`: a trace in a format that other programs show.
#include <sys/stat.h>
#include <unistd.h>

#include "command.hpp"
#include "output.hpp"
#include "trace/export.hpp"

namespace weft::tool {

namespace {

// Beyond, Graphviz takes minutes to hours, and the picture has more lines than anybody can follow.
constexpr std::uint64_t graph_nodes_max = 5'000;
constexpr std::uint64_t graph_edges_max = 20'000;

bool same_file(const std::string& a, const std::string& b) {
  struct stat x, y;
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

class export_command final : public command {
 public:
  explicit export_command(const command_line& root) {
    line_ = root.add_subcommand("export", "Turn a trace into a timeline or a graph for other programs");
    line_.add_option("FILE", path_, "The trace").required();
    line_
        .add_option("--format", format_,
                    "perfetto (timeline for ui.perfetto.dev), dot (graph of tasks for Graphviz), data-dot (graph of "
                    "data versions)")
        .required()
        .one_of({"perfetto", "dot", "data-dot"})
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
    line_.add_flag("--force", force_, "Graphs: whatever the size").excludes(limit);
    line_.add_flag("--json", json_, "One JSON object on stdout, about what was written to OUT");
    line_.footer("Example:\n  weft export run.weft --format perfetto -o run.pftrace\n"
                 "  weft export run.weft --format dot --limit 200 | dot -Tsvg > run.svg");
  }

  int run() override {
    const bool to_stdout = output_ == "-";
    const bool timeline = format_ == "perfetto";
    if (json_ && to_stdout) throw weft::error("export: --json speaks about a file; name one with -o OUT");
    if (timeline && (limit_ != SIZE_MAX || force_))
      throw weft::error("export: --limit and --force are for graphs; a timeline takes every task");
    if (!timeline && (children_ || arrows_ != "last"))
      throw weft::error("export: --arrows and --children are for timelines; a graph has every arrow");
    if (to_stdout && timeline && isatty(STDOUT_FILENO) == 1)
      throw weft::error("export: this format is not for a terminal; name a file with -o OUT, or pipe it on");
    if (!to_stdout && same_file(path_, output_))
      throw weft::error("export: " + output_ + " is the trace itself; choose another name for the output");
    const trace::file f = trace::load(path_);
    if (f.lost > 0)
      std::fprintf(stderr, "weft: export: %lld records of this run were lost, so some tasks and arrows are missing\n",
                   static_cast<long long>(f.lost));
    if (!timeline) check_size(f);
    trace::sink out(output_);
    const counts found = timeline ? write_timeline(f, out) : write_graph(f, out);
    out.finish();
    if (!to_stdout) report(f, found, out.bytes());
    return exit_ok;
  }

 private:
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

  counts write_timeline(const trace::file& f, trace::sink& out) const {
    using enum trace::arrow_choice;
    const trace::timeline_options opt{arrows_ == "all" ? all : arrows_ == "none" ? nothing : last, children_};
    const trace::written w = write_perfetto(f, opt, out);
    return {{"tasks", f.tasks.size()}, {"slices", w.slices}, {"arrows", w.arrows}};
  }

  counts write_graph(const trace::file& f, trace::sink& out) const {
    const trace::graph_size g = format_ == "dot" ? write_task_graph(f, limit_, out) : write_data_graph(f, limit_, out);
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
