// Which memory node a task wants to run at, from what its hints say (weft/near.hpp): the bytes are summed by node, and
// the node is taken from which all of them together have the shortest way (PufferFish §IV-B, where it is the node with
// most pages). If no node has more than half of the bytes the data span nodes, and no node is better for long: the task
// is for the machine.
// What is found is kept in six bits of the record, and asked for when the task is ready. Who: the submitter.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "memory/home.hpp"
#include "place/tree.hpp"
#include "weft/detail/record.hpp"
#include "weft/near.hpp"

namespace weft::sched {

class locality {
 public:
  static constexpr std::uint8_t none = 0;                            // no hint
  static constexpr std::uint8_t spans = detail::record::near_spans;  // of data on several nodes
  static constexpr unsigned nodes_max = 62;                          // beyond them a machine is one place

  // Who: the thread that makes the runtime.
  void open(const place::tree& places) noexcept { places_ = &places; }

  [[nodiscard]] std::uint8_t of(const detail::near_clause* hints, std::size_t count) const {
    WEFT_ASSERT(places_ != nullptr && count != 0);
    const unsigned nodes = places_->memory_nodes();
    if (nodes == 1) return wanted(0);
    if (nodes > nodes_max) return spans;
    std::uint64_t bytes[nodes_max] = {};
    const memory::shape machine{nodes, places_->unit_bytes()};
    for (std::size_t i = 0; i < count; ++i) memory::add_by_node(hints[i].layout, hints[i].bytes, machine, bytes);
    std::uint64_t all = 0, most = 0;
    for (unsigned n = 0; n < nodes; ++n) all += bytes[n], most = std::max(most, bytes[n]);
    if (all == 0) return none;
    if (2 * most <= all) return spans;
    return wanted(nearest(bytes, nodes));
  }

  // The node with workers that a record wants. Who: anybody, of a record with such a wish.
  [[nodiscard]] static constexpr bool is_node(std::uint8_t near) noexcept { return near != none && near != spans; }
  [[nodiscard]] unsigned node(std::uint8_t near) const noexcept {
    WEFT_ASSERT(is_node(near));
    return places_->served_by(near - 1u);
  }

 private:
  [[nodiscard]] static constexpr std::uint8_t wanted(unsigned node) noexcept {
    return static_cast<std::uint8_t>(node + 1);
  }
  [[nodiscard]] unsigned nearest(const std::uint64_t* bytes, unsigned nodes) const noexcept {
    unsigned best = 0;
    std::uint64_t shortest = ~std::uint64_t{0};
    for (unsigned n = 0; n < nodes; ++n) {
      std::uint64_t way = 0;
      for (unsigned from = 0; from < nodes; ++from) way += bytes[from] * places_->apart(n, from);
      // Of nodes that are as near as each other the one that has more itself.
      if (way < shortest || (way == shortest && bytes[n] > bytes[best])) best = n, shortest = way;
    }
    return best;
  }

  const place::tree* places_ = nullptr;
};

}  // namespace weft::sched
