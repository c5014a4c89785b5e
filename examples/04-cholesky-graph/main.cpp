// The tiled Cholesky factorisation without its arithmetic: only who reads and writes which tile, and what it costs. The
// same submission runs on modelled machines of 1 to 64 cores; how far it scales is a property of the graph.
#include <weft/weft.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr int n = 12;                  // tiles per side
constexpr double flop_ns = 0.1;        // one operation at 10 GFlop/s
constexpr double b3 = 64.0 * 64 * 64;  // of a 64 x 64 tile

void submit_factorisation(weft::runtime& rt, std::vector<weft::handle<void>>& tiles) {
  auto a = [&](int i, int j) -> weft::handle<void>& { return tiles[static_cast<std::size_t>(i * n + j)]; };
  for (int k = 0; k < n; ++k) {
    rt.submit(weft::write(a(k, k)), weft::named("potrf"), weft::cost(b3 / 3 * flop_ns), [] {});
    for (int i = k + 1; i < n; ++i)
      rt.submit(weft::read(a(k, k)), weft::write(a(i, k)), weft::named("trsm"), weft::cost(b3 * flop_ns), [] {});
    for (int i = k + 1; i < n; ++i) {
      for (int j = k + 1; j < i; ++j)
        rt.submit(weft::read(a(i, k)), weft::read(a(j, k)), weft::write(a(i, j)), weft::named("gemm"),
                  weft::cost(2 * b3 * flop_ns), [] {});
      rt.submit(weft::read(a(i, k)), weft::write(a(i, i)), weft::named("syrk"), weft::cost(b3 * flop_ns), [] {});
    }
  }
}

double makespan_us(unsigned workers) {
  weft::runtime rt({.workers = workers, .machine = "virtual"});
  std::vector<weft::handle<void>> tiles(n * n);
  submit_factorisation(rt, tiles);
  rt.wait();
  return rt.now_ns() / 1000;
}

}  // namespace

int main() {
  const double alone = makespan_us(1);
  std::printf("workers  time/us  speed-up\n");
  for (unsigned workers : {1u, 2u, 4u, 16u, 64u}) {
    const double t = makespan_us(workers);
    std::printf("%7u %8.1f %9.2f\n", workers, t, alone / t);
  }
}
