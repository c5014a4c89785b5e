// The word of a deque's shared part: where it begins, and how many tasks it has (deque.md).
#pragma once
#include <cstdint>

#include "base/limits.hpp"

namespace weft::sched {

struct shared_part {
  static constexpr unsigned size_bits = 16;
  static constexpr std::uint32_t size_max = (1u << size_bits) - 1;
  std::uint64_t top;  // modulo 2^48; its low half is the owner's index
  std::uint32_t size;

  [[nodiscard]] static shared_part of(std::uint64_t word) noexcept {
    return {word >> size_bits, static_cast<std::uint32_t>(word) & size_max};
  }
  [[nodiscard]] std::uint64_t word() const noexcept { return top << size_bits | size; }
  [[nodiscard]] shared_part without_oldest(std::uint32_t n) const noexcept { return {top + n, size - n}; }
};
// Of a whole deque, in slots, powers of two: what it begins with, and what it grows to.
struct deque_size {
  std::uint32_t first = base::deque_capacity_first;
  std::uint32_t most = base::deque_capacity_max;
};
static_assert(base::deque_capacity_max <= shared_part::size_max);  // nothing that is given is left out (deque.md)

}  // namespace weft::sched
