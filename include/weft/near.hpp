// Hints: near which data a task wants to run (PufferFish §III, §IV-B).
//
//   weft::numa_array<double> field(n, weft::memory_placement::blocked());
//   weft::async(weft::near(field, from, to), [&, from, to] { relax(field, from, to); });
//
// A task may have several. Their bytes are summed by memory node, and the task wants the node from which the bytes that
// lie elsewhere have the shortest way; if no node has more than half of the bytes, it wants none in particular. Hints
// change where a task runs, never what it does. Policies that follow them: local, the default, near,
// pufferfish, hpt, tao (docs/guide/35-near-the-data.md). Under the first three a task with hints and without accesses
// may be called where it is submitted, as a function, while nobody near starves: so a body that submits it must not
// hold a lock that it takes.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/handle.hpp"
#include "weft/memory_placement.hpp"

namespace weft {
namespace detail {

// So many bytes, which lie so.
struct near_clause {
  data_layout layout;
  std::uint64_t bytes;
};
// As place_memory said; first touch if it said nothing. What reaches beyond a placed range counts as unplaced.
#ifdef WEFT_SERIAL
[[nodiscard]] inline data_layout layout_at(const void*, std::uint64_t) { return {}; }
#else
[[nodiscard]] data_layout layout_at(const void* begin, std::uint64_t bytes);
#endif

}  // namespace detail

// The elements [from, to) of an array that knows how it lies (weft/numa_array.hpp). Cost: a few additions.
template <class Array>
  requires requires(const Array& a) { a.layout_of(std::size_t{}, std::size_t{}); }
[[nodiscard]] detail::near_clause near(const Array& a, std::size_t from, std::size_t to) noexcept {
  return a.layout_of(from, to);
}
// So many bytes from an address on, of memory that weft::place_memory was told of; of other memory a task wants
// nothing. Cost: a look into an ordered map, under a lock.
[[nodiscard]] inline detail::near_clause near(const void* begin, std::uint64_t bytes) {
  return {detail::layout_at(begin, bytes), bytes};
}
// The datum of a handle that knows its bytes and how they lie (handle_base::bytes, lies_at). An access is no hint.
[[nodiscard]] inline detail::near_clause near(const handle_base& h) noexcept {
  const detail::handle_state& s = const_cast<handle_base&>(h).state();
  return {detail::layout_of(s), detail::bytes_of(s)};
}
// A memory node, counted round if the machine has fewer.
[[nodiscard]] constexpr detail::near_clause near_node(std::uint32_t node) noexcept {
  return {{memory_placement::on_node(node), 0, 1}, 1};
}
// A locality address (TAO §3.2, §6): a share of the machine, 0 where its memory nodes begin and 1 where they end. Tasks
// whose addresses are close run close together, on however many nodes: given i / n, the i-th of n parts of an array
// finds the node of its part. Counted round: 1.25 is 0.25. Not a number is 0.
[[nodiscard]] constexpr detail::near_clause near_address(double share) noexcept {
  constexpr std::uint64_t whole = std::uint64_t{1} << 32;
  if (!(share > -1e9 && share < 1e9)) share = 0;
  const auto turns = static_cast<std::int64_t>(share);
  double part = share - static_cast<double>(turns);
  if (part < 0) part += 1;
  const auto offset = static_cast<std::uint64_t>(part * static_cast<double>(whole));
  return {{memory_placement::blocked(), offset < whole ? offset : whole - 1, whole}, 1};
}

}  // namespace weft
