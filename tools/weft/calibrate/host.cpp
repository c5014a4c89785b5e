// See host.hpp. The short notation describes symmetric machines only; where an affinity mask leaves a lopsided one,
// hwloc's XML is taken instead.
#include "host.hpp"

#include <hwloc.h>
#include <hwloc/distances.h>
#include <hwloc/export.h>

#include <algorithm>
#include <memory>
#include <set>

#include "place/topology.hpp"
#include "weft/error.hpp"

namespace weft::tool::calibrate {

namespace {

using topology_owner = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using bitmap_owner = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

topology_owner load_usable() {
  hwloc_topology_t raw = nullptr;
  if (place::affinity_is_refused())
    throw weft::error("calibrate: the system does not say which cores may be used (sched_getaffinity is refused)");
  if (hwloc_topology_init(&raw) != 0) throw weft::error("calibrate: hwloc cannot be used");
  topology_owner t(raw, &hwloc_topology_destroy);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(raw) != 0) throw weft::error("calibrate: hwloc cannot say what this machine is");
  const bitmap_owner mine(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (mine == nullptr || hwloc_get_cpubind(raw, mine.get(), HWLOC_CPUBIND_PROCESS) != 0 ||
      hwloc_topology_restrict(raw, mine.get(), 0) != 0)
    throw weft::error("calibrate: hwloc cannot say which cores may be used");
  return t;
}

std::string short_notation(hwloc_topology_t t) {
  char text[4096];
  const int length = hwloc_topology_export_synthetic(t, text, sizeof text, 0);
  return length > 0 && static_cast<std::size_t>(length) < sizeof text ? text : "";
}

std::string as_xml(hwloc_topology_t t) {
  char* text = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(t, &text, &length, 0) != 0)
    throw weft::error("calibrate: hwloc cannot describe this machine as XML");
  const std::string xml(text);
  hwloc_free_xmlbuffer(t, text);
  return xml;
}

// Number of the cache of this level above `pu`, or otherwise of the nearest thing that stands in for it.
unsigned number_of_cache(hwloc_obj_t pu, unsigned depth, unsigned otherwise) {
  for (hwloc_obj_t o = pu->parent; o != nullptr; o = o->parent)
    if (hwloc_obj_type_is_dcache(o->type) != 0 && o->attr->cache.depth == depth) return o->logical_index;
  return otherwise;
}

unsigned deepest_cache(hwloc_obj_t pu) {
  unsigned depth = 0;
  for (hwloc_obj_t o = pu->parent; o != nullptr; o = o->parent)
    if (hwloc_obj_type_is_dcache(o->type) != 0) depth = std::max(depth, o->attr->cache.depth);
  return depth;
}

unsigned node_of(hwloc_topology_t t, hwloc_obj_t pu) {
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node)) != nullptr)
    if (hwloc_bitmap_isset(node->cpuset, pu->os_index) != 0) return node->logical_index;
  return 0;
}

std::vector<model::core> usable_cores(hwloc_topology_t t) {
  std::vector<model::core> cores;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu)) != nullptr;) {
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu);
    const unsigned physical = core != nullptr ? core->logical_index : pu->logical_index;
    const unsigned deepest = deepest_cache(pu);
    model::core c;
    c.at = {pu->os_index, deepest > 0 ? number_of_cache(pu, deepest, physical) : physical, node_of(t, pu)};
    c.inner = number_of_cache(pu, 2, physical);
    c.physical = physical;
    cores.push_back(c);
  }
  return cores;
}

std::vector<cache_level> caches_of_first(hwloc_topology_t t) {
  std::vector<cache_level> caches;
  const hwloc_obj_t pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, 0);
  for (hwloc_obj_t o = pu != nullptr ? pu->parent : nullptr; o != nullptr; o = o->parent) {
    if (hwloc_obj_type_is_dcache(o->type) == 0 || o->attr->cache.size == 0) continue;
    const unsigned depth = o->attr->cache.depth;
    const auto who = depth == 1   ? model::cache::shared_by::core
                     : depth == 2 ? model::cache::shared_by::inner
                                  : model::cache::shared_by::outer;
    caches.push_back({o->attr->cache.size, who, "L" + std::to_string(depth)});
  }
  return caches;
}

// Numbers the different distances between nodes, nearest first; the node itself is class 0. Where the firmware says
// nothing all other nodes are alike.
void classify_nodes(hwloc_topology_t t, host_description& h) {
  const auto nodes = static_cast<unsigned>(std::max(1, hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE)));
  std::vector<std::vector<std::uint64_t>> between(nodes, std::vector<std::uint64_t>(nodes, 1));
  unsigned count = 1;
  hwloc_distances_s* found = nullptr;
  if (hwloc_distances_get_by_name(t, "NUMALatency", &count, &found, 0) == 0 && count == 1) {
    for (unsigned i = 0; i < found->nbobjs; ++i)
      for (unsigned j = 0; j < found->nbobjs; ++j)
        between[found->objs[i]->logical_index][found->objs[j]->logical_index] = found->values[i * found->nbobjs + j];
    hwloc_distances_release(t, found);
  }
  std::set<std::uint64_t> others;
  for (unsigned i = 0; i < nodes; ++i)
    for (unsigned j = 0; j < nodes; ++j)
      if (i != j) others.insert(between[i][j]);
  h.classes = 1 + static_cast<unsigned>(others.size());
  h.apart.assign(nodes, std::vector<unsigned>(nodes, 0));
  for (unsigned i = 0; i < nodes; ++i)
    for (unsigned j = 0; j < nodes; ++j)
      if (i != j) h.apart[i][j] = 1 + static_cast<unsigned>(std::distance(others.begin(), others.find(between[i][j])));
}

}  // namespace

host_description describe(hwloc_topology* t) {
  host_description h;
  h.topology = short_notation(t);
  if (h.topology.empty()) h.xml = as_xml(t);
  h.cores = usable_cores(t);
  if (h.cores.empty()) throw weft::error("calibrate: hwloc finds no usable core");
  h.caches = caches_of_first(t);
  classify_nodes(t, h);
  return h;
}

host_description describe_host() { return describe(load_usable().get()); }

std::map<unsigned, std::vector<pair_of_cores>> pairs_by_distance(const host_description& h, std::size_t each) {
  model::machine m;
  m.cores = h.cores;
  m.apart = h.apart;
  std::map<unsigned, std::vector<pair_of_cores>> found;
  for (unsigned a = 0; a < m.cores.size(); ++a)
    for (unsigned b = a + 1; b < m.cores.size(); ++b) {
      std::vector<pair_of_cores>& of_this = found[m.distance(a, b)];
      if (of_this.size() < each) of_this.push_back({m.cores[a].at.cpu, m.cores[b].at.cpu});
    }
  return found;
}

pair_of_cores siblings(const host_description& h) {
  for (std::size_t a = 0; a < h.cores.size(); ++a)
    for (std::size_t b = a + 1; b < h.cores.size(); ++b)
      if (h.cores[a].physical == h.cores[b].physical) return {h.cores[a].at.cpu, h.cores[b].at.cpu};
  return {h.cores[0].at.cpu, h.cores[0].at.cpu};
}

std::vector<unsigned> one_of_each(const host_description& h) {
  std::vector<unsigned> found;
  std::set<unsigned> seen;
  for (const model::core& c : h.cores)
    if (seen.insert(c.physical).second) found.push_back(c.at.cpu);
  return found;
}

std::vector<std::vector<unsigned>> cores_by_node(const host_description& h) {
  std::vector<std::vector<unsigned>> found(h.apart.size());
  for (const model::core& c : h.cores) found[c.at.node].push_back(c.at.cpu);
  return found;
}

}  // namespace weft::tool::calibrate
