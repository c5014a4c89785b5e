// A graph that is being recorded, as the templates of submit.hpp see it: where a record comes from, and where it goes
// when it is filled in. How a graph is kept: src/sched/replay/graph_state.hpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "weft/detail/record.hpp"

namespace weft::detail {

struct near_clause;
struct graph_state;

// What a run reads and writes of a node, beside the first 32 bytes of its record. The closure lies before it: so of a
// small body all of that is one cache line, and the rest of the record and its accesses are not looked at.
struct graph_node {
  graph_node** successors = nullptr;  // the last one has its lowest bit set; nullptr: none
  cell<std::uint32_t> missing;        // predecessors that are not done in this run; at rest, all
  std::uint32_t predecessors = 0;
  record task{};  // and behind it its accesses

  static constexpr std::size_t before_task = 16;
  [[nodiscard]] static graph_node& of(record& r) noexcept {
    return *reinterpret_cast<graph_node*>(reinterpret_cast<std::byte*>(&r) - before_task);
  }
};
static_assert(offsetof(graph_node, task) == graph_node::before_task);
static_assert(offsetof(record, waiting.next) + sizeof(record*) == 32);

[[nodiscard]] constexpr std::size_t node_closure_bytes(std::size_t closure_bytes) noexcept {
  return (closure_bytes + 15) & ~std::size_t{15};
}
[[nodiscard]] inline void* node_closure(record& r, std::size_t closure_bytes) noexcept {
  return reinterpret_cast<std::byte*>(&r) - graph_node::before_task - node_closure_bytes(closure_bytes);
}

struct graph_recording {
  graph_state& of;

  // A record that stays until the graph is gone. Errors: std::bad_alloc.
  [[nodiscard]] record* allocate(std::size_t bytes, std::size_t closure_bytes);
  // The last one is no node after all.
  void discard(record* r) noexcept;
  [[nodiscard]] std::uint8_t near(const near_clause* hints, std::size_t count) noexcept;
  // r, the last one, is filled in. destroy: ends its closure when the graph is gone; nullptr: nothing to do.
  // Errors: weft::error for what a graph cannot hold, and then r is discarded.
  void add(record* r, void (*destroy)(record& r));
};

// As for an engine, which submit.hpp has: bytes with those of the closure.
inline record* allocate(graph_recording& g, std::size_t bytes, std::size_t closure_bytes) {
  return g.allocate(bytes - closure_bytes, closure_bytes);
}
inline void* closure_for(graph_recording&, record& r, std::size_t closure_bytes) noexcept {
  return node_closure(r, closure_bytes);
}

}  // namespace weft::detail
