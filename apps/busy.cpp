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

// Nanoseconds that `calls` bodies of so many rounds take, each. The least of several tries: whatever disturbs makes it
// longer.
double ns_per_body(std::uint64_t rounds, int calls) {
  using clock = std::chrono::steady_clock;
  constexpr int tries = 30;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < tries; ++i) {
    const auto start = clock::now();
    for (int c = 0; c < calls; ++c) work(rounds);
    best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - start).count() / calls);
  }
  return best;
}

}  // namespace

busy::busy(const runtime& rt, double ns) {
  if (std::string_view(rt.machine()) != "host" || ns <= 0) return;
  constexpr std::uint64_t long_body = 50'000;
  const double per_round = ns_per_body(long_body, 1) / static_cast<double>(long_body);
  rounds_ = static_cast<std::uint64_t>(std::llround(ns / per_round));
  // A short body is longer than its rounds: it begins, and it ends with a branch that nobody foresees.
  constexpr double short_ns = 20'000;
  if (ns > short_ns || rounds_ == 0) return;
  const double begin_and_end = ns_per_body(rounds_, 16) - static_cast<double>(rounds_) * per_round;
  rounds_ = static_cast<std::uint64_t>(std::llround(std::max(0.0, ns - begin_and_end) / per_round));
}

void busy::operator()() const noexcept { work(rounds_); }

}  // namespace weft::apps
