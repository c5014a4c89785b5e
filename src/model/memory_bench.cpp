// How many touches, and how many bodies that share bandwidth, the memory model takes per second of processor time.
#include "model/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <queue>
#include <vector>

#include "base/random.hpp"

namespace weft::model {
namespace {

// 64 cores, 8 to a node; three levels.
machine big() {
  machine m;
  for (unsigned i = 0; i < 64; ++i) m.cores.push_back({{i, i / 8, i / 8}, i / 2, 0, i});
  m.apart.assign(8, std::vector<unsigned>(8, 1));
  for (unsigned n = 0; n < 8; ++n) m.apart[n][n] = 0;
  m.classes = 2;
  m.memory.caches = {{cache::shared_by::core, 32 << 10, 64},
                     {cache::shared_by::inner, 512 << 10, 32},
                     {cache::shared_by::outer, 8 << 20, 16}};
  m.memory.read_line_ps = {80'000, 140'000};
  m.memory.write_line_ps = {130'000, 160'000};
  m.lines.transfer_ps = {0, 20'000, 50'000, 100'000, 200'000};
  return m;
}

struct result {
  std::uint64_t bodies = 0, touches = 0, moves = 0, makespan_ps = 0;
};

// Every core runs a body after the other, until `bodies` have begun. `uses_of` says what body number i does.
template <class Uses> result run(const machine& d, std::uint64_t bodies, std::uint64_t compute_ps, Uses uses_of) {
  memory m(d);
  result r;
  using event = std::pair<std::uint64_t, unsigned>;
  // An event that has moved stays, and is passed over.
  std::priority_queue<event, std::vector<event>, std::greater<>> due;
  std::vector<std::uint64_t> end(d.cores.size());
  std::vector<change> changed;
  std::vector<use> uses;
  const auto begin = [&](unsigned core, std::uint64_t now) {
    if (r.bodies == bodies) return;
    uses.clear();
    uses_of(r.bodies++, uses);
    for (const use& u : uses) r.touches += (u.bytes + d.memory.chunk_bytes - 1) / d.memory.chunk_bytes;
    end[core] = m.begin(core, uses, now, compute_ps, changed);
    due.push({end[core], core});
  };
  const auto listen = [&] {
    for (const change& c : changed) due.push({end[c.core] = c.end_ps, c.core});
    r.moves += changed.size();
    changed.clear();
  };
  for (unsigned core = 0; core < d.cores.size(); ++core) begin(core, 0);
  listen();
  while (!due.empty()) {
    const auto [now, core] = due.top();
    due.pop();
    if (end[core] != now) continue;
    end[core] = ~std::uint64_t{0};
    r.makespan_ps = now;
    m.end(core, now, changed);
    begin(core, now);
    listen();
  }
  return r;
}

template <class Uses>
void measure(const char* what, const machine& d, std::uint64_t bodies, std::uint64_t compute_ps, Uses uses_of) {
  const std::clock_t began = std::clock();  // of this process, so that others on the machine do not count
  const result r = run(d, bodies, compute_ps, uses_of);
  const double s = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  std::printf("%-44s %8.3f M touches/s %8.3f M bodies/s %6.2f ends moved a body, %.3f ms modelled, %.3f s\n", what,
              static_cast<double>(r.touches) / s / 1e6, static_cast<double>(r.bodies) / s / 1e6,
              static_cast<double>(r.moves) / static_cast<double>(r.bodies), static_cast<double>(r.makespan_ps) / 1e9,
              s);
}

void small_tasks() {
  machine d = big();
  const auto few = [draw = base::random(1)](std::uint64_t, std::vector<use>& uses) mutable {
    for (int i = 0; i < 3; ++i) uses.push_back({draw.below(1000), 64, true, i == 2});
  };
  const auto many = [draw = base::random(1)](std::uint64_t, std::vector<use>& uses) mutable {
    for (int i = 0; i < 3; ++i) uses.push_back({draw.below(1'000'000), 4096, true, i == 2});
  };
  measure("small regions, 1000, no limits", d, 1'000'000, 1'000'000, few);
  measure("small regions, a million, no limits", d, 1'000'000, 1'000'000, many);
  d.memory.controller_bytes_per_ns = 20;
  d.memory.link_bytes_per_ns = {0, 6};
  measure("small regions, 1000, limits far away", d, 1'000'000, 1'000'000, few);
  measure("small regions, a million, limits near", d, 100'000, 1'000'000, many);
  d.memory.placement = memory_costs::home::interleave;
  measure("streams of 128 KiB over all nodes, limits met", d, 20'000, 0, [](std::uint64_t i, std::vector<use>& uses) {
    uses.push_back({static_cast<std::uint32_t>(i % 2000), 128 << 10, true, false});
  });
}

// Tiles of 512 KiB, 20 by 20, in the order of the loops; each core takes the next task.
void cholesky() {
  machine d = big();
  d.memory.controller_bytes_per_ns = 20;
  d.memory.link_bytes_per_ns = {0, 6};
  d.memory.placement = memory_costs::home::interleave;
  std::vector<std::vector<use>> tasks;
  const auto tile = [](unsigned i, unsigned j, bool writes) { return use{i * 20 + j, 512 << 10, true, writes}; };
  for (unsigned k = 0; k < 20; ++k) {
    tasks.push_back({tile(k, k, true)});
    for (unsigned i = k + 1; i < 20; ++i) tasks.push_back({tile(k, k, false), tile(i, k, true)});
    for (unsigned i = k + 1; i < 20; ++i)
      for (unsigned j = k + 1; j <= i; ++j) tasks.push_back({tile(i, k, false), tile(j, k, false), tile(i, j, true)});
  }
  measure("Cholesky, 20 x 20 tiles of 512 KiB", d, tasks.size(), 5'000'000'000,
          [&](std::uint64_t i, std::vector<use>& uses) { uses = tasks[i]; });
}

}  // namespace
}  // namespace weft::model

int main() {
  weft::model::small_tasks();
  weft::model::cholesky();
}
