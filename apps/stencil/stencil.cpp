// A three-point stencil on a ring, cut into blocks, in two buffers. Step t of block b reads blocks b-1, b, b+1 of one
// buffer and writes block b of the other. That is all the program says: there is no barrier between steps and no halo
// exchange, the read and write clauses alone let fast blocks run ahead of slow ones as far as the data allows.
// Check: a plain loop over one flat array gives the same bits. It may: the weights are powers of two, so products are
// exact and both programs round the same two sums in the same order, fused multiply-add or not.
#include <bit>
#include <cstdint>
#include <memory>

#include "../app.hpp"
#include "../busy.hpp"

namespace weft::apps {
namespace {

constexpr double ns_per_cell = 0.5;  // cost clause; a 3 GHz core does two to four cells per nanosecond from its cache

struct parameters {
  std::size_t width = 32;
  std::size_t steps = 200;
  std::size_t cells = 1000;
  std::size_t grain_ns = 0;
  std::size_t laid = 0;

  [[nodiscard]] double task_ns() const noexcept {
    return grain_ns > 0 ? static_cast<double>(grain_ns) : static_cast<double>(cells) * ns_per_cell;
  }
};

using block = std::vector<double>;

double relax(double left, double self, double right) { return 0.25 * (left + right) + 0.5 * self; }

void relax_block(const block& left, const block& self, const block& right, block& out) {
  const std::size_t n = self.size();
  for (std::size_t i = 0; i < n; ++i)
    out[i] = relax(i > 0 ? self[i - 1] : left[n - 1], self[i], i + 1 < n ? self[i + 1] : right[0]);
}

// Any start will do that is not smooth: the stencil keeps a constant a constant.
double initial(std::size_t cell) { return static_cast<double>(cell * 2654435761u % 1000) / 1000; }

std::vector<double> serial(const parameters& p) {
  const std::size_t n = p.width * p.cells;
  std::vector<double> now(n), next(n);
  for (std::size_t i = 0; i < n; ++i) now[i] = initial(i);
  for (std::size_t t = 0; t < p.steps; ++t) {
    for (std::size_t i = 0; i < n; ++i) next[i] = relax(now[i > 0 ? i - 1 : n - 1], now[i], now[i + 1 < n ? i + 1 : 0]);
    now.swap(next);
  }
  return now;
}

using buffer = std::vector<handle<block>>;

double submit_all(runtime& rt, const parameters& p, buffer (&buffers)[2], progress& bar) {
  const busy grain(rt, static_cast<double>(p.grain_ns));
  const double start = rt.now_ns();
  for (std::size_t t = 0; t < p.steps; ++t) {
    buffer& from = buffers[t % 2];
    buffer& to = buffers[(t + 1) % 2];
    for (std::size_t b = 0; b < p.width; ++b) {
      auto& left = from[(b + p.width - 1) % p.width];
      auto& right = from[(b + 1) % p.width];
      const bool reports = b == 0 && t % (p.steps / 100 + 1) == 0;  // block 0's tasks are in order of t
      const double done = static_cast<double>(t) / static_cast<double>(p.steps);
      rt.submit(read(left), read(from[b]), read(right), write(to[b]), named("relax"), cost(p.task_ns()),
                [&bar, reports, done, grain](const block& l, const block& s, const block& r, block& out) {
                  relax_block(l, s, r, out);
                  grain();
                  if (reports) bar.report(done);
                });
    }
  }
  rt.wait();
  return (rt.now_ns() - start) * 1e-9;
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  require_memory("stencil", 4.0 * sizeof(double) * static_cast<double>(p.width) * static_cast<double>(p.cells));
  runtime rt(opt);
  buffer buffers[2] = {buffer(p.width), buffer(p.width)};
  const std::size_t nodes = p.laid != 0 ? weft::memory_nodes() : 1;
  for (std::size_t b = 0; b < p.width; ++b) {
    for (buffer& half : buffers) {
      half[b].unguarded().resize(p.cells);
      if (p.grain_ns != 0) continue;  // a grain is all that a task costs
      const auto node = static_cast<std::uint32_t>(b * nodes / p.width);
      half[b].bytes(p.cells * sizeof(double),
                    p.laid != 0 ? memory_placement::on_node(node) : memory_placement::first_touch());
    }
    for (std::size_t i = 0; i < p.cells; ++i) buffers[0][b].unguarded()[i] = initial(b * p.cells + i);
  }
  result r;
  r.seconds = submit_all(rt, p, buffers, bar);
  r.describe(rt);
  const auto tasks = static_cast<double>(p.width) * static_cast<double>(p.steps);
  r.add("width", std::uint64_t{p.width});
  r.add("steps", std::uint64_t{p.steps});
  r.add("cells", std::uint64_t{p.cells});
  r.add("grain_ns", std::uint64_t{p.grain_ns});
  r.add("laid", std::uint64_t{p.laid});
  r.add("ns_per_task", r.seconds * 1e9 / tasks);

  const std::vector<double> expected = serial(p);
  std::size_t different = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double found = buffers[p.steps % 2][i / p.cells].unguarded()[i % p.cells];
    different += std::bit_cast<std::uint64_t>(found) != std::bit_cast<std::uint64_t>(expected[i]) ? 1 : 0;
  }
  r.checks.push_back({"same_bits_as_serial", different == 0,
                      std::to_string(different) + " of " + std::to_string(expected.size()) + " cells differ"});
  return r;
}

}  // namespace

app stencil_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "stencil",
          .summary = "three-point stencil on a ring of blocks, two buffers, no barrier",
          .example = "stencil --width 32 --steps 200 --workers 2",
          .options = {{"width", "number of blocks", &p->width, 1, 1'000'000},
                      {"steps", "number of time steps", &p->steps, 1, 1'000'000'000},
                      {"cells", "cells per block", &p->cells, 1, 100'000'000},
                      {"grain-ns",
                       "what each task takes beside its cells, in nanoseconds, and then all that it costs on "
                       "a modelled machine",
                       &p->grain_ns, 0, 1'000'000'000},
                      {"laid",
                       "1: on a modelled machine the blocks lie on its memory nodes in order, as many on each; 0: with "
                       "who uses them first",
                       &p->laid, 0, 1}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
