// Random numbers of the inputs: the same on every computer and with every library, which the standard's distributions
// are not.
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::apps::order {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) noexcept : state_(seed) {}
  // The finalizer of MurmurHash3 over a counter.
  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // 0 to n - 1; the bias is below n / 2^64.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept {
    return static_cast<std::uint64_t>((static_cast<wide>(next()) * n) >> 64);
  }
  [[nodiscard]] std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept {
    return low + below(high - low + 1);
  }
  [[nodiscard]] double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <class T> void shuffle(std::vector<T>& v) noexcept {
    for (std::size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[below(i)]);
  }

 private:
  __extension__ using wide = unsigned __int128;
  std::uint64_t state_;
};

}  // namespace weft::apps::order
