// A graph that runs again (weft/graph.hpp) as it is kept: its nodes, which are task records that stay, each with what
// the protocol of a run needs before it (graphs.md), the edges, and what it names outside.
//
//   root          parent of all nodes; its own is the run, a task of its own each time
//   a node        closure | successors, count of predecessors | record | accesses
//   edges         the successors of all nodes, those of one beside each other
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

#include "access/dependences.hpp"
#include "base/assert.hpp"
#include "weft/detail/graph_recording.hpp"
#include "weft/detail/record.hpp"
#include "weft/detail/worker.hpp"
#include "weft/handle.hpp"

namespace weft::detail {

struct graph_state {
  struct alignas(64) line {
    std::byte bytes[64];
  };
  struct free_lines {
    std::size_t alignment;
    void operator()(line* p) const noexcept { ::operator delete(p, std::align_val_t{alignment}); }
  };
  static constexpr std::size_t chunk_alignment = std::size_t{1} << 21;  // a huge page's
  struct chunk {
    std::unique_ptr<line, free_lines> memory;
    std::size_t lines = 0;
    std::size_t used = 0;
  };
  // What is known of a node beside its record: as recorded, since a run writes to the record's, also while the next one
  // is submitted.
  struct about {
    graph_node* node;
    void (*destroy)(record& r);  // nullptr: there is nothing to do
    std::uint64_t cost_ps;
    std::uint8_t near;
    bool urgent;
    bool subtasks;
  };
  // A handle that nodes name, and as what the whole run does.
  struct use {
    handle_state* handle;
    std::uint8_t kind;
    bool reduces;            // some node does
    std::uint64_t accesses;  // so far it advances the version
  };
  // For a run that is submitted: what its nodes are called in the trace.
  struct traced_run {
    std::uint32_t run;
    std::vector<std::uint32_t> nodes;
  };

  // --- what a run reads
  record root{};            // the first: a node's parent is the graph
  std::uint32_t sinks = 0;  // nodes without successors
  std::vector<graph_node*> roots;

  // --- its surroundings
  engine_base* engine = nullptr;
  std::vector<about> nodes;  // in program order
  std::vector<use> uses;     // and that each run writes `runs`
  std::unique_ptr<graph_node*[]> edges;
  std::size_t edge_count = 0;
  std::vector<chunk> chunks;
  std::size_t last_lines = 0;  // of the node that is being filled in
  const char* name = nullptr;
  bool is_known = false;                             // to the modelled machine
  std::unique_ptr<weft::access::dependences> order;  // while it is recorded
  std::deque<traced_run> traced;                     // guarded by the lock of `runs`
  handle<void> runs;                                 // written by each run: one comes after the other
};

// What the record of a run keeps: which graph. Its invoke tells it from other tasks.
void invoke_graph(record& r, errand what);
[[nodiscard]] inline graph_state* graph_of(record& r) noexcept {
  return r.kind == record_kind::task && r.invoke == &invoke_graph ? *static_cast<graph_state**>(r.closure()) : nullptr;
}

// Calls tell(shown) for each node of g, in their order: a record that is as the node of a run r of it would be if it
// were submitted by itself, with the versions that its accesses then required. Valid during the call. Errors:
// std::bad_alloc.
template <class Tell> void show_nodes(record& r, const graph_state& g, Tell tell) {
  std::unordered_map<std::uintptr_t, std::uint64_t> first;  // version that the run requires, by handle
  for (std::uint32_t i = 0; i < r.access_count; ++i)
    first.try_emplace(r.accesses()[i].handle_and_kind & handle_address_mask, r.accesses()[i].required);
  std::vector<std::max_align_t> room;
  for (const graph_state::about& a : g.nodes) {
    record& node = a.node->task;
    const std::size_t bytes = sizeof node + node.access_count * sizeof(access);
    room.resize(bytes / sizeof(std::max_align_t) + 1);
    record& shown = *new (room.data()) record{};
    shown.pin = node.pin;
    shown.near = a.near & 63u;
    shown.urgent = a.urgent;
    shown.subtasks = a.subtasks;
    shown.name = node.name;
    shown.parent = r.parent;
    shown.access_count = node.access_count;
    for (std::uint32_t i = 0; i < shown.access_count; ++i) {
      access& to = *new (shown.accesses() + i) access(node.accesses()[i]);
      to.required += first[to.handle_and_kind & handle_address_mask];
    }
    tell(shown);
  }
}

}  // namespace weft::detail
