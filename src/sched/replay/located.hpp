// Where the data of a task lay when it ran, for the trace: the bytes that its clauses name, by whether they were on the
// memory node of its worker. What was said of a datum counts, or what was found when it was touched first. The system
// is not asked, and nothing is remembered, so that a run with a trace is the run without. Data of which neither is
// known count for nothing; what is both read and written counts once.
#pragma once
#include <array>
#include <cstdint>

#include "access/entry.hpp"
#include "memory/home.hpp"
#include "place/tree.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

struct located {
  static constexpr unsigned nodes_max = 64;  // beyond them a machine is one place
  std::uint64_t local = 0, remote = 0;       // bytes
};

// r: its body has run on a worker of `node`, and none of its versions has advanced. Cost: O(accesses + nodes).
[[nodiscard]] inline located data_of(const detail::record& r, const place::tree& places, unsigned node) noexcept {
  const memory::shape machine{places.memory_nodes(), places.unit_bytes()};
  located sum;
  if (machine.nodes == 1 || machine.nodes > located::nodes_max) return sum;
  std::array<std::uint64_t, located::nodes_max> by_node{};
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    const access::entry& a = const_cast<detail::record&>(r).accesses()[i];
    if (!access::has_handle(a) || access::is_repeated(a) || access::is_resource(a)) continue;
    const detail::handle_state& h = access::handle_of(a);
    const std::uint64_t bytes = detail::bytes_of(h);
    if (bytes == 0) continue;
    memory::add_by_node(detail::is_home_found(h)
                            ? detail::data_layout{memory_placement::on_node(detail::home_of(h)), 0, bytes}
                            : detail::layout_of(h),
                        bytes, machine, by_node.data());
  }
  for (unsigned n = 0; n < machine.nodes; ++n) (n == node ? sum.local : sum.remote) += by_node[n];
  return sum;
}

}  // namespace weft::sched
