// Computers that hwloc makes up, and this one.
#include "host.hpp"

#include <doctest/doctest.h>
#include <hwloc.h>

#include <memory>

#include "model/shape.hpp"

namespace weft::tool::calibrate {

namespace {

// Of hwloc's notation, without the cores in `lost`.
host_description made_up(const char* notation, const std::vector<unsigned>& lost = {}) {
  hwloc_topology_t raw = nullptr;
  REQUIRE(hwloc_topology_init(&raw) == 0);
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> t(raw, &hwloc_topology_destroy);
  REQUIRE(hwloc_topology_set_synthetic(raw, notation) == 0);
  REQUIRE(hwloc_topology_load(raw) == 0);
  const hwloc_bitmap_t left = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(raw));
  for (const unsigned cpu : lost) hwloc_bitmap_clr(left, cpu);
  REQUIRE(hwloc_topology_restrict(raw, left, 0) == 0);
  hwloc_bitmap_free(left);
  return describe(raw);
}

}  // namespace

TEST_CASE("nodes, caches and hardware threads are found") {
  const host_description h = made_up("NUMANode:2 L3:1(size=8388608) L2:2(size=524288) L1d:1(size=32768) Core:1 PU:2");
  REQUIRE(h.cores.size() == 8);
  CHECK_FALSE(h.topology.empty());
  CHECK(h.classes == 2);
  CHECK(h.apart == std::vector<std::vector<unsigned>>{{0, 1}, {1, 0}});
  REQUIRE(h.caches.size() == 3);
  CHECK(h.caches[0].name == "L1");
  CHECK(h.caches[1].bytes == 524288);
  CHECK(h.caches[2].who == model::cache::shared_by::outer);
  const auto pairs = pairs_by_distance(h, 2);
  REQUIRE(pairs.size() == 3);  // hardware threads of one core, one cache, the other node
  CHECK(pairs.at(1).size() == 2);
  CHECK(pairs.at(1)[0].second == 1);
  CHECK(pairs.at(2)[0].second == 2);
  CHECK(pairs.at(4)[0].second == 4);
  CHECK(siblings(h).second == 1);
  CHECK(one_of_each(h) == std::vector<unsigned>{0, 2, 4, 6});
  CHECK(cores_by_node(h)[1] == std::vector<unsigned>{4, 5, 6, 7});
}

TEST_CASE("a machine without siblings or a second core") {
  const host_description flat = made_up("L2:4 PU:1");
  CHECK(siblings(flat).first == siblings(flat).second);
  const host_description one = made_up("L2:1 PU:1");
  CHECK(pairs_by_distance(one, 2).empty());
}

TEST_CASE("what the short notation cannot say is XML, which the loader of machine files reads") {
  const host_description h = made_up("L3:2 L2:3 PU:1", {5});
  CHECK(h.topology.empty());
  REQUIRE_FALSE(h.xml.empty());
  const model::shape s = model::shape_of_xml(h.xml);
  REQUIRE(s.cores.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(s.cores[i].at.cache == (i < 3 ? 0 : 1));
}

TEST_CASE("this computer: what hwloc exports is what the loader reads") {
  const host_description h = describe_host();
  CHECK(h.xml.empty() != h.topology.empty());
  const model::shape s = h.xml.empty() ? model::shape_of_notation(h.topology) : model::shape_of_xml(h.xml);
  CHECK(s.cores.size() == h.cores.size());
  CHECK(s.nodes == h.apart.size());
}

}  // namespace weft::tool::calibrate
