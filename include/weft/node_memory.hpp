// Memory that the runtime takes for tasks: elements of streams and deferred data. It comes from pools, one for each
// memory node, so a buffer lies where the task runs that writes it first, and costs no more than malloc
// (OpenStream §3.1; src/memory/pools.md).
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>

namespace weft {

struct node_memory_counts {
  std::uint64_t in_use = 0;  // bytes of blocks that are taken, rounded up to powers of two
  std::uint64_t peak = 0;    // the most that were in use at a time
  std::uint64_t held = 0;    // what the system gave and did not get back
};

// Of all runtimes of this process. Who: any thread; exact if nobody takes or gives back meanwhile.
[[nodiscard]] node_memory_counts node_memory();

namespace detail {

// Memory on the node that the calling thread runs at, not zeroed. Errors: std::bad_alloc. Cost: 10 to 20 ns up to 32
// KiB.
[[nodiscard]] void* take_here(std::size_t bytes, std::size_t alignment);
void give_back(void* block, std::size_t bytes, std::size_t alignment) noexcept;

}  // namespace detail
}  // namespace weft
