// Tasks that wait, with the dependences of a block Cholesky factorization (SuperGlue §7.2): 20 tiles a side are 1540
// tasks, 50 are 22100. A tile is a number: how often it was written. Every task knows which numbers a serial run would
// show it, so one that starts too early sees a tile that is not finished.
#pragma once
#include "micro.hpp"

namespace weft::apps::micro {

[[nodiscard]] constexpr std::uint64_t graph_tasks(std::uint64_t tiles) noexcept {
  return tiles * (tiles + 1) * (tiles + 2) / 6;
}
// Tasks on the longest path: from one diagonal tile to the next it takes a trsm, a syrk and the potrf.
[[nodiscard]] constexpr std::uint64_t graph_depth(std::uint64_t tiles) noexcept { return 3 * tiles - 2; }

[[nodiscard]] sample run_graph(runtime& rt, std::size_t tiles, std::size_t grain_ns, const mistake& planted = {});

}  // namespace weft::apps::micro
