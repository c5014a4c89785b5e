// Tile (i, j) is written once by each column k <= j before it: j updates, then its own potrf or trsm. So a task of
// column k reads tiles that were written k + 1 times and writes one that was written k times.
#include "graph.hpp"

#include <numeric>

namespace weft::apps::micro {

namespace {

using tile = std::uint32_t;  // times written

class graph {
 public:
  graph(runtime& rt, std::size_t tiles, const kernels& k, const mistake& planted)
      : rt_(rt), tiles_(tiles), potrf_(rt, k.potrf_ns), trsm_(rt, k.trsm_ns), syrk_(rt, k.syrk_ns),
        gemm_(rt, k.gemm_ns), diagonal_level_(k.diagonal_first ? 1 : 0), planted_(planted),
        lower_(tiles * (tiles + 1) / 2), wrong_(graph_tasks(tiles)) {
    for (handle<tile>& t : lower_) t.bytes(k.tile_bytes);
  }

  sample run() {
    const double start = rt_.now_ns();
    for (std::size_t k = 0; k < tiles_; ++k) {
      submit(at(k, k), k);                                                         // potrf
      for (std::size_t i = k + 1; i < tiles_; ++i) submit(at(k, k), at(i, k), k);  // trsm
      for (std::size_t i = k + 1; i < tiles_; ++i) {
        for (std::size_t j = k + 1; j < i; ++j) submit(at(i, k), at(j, k), at(i, j), k);  // gemm
        submit(at(i, k), at(i, i), k);                                                    // syrk
      }
    }
    rt_.wait();
    sample s;
    s.seconds = (rt_.now_ns() - start) * 1e-9;
    s.wrong = std::accumulate(wrong_.begin(), wrong_.end(), std::uint64_t{0});
    for (std::size_t i = 0; i < tiles_; ++i)
      for (std::size_t j = 0; j <= i; ++j) s.wrong += at(i, j).unguarded() == j + 1 ? 0 : 1;
    return s;
  }

 private:
  [[nodiscard]] handle<tile>& at(std::size_t row, std::size_t column) noexcept {
    return lower_[row * (row + 1) / 2 + column];
  }

  // Notes a task that sees what a serial run would not have shown it, then waits and writes.
  void body(std::size_t task, const grain& g, std::size_t k, bool reads_are_final, tile& written) {
    wrong_[task] = reads_are_final && written == k ? 0 : 1;
    g.wait();
    ++written;
  }

  [[nodiscard]] bool is_omitted() noexcept { return next_task_ == planted_.omitted && ++next_task_ != 0; }

  void submit(handle<tile>& to, std::size_t k) {
    if (is_omitted()) return;
    rt_.submit(write(to), named("potrf"), cost(potrf_.ns()), priority(diagonal_level_),
               [this, task = next_task_++, k](tile& t) { body(task, potrf_, k, true, t); });
  }

  void submit(handle<tile>& a, handle<tile>& to, std::size_t k) {
    if (is_omitted()) return;
    const std::size_t task = next_task_++;
    const bool is_trsm = &a == &at(k, k);
    const grain& g = is_trsm ? trsm_ : syrk_;
    if (task == planted_.undeclared) {
      rt_.submit(write(to), cost(g.ns()),
                 [this, task, &g, k, &a](tile& t) { body(task, g, k, a.unguarded() == k + 1, t); });
      return;
    }
    rt_.submit(read(a), write(to), named(is_trsm ? "trsm" : "syrk"), cost(g.ns()),
               priority(is_trsm ? 0 : diagonal_level_),
               [this, task, &g, k](const tile& p, tile& t) { body(task, g, k, p == k + 1, t); });
  }

  void submit(handle<tile>& a, handle<tile>& b, handle<tile>& to, std::size_t k) {
    if (is_omitted()) return;
    rt_.submit(read(a), read(b), write(to), named("gemm"), cost(gemm_.ns()),
               [this, task = next_task_++, k](const tile& p, const tile& q, tile& t) {
                 body(task, gemm_, k, p == k + 1 && q == k + 1, t);
               });
  }

  runtime& rt_;
  const std::size_t tiles_;
  const grain potrf_, trsm_, syrk_, gemm_;
  const int diagonal_level_;
  const mistake planted_;
  std::vector<handle<tile>> lower_;
  std::vector<std::uint8_t> wrong_;  // one per task
  std::size_t next_task_ = 0;
};

}  // namespace

kernels kernels_of(std::size_t columns, double mflops) noexcept {
  const double n = static_cast<double>(columns);
  const double cube_ns = n * n * n / mflops * 1e3;
  return {cube_ns / 3, cube_ns, cube_ns, 2 * cube_ns, columns * columns * sizeof(double)};
}

double graph_ns(std::size_t tiles, const kernels& k) noexcept {
  const double n = static_cast<double>(tiles);
  return n * k.potrf_ns + n * (n - 1) / 2 * (k.trsm_ns + k.syrk_ns) + n * (n - 1) * (n - 2) / 6 * k.gemm_ns;
}

sample run_graph(runtime& rt, std::size_t tiles, const kernels& k, const mistake& planted) {
  return graph(rt, tiles, k, planted).run();
}

}  // namespace weft::apps::micro
