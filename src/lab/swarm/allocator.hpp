// Memory that tasks take and release (Swarm §5: idealized, and aware of tasks). Each tile has lists of free blocks, so
// tasks do not conflict in the allocator; a block that a task released is used again when that task has committed.
// Blocks lie in pages of the allocator, at places that depend on the order of calls alone.
// Pages are given back when the section goes; those of blocks that were never released stay, as such blocks do
// elsewhere.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace weft::swarm {

class allocator {
 public:
  explicit allocator(unsigned tiles) : pools_(tiles) {}
  ~allocator() {
    for (const chunk& c : chunks_)
      if (c.used == 0) ::operator delete(c.at, std::align_val_t(page));
  }
  allocator(const allocator&) = delete;
  allocator& operator=(const allocator&) = delete;

  [[nodiscard]] void* take(unsigned tile, std::size_t bytes, std::size_t alignment) {
    const std::size_t whole = size_of(bytes, alignment);
    if (whole > small_max) return large(whole);
    pool& p = pools_[tile];
    auto& list = p.free[class_of(whole)];
    if (!list.empty()) {
      void* const at = list.back();
      list.pop_back();
      ++own_chunk(at).used;
      return at;
    }
    p.used = (p.used + whole - 1) / whole * whole;
    if (p.used + whole > chunk_bytes) {
      p.from = static_cast<std::byte*>(new_chunk(chunk_bytes));
      p.used = 0;
    }
    void* const at = p.from + p.used;
    p.used += whole;
    WEFT_ASSERT(p.used <= chunk_bytes && reinterpret_cast<std::uintptr_t>(at) % alignment == 0);
    ++own_chunk(at).used;
    return at;
  }
  // What was taken elsewhere goes back there, to where ordered sections of other executors have it from.
  void give_back(unsigned tile, void* at, std::size_t bytes, std::size_t alignment) {
    const std::size_t i = chunk_of(at);
    if (i == chunks_.size()) return ::operator delete(at, std::align_val_t(alignment));
    WEFT_ASSERT(chunks_[i].used != 0);
    --chunks_[i].used;
    const std::size_t whole = size_of(bytes, alignment);
    if (whole > small_max)
      large_.push_back({at, whole});
    else
      pools_[tile].free[class_of(whole)].push_back(at);
  }

 private:
  static constexpr std::size_t page = 4096, chunk_bytes = 64 * 1024, small_max = 16 * 1024;
  struct chunk {
    std::byte* at;
    std::size_t bytes;
    std::uint64_t used;  // blocks of it
  };
  struct pool {
    std::array<std::vector<void*>, 16> free;  // by the power of two
    std::byte* from = nullptr;                // the chunk that new blocks are cut from
    std::size_t used = chunk_bytes;
  };
  struct block {
    void* at;
    std::size_t bytes;
  };

  // A power of two, aligned to itself as far as a page goes; at least a line, so that no two blocks share one.
  [[nodiscard]] static std::size_t size_of(std::size_t bytes, std::size_t alignment) {
    if (bytes > SIZE_MAX / 4 || alignment > page) throw std::bad_alloc();
    const std::size_t wanted = bytes < alignment ? alignment : bytes;
    return wanted <= 64 ? 64 : std::bit_ceil(wanted);
  }
  [[nodiscard]] static std::size_t class_of(std::size_t whole) noexcept {
    return static_cast<std::size_t>(std::countr_zero(whole));
  }
  [[nodiscard]] void* large(std::size_t whole) {
    for (block& b : large_) {
      if (b.bytes != whole) continue;
      void* const at = b.at;
      b = large_.back();
      large_.pop_back();
      ++own_chunk(at).used;
      return at;
    }
    void* const at = new_chunk(whole);
    ++own_chunk(at).used;
    return at;
  }
  void* new_chunk(std::size_t bytes) {
    auto* const at = static_cast<std::byte*>(::operator new(bytes, std::align_val_t(page)));
    std::size_t i = chunks_.size();
    chunks_.push_back({at, bytes, 0});
    for (; i != 0 && at < chunks_[i - 1].at; --i) std::swap(chunks_[i], chunks_[i - 1]);
    return at;
  }
  [[nodiscard]] chunk& own_chunk(const void* at) noexcept {
    const std::size_t i = chunk_of(at);
    WEFT_ASSERT(i < chunks_.size());
    return chunks_[i];
  }
  [[nodiscard]] std::size_t chunk_of(const void* at) const noexcept {
    std::size_t low = 0, high = chunks_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (chunks_[middle].at + chunks_[middle].bytes <= at)
        low = middle + 1;
      else
        high = middle;
    }
    return low < chunks_.size() && chunks_[low].at <= at ? low : chunks_.size();
  }

  std::vector<pool> pools_;
  std::vector<chunk> chunks_;  // by address
  std::vector<block> large_;
};

}  // namespace weft::swarm
