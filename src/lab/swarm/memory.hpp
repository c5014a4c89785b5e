// The memory hierarchy: an L1 for each core, written through; an L2 for each tile; a shared L3 with a bank and a part
// of the directory in each tile; MESI. It answers how long an access takes, and decides which tiles must be asked
// whether it conflicts with what their tasks did (Swarm §4.4, Fig. 7). Nothing is stored here: data stay where the
// program has them.
//
// Filters. What is claimed below holds because each tile that may have accessed a line is marked in the directory
// before its first access, and each access by another takes away the permission that the claim rests on.
//   L1 hit, with permission: no task of a later virtual time than the core's has a conflicting access.
//   L2 hit, with permission, virtual time above the canary: none outside the tile has.
// Exclusive (E) permits silent writes, so it is granted only where no other tile is marked, and marks a writer.
#pragma once
#include <cstdint>
#include <vector>

#include "lab/swarm/cache_sets.hpp"
#include "lab/swarm/lines.hpp"
#include "lab/swarm/mesh.hpp"
#include "lab/swarm/virtual_time.hpp"
#include "weft/lab/swarm.hpp"

namespace weft::swarm {

// Who knows what tasks did. Asked during an access, it also notes which tasks must be aborted for it.
class conflict_check {
 public:
  struct answer {
    std::uint32_t compared = 0;  // virtual times that had to be looked at
    bool may_have = false;       // some task of the tile may have the line: the directory must not forget the tile
  };
  [[nodiscard]] virtual answer check(unsigned tile, line l, bool write) = 0;

 protected:
  ~conflict_check() = default;
};

class memory {
 public:
  struct who {
    unsigned tile;
    unsigned core;  // of the chip, or no_core: the tile itself, rolling back
    virtual_time at;
    bool rollback = false;
  };
  static constexpr unsigned no_core = UINT32_MAX;

  memory(const swarm_options& options, const mesh& net, lines& all, swarm_statistics& statistics);

  // Whether the core may access the line without asking anybody, in one cycle.
  [[nodiscard]] bool hit(unsigned core, line l, bool write) noexcept {
    line* const set = &l1_[core * l1_lines_ + (l & l1_mask_) * l1_ways_];
    const line wanted = (l + 1) << 1;
    for (unsigned w = 0; w < l1_ways_; ++w) {
      if ((set[w] & ~1u) != wanted) continue;
      if (write && (set[w] & 1) == 0) return false;
      const line found = set[w];
      for (; w != 0; --w) set[w] = set[w - 1];  // most recent first
      set[0] = found;
      return true;
    }
    return false;
  }
  // All others: returns how many cycles it takes, checks included. Without a check: the chip's own lines.
  [[nodiscard]] std::uint32_t access(const who& w, line l, bool write, conflict_check* check);
  // A core begins with an earlier virtual time than it had.
  void flush(unsigned core) noexcept;

 private:
  enum : std::uint8_t { shared, exclusive, modified };
  struct l2_line {
    virtual_time installed;   // by a task of this time
    std::uint32_t in_l3 = 0;  // its place there
    std::uint8_t state = shared;
    std::uint8_t cores = 0;  // of the tile, whose L1 may have the line
  };
  struct l3_line {
    std::uint64_t tiles = 0;  // that have it in their L2
    std::int16_t owner = -1;  // the tile that may write it
    void leave(unsigned tile) noexcept {
      tiles &= ~(1ull << tile);
      if (owner == static_cast<int>(tile)) owner = -1;
    }
  };
  // Of a set of an L2: the latest time that installed one of its lines. Lines leave, it stays until the next comes.
  struct canary {
    virtual_time latest;
    bool holder_left = false;
  };

  [[nodiscard]] std::size_t l2_set(unsigned tile, line l) const noexcept { return tile * l2_sets_ + l % l2_sets_; }
  [[nodiscard]] std::size_t l3_set(line l) const noexcept { return bank(l) * l3_sets_ + l / tiles_ % l3_sets_; }
  [[nodiscard]] unsigned bank(line l) const noexcept { return l % tiles_; }
  [[nodiscard]] l2_line& l2_at(std::size_t set, unsigned way) noexcept { return l2_[set * options_.l2_ways + way]; }

  [[nodiscard]] std::uint32_t through_directory(const who& w, line l, bool write, conflict_check* check, bool data,
                                                std::size_t set, unsigned& way);
  [[nodiscard]] std::uint32_t ask_tiles(const who& w, line l, bool write, conflict_check& check);
  [[nodiscard]] std::uint32_t coherence(const who& w, line l, bool write, l3_line& entry);
  // Returns its place there, to which it comes if it is not.
  [[nodiscard]] std::uint32_t in_l3(line l, bool& missed);
  void install_l2(const who& w, line l, std::uint8_t state, std::uint32_t in_l3, std::size_t set, unsigned& way);
  [[nodiscard]] unsigned take_l2_place(const who& w, std::size_t set);
  void renew_canary(std::size_t set, virtual_time installed) noexcept;
  void drop_l2(unsigned tile, line l, l3_line& entry) noexcept;
  void drop_l1(unsigned tile, line l, std::uint8_t cores) noexcept;
  void share_l1(unsigned tile, line l, std::uint8_t cores) noexcept;
  void fill_l1(const who& w, line l, bool write, l2_line& entry) noexcept;
  void sent(unsigned from, unsigned to, std::uint32_t bytes, bool rollback) noexcept;

  const swarm_options& options_;
  const mesh& net_;
  lines& lines_;
  swarm_statistics& statistics_;
  unsigned tiles_;
  std::uint32_t l1_ways_, l1_lines_, l1_mask_;
  std::uint32_t l2_sets_, l3_sets_;
  std::vector<line> l1_;  // (line + 1) << 1 | may write; by sets, most recent first; 0: empty
  cache_sets l2_has_, l3_has_;
  std::vector<l2_line> l2_;
  std::vector<canary> canaries_;
  std::vector<l3_line> l3_;
  std::uint32_t tick_ = 0;
};

}  // namespace weft::swarm
