#include "lab/swarm/memory.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace weft::swarm {

namespace {

constexpr std::uint32_t header_bytes = 8;
constexpr unsigned absent = cache_sets::absent;

[[nodiscard]] std::uint32_t sets_of(std::uint64_t kib, std::uint32_t ways) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(kib * 1024 / line_bytes / ways, 1));
}

}  // namespace

memory::memory(const swarm_options& options, const mesh& net, lines& all, swarm_statistics& statistics)
    : options_(options), net_(net), lines_(all), statistics_(statistics),
      tiles_(std::max(1u, options.cores / options.tile_cores)), l1_ways_(options.l1_ways),
      l2_sets_(sets_of(std::uint64_t{options.l2_kib} * std::min(options.cores, options.tile_cores), options.l2_ways)),
      l3_sets_(sets_of(std::uint64_t{options.l3_kib} * std::min(options.cores, options.tile_cores), options.l3_ways)),
      l2_has_(std::size_t{tiles_} * l2_sets_, options.l2_ways),
      l3_has_(std::size_t{tiles_} * l3_sets_, options.l3_ways) {
  const std::uint32_t l1_sets = std::bit_floor(sets_of(options.l1_kib, l1_ways_));
  l1_lines_ = l1_sets * l1_ways_;
  l1_mask_ = l1_sets - 1;
  l1_.resize(std::size_t{options.cores} * l1_lines_);
  canaries_.resize(std::size_t{tiles_} * l2_sets_);
  l2_.resize(canaries_.size() * options.l2_ways);
  l3_.resize(std::size_t{tiles_} * l3_sets_ * options.l3_ways);
}

std::uint32_t memory::access(const who& w, line l, bool write, conflict_check* check) {
  WEFT_ASSERT(w.tile < tiles_ && (w.core == no_core || w.core - w.tile * options_.tile_cores < options_.tile_cores));
  ++tick_;
  std::uint32_t check_time = 0;
  if (check != nullptr) check_time = options_.tile_check + options_.compare * check->check(w.tile, l, write).compared;
  const std::uint32_t before = w.core == no_core ? 0 : options_.l1_latency;
  const std::size_t set = l2_set(w.tile, l);
  unsigned way = l2_has_.find(set, l);
  const bool hits = way != absent && (!write || l2_at(set, way).state != shared);
  const virtual_time installed = !hits                      ? virtual_time::never()
                                 : options_.canary_per_line ? l2_at(set, way).installed
                                                            : canaries_[set].latest;
  std::uint32_t time = options_.l2_latency;
  if (!hits || (check != nullptr && w.at <= installed)) {
    if (check != nullptr && !w.rollback) ++statistics_.checks.global;
    time = std::max(time, through_directory(w, l, write, check, !hits, set, way));
    WEFT_ASSERT(way != absent && l2_has_.at(set, way) == l && (!write || l2_at(set, way).state != shared));
  } else if (check != nullptr && !w.rollback) {
    ++statistics_.checks.tile;
  }
  l2_has_.use(set, way, tick_);
  l2_line& entry = l2_at(set, way);
  if (write) entry.state = modified;
  fill_l1(w, l, write, entry);
  return before + std::max(time, check_time);
}

// `data`: the tile lacks the line, or the permission. Otherwise only its virtual time is too early.
// Its place in the set of the tile's L2 may be absent; it is not when this returns.
std::uint32_t memory::through_directory(const who& w, line l, bool write, conflict_check* check, bool data,
                                        std::size_t set, unsigned& way_in_l2) {
  const unsigned home = bank(l);
  const std::uint32_t way = 2 * net_.latency(w.tile, home) + options_.l3_latency;
  sent(w.tile, home, header_bytes, w.rollback);
  const std::uint32_t asked = check != nullptr ? ask_tiles(w, l, write, *check) : 0;
  if (!data) {
    sent(home, w.tile, header_bytes, w.rollback);
    return options_.l2_latency + way + asked;
  }
  bool missed = false;
  const std::uint32_t place = in_l3(l, missed);
  l3_line& entry = l3_[place];
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
  install_l2(w, l, state, place, set, way_in_l2);
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
      drop_l2(tile, l, entry);
    } else {
      const std::size_t set = l2_set(tile, l);
      const unsigned way = l2_has_.find(set, l);
      WEFT_ASSERT(way != absent && l2_at(set, way).state != shared);  // the directory hears of all that an L2 drops
      l2_at(set, way).state = shared;
      share_l1(tile, l, l2_at(set, way).cores);
    }
    sent(home, tile, header_bytes, w.rollback);
    sent(tile, home, owner ? header_bytes + line_bytes : header_bytes, w.rollback);
    longest = std::max(longest, 2 * net_.latency(home, tile) + options_.l2_latency);
  }
  return longest;
}

std::uint32_t memory::in_l3(line l, bool& missed) {
  const std::size_t set = l3_set(l);
  unsigned way = l3_has_.find(set, l);
  missed = way == absent;
  if (missed) {
    way = l3_has_.victim(set);
    l3_line& entry = l3_[set * options_.l3_ways + way];
    if (!l3_has_.empty(set, way))  // what an L2 has, the L3 has
      for (std::uint64_t tiles = entry.tiles; tiles != 0; tiles &= tiles - 1)
        drop_l2(static_cast<unsigned>(std::countr_zero(tiles)), l3_has_.at(set, way), entry);
    l3_has_.put(set, way, l);
    entry = {};
  }
  l3_has_.use(set, way, tick_);
  return static_cast<std::uint32_t>(set * options_.l3_ways + way);
}

// A place for a line that the tile's L2 has not. Who leaves it says so to the directory.
unsigned memory::take_l2_place(const who& w, std::size_t set) {
  const unsigned way = l2_has_.victim(set);
  if (l2_has_.empty(set, way)) return way;
  const line old = l2_has_.at(set, way);
  const l2_line& left = l2_at(set, way);
  sent(w.tile, bank(old), left.state == modified ? header_bytes + line_bytes : header_bytes, w.rollback);
  WEFT_ASSERT(l3_has_.at(left.in_l3 / options_.l3_ways, left.in_l3 % options_.l3_ways) == old);
  WEFT_ASSERT((l3_[left.in_l3].tiles >> w.tile & 1) != 0);
  l3_[left.in_l3].leave(w.tile);
  drop_l1(w.tile, old, left.cores);
  if (left.installed >= canaries_[set].latest) canaries_[set].holder_left = true;
  return way;
}

void memory::install_l2(const who& w, line l, std::uint8_t state, std::uint32_t in_l3, std::size_t set, unsigned& way) {
  if (way == absent) {
    way = take_l2_place(w, set);
    l2_has_.put(set, way, l);
    l2_at(set, way) = {.installed = w.at, .in_l3 = in_l3, .state = state, .cores = 0};
  } else {  // more permission than before, and no conflict with later tasks than the later of the two
    l2_at(set, way).installed = std::max(l2_at(set, way).installed, w.at);
    l2_at(set, way).state = state;
  }
  renew_canary(set, l2_at(set, way).installed);
}

void memory::renew_canary(std::size_t set, virtual_time installed) noexcept {
  canary& c = canaries_[set];
  if (!c.holder_left) {
    c.latest = std::max(c.latest, installed);
    return;
  }
  c = {};
  for (unsigned w = 0; w < options_.l2_ways; ++w) c.latest = std::max(c.latest, l2_at(set, w).installed);
}

void memory::drop_l2(unsigned tile, line l, l3_line& entry) noexcept {
  const std::size_t set = l2_set(tile, l);
  const unsigned way = l2_has_.find(set, l);
  WEFT_ASSERT(way != absent);  // as the directory says
  l2_line& left = l2_at(set, way);
  drop_l1(tile, l, left.cores);
  if (left.installed >= canaries_[set].latest) canaries_[set].holder_left = true;
  l2_has_.drop(set, way);
  left = {};
  entry.leave(tile);
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
