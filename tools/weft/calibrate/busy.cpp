// See busy.hpp. Alone and together are measured in turns, so that a clock that drifts slows both alike.
#include "busy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "memory.hpp"

namespace weft::tool::calibrate {

namespace {

constexpr std::uint64_t rounds = 50'000;
constexpr double settle_ns = 500'000;  // a clock that is lowered takes a while to be
constexpr std::size_t passes = 15;     // of which the median counts: a core may be taken away for one of them

// The compiler makes the widest instructions of it that the function around it may use.
using lanes = double __attribute__((vector_size(64)));
[[gnu::always_inline]] inline void multiply_and_add(std::uint64_t n) noexcept {
  std::array<lanes, 8> x{};  // as many as begin before the first has ended
  const lanes factor = lanes{} + 0.5;
  const lanes more = lanes{} + 1.0;
  for (; n > 0; --n)
    for (lanes& v : x) v = v * factor + more;
  keep(&x);
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void multiply_and_add_512(std::uint64_t n) noexcept { multiply_and_add(n); }
[[gnu::target("avx2,fma")]] void multiply_and_add_256(std::uint64_t n) noexcept { multiply_and_add(n); }
#endif
void multiply_and_add_plain(std::uint64_t n) noexcept { multiply_and_add(n); }

using vector_work = void (*)(std::uint64_t) noexcept;
vector_work widest() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return multiply_and_add_512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return multiply_and_add_256;
#endif
  return multiply_and_add_plain;
}

double median_ns(const chore& work) {
  std::array<double, passes> ns;
  for (double& one : ns) {
    const double start = now_ns();
    work();
    one = now_ns() - start;
  }
  std::nth_element(ns.begin(), ns.begin() + passes / 2, ns.end());
  return ns[passes / 2];
}

}  // namespace

chore compute_loop() {
  return [] {
    std::uint64_t a = 1, b = 2, c = 3, d = 4;
    for (std::uint64_t n = rounds; n > 0; --n) {
      a = a * 5 + 1, b = b * 5 + 1, c = c * 5 + 1, d = d * 5 + 1;
      asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    }
  };
}

chore vector_loop() {
  return [work = widest()] { work(rounds / 4); };
}

chore stream_loop(std::size_t bytes) {
  const std::size_t times = 1 + (std::size_t{1} << 20) / bytes;  // a small block is through in no time
  return [where = std::make_shared<block>(bytes), times] {
    for (std::size_t i = 0; i < times; ++i) stream(*where);
  };
}

summary speed_while_all(const effort& e, const std::vector<unsigned>& cpus, const std::function<chore()>& make) {
  std::vector<chore> chores(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) on_core(cpus[i], [&] { chores[i] = make(); });
  const std::vector<unsigned> others(cpus.begin() + 1, cpus.end());
  summary found;
  on_core(cpus[0], [&] {
    found = repeat(e, [&] {
      const double alone = median_ns(chores[0]);
      const company all(others, [&](std::size_t i) { chores[i + 1](); });
      const double settled = now_ns() + settle_ns;
      while (now_ns() < settled) chores[0]();
      return alone / median_ns(chores[0]);
    });
  });
  return found;
}

}  // namespace weft::tool::calibrate
