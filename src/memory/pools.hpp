// Pools of memory, one for each memory node (OpenStream §3.1). A block is taken for a node; it lies there if its node
// has room, whoever touches it first; and it goes back to the pool of the node that it really lies on. So a buffer can
// be allocated when it is known where its producer runs, and that costs no more than malloc. pools.md has the protocol.
//
// Sizes go up to the next power of two from 64 bytes to 2 MiB; larger blocks are taken from the system one by one.
// Nothing is ever written into a block, nor near it, so memory that nobody touches is address space.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "memory/chunk_map.hpp"
#include "memory/gauge.hpp"
#include "memory/node_pool.hpp"
#include "memory/page_source.hpp"
#include "memory/seat.hpp"

namespace weft::memory {

struct pool_counts {
  struct bytes {
    std::uint64_t in_use = 0;  // of blocks that are taken, as they were rounded up
    std::uint64_t peak = 0;    // the most that ever were; see gauge.hpp for how exact
    std::uint64_t held = 0;    // what the system gave and did not get back
  };
  bytes all;
  std::vector<bytes> node;
  std::uint64_t strays = 0;  // times that a block was found on another node than it was taken for
};

class pools {
 public:
  // For as many nodes as the pages come from, which outlive this.
  pools(unsigned nodes, page_source& source, const keep& rule = {});
  // Blocks that are still out end with this. Who: nobody uses it any more.
  ~pools();
  pools(const pools&) = delete;
  pools& operator=(const pools&) = delete;

  [[nodiscard]] unsigned nodes() const noexcept { return static_cast<unsigned>(nodes_.size()); }

  // A block for node < nodes(), aligned to 64 bytes, and to its size up to 2 MiB if that is a power of two; not zeroed.
  // Who: any thread. Errors: std::bad_alloc, after whole chunks went back to the system and it still refused.
  // Cost: some ten instructions up to 32 KiB, and a lock for 64 KiB of them or for each larger one; beyond 2 MiB calls
  // of the system.
  [[nodiscard]] void* take(std::size_t bytes, unsigned node);
  // What take() returned for so many bytes. Who: any thread. Cost: as take(); where there are several real nodes, also
  // a call of the system for the first time that a block of a page or more comes back.
  void give_back(void* block, std::size_t bytes) noexcept;

  // Where a block lies that is taken: on which node, if it is a page or more and was touched, and else for which it was
  // taken. Of a larger one its first byte counts. Who: who uses the block. Cost: some loads, and as give_back().
  [[nodiscard]] unsigned node_of(const void* block, std::size_t bytes) noexcept;

  // Who: any thread. It is exact if nobody takes or gives back meanwhile.
  [[nodiscard]] pool_counts counts() const;

  // What nobody uses goes back to the system, but for what other threads have at hand: at most 400 KiB of each thread
  // and node.
  void trim() noexcept;

 private:
  struct shelf;
  struct locker;

  [[nodiscard]] locker* locker_here() noexcept;
  [[nodiscard]] shelf* new_shelf(unsigned node) noexcept;
  [[nodiscard]] shelf* shelf_here(unsigned node) noexcept;
  void refill(shelf& s, unsigned size_class, unsigned node);
  void make_room(shelf& s, unsigned size_class, unsigned node) noexcept;
  void add(shelf* s, unsigned node, std::int64_t bytes) noexcept;
  [[nodiscard]] unsigned settle(chunk& c, const std::byte* block) noexcept;
  [[nodiscard]] unsigned ask(chunk& c, const std::byte* block, whereabouts& where) noexcept;
  [[nodiscard]] std::byte* take_large(std::uint64_t bytes, unsigned node);

  page_source& source_;
  chunk_map map_;
  std::vector<std::unique_ptr<node_pool>> nodes_;
  std::unique_ptr<gauge[]> in_use_;  // of each node
  gauge in_use_all_;
  detail::cell<std::uint64_t> strays_;
  detail::cell<locker*> lockers_[seats_max];  // by seat: what the thread has at hand
};

}  // namespace weft::memory
