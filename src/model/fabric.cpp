#include "model/fabric.hpp"

#include "base/assert.hpp"

namespace weft::model {

namespace {

[[nodiscard]] std::uint32_t trunks_of(const network_costs& c) {
  switch (c.shape) {
  case network_costs::form::one_switch: return 0;
  case network_costs::form::fat_tree: return 2 * ((c.nodes + c.per_leaf - 1) / c.per_leaf) * c.spines;
  case network_costs::form::dragonfly: return c.groups * c.routers * c.routers + c.groups * c.groups;
  case network_costs::form::torus: return 2 * c.nodes * static_cast<std::uint32_t>(c.sides.size());
  }
  return 0;
}

}  // namespace

fabric::fabric(const network_costs& costs) : costs_(costs), links_(2 * costs.nodes + trunks_of(costs)) {
  WEFT_ASSERT(costs.nodes != 0 && costs.latency_ps != 0 && costs.link_bytes_per_ns > 0 && costs.trunk_bytes_per_ns > 0);
}

void fabric::find(unsigned from, unsigned to, way& out) const {
  WEFT_ASSERT(from != to && from < costs_.nodes && to < costs_.nodes);
  out.links.assign(1, 2 * from);
  out.switches = 1;
  switch (costs_.shape) {
  case network_costs::form::one_switch: break;
  case network_costs::form::fat_tree: through_tree(from, to, out); break;
  case network_costs::form::dragonfly: through_dragonfly(from, to, out); break;
  case network_costs::form::torus: through_torus(from, to, out); break;
  }
  out.links.push_back(2 * to + 1);
}

void fabric::through_tree(unsigned from, unsigned to, way& out) const {
  const unsigned up = from / costs_.per_leaf, down = to / costs_.per_leaf;
  if (up == down) return;
  const unsigned spine = to % costs_.spines;
  out.links.push_back(2 * costs_.nodes + 2 * (up * costs_.spines + spine));
  out.links.push_back(2 * costs_.nodes + 2 * (down * costs_.spines + spine) + 1);
  out.switches = 3;
}

void fabric::through_dragonfly(unsigned from, unsigned to, way& out) const {
  const unsigned all = costs_.groups, routers = costs_.routers;
  const unsigned first = from / costs_.per_router, last = to / costs_.per_router;
  const unsigned a = first / routers, b = last / routers;
  const std::uint32_t local = 2 * costs_.nodes, global = local + all * routers * routers;
  unsigned here = first % routers;
  const auto go = [&](unsigned group, unsigned router) {
    if (router == here) return;
    out.links.push_back(local + (group * routers + here) * routers + router);
    ++out.switches;
    here = router;
  };
  if (a != b) {
    go(a, (b + all - a - 1) % all % routers);  // which has the link to group b
    out.links.push_back(global + a * all + b);
    ++out.switches;
    here = (a + all - b - 1) % all % routers;
  }
  go(b, last % routers);
}

void fabric::through_torus(unsigned from, unsigned to, way& out) const {
  const auto dimensions = static_cast<unsigned>(costs_.sides.size());
  unsigned here = from, stride = 1;
  out.switches = 0;
  for (unsigned d = 0; d < dimensions; stride *= costs_.sides[d++]) {
    const unsigned side = costs_.sides[d];
    const unsigned end = to / stride % side;
    const unsigned ahead = (end + side - here / stride % side) % side;
    const bool forward = 2 * ahead <= side;
    for (unsigned steps = forward ? ahead : side - ahead; steps != 0; --steps) {
      const unsigned at = here / stride % side;
      out.links.push_back(2 * costs_.nodes + 2 * (here * dimensions + d) + (forward ? 0 : 1));
      here += ((forward ? at + 1 : at + side - 1) % side) * stride;
      here -= at * stride;
      ++out.switches;
    }
  }
  WEFT_ASSERT(here == to);
}

}  // namespace weft::model
