#include "lab/swarm/chip.hpp"

#include <algorithm>

namespace weft::swarm {

namespace {

[[nodiscard]] std::uint64_t entries(std::uint32_t per_core, std::uint32_t cores) {
  return per_core == 0 ? UINT64_MAX : static_cast<std::uint64_t>(per_core) * cores;
}

}  // namespace

chip::chip(const swarm_options& given)
    : options(given), net(std::max(1u, given.cores / given.tile_cores), given.hop_latency),
      caches(options, net, all_lines, statistics), heap(std::max(1u, given.cores / given.tile_cores)),
      hash(given.bloom_bits / given.bloom_ways), keeps_exact(given.precise != 0 || given.audit != 0),
      over_time(given, std::max(1u, given.cores / given.tile_cores)), draw(given.seed) {
  tiles.resize(std::max(1u, given.cores / given.tile_cores));
  const std::uint32_t tile_cores = std::min(given.cores, given.tile_cores);
  WEFT_ASSERT(tiles.size() <= virtual_time::tiles_max && tiles.size() * tile_cores == given.cores);
  for (std::uint32_t i = 0; i < tiles.size(); ++i) {
    tile& t = tiles[i];
    t.number = i;
    t.first_core = i * tile_cores;
    t.cores = tile_cores;
    t.task_entries = entries(given.task_queue, tile_cores);
    t.commit_entries = entries(given.commit_queue, tile_cores);
    t.own_lines = all_lines.fresh(tile::own_lines_count);
    if (given.l1_written_through != 0) t.log_lines = all_lines.fresh(tile::log_lines_count);
    if (given.precise != 0) continue;
    for (int kind = 0; kind < 2; ++kind)
      t.sets.emplace_back(given.bloom_ways, given.bloom_bits / given.bloom_ways, 64u);
  }
  for (std::uint32_t i = 0; i < given.cores; ++i) {
    cores.push_back(std::make_unique<core>());
    cores.back()->of = this;
    cores.back()->number = i;
    cores.back()->tile = i / tile_cores;
  }
  statistics.cores = given.cores;
  statistics.tiles = tiles.size();
}

}  // namespace weft::swarm
