// See memory.hpp.
#include "memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <random>
#include <vector>

namespace weft::tool::calibrate {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t line = 64;
constexpr double pass_ns = 200'000;  // what is timed takes at least about so long: a clock read is nothing beside it

struct lane {
  double* a;
  const double* b;
  const double* c;
  std::size_t n;
};

lane lane_in(const block& where) noexcept {
  const std::size_t n = where.bytes() / (3 * sizeof(double)) / 8 * 8;
  double* const a = reinterpret_cast<double*>(where.begin());
  return {a, a + n, a + 2 * n, n};
}

void triad(const lane& l, std::size_t times) noexcept {
  for (std::size_t t = 0; t < times; ++t) {
    const double s = 1.0 / static_cast<double>(t + 3);
    for (std::size_t i = 0; i < l.n; ++i) l.a[i] = l.b[i] + s * l.c[i];
    keep(l.a);
  }
}

double bytes_of(const lane& l) { return 3.0 * sizeof(double) * static_cast<double>(l.n); }

// How often a small block is worked through in one sample.
std::size_t times_for(const lane& l) {
  triad(l, 2);
  const double start = now_ns();
  triad(l, 1);
  const double once = std::max(now_ns() - start, 1.0);
  return static_cast<std::size_t>(pass_ns / once) + 1;
}

}  // namespace

void block::free_block::operator()(char* p) const noexcept { std::free(p); }

block::block(std::size_t bytes)
    : bytes_(bytes),
      memory_(static_cast<char*>(std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page))) {
  if (memory_ == nullptr) throw std::bad_alloc();
  static_cast<void>(madvise(memory_.get(), bytes, MADV_HUGEPAGE));  // refused: small pages, and the latency says so
  std::memset(memory_.get(), 0, bytes);
}

summary bandwidth(const effort& e, const block& where) {
  const lane l = lane_in(where);
  const std::size_t times = times_for(l);
  return repeat(e, [&] {
    const double start = now_ns();
    triad(l, times);
    return bytes_of(l) * static_cast<double>(times) / (now_ns() - start);
  });
}

void stream(const block& where) noexcept { triad(lane_in(where), 1); }

summary bandwidth_of_all(const effort& e, const std::vector<unsigned>& cpus, std::size_t bytes_each, unsigned home) {
  std::vector<std::unique_ptr<block>> blocks;
  on_core(home, [&] {
    for (std::size_t i = 0; i < cpus.size(); ++i) blocks.push_back(std::make_unique<block>(bytes_each));
  });
  // All run for the whole time, and what they do together while the first does a few passes is a sample.
  std::vector<std::atomic<std::uint64_t>> passes(cpus.size());
  const auto one_pass = [&](std::size_t i) {
    triad(lane_in(*blocks[i]), 1);
    passes[i].fetch_add(1, std::memory_order_relaxed);
  };
  const auto all_passes = [&passes] {
    std::uint64_t sum = 0;
    for (const auto& p : passes) sum += p.load(std::memory_order_relaxed);
    return static_cast<double>(sum);
  };
  const company others({cpus.begin() + 1, cpus.end()}, [&](std::size_t i) { one_pass(i + 1); });
  summary found;
  on_core(cpus[0], [&] {
    found = repeat(e, [&] {
      constexpr unsigned passes_per_sample = 8;  // what others have half done at either end then counts little
      const double before = all_passes();
      const double start = now_ns();
      for (unsigned i = 0; i < passes_per_sample; ++i) one_pass(0);
      const double ns = now_ns() - start;
      return bytes_of(lane_in(*blocks[0])) * (all_passes() - before) / ns;
    });
  });
  return found;
}

summary line_latency(const effort& e, const block& where, bool write) {
  const std::size_t lines = where.bytes() / line;
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(1));
  struct stop {
    const stop* next;
    std::uint64_t visits;
  };
  stop* const stops = reinterpret_cast<stop*>(where.begin());
  constexpr std::size_t per_line = line / sizeof(stop);
  for (std::size_t i = 0; i < lines; ++i) stops[order[i] * per_line] = {&stops[order[(i + 1) % lines] * per_line], 0};
  constexpr std::size_t hops = 4096;
  const stop* at = stops;
  // In caches, once around before it counts.
  for (std::size_t i = 0; i < std::min(lines, hops); ++i) at = at->next;
  return repeat(e, [&] {
    const double start = now_ns();
    if (write)
      for (std::size_t i = 0; i < hops; ++i) {
        const_cast<stop*>(at)->visits = i;
        at = at->next;
      }
    else
      for (std::size_t i = 0; i < hops; ++i) at = at->next;
    keep(at);
    return (now_ns() - start) / static_cast<double>(hops);
  });
}

}  // namespace weft::tool::calibrate
