// Pages of this computer: taken from the system, laid on memory nodes, asked where they are (through hwloc). Nodes are
// numbered 0, 1, ... in the system's order, without those that this process may not use.
// Laying is a wish: where the system refuses it, or a node is full, the pages are elsewhere and the program goes on. A
// refusal is said on stderr once per process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "memory/home.hpp"
#include "weft/memory_placement.hpp"

struct hwloc_topology;

namespace weft::memory {

class host {
 public:
  // This computer. Cost: the first call reads the topology, some 10 ms. Who: any thread, as all of this.
  [[nodiscard]] static const host& here();
  // Of a topology that outlives this, or of none: then there is one node. For tests.
  explicit host(hwloc_topology* topology) noexcept;

  [[nodiscard]] unsigned nodes() const noexcept { return nodes_; }
  [[nodiscard]] shape units(bool huge) const noexcept { return {nodes_, huge ? huge_page_bytes_ : page_bytes_}; }
  // Of the core that the caller runs on at the moment.
  [[nodiscard]] unsigned current_node() const noexcept;
  // The node that has the page; nothing if no page is there yet or the system does not tell.
  [[nodiscard]] std::optional<unsigned> node_of(const void* p) const;

  // So many bytes of zeros, on whole units, laid as `how` says and not touched. With `huge` the units are huge pages,
  // where the system has them. Errors: weft::error if there is no such memory.
  [[nodiscard]] void* take(std::uint64_t bytes, const memory_placement& how, bool huge) const;
  // Gives back what take() returned for the same bytes and units.
  void give_back(void* begin, std::uint64_t bytes, bool huge) const noexcept;

  // The same for who cuts it up: whole pages for one node, at a multiple of `alignment`, which is one of a page.
  // nullptr if there is no such memory. `huge`: huge pages where `alignment` fits them.
  [[nodiscard]] void* take_on(std::uint64_t bytes, std::uint64_t alignment, unsigned node, bool huge) const noexcept;
  // Pages that are laid nowhere. The system promises memory for them, or none: then it may run out when they are
  // touched, and there may be more of them than of memory.
  enum class promise { memory, none };
  [[nodiscard]] static void* map(std::uint64_t bytes, std::uint64_t alignment, promise what) noexcept;
  static void unmap(void* begin, std::uint64_t bytes) noexcept;
  // Whole pages are as if they had not been touched: zeros, and on no node.
  static void forget(void* begin, std::uint64_t bytes) noexcept;

 private:
  // Returns nullptr, or why pages do not lie as asked.
  [[nodiscard]] const char* lay(std::byte* begin, std::uint64_t bytes, const memory_placement& how, bool huge) const;
  // Return 0, or the error of the system.
  [[nodiscard]] int lay_on(std::byte* begin, std::uint64_t bytes, unsigned node) const;
  [[nodiscard]] int lay_in_turns(std::byte* begin, std::uint64_t bytes) const;

  hwloc_topology* topology_;
  unsigned nodes_ = 1;
  std::uint64_t page_bytes_;
  std::uint64_t huge_page_bytes_;
};

}  // namespace weft::memory
