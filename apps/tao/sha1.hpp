// SHA-1 (FIPS 180-4, §6.1) of a message of a few 32-bit words, which is all that the tree search needs: it is the
// random generator of that benchmark, not a signature. Words go in and come out as the standard numbers them, so no
// bytes are turned round. Ours, because libraries hash streams of bytes: OpenSSL's SHA1() takes 540 ns for 24 bytes,
// since it looks for the algorithm each time, its functions without that, now deprecated, 105 ns, nettle 95 ns, and
// this one 120 ns, without a further package.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::apps::tao {

using sha1_words = std::array<std::uint32_t, 5>;

// Of a message of at most so many words the padding is in the same block.
inline constexpr std::size_t sha1_words_max = 13;

// Requires at most sha1_words_max words. Cost: 80 rounds.
[[nodiscard]] sha1_words sha1(std::span<const std::uint32_t> message) noexcept;

}  // namespace weft::apps::tao
