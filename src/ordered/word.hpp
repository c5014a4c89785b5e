// Memory as the speculative executor keeps it: words of 8 bytes that lie at multiples of 8, and of each a mask that
// says which of its bytes are meant, bit i for the byte at address + i. An access of any size is a row of these. Bytes
// outside the mask are never read or written: they may belong to somebody else.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft::speculative {

using byte_mask = std::uint8_t;
inline constexpr byte_mask whole_word = 0xff;

[[nodiscard]] constexpr byte_mask mask_of(unsigned first, unsigned bytes) noexcept {
  return static_cast<byte_mask>(((1u << bytes) - 1u) << first);
}

inline constexpr auto spread_masks = [] {
  std::array<std::uint64_t, 256> all{};
  for (unsigned mask = 0; mask < 256; ++mask)
    for (unsigned byte = 0; byte < 8; ++byte)
      if ((mask >> byte & 1u) != 0) all[mask] |= std::uint64_t{0xff} << (8 * byte);
  return all;
}();

// The bytes of `mask` from `from`, the others from `to`.
[[nodiscard]] constexpr std::uint64_t merged(std::uint64_t to, std::uint64_t from, byte_mask mask) noexcept {
  const std::uint64_t bits = spread_masks[mask];
  return (to & ~bits) | (from & bits);
}

// Which bytes of `mask` differ.
[[nodiscard]] constexpr byte_mask difference(std::uint64_t a, std::uint64_t b, byte_mask mask) noexcept {
  const std::uint64_t bits = a ^ b;
  byte_mask found = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    if ((bits >> (8 * byte) & 0xff) != 0) found = static_cast<byte_mask>(found | 1u << byte);
  return found & mask;
}

// The largest piece that lies at a multiple of its size and of which all bytes are in the mask: its first byte, size.
struct piece {
  unsigned first;
  unsigned bytes;
};
[[nodiscard]] constexpr piece first_piece(byte_mask mask) noexcept {
  WEFT_DEBUG_ASSERT(mask != 0);
  const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  unsigned bytes = 1;
  while (bytes < 8 && first % (2 * bytes) == 0 && (mask & mask_of(first, 2 * bytes)) == mask_of(first, 2 * bytes))
    bytes *= 2;
  return {first, bytes};
}

// Base memory, in the largest pieces there are: bodies of other sections may look at it meanwhile.
template <class T, base::order order> [[nodiscard]] std::uint64_t read_piece(std::uintptr_t at) noexcept {
  return base::atomic_ref<T>(*reinterpret_cast<T*>(at)).load(order);
}
template <base::order order> [[nodiscard]] std::uint64_t read_memory(std::uintptr_t word, byte_mask mask) noexcept {
  WEFT_DEBUG_ASSERT(word % 8 == 0);
  if (mask == whole_word) return read_piece<std::uint64_t, order>(word);
  std::uint64_t value = 0;
  while (mask != 0) {
    const auto [first, bytes] = first_piece(mask);
    const std::uintptr_t at = word + first;
    const std::uint64_t part = bytes == 4   ? read_piece<std::uint32_t, order>(at)
                               : bytes == 2 ? read_piece<std::uint16_t, order>(at)
                                            : read_piece<std::uint8_t, order>(at);
    value |= part << (8 * first);
    mask = static_cast<byte_mask>(mask & ~mask_of(first, bytes));
  }
  return value;
}

template <class T, base::order order> void write_piece(std::uintptr_t at, std::uint64_t value) noexcept {
  base::atomic_ref<T>(*reinterpret_cast<T*>(at)).store(static_cast<T>(value), order);
}
template <base::order order> void write_memory(std::uintptr_t word, std::uint64_t value, byte_mask mask) noexcept {
  WEFT_DEBUG_ASSERT(word % 8 == 0);
  if (mask == whole_word) return write_piece<std::uint64_t, order>(word, value);
  while (mask != 0) {
    const auto [first, bytes] = first_piece(mask);
    const std::uintptr_t at = word + first;
    const std::uint64_t part = value >> (8 * first);
    if (bytes == 4)
      write_piece<std::uint32_t, order>(at, part);
    else if (bytes == 2)
      write_piece<std::uint16_t, order>(at, part);
    else
      write_piece<std::uint8_t, order>(at, part);
    mask = static_cast<byte_mask>(mask & ~mask_of(first, bytes));
  }
}

// Calls f(word, mask, first byte in the word, bytes, bytes that came before) for each word that an access touches.
template <class F> void for_each_word(const void* address, std::size_t bytes, F&& f) {
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address);
  std::size_t done = 0;
  while (done < bytes) {
    const unsigned first = static_cast<unsigned>(at % 8);
    const std::size_t left = bytes - done;
    const unsigned here = left < 8 - first ? static_cast<unsigned>(left) : 8 - first;
    f(at - first, mask_of(first, here), first, here, done);
    at += here;
    done += here;
  }
}

}  // namespace weft::speculative
