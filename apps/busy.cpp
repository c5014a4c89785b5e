// See busy.hpp. A chain of dependent multiplications: as long on every core of a kind, and nothing else can hide in it.
#include "busy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string_view>

namespace weft::apps {

namespace {

void work(std::uint64_t rounds) noexcept {
  std::uint64_t x = rounds;
  for (; rounds > 0; --rounds) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
}

// The least of several tries: whatever disturbs makes a round longer.
double ns_per_round() {
  using clock = std::chrono::steady_clock;
  constexpr std::uint64_t rounds = 50'000;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 40; ++i) {
    const auto start = clock::now();
    work(rounds);
    best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - start).count());
  }
  return best / static_cast<double>(rounds);
}

}  // namespace

busy::busy(const runtime& rt, double ns) {
  if (std::string_view(rt.machine()) != "host" || ns <= 0) return;
  rounds_ = static_cast<std::uint64_t>(std::llround(ns / ns_per_round()));
}

void busy::operator()() const noexcept { work(rounds_); }

}  // namespace weft::apps
