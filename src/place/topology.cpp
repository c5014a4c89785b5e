#include "place/topology.hpp"

#include <hwloc.h>
#include <hwloc/distances.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

namespace weft::place {

namespace {

// What the kernel says, when hwloc cannot: numbers only, no structure.
std::vector<core> affinity_only() {
  std::vector<core> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cores.push_back({cpu, 0, 0});
  const long online = cores.empty() ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
  for (long cpu = 0; cpu < online; ++cpu) cores.push_back({static_cast<unsigned>(cpu), 0, 0});
  if (cores.empty()) cores.push_back({});
  return cores;
}

unsigned outermost_shared_cache(hwloc_obj_t pu) {
  unsigned number = pu->logical_index;
  for (hwloc_obj_t o = pu->parent; o != nullptr; o = o->parent)
    if (hwloc_obj_type_is_dcache(o->type) != 0) number = o->logical_index;
  return number;
}

using topology_owner = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

topology_owner load_topology() {
  hwloc_topology_t raw = nullptr;
  if (affinity_is_refused()) return {nullptr, &hwloc_topology_destroy};
  if (hwloc_topology_init(&raw) != 0) return {nullptr, &hwloc_topology_destroy};
  topology_owner topology(raw, &hwloc_topology_destroy);
  // hwloc obeys variables of its own (HWLOC_SYNTHETIC, HWLOC_XMLFILE) that describe another machine: no core of which
  // could be bound, and of which there may be hundreds.
  if (hwloc_topology_load(raw) != 0 || hwloc_topology_is_thissystem(raw) == 0) topology.reset();
  return topology;
}

unsigned memory_node(hwloc_topology_t topology, hwloc_obj_t pu) {
  return pu->nodeset == nullptr ? 0 : node_number(topology, hwloc_bitmap_first(pu->nodeset));
}

// The firmware's, by the numbers of nodes; empty if it says none, or not of all nodes.
std::vector<std::uint64_t> latencies(hwloc_topology_t topology, std::size_t nodes) {
  unsigned count = 1;
  hwloc_distances_s* told = nullptr;
  const int rc =
      hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &told, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
  if (rc != 0 || count == 0 || told == nullptr) return {};
  std::vector<std::uint64_t> all;
  if (told->nbobjs == nodes) {
    all.resize(nodes * nodes);
    for (unsigned a = 0; a < nodes; ++a)
      for (unsigned b = 0; b < nodes; ++b)
        all[node_number(topology, static_cast<int>(told->objs[a]->os_index)) * nodes +
            node_number(topology, static_cast<int>(told->objs[b]->os_index))] = told->values[a * nodes + b];
  }
  hwloc_distances_release(topology, told);
  return all;
}

// CPUs paid for by one cgroup v2 file ("max 100000", "150000 100000") or 0.
double quota_v2(const std::string& path) {
  std::ifstream in(path);
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::strtod(quota.c_str(), nullptr) / period;
}

double quota_v1(const std::string& folder) {
  double quota = -1;
  double period = 0;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return quota > 0 && period > 0 ? quota / period : 0;
}

// Applies `read` to `path` below `root` and to every folder above it; keeps the smallest quota.
template <class Read> void walk_up(const std::string& root, std::string path, const std::string& leaf, double& quota,
                                   std::string& file, Read read) {
  for (;;) {
    const std::string folder = root + (path == "/" ? "" : path);
    const double here = read(folder + leaf);
    if (here > 0 && (quota <= 0 || here < quota)) {
      quota = here;
      file = folder + leaf;
    }
    const std::size_t slash = path.rfind('/');
    if (path.size() <= 1 || slash == std::string::npos) return;
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
}

}  // namespace

bool affinity_is_refused() noexcept {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) != 0 &&
         errno != EINVAL;  // EINVAL: there are more CPUs than in this set
}

double cgroup_quota(const std::string& proc_self_cgroup, const std::string& cgroup_root, std::string& file) {
  double quota = 0;
  std::ifstream in(proc_self_cgroup);
  for (std::string line; std::getline(in, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      walk_up(cgroup_root, path, "/cpu.max", quota, file, quota_v2);
    } else if (controllers.find(",cpu,") != std::string::npos) {
      // The controller's folder is named cpu, or cpu,cpuacct with a link; inside a container the path may not exist
      // below it, then the walk ends at its root, which is the container's own group.
      walk_up(cgroup_root + "/cpu", path, "", quota, file, quota_v1);
    }
  }
  return quota;
}

unsigned node_number(hwloc_topology* topology, int os_index) noexcept {
  const hwloc_const_nodeset_t all = hwloc_topology_get_topology_nodeset(topology);
  unsigned number = 0;
  for (int i = hwloc_bitmap_first(all); i >= 0 && i < os_index; i = hwloc_bitmap_next(all, i)) ++number;
  return os_index < 0 || hwloc_bitmap_isset(all, static_cast<unsigned>(os_index)) == 0 ? 0 : number;
}

std::vector<std::vector<unsigned>> distance_classes(const std::vector<std::uint64_t>& latencies, std::size_t nodes) {
  std::set<std::uint64_t> different;
  for (std::size_t i = 0; i < latencies.size(); ++i)
    if (i / nodes != i % nodes) different.insert(latencies[i]);
  std::vector<std::vector<unsigned>> classes(nodes, std::vector<unsigned>(nodes, 1));
  for (std::size_t a = 0; a < nodes; ++a) {
    classes[a][a] = 0;
    for (std::size_t b = 0; b < nodes && !latencies.empty(); ++b)
      if (a != b)
        classes[a][b] =
            1 + static_cast<unsigned>(std::distance(different.begin(), different.find(latencies[a * nodes + b])));
  }
  return classes;
}

std::vector<std::vector<unsigned>> node_distances() {
  const topology_owner topology = load_topology();
  if (topology == nullptr) return {};
  const auto nodes =
      static_cast<std::size_t>(std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE)));
  return nodes == 0 ? std::vector<std::vector<unsigned>>{} : distance_classes(latencies(topology.get(), nodes), nodes);
}

std::vector<core> usable_cores() {
  const topology_owner topology = load_topology();
  if (topology == nullptr) return affinity_only();
  const hwloc_topology_t raw = topology.get();
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> mine(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (mine == nullptr || hwloc_get_cpubind(raw, mine.get(), HWLOC_CPUBIND_PROCESS) != 0) return affinity_only();
  std::vector<core> cores;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_PU, pu)) != nullptr;)
    if (hwloc_bitmap_isset(mine.get(), pu->os_index) != 0)
      cores.push_back({pu->os_index, outermost_shared_cache(pu), memory_node(raw, pu)});
  return cores.empty() ? affinity_only() : cores;
}

unsigned current_cpu() noexcept { return static_cast<unsigned>(std::max(0, sched_getcpu())); }

cpu_budget usable_cpus(const std::string& proc_self_cgroup, const std::string& cgroup_root) {
  cpu_budget b{};
  b.affinity = static_cast<unsigned>(usable_cores().size());
  b.quota = cgroup_quota(proc_self_cgroup, cgroup_root, b.quota_of);
  b.workers = b.affinity;
  if (b.quota > 0) b.workers = std::min(b.workers, static_cast<unsigned>(std::ceil(b.quota)));
  b.workers = std::max(b.workers, 1u);
  return b;
}

}  // namespace weft::place
