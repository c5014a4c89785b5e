// On which memory node a byte of a placed array lies, by what was said of it. Memory is on nodes by units: the pages of
// a real machine, the chunks of a modelled one. A unit is whole on one node, where its first byte belongs.
#pragma once
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

// The node of the unit that byte `at` of `whole` bytes is in, and where a run of units on one node that it is in ends.
// Nothing where who touches a page first decides.
[[nodiscard]] constexpr std::optional<run> home_of(const memory_placement& how, std::uint64_t whole, std::uint64_t at,
                                                   const shape& machine) noexcept {
  WEFT_ASSERT(at < whole && machine.nodes != 0 && machine.unit_bytes != 0);
  const std::uint64_t unit = machine.unit_bytes, first = at / unit * unit;
  std::uint64_t block = 0;
  switch (how.how()) {
  case memory_placement::kind::first_touch: return {};
  case memory_placement::kind::on_node: return run{how.node() % machine.nodes, round_up(whole, unit)};
  case memory_placement::kind::interleaved: block = unit; break;
  case memory_placement::kind::blocked: block = whole / machine.nodes + (whole % machine.nodes != 0); break;
  case memory_placement::kind::block_cyclic: block = how.block_bytes(); break;
  }
  const std::uint64_t number = first / block;
  const std::uint64_t end = block > whole - number * block ? whole : (number + 1) * block;
  return run{static_cast<unsigned>(number % machine.nodes), round_up(end, unit)};
}

}  // namespace weft::memory
