#include "model/shape.hpp"

#include <hwloc.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/limits.hpp"
#include "model/trial.hpp"
#include "model/xml_flaw.hpp"
#include "weft/error.hpp"

namespace weft::model {

namespace {

using topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

topology empty_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw error("hwloc cannot start");
  return {raw, &hwloc_topology_destroy};
}

// Gives the objects of one kind numbers from 0 in the order in which they are met. hwloc's own have gaps where a
// machine is irregular.
class numbering {
 public:
  unsigned of(hwloc_obj_t o) {
    return numbers_.emplace(o->gp_index, static_cast<unsigned>(numbers_.size())).first->second;
  }

 private:
  std::map<hwloc_uint64_t, unsigned> numbers_;
};

hwloc_obj_t physical_core(hwloc_obj_t pu) {
  hwloc_obj_t o = pu;
  while (o != nullptr && o->type != HWLOC_OBJ_CORE) o = o->parent;
  return o != nullptr ? o : pu;
}

hwloc_obj_t second_level(hwloc_obj_t pu) {
  hwloc_obj_t o = pu;
  while (o != nullptr && o->type != HWLOC_OBJ_L2CACHE) o = o->parent;
  return o != nullptr ? o : physical_core(pu);
}

hwloc_obj_t outermost(hwloc_obj_t pu) {
  hwloc_obj_t found = nullptr;
  for (hwloc_obj_t o = pu->parent; o != nullptr; o = o->parent)
    if (hwloc_obj_type_is_dcache(o->type) != 0) found = o;
  return found != nullptr ? found : physical_core(pu);
}

std::string name_of(hwloc_obj_t o, bool sizes) {
  if (o->type == HWLOC_OBJ_MACHINE) return "machine";
  if (o->type == HWLOC_OBJ_PU) return "core";
  if (o->type == HWLOC_OBJ_CORE) return "physical core";
  if (o->type == HWLOC_OBJ_NUMANODE) return "memory node";
  char type[64];
  hwloc_obj_type_snprintf(type, sizeof type, o, 0);
  std::string text = type;
  for (char& c : text)
    if (text.front() != 'L') c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (sizes && hwloc_obj_type_is_cache(o->type) != 0 && o->attr != nullptr && o->attr->cache.size != 0)
    text += " " + std::to_string(o->attr->cache.size >> 10) + " KiB";
  return text;
}

outline draw(hwloc_obj_t o, bool sizes) {
  outline here{name_of(o, sizes), 1, {}};
  for (hwloc_obj_t child = o->first_child; child != nullptr; child = child->next_sibling) {
    outline next = draw(child, sizes);
    if (!here.inside.empty()) {
      outline& last = here.inside.back();
      next.count = last.count;
      if (next == last) {
        ++last.count;
        continue;
      }
      next.count = 1;
    }
    here.inside.push_back(std::move(next));
  }
  // A group is hwloc's word for "these share the memory node below"; one that holds one thing only says nothing.
  if (o->memory_first_child != nullptr) {
    const bool wrapper = o->type == HWLOC_OBJ_GROUP;
    here.what = wrapper ? "memory node" : here.what + " with memory node";
  }
  const bool says_nothing = o->type == HWLOC_OBJ_CORE && here.inside.size() == 1 && here.inside.front().count == 1;
  return says_nothing ? here.inside.front() : here;
}

// Latencies as the firmware tells them, relative to each other, or nothing.
std::vector<std::vector<std::uint64_t>> latencies(hwloc_topology_t t, const std::vector<hwloc_obj_t>& nodes) {
  unsigned count = 1;
  hwloc_distances_s* d = nullptr;
  std::vector<std::vector<std::uint64_t>> table;
  if (hwloc_distances_get_by_type(t, HWLOC_OBJ_NUMANODE, &count, &d, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
      count == 0)
    return table;
  std::vector<unsigned> place;  // in hwloc's matrix
  for (const hwloc_obj_t node : nodes)
    for (unsigned i = 0; i < d->nbobjs; ++i)
      if (d->objs[i] == node) place.push_back(i);
  if (place.size() == nodes.size())
    for (const unsigned a : place) {
      auto& row = table.emplace_back();
      for (const unsigned b : place)
        row.push_back(std::max(d->values[a * d->nbobjs + b], d->values[b * d->nbobjs + a]));
    }
  hwloc_distances_release(t, d);
  return table;
}

// The memory node that a core uses first: its own. It may have none, as where a group of processes may not use it; then
// that of the smallest part around it that has one.
hwloc_obj_t memory_of(hwloc_topology_t t, hwloc_obj_t pu) {
  for (hwloc_obj_t o = pu; o != nullptr; o = o->parent) {
    const int first = o->nodeset == nullptr ? -1 : hwloc_bitmap_first(o->nodeset);
    if (first < 0) continue;
    if (const hwloc_obj_t n = hwloc_get_numanode_obj_by_os_index(t, static_cast<unsigned>(first)); n != nullptr)
      return n;
  }
  return nullptr;
}

// Nodes without cores - memory that is faster, slower, or behind a link - come behind those of cores.
void add_bare_nodes(hwloc_topology_t t, std::vector<hwloc_obj_t>& nodes) {
  for (hwloc_obj_t n = nullptr; (n = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, n)) != nullptr;)
    if (std::find(nodes.begin(), nodes.end(), n) == nodes.end()) nodes.push_back(n);
  if (nodes.size() > base::workers_max)
    throw error("it has " + std::to_string(nodes.size()) + " memory nodes; Weft takes at most " +
                std::to_string(base::workers_max));
}

// Where nobody tells how far apart nodes are, others are equally far; but a node without cores is farther from those
// nodes that it is not beside.
std::vector<std::vector<std::uint64_t>> usual_latencies(const std::vector<hwloc_obj_t>& nodes, std::size_t with_cores) {
  constexpr std::uint64_t own = 10, other = 20, farther = 30;
  std::vector<std::vector<std::uint64_t>> table(nodes.size(), std::vector<std::uint64_t>(nodes.size(), other));
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    table[a][a] = own;
    for (std::size_t b = std::max(a + 1, with_cores); b < nodes.size(); ++b)
      if (hwloc_bitmap_intersects(nodes[a]->cpuset, nodes[b]->cpuset) == 0) table[a][b] = table[b][a] = farther;
  }
  return table;
}

// `sizes`: those of caches are known, not hwloc's guesses for a notation that has none.
shape load(topology t, bool sizes) {
  if (hwloc_topology_load(t.get()) != 0) throw error("hwloc cannot make a machine of it");
  const int count = hwloc_get_nbobjs_by_type(t.get(), HWLOC_OBJ_PU);
  if (count < 1) throw error("it has no core");
  if (static_cast<unsigned>(count) > base::workers_max)
    throw error("it has " + std::to_string(count) + " cores; Weft takes at most " + std::to_string(base::workers_max));
  shape s;
  numbering caches;
  numbering inner;
  numbering physical;
  numbering node_numbers;
  std::vector<hwloc_obj_t> nodes;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(t.get(), HWLOC_OBJ_PU, pu)) != nullptr;) {
    core c;
    c.at.cpu = static_cast<unsigned>(s.cores.size());
    c.at.cache = caches.of(outermost(pu));
    const hwloc_obj_t node = memory_of(t.get(), pu);
    if (node == nullptr) throw error("it has no memory");
    c.at.node = node_numbers.of(node);
    if (c.at.node == nodes.size()) nodes.push_back(node);
    c.inner = inner.of(second_level(pu));
    c.physical = physical.of(physical_core(pu));
    s.cores.push_back(c);
  }
  const std::size_t with_cores = nodes.size();
  add_bare_nodes(t.get(), nodes);
  s.nodes = static_cast<unsigned>(nodes.size());
  s.latency = latencies(t.get(), nodes);
  if (s.latency.empty() && s.nodes != with_cores) s.latency = usual_latencies(nodes, with_cores);
  s.drawing = draw(hwloc_get_root_obj(t.get()), sizes);
  return s;
}

// hwloc would build a machine of a billion cores before anybody could count them. Counts are what stands after a colon,
// or alone; what stands in parentheses are attributes.
void refuse_large(const std::string& notation) {
  constexpr std::size_t length_max = 1'000;
  if (notation.size() > length_max) throw error("it is longer than " + std::to_string(length_max) + " letters");
  std::uint64_t product = 1;
  int depth = 0;
  for (std::size_t i = 0; i < notation.size(); ++i) {
    depth += notation[i] == '(' ? 1 : notation[i] == ')' ? -1 : 0;
    const bool begins = i == 0 || notation[i - 1] == ':' || notation[i - 1] == ' ';
    if (depth != 0 || !begins || std::isdigit(static_cast<unsigned char>(notation[i])) == 0) continue;
    std::uint64_t n = 0;
    for (; i < notation.size() && std::isdigit(static_cast<unsigned char>(notation[i])) != 0; ++i)
      n = std::min<std::uint64_t>(n * 10 + static_cast<std::uint64_t>(notation[i] - '0'), 1u << 20);
    --i;
    if (n == 0) throw error("it has a 0 in it, so no core");
    product *= n;
    if (product > base::workers_max)
      throw error("it has more than " + std::to_string(base::workers_max) + " cores, which is as many as Weft takes");
  }
}

// Where an export says which version of the format it has.
struct version_place {
  std::size_t at = std::string::npos, length = 0, line = 0;
  unsigned major = 0;
};

version_place version_of(const std::string& text) {
  constexpr std::string_view before = "<topology version=\"";
  version_place v;
  const std::size_t found = text.find(before);
  if (found == std::string::npos) return v;
  const std::size_t from = found + before.size();
  const std::size_t end = text.find('"', from);
  constexpr std::size_t digits_max = 8;
  if (end == std::string::npos || end == from || end - from > digits_max) return v;
  if (std::isdigit(static_cast<unsigned char>(text[from])) == 0) return v;
  v.at = from, v.length = end - from;
  v.line =
      static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(from), '\n')) + 1;
  for (std::size_t i = from; i < end && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i)
    v.major = v.major * 10 + static_cast<unsigned>(text[i] - '0');
  return v;
}

std::string in_line(const std::string& text, std::size_t at) {
  return "line " + std::to_string(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1) +
         ": ";
}

// What hwloc does not say of a file that it refused.
[[noreturn]] void refuse_xml(const std::string& text, const std::string& why) {
  const auto flaw = first_flaw(text);
  throw error(flaw ? "line " + std::to_string(flaw->line) + ": " + flaw->what + " (" + why + ")" : why);
}

// hwloc keeps a bit for each number of a core or a memory node up to the greatest: one of number 4294967295 makes it
// use gigabytes, and a second, whenever a runtime starts. Other objects may have large numbers; PCI devices do.
void refuse_far_numbers(const std::string& text) {
  constexpr unsigned long number_max = (1 << 20) - 1;
  constexpr std::string_view key = " os_index=";
  for (std::size_t at = 0; (at = text.find("<object", at)) != std::string::npos; ++at) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return;
    const std::string element = text.substr(at, end - at);
    const std::size_t found = element.find(key);
    const bool counts = element.find("PU") != std::string::npos || element.find("NUMANode") != std::string::npos;
    if (!counts || found == std::string::npos || found + key.size() + 1 >= element.size()) continue;
    if (std::strtoul(element.c_str() + found + key.size() + 1, nullptr, 10) > number_max)
      throw error(in_line(text, at) + "it has a core or a memory node whose number (os_index) is above " +
                  std::to_string(number_max));
  }
}

// Errors: those of hwloc, and of load().
shape read_xml(const std::string& text) {
  refuse_far_numbers(text);
  const auto read = [&text] {
    topology t = empty_topology();
    if (hwloc_topology_set_xmlbuffer(t.get(), text.c_str(), static_cast<int>(text.size() + 1)) != 0)
      refuse_xml(text, "hwloc cannot read it; it takes what `lstopo FILE.xml` wrote");
    try {
      return load(std::move(t), true);
    } catch (const error& e) {
      refuse_xml(text, e.what());
    }
  };
  if (!survives([&read] { static_cast<void>(read()); }))
    refuse_xml(
        text,
        "hwloc cannot read it: it is damaged, and hwloc would crash on it; export it again with `lstopo FILE.xml`");
  return read();
}

}  // namespace

shape shape_of_notation(const std::string& notation) {
  refuse_large(notation);
  topology t = empty_topology();
  if (notation.find('\0') != std::string::npos || hwloc_topology_set_synthetic(t.get(), notation.c_str()) != 0)
    throw error("hwloc does not understand '" + notation +
                "'; it is written like \"Package:4 NUMANode:2 L3:1 L2:4 PU:2\"");
  return load(std::move(t), false);
}

// hwloc 2 refuses what hwloc 3 exported for its version alone. What is read of it here - objects and their sets,
// caches, memory nodes, latencies - is written in the same way; so it is read as version 2.
shape shape_of_xml(const std::string& text) {
  const version_place v = version_of(text);
  const unsigned here = hwloc_get_api_version() >> 16;
  if (v.major <= here) return read_xml(text);
  try {
    if (v.major == 3) return read_xml(std::string(text).replace(v.at, v.length, "2.0"));
    throw error("hwloc cannot make a machine of it");
  } catch (const error& e) {
    throw error("line " + std::to_string(v.line) + ": it is of version " + text.substr(v.at, v.length) +
                " of hwloc's format, and the hwloc of this library is version " + std::to_string(here) + " (" +
                e.what() + "); export it with `lstopo FILE.xml` of hwloc " + std::to_string(here));
  }
}

shape shape_of_host() { return load(empty_topology(), true); }

}  // namespace weft::model
