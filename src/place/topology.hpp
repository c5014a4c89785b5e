// What this process may use of this machine: the cores it may run on, and how many of them the container's quota pays
// for. Asking for more threads than that is what makes programs crawl in containers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "place/tree.hpp"

struct hwloc_topology;

namespace weft::place {

// Memory nodes are numbered 0, 1, ... in the system's order, without those that this process may not use. Of the
// system's number; 0 for one that is not there.
[[nodiscard]] unsigned node_number(hwloc_topology* topology, int os_index) noexcept;

// Classes of distance between the memory nodes, as place::tree takes them: from the latencies that the firmware tells,
// or all others are of class 1. A row for each node, also for those without usable cores; empty if hwloc cannot say.
[[nodiscard]] std::vector<std::vector<unsigned>> node_distances();
// Of such latencies, row by row: the different ones between two nodes are classes 1, 2, ...
[[nodiscard]] std::vector<std::vector<unsigned>> distance_classes(const std::vector<std::uint64_t>& latencies,
                                                                  std::size_t nodes);

// Whether the system does not say which cores the process may use. Who asks hwloc all the same waits for ever: it asks
// again, with more room each time.
[[nodiscard]] bool affinity_is_refused() noexcept;

// Cores in the process's affinity mask, in topological order (neighbours share caches). Never empty.
[[nodiscard]] std::vector<core> usable_cores();

// The core the caller runs on at the moment.
[[nodiscard]] unsigned current_cpu() noexcept;

// The number of workers that is right, and why.
struct cpu_budget {
  unsigned affinity;     // cores in the affinity mask
  double quota;          // CPUs the cgroup pays for; 0: unlimited
  std::string quota_of;  // the file that says so
  unsigned workers;      // max(1, min(affinity, ceil(quota)))
};
// The files are parameters so that tests can use trees of their own.
[[nodiscard]] cpu_budget usable_cpus(const std::string& proc_self_cgroup = "/proc/self/cgroup",
                                     const std::string& cgroup_root = "/sys/fs/cgroup");

// The smallest CPU quota of the cgroup that /proc/self/cgroup names and all those above it, v2 or v1; 0: unlimited.
[[nodiscard]] double cgroup_quota(const std::string& proc_self_cgroup, const std::string& cgroup_root,
                                  std::string& file);

}  // namespace weft::place
