// On which memory node a byte of a placed array lies, by what was said of it. Memory is on nodes by units: the pages of
// a real machine, the chunks of a modelled one. A unit is whole on one node, where its first byte belongs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "weft/memory_placement.hpp"

namespace weft::memory {

// How a machine divides its memory.
struct shape {
  unsigned nodes = 1;
  std::uint64_t unit_bytes = 4096;
};

// And at which node each worker of a runtime is.
struct machine_shape {
  bool modelled = false;
  shape units;
  std::vector<std::uint16_t> node_of_worker;
};

// The first byte that is on another node than `at`, or behind it on the same; the end of its run of units.
struct run {
  unsigned node;
  std::uint64_t end;
};

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

// How many bytes go to one node before the next node's turn, from node 0 on; 0: there are no turns.
[[nodiscard]] constexpr std::uint64_t turn_bytes(const memory_placement& how, std::uint64_t whole,
                                                 const shape& machine) noexcept {
  WEFT_ASSERT(machine.nodes != 0 && machine.unit_bytes != 0);
  switch (how.how()) {
  case memory_placement::kind::first_touch:
  case memory_placement::kind::on_node: return 0;
  case memory_placement::kind::interleaved: return machine.unit_bytes;
  case memory_placement::kind::blocked:
    return std::max<std::uint64_t>(whole / machine.nodes + (whole % machine.nodes != 0), 1);
  case memory_placement::kind::block_cyclic: return how.block_bytes();
  }
  return 0;
}

// The node that byte `at` of `whole` bytes belongs to. Nothing where who touches it first decides.
[[nodiscard]] constexpr std::optional<unsigned> node_of_byte(const memory_placement& how, std::uint64_t whole,
                                                             std::uint64_t at, const shape& machine) noexcept {
  if (how.how() == memory_placement::kind::first_touch) return {};
  const std::uint64_t turn = turn_bytes(how, whole, machine);
  return static_cast<unsigned>((turn == 0 ? how.node() : at / turn) % machine.nodes);
}

// Adds to each node how many of the first `bytes` bytes of a datum belong to it. Nothing of what lies with who touches
// it first. `by_node` has room for the nodes of the machine. Cost: O(nodes).
constexpr void add_by_node(const detail::data_layout& lies, std::uint64_t bytes, const shape& machine,
                           std::uint64_t* by_node) noexcept {
  if (lies.how.how() == memory_placement::kind::first_touch) return;
  const std::uint64_t turn = turn_bytes(lies.how, lies.whole, machine);
  if (turn == 0) {
    by_node[lies.how.node() % machine.nodes] += bytes;
    return;
  }
  const std::uint64_t rounds = bytes / turn / machine.nodes;  // whole ones: as much on each node
  for (unsigned n = 0; rounds != 0 && n < machine.nodes; ++n) by_node[n] += rounds * turn;
  std::uint64_t at = lies.offset;
  for (std::uint64_t left = bytes - rounds * turn * machine.nodes; left != 0;) {
    const std::uint64_t here = std::min(left, turn - at % turn);
    by_node[at / turn % machine.nodes] += here;
    at += here;
    left -= here;
  }
}

// The node of the unit that byte `at` of `whole` bytes is in, and where a run of units on one node that it is in ends.
// Nothing where who touches a page first decides.
[[nodiscard]] constexpr std::optional<run> home_of(const memory_placement& how, std::uint64_t whole, std::uint64_t at,
                                                   const shape& machine) noexcept {
  WEFT_ASSERT(at < whole && machine.nodes != 0 && machine.unit_bytes != 0);
  const std::uint64_t unit = machine.unit_bytes, first = at / unit * unit;
  const std::optional<unsigned> node = node_of_byte(how, whole, first, machine);
  if (!node) return {};
  const std::uint64_t turn = turn_bytes(how, whole, machine);
  if (turn == 0) return run{*node, round_up(whole, unit)};
  const std::uint64_t begin = first / turn * turn;
  return run{*node, round_up(turn > whole - begin ? whole : begin + turn, unit)};
}

}  // namespace weft::memory
