// A small generator with a seed of its own per user, so that no draw depends on another worker's draws (splitmix64).
#pragma once
#include <cstdint>

namespace weft::base {

class random {
 public:
  explicit random(std::uint64_t seed) noexcept : state_(seed) {}

  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, n), n > 0. The bias of the multiplication is below n / 2^32.
  [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace weft::base
