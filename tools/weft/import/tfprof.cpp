// What Taskflow's profiler writes (TF_ENABLE_PROFILER, or an observer's dump): spans with the names of tasks, in
// microseconds. Edges are in what taskflow.dump() writes, a graph for Graphviz; the two know each other by names, so
// these must be unique.
#include <map>

#include "dot_file.hpp"
#include "formats.hpp"
#include "json_fields.hpp"
#include "spans.hpp"
#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

namespace {

class tfprof_reader final : public json_sieve {
 public:
  tfprof_reader(source& from, const reading& how, graph& into) : from_(from), how_(how), into_(into) {}

  bool wants(std::string_view path) override {
    return path == "[].executor" || path == "executor" || path == "[].data[]" || path == "data[]";
  }
  void read(double share) override { how_.tell(share); }
  void take(std::string_view path, std::size_t item, json value) override {
    if (path.ends_with("executor")) {
      executor_ = text_of(value);
      return;
    }
    const json* const all = value.is_object() ? value.find("data") : nullptr;
    if (all == nullptr || !all->is_array())
      from_.fail("data[" + std::to_string(item) + "] has no list of spans called data");
    const index track = spans_.track_of(executor_ + "/" + text_of(value, "worker"));
    for (const json& one : *all) span(one, track);
  }

  void end() {
    spans_.settle(into_);
    if (how_.beside == nullptr)
      into_.note(
          "it has spans and no edges: what taskflow.dump() writes has them (--with FILE.dot); without it nothing is "
          "known of what waits for what");
    else
      add_edges(read_dot_file(*how_.beside, how_.tell));
  }

 private:
  void span(const json& one, index track) {
    const index place = count_++;
    const json* const ends = one.is_object() ? one.find("span") : nullptr;
    if (ends == nullptr || !ends->is_array() || ends->size() != 2)
      from_.fail_at(place, "has no \"span\" of two numbers");
    const std::optional<double> begin = number_of((*ends)[0]), end = number_of((*ends)[1]);
    if (!begin || !end) from_.fail_at(place, "has no \"span\" of two numbers");
    const ns first = from_.moment(*begin, microsecond_ns, place, "begin"),
             last = from_.moment(*end, microsecond_ns, place, "end");
    if (last < first) from_.fail_at(place, "ends before it begins, so its duration would be negative");
    spans_.add({first, last, track, text_of(one, "name"), place});
  }

  // Of each name its task; none: several have it.
  [[nodiscard]] std::map<std::string, index, std::less<>> tasks_by_name() const {
    std::map<std::string, index, std::less<>> all;
    for (const spans::span& s : spans_.all()) {
      const auto [at, fresh] = all.try_emplace(s.name, s.task);
      if (!fresh) at->second = none;
    }
    return all;
  }

  void add_edges(const dot_file& dot) {
    const auto by_name = tasks_by_name();
    std::map<std::string_view, std::uint32_t> lines;
    std::vector<index> task(dot.nodes.size(), none);
    std::uint64_t idle = 0;
    for (std::size_t n = 0; n < dot.nodes.size(); ++n) {
      const dot_node& node = dot.nodes[n];
      const std::string_view label = attribute(node.of, "label");
      const std::string_view name = trimmed(label.empty() ? std::string_view(node.id) : label);
      if (const auto [at, fresh] = lines.try_emplace(name, node.line); !fresh)
        how_.beside->fail_at(node.line, "the name '" + printable(name, name_width_max) + "' is that of line " +
                                            std::to_string(at->second) + ", too; name each task (task.name(...))");
      const auto found = by_name.find(name);
      if (found == by_name.end()) {
        ++idle;
        continue;
      }
      if (found->second == none)
        from_.fail("several spans are called '" + printable(name, name_width_max) +
                   "', so which of them the graph means is not known; a task that ran several times has no place in a "
                   "graph of tasks");
      task[n] = found->second;
    }
    if (idle == dot.nodes.size())
      how_.beside->fail(
          "none of its " + std::to_string(idle) +
          " nodes has the name of a span: give each task a name (task.name(...)), and take both files from "
          "one run");
    into_.note(idle, "nodes of the graph have no span of their name, and are left out with their edges");
    add_edges(dot, task);
  }

  void add_edges(const dot_file& dot, const std::vector<index>& task) {
    std::uint64_t weak = 0;
    for (const dot_edge& e : dot.edges) {
      const index before = task[e.before], after = task[e.after];
      if (before == none || after == none) continue;
      const bool is_choice = attribute(e.of, "style") == "dashed";  // of a condition
      if (is_choice && (before == after || !one_after_the_other(into_, before, after)))
        ++weak;
      else
        into_.order(before, after);
    }
    into_.note(weak, "edges of conditions lead to tasks that began before, and are left out");
  }

  source& from_;
  const reading& how_;
  graph& into_;
  spans spans_;
  std::string executor_;
  index count_ = 0;
};

}  // namespace

bool is_tfprof(std::string_view text) {
  const std::string_view head = trimmed(text.substr(0, 4096));
  return (head.starts_with('{') || head.starts_with('[')) && text.find("\"executor\"") != std::string_view::npos &&
         text.find("\"ph\"") == std::string_view::npos;
}

void read_tfprof(source& from, const reading& how, graph& into) {
  from.counts_in("span ");
  tfprof_reader reader(from, how, into);
  sift(from, reader);
  reader.end();
}

}  // namespace weft::tool::foreign
