// The links between nodes, and the way of a message from one to another: which links it passes, and how many switches.
// Each link is two, one for each direction. Ways are fixed by the two nodes, as on networks with static routes:
//   one switch   from the node's link to the other's
//   fat tree     two levels. Up to the spine that belongs to the destination (its number modulo spines: D-mod-k,
//   Zahavi,
//                Fat-Trees Routing and Node Ordering, 2012), and down
//   dragonfly    minimal (Kim, Dally, Scott, Abts, ISCA 2008): every router of a group to every other, every group to
//                every other by one link; at most one local, one global, one local link
//   torus        along the first dimension, then the second, and so on, by the shorter way round
#pragma once
#include <cstdint>
#include <vector>

#include "model/network_costs.hpp"

namespace weft::model {

class fabric {
 public:
  explicit fabric(const network_costs& costs);

  struct way {
    std::vector<std::uint32_t> links;
    unsigned switches = 0;
  };
  // From one node to another one.
  void find(unsigned from, unsigned to, way& out) const;
  [[nodiscard]] std::uint32_t links() const noexcept { return links_; }
  [[nodiscard]] double bytes_per_ns(std::uint32_t link) const noexcept {
    return link < 2 * costs_.nodes ? costs_.link_bytes_per_ns : costs_.trunk_bytes_per_ns;
  }
  // Of a message of no bytes, without what the cores do.
  [[nodiscard]] std::uint64_t latency_ps(const way& w) const noexcept {
    return costs_.latency_ps + (w.switches - 1) * costs_.hop_ps;
  }

 private:
  void through_tree(unsigned from, unsigned to, way& out) const;
  void through_dragonfly(unsigned from, unsigned to, way& out) const;
  void through_torus(unsigned from, unsigned to, way& out) const;

  network_costs costs_;
  std::uint32_t links_;
};

}  // namespace weft::model
