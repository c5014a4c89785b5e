// Graphs in the language of Graphviz. Names of tasks and handles come from programs, so all that could end a quoted
// string, be an escape or an entity there, or is no text at all, is written as what it looks like.
#include <algorithm>

#include "export.hpp"
#include "tools/weft/json.hpp"

namespace weft::tool::trace {

namespace {

constexpr int colours = 12;  // of Graphviz's scheme "set312"

// A picture with a name of a thousand letters shows that name and nothing else.
std::string shortened(const std::string& text) {
  constexpr std::size_t characters_max = 80;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 && characters++ == characters_max)
      return text.substr(0, i) + "...";
  return text;
}

std::string escaped(const std::string& text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out;
  for (const char c : shortened(valid_utf8(text))) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '&')
      out += "&amp;";  // Graphviz reads entities in labels
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      ((out += "\\\\x") += digits[byte >> 4]) += digits[byte & 15];
    else
      out += c;
  }
  return out;
}

// Ids may be negative in a file from elsewhere, and a minus is no part of a name in DOT without quotes.
std::string node_of(const file& f, index task) { return "\"t" + std::to_string(f.tasks[task].id) + "\""; }

std::string version_node(const file& f, index handle, std::int64_t version) {
  return "\"h" + std::to_string(f.handles[handle].id) + "v" + std::to_string(version) + "\"";
}

std::size_t count(const file& f, std::size_t tasks) { return std::min(tasks, f.tasks.size()); }

std::string opening(const file& f, const char* name, std::size_t tasks) {
  std::string out = std::string("digraph ") + name + " {\n";
  if (tasks < f.tasks.size())
    out += "  label=\"the first " + std::to_string(tasks) + " of " + std::to_string(f.tasks.size()) + " tasks\";\n";
  return out + "  node [fontname=\"sans-serif\", colorscheme=set312];\n  edge [fontname=\"sans-serif\"];\n";
}

std::string task_line(const file& f, index t) {
  const task& of = f.tasks[t];
  std::string label = escaped(f.task_name(t)) + "\\n";
  std::string style = "filled";
  if (of.ran())
    label += "worker " + std::to_string(f.workers[of.worker].id) + ", " + duration_text(of.finished_ns - of.started_ns);
  else
    style += ",dashed";
  if (of.result != outcome::done) label += std::string(of.ran() ? ", " : "") + text(of.result);
  const int colour = of.name == none ? 9 : static_cast<int>(of.name % colours) + 1;  // 9 is grey
  std::string line = "  " + node_of(f, t) + " [shape=box, style=\"" + style +
                     "\", fillcolor=" + std::to_string(colour) + ", label=\"" + label + "\"";
  if (of.ran()) line += ", duration_ns=" + std::to_string(of.finished_ns - of.started_ns);  // for `weft import`
  if (of.result == outcome::failed) line += ", color=red, penwidth=3";
  return line + "];\n";
}

using teller = std::function<void(double)>;

// Every so often: how many of `all` there are.
void told(const teller& tell, double from, double to, std::size_t at, std::size_t all) {
  if (tell && at % 4096 == 0) tell(from + (to - from) * static_cast<double>(at) / static_cast<double>(all));
}

constexpr double tasks_part = 0.3;  // of the time that a graph takes; its edges take the rest

graph_size put_tasks(const file& f, std::size_t tasks, output_file& out, const teller& tell) {
  graph_size size;
  for (index t = 0; t < tasks; ++t, ++size.nodes) {
    out.put(task_line(f, t));
    told(tell, 0, tasks_part, t, tasks);
  }
  return size;
}

bool is_version(const access& a) { return a.next_version != no_version; }

// The versions that the accesses of the first `tasks` tasks require or bring about.
std::vector<std::pair<index, std::int64_t>> versions(const file& f, std::size_t tasks) {
  std::vector<std::pair<index, std::int64_t>> all;
  for (const access& a : f.accesses) {
    if (a.task >= tasks) break;
    if (!is_version(a)) continue;
    all.emplace_back(a.handle, a.version);
    all.emplace_back(a.handle, a.next_version);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<index> resources(const file& f, std::size_t tasks) {
  std::vector<index> all;
  for (const access& a : f.accesses) {
    if (a.task >= tasks) break;
    if (!is_version(a)) all.push_back(a.handle);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

std::uint64_t dependencies(const file& f, std::size_t tasks) {
  std::uint64_t sum = 0;
  for (const version_step& s : version_steps(f, tasks).steps)
    sum += std::uint64_t{s.before_last - s.before_first} * (s.after_last - s.after_first);
  return sum;
}

graph_size task_graph_size(const file& f, std::size_t tasks) {
  graph_size size{count(f, tasks), dependencies(f, count(f, tasks))};
  for (index t = 0; t < size.nodes; ++t) size.edges += f.tasks[t].parent < size.nodes ? 1 : 0;
  return size;
}

graph_size write_task_graph(const file& f, std::size_t tasks, output_file& out, const teller& tell) {
  tasks = count(f, tasks);
  out.put(opening(f, "tasks", tasks));
  graph_size size = put_tasks(f, tasks, out, tell);
  const std::vector<arrow> all = arrows(f, arrow_choice::all, tasks);
  for (const arrow& a : all) {
    told(tell, tasks_part, 1, static_cast<std::size_t>(&a - all.data()), all.size());
    out.put("  " + node_of(f, a.before) + " -> " + node_of(f, a.after) + " [label=\"" +
            escaped(f.handle_name(a.handle)) + "\"" + (a.data_flows ? "" : ", color=gray, fontcolor=gray") + "];\n");
    ++size.edges;
  }
  for (index t = 0; t < tasks; ++t) {
    if (f.tasks[t].parent >= tasks) continue;
    out.put("  " + node_of(f, f.tasks[t].parent) + " -> " + node_of(f, t) +
            " [style=dashed, arrowhead=empty, submits=true];\n");
    ++size.edges;
  }
  out.put("}\n");
  return size;
}

graph_size data_graph_size(const file& f, std::size_t tasks) {
  graph_size size{count(f, tasks) + versions(f, tasks).size() + resources(f, tasks).size(), 0};
  for (const access& a : f.accesses) {
    if (a.task >= tasks) break;
    size.edges += is_version(a) ? 2 : 1;
  }
  return size;
}

graph_size write_data_graph(const file& f, std::size_t tasks, output_file& out, const teller& tell) {
  tasks = count(f, tasks);
  out.put(opening(f, "data", tasks));
  graph_size size = put_tasks(f, tasks, out, tell);
  for (const auto& [handle, version] : versions(f, tasks)) {
    out.put("  " + version_node(f, handle, version) + " [shape=ellipse, label=\"" + escaped(f.handle_name(handle)) +
            "\\nversion " + std::to_string(version) + "\"];\n");
    ++size.nodes;
  }
  for (const index handle : resources(f, tasks)) {
    out.put("  " + version_node(f, handle, no_version) + " [shape=diamond, label=\"" + escaped(f.handle_name(handle)) +
            "\"];\n");
    ++size.nodes;
  }
  for (const access& a : f.accesses) {
    if (a.task >= tasks) break;
    told(tell, tasks_part, 1, a.task, tasks);
    const std::string kind = "label=\"" + escaped(f.kinds[a.kind]) + "\"";
    out.put("  " + version_node(f, a.handle, a.version) + " -> " + node_of(f, a.task) + " [" + kind +
            (is_version(a) ? "" : ", dir=none, style=dashed") + "];\n");
    ++size.edges;
    if (!is_version(a)) continue;
    // A reader moves the count on, and leaves the datum as it was.
    out.put("  " + node_of(f, a.task) + " -> " + version_node(f, a.handle, a.next_version) +
            (f.kinds[a.kind] == "read" ? " [color=gray];\n" : ";\n"));
    ++size.edges;
  }
  out.put("}\n");
  return size;
}

}  // namespace weft::tool::trace
