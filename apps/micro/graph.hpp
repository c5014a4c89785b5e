// Tasks that wait, with the dependences of a block Cholesky factorization (SuperGlue §7.2): 20 tiles a side are 1540
// tasks, 50 are 22100. All wait alike, or each as long as its kernel would take (§5.1). A tile is a number: how often
// it was written. Every task knows which numbers a serial run would show it, so one that starts too early sees a tile
// that is not finished.
#pragma once
#include "micro.hpp"

namespace weft::apps::micro {

[[nodiscard]] constexpr std::uint64_t graph_tasks(std::uint64_t tiles) noexcept {
  return tiles * (tiles + 1) * (tiles + 2) / 6;
}
// Tasks on the longest path: from one diagonal tile to the next it takes a trsm, a syrk and the potrf.
[[nodiscard]] constexpr std::uint64_t graph_depth(std::uint64_t tiles) noexcept { return 3 * tiles - 2; }

// What the tasks of each kind take, and how large a tile is on a modelled machine.
struct kernels {
  double potrf_ns, trsm_ns, syrk_ns, gemm_ns;
  std::uint64_t tile_bytes = 0;
  bool diagonal_first = false;  // what works on a diagonal tile has priority (SuperGlue §5.1)
};
[[nodiscard]] constexpr kernels alike(double grain_ns) noexcept { return {grain_ns, grain_ns, grain_ns, grain_ns}; }
// Those of a factorization in tiles of so many columns, all at the same rate.
[[nodiscard]] kernels kernels_of(std::size_t columns, double mflops) noexcept;
// All the work of the graph, in nanoseconds of one worker.
[[nodiscard]] double graph_ns(std::size_t tiles, const kernels& k) noexcept;

[[nodiscard]] sample run_graph(runtime& rt, std::size_t tiles, const kernels& k, const mistake& planted = {});

}  // namespace weft::apps::micro
