// What a block costs, beside malloc in the same run, by turns: taken and given back by one thread, in bursts, and taken
// by one thread and given back by another. Medians.
#include "memory/pools.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

namespace weft::memory {
namespace {

using steady = std::chrono::steady_clock;

struct by_pools {
  pools& p;
  [[nodiscard]] void* take(std::size_t bytes) const { return p.take(bytes, 0); }
  void give_back(void* b, std::size_t bytes) const { p.give_back(b, bytes); }
};
struct by_malloc {
  [[nodiscard]] void* take(std::size_t bytes) const {
    void* const volatile b = std::malloc(bytes);  // or the compiler takes both away
    return b;
  }
  void give_back(void* b, std::size_t) const { std::free(b); }
};

double ns_since(steady::time_point t, std::size_t n) {
  return std::chrono::duration<double, std::nano>(steady::now() - t).count() / static_cast<double>(n);
}

// `burst` blocks are taken, each is written to once, and they are given back.
template <class Memory> double bursts(Memory m, std::size_t bytes, std::size_t burst, std::size_t n) {
  std::vector<void*> b(burst);
  const auto t = steady::now();
  for (std::size_t i = 0; i < n; i += burst) {
    for (void*& p : b) *static_cast<char*>(p = m.take(bytes)) = 1;
    for (void* p : b) m.give_back(p, bytes);
  }
  return ns_since(t, n);
}

// One thread takes rows of 256 blocks, the other gives them back.
template <class Memory> double handed_over(Memory m, std::size_t bytes, std::size_t n) {
  constexpr std::size_t row = 256;
  std::vector<void*> rows[2] = {std::vector<void*>(row), std::vector<void*>(row)};
  std::counting_semaphore<2> empty(2), full(0);
  const auto t = steady::now();
  std::jthread taker([&] {
    for (std::size_t i = 0; i < n / row; ++i) {
      empty.acquire();
      for (void*& p : rows[i % 2]) *static_cast<char*>(p = m.take(bytes)) = 1;
      full.release();
    }
  });
  for (std::size_t i = 0; i < n / row; ++i) {
    full.acquire();
    for (void* p : rows[i % 2]) m.give_back(p, bytes);
    empty.release();
  }
  return ns_since(t, n);
}

template <class Sample> void compare(const char* what, std::size_t bytes, int turns, Sample sample) {
  static address_space source;
  static pools p(1, source);
  std::vector<double> ours, theirs;
  for (int i = 0; i < turns; ++i) {
    ours.push_back(sample(by_pools{p}));
    theirs.push_back(sample(by_malloc{}));
  }
  const auto median = [](std::vector<double>& v) { return std::sort(v.begin(), v.end()), v[v.size() / 2]; };
  const double a = median(ours), b = median(theirs);
  std::printf("%-34s %8zu bytes: pools %8.1f ns, malloc %8.1f ns, ratio %.2f\n", what, bytes, a, b, a / b);
}

}  // namespace
}  // namespace weft::memory

int main(int argc, char**) {
  using namespace weft::memory;
  const bool brief = argc > 1;  // any argument: a few pairs, to count instructions
  if (brief) {
    address_space source;
    pools p(1, source);
    std::printf("%.1f ns\n", bursts(by_pools{p}, 256, 1, 1'000'000));
    return 0;
  }
  constexpr std::size_t kib = 1024;
  for (const std::size_t bytes :
       {std::size_t{64}, std::size_t{256}, 4 * kib, 32 * kib, 64 * kib, 512 * kib, 2048 * kib})
    compare("taken and given back", bytes, 15, [&](auto m) { return bursts(m, bytes, 1, 200'000); });
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{256}, 4 * kib, 64 * kib})
    compare("in bursts of 256", bytes, 15, [&](auto m) { return bursts(m, bytes, 256, 256 * 200); });
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{256}, 4 * kib, 64 * kib})
    compare("given back by another thread", bytes, 11, [&](auto m) { return handed_over(m, bytes, 256 * 200); });
}
