// Where data lie on a machine with several memory nodes. Said of one datum together with its bytes, or of a range of
// addresses, parts of which are the data of handles:
//
//   h.bytes(n, weft::memory_placement::interleaved());
//
//   weft::place_memory(field, bytes, weft::memory_placement::blocked());
//   h.lies_at(field + from, part_bytes);               each handle stands for a part
//
// Modelled machines place by chunks (16 KiB unless the machine file says otherwise): a chunk is on the node where its
// first byte belongs. Nodes count from 0; a program may be written for more than a machine has, which are then counted
// round. docs/guide/32-memory-placement.md.
// Real machines accept all of it and move nothing: pages lie where the operating system put them. Whose pages are to
// lie so is a weft::numa_array (weft/numa_array.hpp).
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>

namespace weft {

class memory_placement {
 public:
  enum class kind : std::uint8_t { first_touch, on_node, interleaved, blocked, block_cyclic };

  // With whoever uses them first; on a modelled machine each chunk, and unless the machine file says `home`.
  constexpr memory_placement() noexcept = default;
  [[nodiscard]] static constexpr memory_placement first_touch() noexcept { return {}; }
  // All on one node. Errors: none here; naming a node above 65534 throws where it is used.
  [[nodiscard]] static constexpr memory_placement on_node(std::uint32_t node) noexcept {
    return {kind::on_node, node, 0};
  }
  // All on the node that the caller runs at now. Who: any thread; on that of a modelled machine its worker's node.
#ifdef WEFT_SERIAL
  [[nodiscard]] static memory_placement local() { return on_node(0); }
#else
  [[nodiscard]] static memory_placement local();
#endif
  // Chunk after chunk on the next node, the first on node 0. For what all use, and bandwidth bounds.
  [[nodiscard]] static constexpr memory_placement interleaved() noexcept { return {kind::interleaved, 0, 0}; }
  // As many equal blocks as nodes, one on each, in order. For what is divided among nodes once.
  [[nodiscard]] static constexpr memory_placement blocked() noexcept { return {kind::blocked, 0, 0}; }
  // Blocks of so many bytes on the nodes in turn, the first on node 0. Errors: weft::error where it is used, if 0.
  [[nodiscard]] static constexpr memory_placement block_cyclic(std::uint64_t block_bytes) noexcept {
    return {kind::block_cyclic, 0, block_bytes};
  }

  [[nodiscard]] constexpr kind how() const noexcept { return how_; }
  [[nodiscard]] constexpr std::uint32_t node() const noexcept { return node_; }
  [[nodiscard]] constexpr std::uint64_t block_bytes() const noexcept { return block_bytes_; }
  friend constexpr bool operator==(const memory_placement&, const memory_placement&) = default;

 private:
  constexpr memory_placement(kind how, std::uint32_t node, std::uint64_t block_bytes) noexcept
      : how_(how), node_(node), block_bytes_(block_bytes) {}

  kind how_ = kind::first_touch;
  std::uint32_t node_ = 0;
  std::uint64_t block_bytes_ = 0;
};

// Says how a range of addresses lies, for handles that say later that they lie in it (handle_base::lies_at), and for
// weft::near and weft::loads. It replaces what was said of ranges that overlap it: to modelled machines the range is
// new memory, which no cache has. first_touch() says nothing of where it lies, as is right before the memory is freed.
// Who: any thread. Cost: a look into an ordered map, under a lock. Errors: weft::error if the range is none, and for
// what on_node and block_cyclic cannot mean.
void place_memory(const void* begin, std::uint64_t bytes, const memory_placement& how);

namespace detail {

// Errors: weft::error for what on_node and block_cyclic cannot mean.
void check_placement(const memory_placement& how);

// A datum is the bytes from `offset` on of `whole` bytes that lie so.
struct data_layout {
  memory_placement how;
  std::uint64_t offset = 0;
  std::uint64_t whole = 0;
  friend constexpr bool operator==(const data_layout&, const data_layout&) = default;
};

}  // namespace detail
}  // namespace weft
