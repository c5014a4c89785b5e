#include "ordered/swarm/memory.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace weft::swarm {

namespace {

constexpr std::uint32_t line_bytes = 64, header_bytes = 8;
constexpr std::size_t absent = SIZE_MAX;

[[nodiscard]] std::uint32_t sets_of(std::uint64_t kib, std::uint32_t ways) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(kib * 1024 / line_bytes / ways, 1));
}

}  // namespace

memory::memory(const swarm_options& options, const mesh& net, lines& all, swarm_statistics& statistics)
    : options_(options), net_(net), lines_(all), statistics_(statistics),
      tiles_(std::max(1u, options.cores / options.tile_cores)), l1_ways_(options.l1_ways) {
  const std::uint32_t tile_cores = std::min(options.cores, options.tile_cores);
  const std::uint32_t l1_sets = std::bit_floor(sets_of(options.l1_kib, l1_ways_));
  l1_lines_ = l1_sets * l1_ways_;
  l1_mask_ = l1_sets - 1;
  l1_.resize(static_cast<std::size_t>(options.cores) * l1_lines_);
  l2_sets_ = sets_of(static_cast<std::uint64_t>(options.l2_kib) * tile_cores, options.l2_ways);
  l2_tags_.resize(static_cast<std::size_t>(tiles_) * l2_sets_ * options.l2_ways);
  l2_.resize(l2_tags_.size());
  canaries_.resize(static_cast<std::size_t>(tiles_) * l2_sets_);
  l3_sets_ = sets_of(static_cast<std::uint64_t>(options.l3_kib) * tile_cores, options.l3_ways);
  l3_tags_.resize(static_cast<std::size_t>(tiles_) * l3_sets_ * options.l3_ways);
  l3_.resize(l3_tags_.size());
}

std::size_t memory::find(const std::vector<line>& tags, std::size_t set, unsigned ways, line l) noexcept {
  for (unsigned w = 0; w < ways; ++w)
    if (tags[set + w] == l + 1) return set + w;
  return absent;
}

std::uint32_t memory::access(const who& w, line l, bool write, conflict_check* check) {
  WEFT_ASSERT(w.tile < tiles_ && (w.core == no_core || w.core - w.tile * options_.tile_cores < options_.tile_cores));
  ++tick_;
  std::uint32_t check_time = 0;
  if (check != nullptr) check_time = options_.tile_check + options_.compare * check->check(w.tile, l, write).compared;
  const std::uint32_t before = w.core == no_core ? 0 : options_.l1_latency;
  const std::size_t set = l2_set(w.tile, l);
  std::size_t at = find(l2_tags_, set, options_.l2_ways, l);
  const bool hits = at != absent && (!write || l2_[at].state != shared);
  const virtual_time canary = !hits                      ? virtual_time::never()
                              : options_.canary_per_line ? l2_[at].installed
                                                         : canaries_[set / options_.l2_ways];
  std::uint32_t time = options_.l2_latency;
  if (!hits || (check != nullptr && w.at <= canary)) {
    if (check != nullptr && !w.rollback) ++statistics_.checks.global;
    time = std::max(time, through_directory(w, l, write, check, !hits));
    at = find(l2_tags_, set, options_.l2_ways, l);
    WEFT_ASSERT(at != absent && (!write || l2_[at].state != shared));
  } else if (check != nullptr && !w.rollback) {
    ++statistics_.checks.tile;
  }
  l2_line& entry = l2_[at];
  entry.used = tick_;
  if (write) entry.state = modified;
  fill_l1(w, l, write, entry);
  return before + std::max(time, check_time);
}

// `data`: the tile lacks the line, or the permission. Otherwise only its virtual time is too early.
std::uint32_t memory::through_directory(const who& w, line l, bool write, conflict_check* check, bool data) {
  const unsigned home = bank(l);
  const std::uint32_t way = 2 * net_.latency(w.tile, home) + options_.l3_latency;
  sent(w.tile, home, header_bytes, w.rollback);
  const std::uint32_t asked = check != nullptr ? ask_tiles(w, l, write, *check) : 0;
  if (!data) {
    sent(home, w.tile, header_bytes, w.rollback);
    return options_.l2_latency + way + asked;
  }
  bool missed = false;
  l3_line& entry = in_l3(l, missed);
  std::uint32_t served = coherence(w, l, write, entry);
  if (missed) served = std::max(served, 2 * net_.to_memory(home, l) + options_.memory_latency);
  const bool had = (entry.tiles >> w.tile & 1) != 0;
  sent(home, w.tile, had ? header_bytes : header_bytes + line_bytes, w.rollback);
  const std::uint64_t me = 1ull << w.tile;
  line_state& marks = lines_.state(l);
  std::uint8_t state = modified;
  if (!write) {
    const bool alone = (entry.tiles & ~me) == 0 && ((marks.readers | marks.writers) & ~me) == 0;
    state = alone ? exclusive : shared;
  }
  if (write) entry.tiles = me;
  entry.tiles |= me;
  entry.owner = state == shared ? std::int16_t{-1} : static_cast<std::int16_t>(w.tile);
  WEFT_ASSERT(entry.owner < 0 || entry.tiles == me);  // who may write a line is the only one to have it
  marks.readers |= me;
  if (state != shared) marks.writers |= me;
  install_l2(w, l, state);
  return options_.l2_latency + way + std::max(served, asked);
}

std::uint32_t memory::ask_tiles(const who& w, line l, bool write, conflict_check& check) {
  const unsigned home = bank(l);
  const line_state marks = lines_.state(l);
  std::uint64_t others = (write ? marks.readers | marks.writers : marks.writers) & ~(1ull << w.tile);
  std::uint32_t longest = 0;
  for (; others != 0; others &= others - 1) {
    const auto tile = static_cast<unsigned>(std::countr_zero(others));
    const conflict_check::answer a = check.check(tile, l, write);
    if (!a.may_have) {  // and coherence takes from it the permission to do that again unseen
      lines_.state(l).writers &= ~(1ull << tile);
      if (write) lines_.state(l).readers &= ~(1ull << tile);
    }
    sent(home, tile, header_bytes, w.rollback);
    sent(tile, home, header_bytes, w.rollback);
    longest = std::max(longest, 2 * net_.latency(home, tile) + options_.tile_check + options_.compare * a.compared);
  }
  return longest;
}

// Takes from other tiles what the access needs. Returns the time until the directory may answer.
std::uint32_t memory::coherence(const who& w, line l, bool write, l3_line& entry) {
  const unsigned home = bank(l);
  std::uint32_t longest = 0;
  for (std::uint64_t others = entry.tiles & ~(1ull << w.tile); others != 0; others &= others - 1) {
    const auto tile = static_cast<unsigned>(std::countr_zero(others));
    const bool owner = entry.owner == static_cast<int>(tile);
    if (!write && !owner) continue;
    if (write) {
      drop_l2(tile, l);
    } else {
      const std::size_t at = find(l2_tags_, l2_set(tile, l), options_.l2_ways, l);
      WEFT_ASSERT(at != absent && l2_[at].state != shared);  // the directory hears of all that an L2 drops
      l2_[at].state = shared;
      share_l1(tile, l, l2_[at].cores);
    }
    sent(home, tile, header_bytes, w.rollback);
    sent(tile, home, owner ? header_bytes + line_bytes : header_bytes, w.rollback);
    longest = std::max(longest, 2 * net_.latency(home, tile) + options_.l2_latency);
  }
  return longest;
}

memory::l3_line& memory::in_l3(line l, bool& missed) {
  const std::size_t set = l3_set(l);
  std::size_t at = find(l3_tags_, set, options_.l3_ways, l);
  missed = at == absent;
  if (missed) {
    at = set;
    for (unsigned w = 0; w < options_.l3_ways; ++w) {
      if (l3_tags_[set + w] == 0) {
        at = set + w;
        break;
      }
      if (l3_[set + w].used < l3_[at].used) at = set + w;
    }
    if (l3_tags_[at] != 0)  // what an L2 has, the L3 has
      for (std::uint64_t tiles = l3_[at].tiles; tiles != 0; tiles &= tiles - 1)
        drop_l2(static_cast<unsigned>(std::countr_zero(tiles)), l3_tags_[at] - 1);
    l3_tags_[at] = l + 1;
    l3_[at] = {};
  }
  l3_[at].used = tick_;
  return l3_[at];
}

void memory::install_l2(const who& w, line l, std::uint8_t state) {
  const std::size_t set = l2_set(w.tile, l);
  std::size_t at = find(l2_tags_, set, options_.l2_ways, l);
  if (at == absent) {
    at = set;
    for (unsigned i = 0; i < options_.l2_ways; ++i) {
      if (l2_tags_[set + i] == 0) {
        at = set + i;
        break;
      }
      if (l2_[set + i].used < l2_[at].used) at = set + i;
    }
    if (l2_tags_[at] != 0) {  // no silent drops: the directory hears of it
      const line old = l2_tags_[at] - 1;
      const bool dirty = l2_[at].state == modified;
      sent(w.tile, bank(old), dirty ? header_bytes + line_bytes : header_bytes, w.rollback);
      const std::size_t there = find(l3_tags_, l3_set(old), options_.l3_ways, old);
      WEFT_ASSERT(there != absent);
      l3_[there].tiles &= ~(1ull << w.tile);
      if (l3_[there].owner == static_cast<int>(w.tile)) l3_[there].owner = -1;
      drop_l1(w.tile, old, l2_[at].cores);
    }
    l2_tags_[at] = l + 1;
    l2_[at] = {.installed = w.at, .used = tick_, .state = state, .cores = 0};
  } else {  // more permission than before, and no conflict with later tasks than the later of the two
    l2_[at].installed = std::max(l2_[at].installed, w.at);
    l2_[at].state = state;
    l2_[at].used = tick_;
  }
  renew_canary(set);
}

void memory::renew_canary(std::size_t set) noexcept {
  virtual_time latest{};
  for (unsigned i = 0; i < options_.l2_ways; ++i)
    if (l2_tags_[set + i] != 0) latest = std::max(latest, l2_[set + i].installed);
  canaries_[set / options_.l2_ways] = latest;
}

void memory::drop_l2(unsigned tile, line l) noexcept {
  const std::size_t at = find(l2_tags_, l2_set(tile, l), options_.l2_ways, l);
  WEFT_ASSERT(at != absent);  // as the directory says
  drop_l1(tile, l, l2_[at].cores);
  l2_tags_[at] = 0;
  l2_[at] = {};
  if (const std::size_t there = find(l3_tags_, l3_set(l), options_.l3_ways, l); there != absent) {
    l3_[there].tiles &= ~(1ull << tile);
    if (l3_[there].owner == static_cast<int>(tile)) l3_[there].owner = -1;
  }
}

void memory::drop_l1(unsigned tile, line l, std::uint8_t cores) noexcept {
  for (; cores != 0; cores &= static_cast<std::uint8_t>(cores - 1)) {
    const unsigned core = tile * options_.tile_cores + static_cast<unsigned>(std::countr_zero(cores));
    line* const set = &l1_[core * l1_lines_ + (l & l1_mask_) * l1_ways_];
    for (unsigned w = 0; w < l1_ways_; ++w)
      if (set[w] >> 1 == l + 1) set[w] = 0;
  }
}

void memory::share_l1(unsigned tile, line l, std::uint8_t cores) noexcept {
  for (; cores != 0; cores &= static_cast<std::uint8_t>(cores - 1)) {
    const unsigned core = tile * options_.tile_cores + static_cast<unsigned>(std::countr_zero(cores));
    line* const set = &l1_[core * l1_lines_ + (l & l1_mask_) * l1_ways_];
    for (unsigned w = 0; w < l1_ways_; ++w)
      if (set[w] >> 1 == l + 1) set[w] &= ~1u;
  }
}

void memory::fill_l1(const who& w, line l, bool write, l2_line& entry) noexcept {
  const unsigned first = w.tile * options_.tile_cores;
  const std::uint8_t mine = w.core == no_core ? std::uint8_t{0} : static_cast<std::uint8_t>(1u << (w.core - first));
  const auto others = static_cast<std::uint8_t>(entry.cores & ~mine);
  if (others != 0 && write) {
    drop_l1(w.tile, l, others);
    entry.cores &= mine;
  } else if (others != 0) {
    share_l1(w.tile, l, others);
  }
  if (w.core == no_core) {  // what the tile's cores have cached is not what is there now
    if (write) drop_l1(w.tile, l, entry.cores), entry.cores = 0;
    return;
  }
  entry.cores |= mine;
  line* const set = &l1_[w.core * l1_lines_ + (l & l1_mask_) * l1_ways_];
  unsigned at = 0;
  while (at < l1_ways_ - 1 && set[at] != 0 && set[at] >> 1 != l + 1) ++at;
  // Behind an empty place the line may still be, without permission to write.
  for (unsigned i = at + 1; i < l1_ways_; ++i)
    if (set[i] >> 1 == l + 1) set[i] = 0;
  for (; at != 0; --at) set[at] = set[at - 1];
  set[0] = (l + 1) << 1 | (write ? 1 : 0);
}

void memory::flush(unsigned core) noexcept { std::fill_n(&l1_[core * l1_lines_], l1_lines_, 0); }

void memory::sent(unsigned from, unsigned to, std::uint32_t bytes, bool rollback) noexcept {
  if (from != to) (rollback ? statistics_.traffic.abort : statistics_.traffic.memory) += bytes;
}

}  // namespace weft::swarm
