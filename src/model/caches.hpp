// Which cache of a modelled machine holds which chunk of data, and who wrote it last. Each cache keeps the chunks that
// were touched last (LRU) and as many as have room; levels are filled on the way to the core and drop on their own, so
// an outer level need not hold what an inner one does. To write is to own: every copy off the writer's own path to
// memory is dropped.
// Invariant: a chunk has an owner (dirty) only until another core touches it; so nobody but the owner holds a dirty
// chunk in a cache that the owner does not use.
#pragma once
#include <cstdint>
#include <vector>

#include "model/machine.hpp"

namespace weft::model {

class caches {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // Where a core found a chunk.
  struct source {
    enum class kind : std::uint8_t { level, core, memory };
    kind where;
    unsigned number;  // of the level, 0 the nearest; or of the core whose cache had it dirty; else 0
  };

  explicit caches(const machine& m);

  // A core reads or writes a chunk of so many bytes, at most 2^32 - 1, and always the same number until it is dropped.
  // Afterwards its caches hold the chunk, newest, except those that it does not fit into: these it has swept empty.
  // Cost: O(levels), amortised; a write adds the number of copies.
  source touch(unsigned core, std::uint32_t chunk, std::uint32_t bytes, bool writes);

  // The chunk is gone from every cache.
  void drop(std::uint32_t chunk);

  [[nodiscard]] unsigned levels() const noexcept { return levels_; }
  // Whether a cache of that level serves several cores, whatever the machine calls it.
  [[nodiscard]] bool is_shared(unsigned level) const noexcept { return is_shared_[level]; }
  // Bytes that went to memory because they had been written: when they left the last cache that held them, when no
  // cache had room for them, or when another core read them (MESI; a MOESI machine keeps these). What is dropped is
  // gone, and not written back.
  [[nodiscard]] std::uint64_t written_back() const noexcept { return written_back_; }

 private:
  // A chunk in a cache: a link in two lists, the cache's from oldest to newest and the chunk's holders.
  struct copy {
    std::uint32_t chunk, cache, bytes;
    std::uint32_t newer, older;
    std::uint32_t next, previous;
  };
  struct store {
    std::uint64_t capacity = 0, used = 0;
    std::uint32_t newest = none, oldest = none;
    unsigned level = 0;
  };
  struct state {
    std::uint32_t holders = none;  // first copy
    std::uint32_t owner = none;    // core
  };

  // Finds a copy by cache and chunk. Open addressing; only looked up, never walked, so its order decides nothing.
  class index {
   public:
    [[nodiscard]] std::uint32_t find(std::uint32_t cache, std::uint32_t chunk) const noexcept;
    void insert(std::uint32_t cache, std::uint32_t chunk, std::uint32_t copy);
    void erase(std::uint32_t cache, std::uint32_t chunk) noexcept;

   private:
    struct slot {
      std::uint64_t key = 0;
      std::uint32_t copy = none;
    };
    [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
      return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> shift_);
    }
    void grow();

    std::vector<slot> slots_ = std::vector<slot>(16);
    std::size_t count_ = 0;
    unsigned shift_ = 60;  // 64 - log2(slots)
  };

  [[nodiscard]] std::uint32_t path(unsigned core, unsigned level) const noexcept {
    return path_[std::size_t{core} * levels_ + level];
  }
  [[nodiscard]] bool dirty_elsewhere(std::uint32_t owner, unsigned core, std::uint32_t chunk) const noexcept;
  [[nodiscard]] source find(unsigned core, std::uint32_t chunk) const noexcept;
  void bring(std::uint32_t cache, std::uint32_t chunk, std::uint32_t bytes);
  void drop_others(unsigned core, std::uint32_t chunk);
  void evict(std::uint32_t at);
  void write_back(state& s, std::uint32_t bytes) noexcept;
  void remove(std::uint32_t at);
  void leave_order(store& s, const copy& c);
  void make_newest(store& s, std::uint32_t at);

  unsigned levels_;
  std::vector<bool> is_shared_;      // [level]
  std::vector<std::uint32_t> path_;  // [core][level] cache
  std::vector<store> stores_;
  std::vector<state> chunks_;
  std::vector<copy> copies_;
  std::uint32_t free_ = none;  // copies, linked by next
  index index_;
  std::uint64_t written_back_ = 0;  // bytes
};

}  // namespace weft::model
