#include "model/machine_text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/limits.hpp"
#include "base/near_name.hpp"
#include "model/machine_change.hpp"
#include "model/machine_costs.hpp"
#include "model/toml_section.hpp"
#include "weft/error.hpp"

namespace weft::model {

namespace {

// toml++ 3.3 has undefined behaviour for letters like an umlaut where a key may stand (its is_horizontal_whitespace
// ends in "unreachable"), so they are refused outside of texts and comments before it sees them. That needs to know
// where texts end; those of several lines are refused with them.
void refuse_foreign_letters(std::string_view text, const std::string& file) {
  std::size_t line = 1;
  char quote = 0;  // what ends the text that we are in; '\n' ends a comment
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    line += c == '\n' ? 1 : 0;
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote || c == '\n') quote = 0;
    } else if (c == '"' || c == '\'') {
      if (text.substr(i, 3) == std::string(3, c)) refuse_file(file, line, "", "texts stand on one line here");
      quote = c;
    } else if (c == '#') {
      quote = '\n';
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      refuse_file(file, line, "", "this is no TOML: a letter that is not ASCII outside of texts and comments");
    }
  }
}

toml::table parsed(std::string_view text, const std::string& file) {
  refuse_foreign_letters(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    refuse_file(file, e.source().begin.line, "", "this is no TOML: " + std::string(e.description()));
  }
}

// A change may be one line, as environment variables are: semicolons end its lines, but for those in texts.
std::string lines_of(std::string_view change) {
  std::string text(change);
  char quote = 0;
  for (char& c : text) {
    if (quote == 0 ? c == '"' || c == '\'' : c == quote)
      quote = quote == 0 ? c : '\0';
    else if (quote == 0 && c == ';')
      c = '\n';
  }
  return text;
}

// What a family puts into the braces of its variants' texts.
std::string filled(std::string text, unsigned n) {
  const std::pair<const char*, unsigned> all[] = {{"{n}", n}, {"{n/2}", n / 2}, {"{n+1}", n + 1}};
  for (const auto& [mark, value] : all)
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at, std::string_view(mark).size(), std::to_string(value));
  return text;
}

// One machine of a file: what stands at its top, or a variant of its family.
struct variant {
  std::string name;
  std::string summary;
  section topology;  // the table that has hwloc = and types =
  unsigned n = 0;    // of {n}; 0: no family
};

std::string required(const section& s, std::string_view key) {
  const auto text = s.text(key);
  if (!text || text->empty()) s.fail(text ? key : "", "the key " + std::string(key) + " is missing");
  return *text;
}

std::vector<variant> variants(const section& top, const std::string& stem) {
  std::vector<variant> all;
  const std::string summary = required(top, "summary");
  const auto family = top.inside("family");
  const auto topology = top.inside("topology");
  if (!family) {
    if (!topology) top.fail("", "the table [topology] is missing");
    all.push_back({stem, summary, *topology, 0});
    return all;
  }
  family->only({"sizes", "variants"});
  const auto sizes = family->counts("sizes");
  if (!sizes || sizes->empty()) family->fail("sizes", "it must be a list of numbers of cores");
  const std::vector<section> shapes = family->each("variants");
  if (shapes.empty()) family->fail("variants", "it must be a list of tables with name, summary, hwloc and types");
  if (sizes->size() * shapes.size() > 1'000) family->fail("", "these are more than 1000 machines");
  for (const section& s : shapes) {
    s.only({"name", "summary", "hwloc", "types", "order"});
    for (const unsigned n : *sizes) {
      const std::string name = stem + "-" + filled(required(s, "name"), n);
      const auto own = s.text("summary");
      for (const variant& other : all)
        if (other.name == name) s.fail("name", "there are two machines '" + name + "'");
      all.push_back({name, filled(own.value_or(summary), n), s, n});
    }
  }
  return all;
}

// "4 big, 4 little" as the type of each core.
std::vector<std::string> type_of_cores(const section& s, std::string_view key, const std::string& text,
                                       std::size_t cores) {
  std::vector<std::string> names;
  std::size_t at = 0;
  const auto skip = [&](const char* these) {
    const std::size_t end = std::min(text.find_first_not_of(these, at), text.size());
    const std::string part = text.substr(at, end - at);
    at = end;
    return part;
  };
  while (at < text.size()) {
    skip(" ");
    const std::string number = skip("0123456789");
    skip(" ");
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    name.erase(name.find_last_not_of(' ') + 1);
    at = end + 1;
    if (number.empty() || number.size() > 6 || name.empty())
      s.fail(key, "it must be like \"4 big, 4 little\": how many cores are of which type, in order");
    if (std::stoul(number) > base::workers_max) s.fail(key, number + " is more cores than Weft takes");
    names.insert(names.end(), std::stoul(number), name);
  }
  if (names.size() != cores)
    s.fail(key, "it gives types to " + std::to_string(names.size()) + " cores, and the topology has " +
                    std::to_string(cores));
  return names;
}

// "submit, run" as the steps that a core does for all. The others are done under locks, where nobody may wait.
void read_served(const section& s, core_type& t) {
  const auto text = s.text("serves");
  if (!text) return;
  for (std::size_t at = 0; at <= text->size();) {
    const std::size_t end = std::min(text->find(',', at), text->size());
    const std::size_t first = std::min(text->find_first_not_of(' ', at), end);
    const std::string name = text->substr(first, text->find_last_not_of(' ', end == 0 ? 0 : end - 1) + 1 - first);
    at = end + 1;
    bool known = false;
    for (const step one : {step::submit, step::run}) {
      const auto i = static_cast<std::size_t>(one);
      if (name == step_names[i]) known = t.serves[i] = true;
    }
    if (!known)
      s.fail("serves", "it must be \"submit\", \"run\" or \"submit, run\": steps that a core does for all others");
  }
}

core_type read_type(const section& s, std::string name) {
  s.only({"speed", "runtime_speed", "tasks", "serves"});
  core_type t{std::move(name), s.number("speed", quantity::ratio).value_or(1), 1, {}, {}};
  read_served(s, t);
  t.runtime_speed = s.number("runtime_speed", quantity::ratio).value_or(t.speed);
  if (const auto tasks = s.inside("tasks"))
    for (const std::string& task : tasks->keys())
      if (task != "from" && task != "why")
        t.speed_of.push_back({task, tasks->number(task, quantity::ratio).value_or(1)});
  return t;
}

// The types that occur, in the order in which they do.
void read_types(const section& top, const variant& v, machine& m) {
  const auto types = top.inside("types");
  auto text = v.topology.text("types");
  if (!types) {
    if (text) v.topology.fail("types", "there is no table [types]");
    m.types.push_back({"core", 1, 1, {}, {}});
    return;
  }
  std::vector<std::string> known = types->keys();
  std::erase_if(known, [](const std::string& k) { return k == "from" || k == "why"; });
  if (!text && known.size() == 1) text = std::to_string(m.cores.size()) + " " + known.front();
  if (!text) v.topology.fail("", "the key types is missing: how many cores are of which of [types]");
  const std::vector<std::string> names = type_of_cores(v.topology, "types", filled(*text, v.n), m.cores.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto same = [&](const core_type& t) { return t.name == names[i]; };
    auto found = std::find_if(m.types.begin(), m.types.end(), same);
    if (found == m.types.end()) {
      const auto type = types->inside(names[i]);
      if (!type)
        v.topology.fail("types",
                        "there is no type '" + names[i] + "' in [types]" + base::did_you_mean(names[i], known));
      m.types.push_back(read_type(*type, names[i]));
      found = std::prev(m.types.end());
    }
    m.cores[i].type = static_cast<unsigned>(found - m.types.begin());
  }
  const auto serves = [&](const core& c) {
    const auto& its = m.types[c.type].serves;
    return std::find(its.begin(), its.end(), true) != its.end();
  };
  if (const auto n = std::count_if(m.cores.begin(), m.cores.end(), serves); n > 1 || (n == 1 && m.any_size))
    types->fail("", (m.any_size ? "as many cores as there are workers" : std::to_string(n) + " cores") +
                        std::string(" would serve the others; at most one may"));
}

std::vector<std::vector<unsigned>> matrix(unsigned nodes, unsigned (*apart)(unsigned, unsigned, unsigned)) {
  std::vector<std::vector<unsigned>> all(nodes, std::vector<unsigned>(nodes));
  for (unsigned a = 0; a < nodes; ++a)
    for (unsigned b = 0; b < nodes; ++b) all[a][b] = a == b ? 0 : apart(a, b, nodes);
  return all;
}

void check_matrix(const section& s, const std::vector<std::vector<unsigned>>& m, unsigned nodes) {
  const std::string size = std::to_string(nodes) + " memory " + (nodes == 1 ? "node" : "nodes");
  if (m.size() != nodes) s.fail("matrix", "it has " + std::to_string(m.size()) + " rows, and the topology " + size);
  std::vector<bool> occurs(1'001);
  unsigned most = 0;
  for (unsigned a = 0; a < nodes; ++a) {
    if (m[a].size() != nodes)
      s.fail("matrix", "row " + std::to_string(a + 1) + " has " + std::to_string(m[a].size()) +
                           " numbers, and the topology " + size);
    for (unsigned b = 0; b < nodes; ++b) {
      const std::string where = "row " + std::to_string(a + 1) + ", column " + std::to_string(b + 1);
      if ((m[a][b] == 0) != (a == b)) s.fail("matrix", where + ": a node is at 0 from itself and from no other");
      if (b < a && m[a][b] != m[b][a])
        s.fail("matrix", where + " is " + std::to_string(m[a][b]) + ", but the other way it is " +
                             std::to_string(m[b][a]) + "; it must be symmetric");
      occurs[m[a][b]] = true;
      most = std::max(most, m[a][b]);
    }
  }
  for (unsigned c = 0; c <= most; ++c)
    if (!occurs[c])
      s.fail("matrix", "it has a " + std::to_string(most) + " and no " + std::to_string(c) +
                           "; classes are numbered from 1 without gaps");
}

// The smallest group that holds both nodes is the class.
std::vector<std::vector<unsigned>> grouped(const section& s, const std::vector<unsigned>& groups, unsigned nodes) {
  unsigned last = 1;
  for (const unsigned g : groups) {
    if (g <= last || g % last != 0 || g >= nodes)
      s.fail("groups", "each must be a multiple of the one before, above 1 and below the " + std::to_string(nodes) +
                           " memory nodes");
    last = g;
  }
  std::vector<std::vector<unsigned>> m(nodes, std::vector<unsigned>(nodes));
  for (unsigned a = 0; a < nodes; ++a)
    for (unsigned b = 0; b < nodes; ++b) {
      unsigned c = 1;
      for (const unsigned g : groups) c += a / g != b / g ? 1 : 0;
      m[a][b] = a == b ? 0 : c;
    }
  return m;
}

// Cores of one physical core that work together get no less done than one of them alone.
void read_shared_speed(const section& top, machine& m) {
  m.speed_when_shared = top.number("shared_speed", quantity::ratio).value_or(m.speed_when_shared);
  const unsigned together = most_siblings(m);
  const auto least = 1.0 / together;
  const std::string range = "it must be from 1/" + std::to_string(together) + ", where " + std::to_string(together) +
                            " cores of a physical core do as much as one alone, to 1";
  const auto fits = [least](double speed) { return speed <= 1 && speed * (1 + 1e-9) >= least; };
  if (m.speed_when_shared > 1) top.fail("shared_speed", "it must be at most 1");
  if (!fits(m.speed_when_shared) && together > 1) top.fail("shared_speed", range);
  const auto tasks = top.inside("shared_speed_of");
  if (!tasks) return;
  if (!top.has("shared_speed") && !top.has("busy_speed"))
    tasks->fail("", "it needs [shared_speed] or [busy_speed] for all other tasks");
  for (const std::string& task : tasks->keys()) {
    if (task == "from" || task == "why") continue;
    m.shared_speed_of.push_back({task, tasks->number(task, quantity::ratio).value_or(1)});
    if (!fits(m.shared_speed_of.back().speed)) tasks->fail(task, range);
  }
}

// All cores together get no less done than one of them alone.
void read_busy_speed(const section& top, machine& m) {
  m.speed_when_busy = top.number("busy_speed", quantity::ratio).value_or(m.speed_when_busy);
  const std::size_t all = m.cores.size();
  if (m.speed_when_busy > 1) top.fail("busy_speed", "it must be at most 1");
  if (all > 1 && m.speed_when_busy * static_cast<double>(all) * (1 + 1e-9) < 1)
    top.fail("busy_speed", "it must be from 1/" + std::to_string(all) + ", where all " + std::to_string(all) +
                               " cores do as much as one alone, to 1");
}

std::vector<std::vector<unsigned>> read_apart(const section& top, unsigned nodes) {
  const auto one_step = [](unsigned, unsigned, unsigned) { return 1u; };
  const auto s = top.inside("apart");
  if (!s) return matrix(nodes, one_step);
  s->only({"matrix", "groups", "form"});
  if (s->has("matrix") + s->has("groups") + s->has("form") != 1)
    s->fail("", "it must have one of form, groups and matrix");
  if (const auto form = s->text("form")) {
    s->cite("form", *form);
    if (*form == "all") return matrix(nodes, one_step);
    if (*form != "ring") s->fail("form", "it must be \"all\" or \"ring\"");
    return matrix(nodes, [](unsigned a, unsigned b, unsigned n) { return std::min((a + n - b) % n, (b + n - a) % n); });
  }
  if (const auto groups = s->counts("groups")) {
    std::string shown = "groups of";
    for (const unsigned g : *groups) shown += " " + std::to_string(g);
    s->cite("groups", shown);
    return grouped(*s, *groups, nodes);
  }
  auto m = *s->matrix("matrix");
  check_matrix(*s, m, nodes);
  s->cite("matrix", std::to_string(nodes) + " x " + std::to_string(nodes));
  return m;
}

// One hardware thread of each physical core first, then the second of each, and so on.
void physical_first(std::vector<core>& cores) {
  std::vector<unsigned> met(cores.size());
  std::vector<std::pair<unsigned, core>> turn;
  for (const core& c : cores) turn.emplace_back(met[c.physical]++, c);
  std::stable_sort(turn.begin(), turn.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < cores.size(); ++i) {
    cores[i] = turn[i].second;
    cores[i].at.cpu = static_cast<unsigned>(i);
  }
}

shape read_shape(const section& top, const variant& v, std::string& notation) {
  const section& s = v.topology;
  if (v.n == 0) s.only({"hwloc", "xml", "types", "order"});
  // What the short notation cannot say, for it knows symmetric machines only.
  const auto xml = s.text("xml");
  const std::string_view key = xml ? "xml" : "hwloc";
  if (xml && s.has("hwloc")) s.fail("xml", "it must have one of hwloc and xml");
  notation = xml ? "hwloc's XML" : filled(required(s, "hwloc"), v.n);
  try {
    shape found = xml ? shape_of_xml(*xml) : shape_of_notation(notation);
    s.cite(key, notation);
    const std::string order = s.text("order").value_or("neighbours");
    if (order != "neighbours" && order != "physical") s.fail("order", "it must be \"neighbours\" or \"physical\"");
    if (order == "physical") physical_first(found.cores);
    if (top.flag("any_size").value_or(false) && found.cores.size() != 1)
      top.fail("any_size", "the topology must be of one core, and has " + std::to_string(found.cores.size()));
    return found;
  } catch (const error& e) {
    if (std::string_view(e.what()).starts_with("weft: ")) throw;
    s.fail(key, e.what());
  }
}

void read_sources(const section& top, reading& r) {
  const auto sources = top.inside("sources");
  if (!sources) return;
  for (const std::string& name : sources->keys()) {
    if (name == "assumed") sources->fail(name, "\"assumed\" is no source; say why = \"...\" where it is used");
    const auto s = sources->inside(name);
    s->only({"text", "date"});
    r.sources[name] = {required(*s, "text"), required(*s, "date")};
  }
}

std::string shown_size(std::uint64_t bytes) {
  const bool mib = bytes >= 1 << 20 && bytes % (1 << 20) == 0;
  return std::to_string(mib ? bytes >> 20 : bytes >> 10) + (mib ? " MiB" : " KiB");
}

// The notation has no sizes of caches; [[memory.caches]] does. The second level is `inner`, the outermost is `outer`.
void add_sizes(outline& part, const machine& m, bool inside_cache) {
  const bool cache_here = part.what.size() >= 2 && part.what[0] == 'L' && part.what[1] >= '1' && part.what[1] <= '5';
  const bool second = part.what.starts_with("L2");
  for (outline& o : part.inside) add_sizes(o, m, inside_cache || cache_here);
  for (const cache& c : m.memory.caches) {
    const bool this_one = second ? c.who == cache::shared_by::inner : c.who == cache::shared_by::outer && !inside_cache;
    if (cache_here && this_one) part.what.insert(2, " " + shown_size(c.bytes));
  }
}

}  // namespace

machine machine_of(const shape& s, std::vector<std::vector<unsigned>> apart) {
  machine m;
  m.cores = s.cores;
  m.apart = apart.empty() ? matrix(s.nodes, [](unsigned, unsigned, unsigned) { return 1u; }) : std::move(apart);
  for (const auto& row : m.apart)
    for (const unsigned c : row) m.classes = std::max(m.classes, c + 1);
  return m;
}

std::vector<machine_entry> machines_in(std::string_view text, const std::string& file, const std::string& stem) {
  const toml::table all = parsed(text, file);
  reading r{file, {}, {}, 1};
  const section top(all, "", r);
  std::vector<machine_entry> entries;
  for (const variant& v : variants(top, stem)) entries.push_back({v.name, v.summary});
  return entries;
}

description parse_machine(std::string_view text, const std::string& file, const std::string& stem,
                          const std::string& name, std::string_view change) {
  toml::table all = parsed(text, file);
  if (!change.empty()) apply_change(all, parsed(lines_of(change), "option model.change"));
  reading r{change.empty() ? file : file + " as changed", {}, {}, 1};
  const section top(all, "", r);
  if (const auto why = top.text("unusable"))
    top.fail("unusable", "this file says of itself: " + *why + "; measure again, or take this line out");
  top.only({"summary", "any_size", "family", "topology", "apart", "clock", "shared_speed", "shared_speed_of",
            "busy_speed", "types", "lines", "runtime", "memory", "energy", "network", "sources"});
  read_sources(top, r);
  const std::vector<variant> known = variants(top, stem);
  const auto v = std::find_if(known.begin(), known.end(), [&](const variant& k) { return k.name == name; });
  if (v == known.end()) refuse_file(file, 0, "", "there is no machine '" + name + "' in it");
  std::string notation;
  const shape s = read_shape(top, *v, notation);
  description d{machine_of(s, read_apart(top, s.nodes)), s.drawing, {}};
  machine& m = d.model;
  m.name = v->name;
  m.summary = v->summary;
  m.topology = notation;
  m.any_size = top.flag("any_size").value_or(false);
  m.ghz = top.number("clock", quantity::clock).value_or(m.ghz);
  r.ghz = m.ghz;
  read_shared_speed(top, m);
  read_busy_speed(top, m);
  read_types(top, *v, m);
  read_costs(top, m);
  add_sizes(d.drawing, m, false);
  d.figures = std::move(r.figures);
  return d;
}

}  // namespace weft::model
