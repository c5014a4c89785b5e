#include "machine_page.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/machine_file.hpp"
#include "output.hpp"

namespace weft::tool {

namespace {

using model::description;
using model::machine;

description described(const std::string& name) {
  if (name != "host") return model::describe_machine(name);
  const auto files = model::machine_files();
  const bool calibrated = std::any_of(files.begin(), files.end(), [](const auto& e) { return e.name == "this-host"; });
  description d = model::describe_host();
  if (!calibrated) return d;
  description costs = model::describe_machine("this-host");
  costs.drawing = d.drawing;
  costs.model.name = "host";
  return costs;
}

std::map<std::string, unsigned> cores_by_type(const machine& m) {
  std::map<std::string, unsigned> counts;
  for (const model::core& c : m.cores) ++counts[m.types[c.type].name];
  return counts;
}

std::string counted(std::size_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

std::size_t physical_cores(const machine& m) {
  unsigned most = 0;
  for (const model::core& c : m.cores) most = std::max(most, c.physical);
  return most + std::size_t{1};
}

std::string size_line(const machine& m) {
  if (m.any_size) return "any number of cores";
  std::string text = counted(m.cores.size(), "core", "cores");
  if (physical_cores(m) != m.cores.size())
    text += " in " + counted(physical_cores(m), "physical core", "physical cores") + ", sharing units";
  return text + ", " + counted(m.apart.size(), "memory node", "memory nodes");
}

void draw(const model::outline& part, const std::string& before, bool root, bool last, bool colour, std::string& out) {
  const std::string branch = root ? "" : last ? "└─ " : "├─ ";
  out += before + branch + part.what;
  if (part.count > 1) out += paint(" x " + std::to_string(part.count), style::bold, colour);
  out += '\n';
  const std::string below = before + (root ? "" : last ? "   " : "│  ");
  for (std::size_t i = 0; i < part.inside.size(); ++i)
    draw(part.inside[i], below, false, i + 1 == part.inside.size(), colour, out);
}

std::string heading(const char* text, bool colour) { return "\n" + paint(text, style::bold, colour) + "\n"; }

std::string types_text(const machine& m, bool colour) {
  table t(false);
  t.row({"  type", "cores", "speed of bodies", "of the runtime", "of tasks named"});
  const auto counts = cores_by_type(m);
  for (const model::core_type& type : m.types) {
    std::string tasks;
    for (const auto& s : type.speed_of) tasks += (tasks.empty() ? "" : ", ") + s.task + " " + short_number(s.speed);
    t.row({"  " + type.name, std::to_string(counts.at(type.name)), short_number(type.speed),
           short_number(type.runtime_speed), tasks});
  }
  return heading("core types", colour) + t.text({}, colour);
}

// From the first node, which on most machines stands for all: how many are how far.
std::string distances_text(const machine& m, bool colour) {
  std::vector<unsigned> of_class(m.classes);
  for (const unsigned c : m.apart.front()) ++of_class[c];
  table t(false);
  t.row({"  node distance", "nodes", "read a line", "write", "a line from its cache"});
  const auto ns = [](std::uint64_t ps) { return short_number(static_cast<double>(ps) / 1e3) + " ns"; };
  for (unsigned c = 0; c < m.classes; ++c)
    t.row({"  " + std::to_string(c), std::to_string(of_class[c]), ns(m.memory.read_line_ps[c]),
           ns(m.memory.write_line_ps[c]), ns(m.lines.transfer_ps[3 + c])});
  return heading("from memory node 0", colour) + t.text({}, colour);
}

std::string figures_text(const description& d, bool colour) {
  if (d.figures.empty()) return "\nno costs of its own: those of a machine file that says none (guide, page 22)\n";
  table t(false);
  std::map<std::string, std::pair<std::string, std::string>> sources;
  for (const model::figure& f : d.figures) {
    t.row({"  " + f.key, f.value, f.from, f.why});
    if (!f.source.empty()) sources[f.from] = {f.date, f.source};
  }
  table s(false);
  for (const auto& [name, about] : sources) s.row({"  " + name, about.first, about.second});
  return heading("what the file says, and where it is from (the rest are defaults)", colour) + t.text({}, colour) +
         heading("sources", colour) + s.text({}, colour);
}

json tree_json(const model::outline& part) {
  json inside = json::array();
  for (const model::outline& o : part.inside) inside.push_back(tree_json(o));
  return {{"what", part.what}, {"count", part.count}, {"inside", inside}};
}

json types_json(const machine& m) {
  const auto counts = cores_by_type(m);
  json all = json::array();
  for (const model::core_type& t : m.types) {
    json tasks = json::object();
    for (const auto& s : t.speed_of) tasks[s.task] = s.speed;
    all.push_back({{"name", t.name},
                   {"cores", counts.at(t.name)},
                   {"speed", t.speed},
                   {"runtime_speed", t.runtime_speed},
                   {"tasks", tasks}});
  }
  return all;
}

json energy_json(const model::energy_costs& e) {
  if (!e.known) return nullptr;
  return {{"running_w", e.running_w},
          {"searching_w", e.searching_w},
          {"asleep_w", e.asleep_w},
          {"local_pj_per_byte", e.local_pj},
          {"remote_pj_per_byte", e.remote_pj}};
}

json costs_json(const machine& m) {
  constexpr const char* names[model::steps] = {"submit",  "submit_access", "run",    "run_access",
                                               "advance", "steal",         "request"};
  json runtime = json::object();
  for (std::size_t i = 0; i < model::steps; ++i) runtime[std::string(names[i]) + "_ps"] = m.runtime.step_ps[i];
  runtime.update({{"relax_ps", m.runtime.relax_ps},
                  {"switch_ps", m.runtime.switch_ps},
                  {"body_ps", m.runtime.body_ps},
                  {"sleep_ps", m.runtime.sleep_ps},
                  {"waker_ps", m.runtime.waker_ps},
                  {"wake_ps", m.runtime.wake_ps}});
  json caches = json::array();
  constexpr const char* shared[] = {"core", "inner", "outer"};
  for (const model::cache& c : m.memory.caches)
    caches.push_back(
        {{"shared_by", shared[static_cast<int>(c.who)]}, {"bytes", c.bytes}, {"bytes_per_ns", c.bytes_per_ns}});
  return {{"lines",
           {{"load_ps", m.lines.load_ps},
            {"store_ps", m.lines.store_ps},
            {"modify_ps", m.lines.modify_ps},
            {"transfer_ps", m.lines.transfer_ps},
            {"memory_ps", m.lines.memory_ps},
            {"kept", m.lines.kept},
            {"invalidate_ps", m.lines.invalidate_ps},
            {"probe", m.lines.probes_all ? "all" : "sharers"}}},
          {"runtime", runtime},
          {"energy", energy_json(m.energy)},
          {"memory",
           {{"caches", caches},
            {"chunk_bytes", m.memory.chunk_bytes},
            {"controller_bytes_per_ns", m.memory.controller_bytes_per_ns},
            {"link_bytes_per_ns", m.memory.link_bytes_per_ns},
            {"read_line_ps", m.memory.read_line_ps},
            {"write_line_ps", m.memory.write_line_ps},
            {"lines_in_flight", m.memory.lines_in_flight},
            {"home", m.memory.placement == model::memory_costs::home::interleave ? "interleave" : "first_touch"}}}};
}

}  // namespace

json machine_json(const std::string& name) {
  const description d = described(name);
  const machine& m = d.model;
  json figures = json::array();
  for (const model::figure& f : d.figures)
    figures.push_back(
        {{"key", f.key}, {"value", f.value}, {"from", f.from}, {"source", f.source}, {"date", f.date}, {"why", f.why}});
  json all = {{"name", m.name},
              {"summary", m.summary},
              {"topology", m.topology},
              {"any_size", m.any_size},
              {"cores", m.cores.size()},
              {"physical_cores", physical_cores(m)},
              {"nodes", m.apart.size()},
              {"ghz", m.ghz},
              {"speed_when_shared", m.speed_when_shared},
              {"speed_when_busy", m.speed_when_busy},
              {"types", types_json(m)},
              {"apart", m.apart},
              {"tree", tree_json(d.drawing)}};
  all.update(costs_json(m));
  all["figures"] = figures;
  return all;
}

std::string machine_text(const std::string& name, bool colour) {
  const description d = described(name);
  const machine& m = d.model;
  std::string out = paint(m.name, style::bold, colour) + "  " + m.summary + "\n" + size_line(m) + "\n\n";
  draw(d.drawing, "", true, true, colour, out);
  if (m.types.size() > 1) out += types_text(m, colour);
  if (m.apart.size() > 1) out += distances_text(m, colour);
  out += figures_text(d, colour);
  return m.energy.known ? out : out + "\nenergy: not modelled, as there is no [energy] (guide, page 29)\n";
}

}  // namespace weft::tool
