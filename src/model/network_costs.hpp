// What a machine file says of the network between nodes that are such machines ([network], page 22 of the guide). The
// terms are those of LogGP (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995): latency L, overheads o of the two
// cores, a gap g between two messages of a node, and a gap per byte, which is here what the slowest link of a way
// leaves to a message.
#pragma once
#include <cstdint>
#include <vector>

namespace weft::model {

struct network_costs {
  enum class form : std::uint8_t { one_switch, fat_tree, dragonfly, torus };
  unsigned nodes = 0;  // 0: the machine is one node, and there is no network
  form shape = form::one_switch;
  unsigned per_leaf = 0, spines = 0;                 // fat tree: nodes of a leaf switch; switches above the leaves
  unsigned groups = 0, routers = 0, per_router = 0;  // dragonfly: groups, routers of a group, nodes of a router
  std::vector<unsigned> sides;                       // torus: one for each dimension
  std::uint64_t latency_ps = 0;   // of a message of no bytes between two nodes that are as near as can be
  std::uint64_t hop_ps = 0;       // of each switch beyond the first
  std::uint64_t send_ps = 0;      // of the core that sends a message
  std::uint64_t receive_ps = 0;   // of the core that takes it
  std::uint64_t gap_ps = 0;       // from one message of a node to its next
  double link_bytes_per_ns = 0;   // between a node and its switch, each way
  double trunk_bytes_per_ns = 0;  // between two switches, each way
  std::uint64_t eager_bytes = 0;  // a message of up to so many leaves before its receiver is known to be ready
  std::uint64_t notice_ps = 0;    // until a node of which all cores sleep sees that a message has come
};

}  // namespace weft::model
