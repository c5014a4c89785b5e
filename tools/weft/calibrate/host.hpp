// This computer as hwloc sees it, restricted to the cores that may be used: the part of a machine file that is not
// measured, and the pairs of cores to measure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "model/machine.hpp"
#include "probe.hpp"

struct hwloc_topology;

namespace weft::tool::calibrate {

struct cache_level {
  std::size_t bytes;
  model::cache::shared_by who;
  std::string name;  // "L2"
};

struct host_description {
  std::string topology;  // hwloc's short notation; empty if it cannot say what this machine is, then `xml` does
  std::string xml;
  std::vector<model::core> cores;            // usable ones; at.cpu is the system's number
  std::vector<std::vector<unsigned>> apart;  // [node][node] class of distance
  unsigned classes = 1;
  std::vector<cache_level> caches;  // of the first core, nearest first
};

// Errors: weft::error if hwloc cannot look.
[[nodiscard]] host_description describe_host();
// The same of any topology that hwloc has loaded.
[[nodiscard]] host_description describe(hwloc_topology* loaded);

// A pair of cores for each distance (model::machine::distance) that there is, up to `each` of them.
[[nodiscard]] std::map<unsigned, std::vector<pair_of_cores>> pairs_by_distance(const host_description& h,
                                                                               std::size_t each);
// The first two cores that share the units of one physical core; equal numbers: there are none.
[[nodiscard]] pair_of_cores siblings(const host_description& h);
// One core of each physical core.
[[nodiscard]] std::vector<unsigned> one_of_each(const host_description& h);
// A core of each node, in order of the nodes.
[[nodiscard]] std::vector<std::vector<unsigned>> cores_by_node(const host_description& h);

}  // namespace weft::tool::calibrate
