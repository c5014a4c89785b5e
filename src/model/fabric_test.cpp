#include "model/fabric.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

namespace weft::model {
namespace {

using form = network_costs::form;

network_costs plain(unsigned nodes, form shape) {
  network_costs c;
  c.nodes = nodes;
  c.shape = shape;
  c.latency_ps = 1'000'000;
  c.hop_ps = 100'000;
  c.link_bytes_per_ns = c.trunk_bytes_per_ns = 10;
  return c;
}
network_costs torus(std::vector<unsigned> sides) {
  network_costs c = plain(std::accumulate(sides.begin(), sides.end(), 1u, std::multiplies<>()), form::torus);
  c.sides = std::move(sides);
  return c;
}
network_costs dragonfly(unsigned groups, unsigned routers, unsigned per_router) {
  network_costs c = plain(groups * routers * per_router, form::dragonfly);
  c.groups = groups;
  c.routers = routers;
  c.per_router = per_router;
  return c;
}
network_costs tree(unsigned nodes, unsigned per_leaf, unsigned spines) {
  network_costs c = plain(nodes, form::fat_tree);
  c.per_leaf = per_leaf;
  c.spines = spines;
  return c;
}

fabric::way way(const network_costs& c, unsigned from, unsigned to) {
  fabric::way w;
  fabric(c).find(from, to, w);
  return w;
}

}  // namespace

TEST_CASE("fabric: a way begins with the sender's link, ends with the receiver's, and passes none twice") {
  for (const network_costs& c : {plain(5, form::one_switch), tree(10, 4, 2), dragonfly(3, 2, 2), dragonfly(5, 3, 1),
                                 torus({4, 3, 2}), torus({2, 1, 5})})
    for (unsigned a = 0; a < c.nodes; ++a)
      for (unsigned b = 0; b < c.nodes; ++b) {
        if (a == b) continue;
        const fabric::way w = way(c, a, b);
        CHECK(w.links.front() == 2 * a);
        CHECK(w.links.back() == 2 * b + 1);
        CHECK(w.switches >= 1);
        CHECK(std::set<std::uint32_t>(w.links.begin(), w.links.end()).size() == w.links.size());
        CHECK(*std::ranges::max_element(w.links) < fabric(c).links());
      }
}

TEST_CASE("fabric: one switch has two links on each way") {
  const network_costs c = plain(4, form::one_switch);
  CHECK(way(c, 0, 3).links == std::vector<std::uint32_t>{0, 7});
  CHECK(fabric(c).latency_ps(way(c, 0, 3)) == 1'000'000);
}

TEST_CASE("fabric: below one leaf a fat tree is a switch, beyond it the receiver decides the spine") {
  const network_costs c = tree(16, 4, 2);
  CHECK(way(c, 0, 3).switches == 1);
  const fabric::way up = way(c, 0, 13);
  CHECK(up.switches == 3);
  CHECK(up.links.size() == 4);
  CHECK(fabric(c).latency_ps(up) == 1'200'000);
  CHECK(way(c, 1, 13).links[1] == up.links[1]);  // the same receiver: the same link up
  CHECK(way(c, 0, 12).links[1] != up.links[1]);  // another one: the other spine
  CHECK(way(c, 4, 13).links[2] == up.links[2]);  // and from another leaf the same link down
}

TEST_CASE("fabric: a dragonfly passes at most one global link and a local one on either side") {
  const network_costs c = dragonfly(5, 4, 2);  // each router has one of the four global links of its group
  for (unsigned a = 0; a < c.nodes; ++a)
    for (unsigned b = 0; b < c.nodes; ++b) {
      if (a == b) continue;
      const fabric::way w = way(c, a, b);
      const auto first_global = 2 * c.nodes + c.groups * c.routers * c.routers;
      const auto globals = std::ranges::count_if(w.links, [&](std::uint32_t l) { return l >= first_global; });
      CHECK(globals == (a / 8 != b / 8 ? 1 : 0));
      CHECK(w.links.size() <= 5);
      CHECK(w.links.size() == w.switches + 1);
    }
  CHECK(way(c, 0, 1).switches == 1);  // at one router
  CHECK(way(c, 0, 2).switches == 2);  // in one group
  CHECK(way(c, 0, 39).switches <= 4);
}

TEST_CASE("fabric: a torus goes the shorter way round, one dimension after the other") {
  const network_costs c = torus({4, 4});
  CHECK(way(c, 0, 1).switches == 1);
  CHECK(way(c, 0, 3).switches == 1);  // backwards
  CHECK(way(c, 0, 15).switches == 2);
  CHECK(way(c, 0, 10).switches == 4);
  CHECK(fabric(c).latency_ps(way(c, 0, 10)) == 1'300'000);
  const unsigned sides[] = {5, 2, 3};
  const network_costs d = torus({5, 2, 3});
  for (unsigned a = 0; a < d.nodes; ++a)
    for (unsigned b = 0; b < d.nodes; ++b) {
      if (a == b) continue;
      unsigned hops = 0, x = a, y = b;
      for (const unsigned side : sides) {
        const unsigned ahead = (y % side + side - x % side) % side;
        hops += std::min(ahead, side - ahead);
        x /= side;
        y /= side;
      }
      CHECK(way(d, a, b).switches == hops);
    }
}

}  // namespace weft::model
