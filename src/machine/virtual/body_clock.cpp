#include "machine/virtual/body_clock.hpp"

#include <time.h>

#include <algorithm>

#include "base/assert.hpp"

namespace weft::machine {

namespace {

[[nodiscard]] std::uint64_t read(clockid_t which) noexcept {
  timespec t{};
  ::clock_gettime(which, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}
[[nodiscard]] std::uint64_t system_ns() noexcept { return read(CLOCK_MONOTONIC) + 1; }
[[nodiscard]] std::uint64_t thread_ns() noexcept { return read(CLOCK_THREAD_CPUTIME_ID); }

// Of a look at the system's clock: the least of some means over many, since a busy computer only adds.
[[nodiscard]] std::uint64_t price_of_a_look_ps() noexcept {
  constexpr unsigned rounds = 16, looks = 64;
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned r = 0; r < rounds; ++r) {
    const std::uint64_t from = system_ns();
    std::uint64_t to = from;
    for (unsigned i = 0; i < looks; ++i) to = system_ns();
    least = std::min(least, (to - from) * 1000 / looks);
  }
  return least;
}

}  // namespace

// Measured once in a process.
body_clock::body_clock() noexcept : clocks_{&system_ns, &thread_ns}, price_ps_(0) {
  static const std::uint64_t price_ps = price_of_a_look_ps();
  price_ps_ = price_ps;
}

void body_clock::ask() noexcept {
  own_ = clocks_.thread();
  asked_at_ = clocks_.system();
}

std::uint64_t body_clock::begin() noexcept {
  const std::uint64_t now = clocks_.system();
  WEFT_ASSERT(now != 0);
  if (asked_at_ != 0 && now - asked_at_ < asks_after_ns) return now;
  ask();
  return asked_at_;
}

std::uint64_t body_clock::since(std::uint64_t begin) const noexcept {
  const std::uint64_t now = clocks_.system();
  WEFT_ASSERT(begin != 0 && begin <= now);
  const std::uint64_t passed = now - begin;
  const std::uint64_t took = passed < doubtful_ns ? passed : std::min(passed, clocks_.thread() - own_);
  return std::max(took * 1000, price_ps_) - price_ps_;
}

}  // namespace weft::machine
