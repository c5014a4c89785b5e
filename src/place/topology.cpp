#include "place/topology.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
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
  if (cores.empty()) cores.push_back({});
  return cores;
}

unsigned outermost_shared_cache(hwloc_obj_t pu) {
  unsigned number = pu->logical_index;
  for (hwloc_obj_t o = pu->parent; o != nullptr; o = o->parent)
    if (hwloc_obj_type_is_dcache(o->type) != 0) number = o->logical_index;
  return number;
}

unsigned memory_node(hwloc_obj_t pu) {
  return pu->nodeset == nullptr ? 0 : static_cast<unsigned>(std::max(0, hwloc_bitmap_first(pu->nodeset)));
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

std::vector<core> usable_cores() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return affinity_only();
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(raw, &hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) return affinity_only();
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> mine(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (mine == nullptr || hwloc_get_cpubind(raw, mine.get(), HWLOC_CPUBIND_PROCESS) != 0) return affinity_only();
  std::vector<core> cores;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_PU, pu)) != nullptr;)
    if (hwloc_bitmap_isset(mine.get(), pu->os_index) != 0)
      cores.push_back({pu->os_index, outermost_shared_cache(pu), memory_node(pu)});
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
