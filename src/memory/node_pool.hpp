// The memory of one node: chunks that are cut into blocks, chunks that are whole, and strays, which are blocks of other
// nodes' chunks that lie here all the same (their node was full). One lock, taken for a batch of small blocks or for
// one large one, and never while the system is called. What goes back to the system: a chunk whose blocks are all free
// is whole. A whole one waits to be cut again, for any class, but not beyond `whole_bytes_max` of them, the longest
// waiting first, and not longer than `whole_ms_max`; both are looked at with each batch that comes or goes. trim()
// waits for neither.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "memory/chunk.hpp"
#include "memory/chunk_map.hpp"
#include "memory/page_source.hpp"

namespace weft::memory {

struct keep {
  std::uint64_t whole_bytes_max = std::uint64_t{256} << 20;  // of each node
  std::uint64_t whole_ms_max = 1000;
};

class node_pool {
 public:
  // Source and map outlive this.
  node_pool(unsigned node, page_source& source, chunk_map& map, const keep& rule) noexcept
      : node_(node), source_(source), map_(map), rule_(rule) {}
  // Blocks that are still out go with their chunks.
  ~node_pool();
  node_pool(const node_pool&) = delete;
  node_pool& operator=(const node_pool&) = delete;

  // At least one block of the class, and up to n. Who: any thread, as of all this. Errors: std::bad_alloc.
  [[nodiscard]] unsigned take(unsigned size_class, std::byte** blocks, unsigned n);
  // Blocks of one class that lie on this node.
  void give_back(unsigned size_class, std::byte* const* blocks, unsigned n) noexcept;

  // One block of more than a chunk, in whole source_unit_bytes. Errors: std::bad_alloc.
  [[nodiscard]] chunk* take_one(std::uint64_t bytes);
  void give_back_one(chunk* c) noexcept;

  // A stray, as if it had never been touched; nullptr: none of the class is here.
  [[nodiscard]] std::byte* forget_stray(unsigned size_class) noexcept;
  // All whole chunks go back to the system.
  void trim() noexcept;

  // Bytes of all chunks; of those that are whole.
  [[nodiscard]] std::uint64_t held() const noexcept { return detail::peek(held_); }
  [[nodiscard]] std::uint64_t whole() const noexcept { return detail::peek(whole_bytes_); }

 private:
  using guard = std::unique_lock<std::mutex>;

  unsigned take_here(unsigned size_class, std::byte** blocks, unsigned n);
  [[nodiscard]] chunk* with_free(unsigned size_class);
  void grow();
  [[nodiscard]] bool add(unsigned chunks);
  void put_whole(chunk& c) noexcept;
  [[nodiscard]] chunk* take_overdue(std::uint64_t whole_bytes_max, bool by_time) noexcept;
  void sweep(guard& g) noexcept;
  void end(chunk* chain) noexcept;

  const unsigned node_;
  page_source& source_;
  chunk_map& map_;
  const keep rule_;
  std::mutex lock_;
  chunk_list with_free_[size_classes];  // cut, and some blocks are free, but not all
  chunk_list full_;                     // no block is free, or it is one block
  chunk_list whole_;                    // the one that waits longest is the last
  std::byte* strays_[size_classes] = {};
  detail::cell<std::uint64_t> held_;  // these two are written under lock_
  detail::cell<std::uint64_t> whole_bytes_;
};

}  // namespace weft::memory
