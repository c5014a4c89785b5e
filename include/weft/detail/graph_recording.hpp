// A graph that is being recorded, as the templates of submit.hpp see it: where a record comes from, and where it goes
// when it is filled in. How a graph is kept: src/sched/graph_state.hpp.
#pragma once
#include <cstddef>
#include <cstdint>

namespace weft::detail {

struct record;
struct near_clause;
struct graph_state;

struct graph_recording {
  graph_state& of;

  // A record that stays until the graph is gone. Errors: std::bad_alloc.
  [[nodiscard]] record* allocate(std::size_t bytes);
  // The last one is no node after all.
  void discard(record* r) noexcept;
  [[nodiscard]] std::uint8_t near(const near_clause* hints, std::size_t count) noexcept;
  // r, the last one, is filled in. destroy: ends its closure when the graph is gone; nullptr: nothing to do.
  // Errors: weft::error for what a graph cannot hold, and then r is discarded.
  void add(record* r, void (*destroy)(record& r));
};

}  // namespace weft::detail
