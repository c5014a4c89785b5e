// SHA-1 (FIPS 180-4, §6.1) of a message of a few 32-bit words, which is all that the tree search needs: it is the
// random generator of that benchmark, not a signature. Words go in and come out as the standard numbers them, so no
// bytes are turned round. Ours, though libraries with the processor's own instructions are five times as fast (24
// bytes, on a server of 2023: nettle 66 ns, OpenSSL 61 by functions now deprecated and 317 by SHA1(), this one 299): a
// node is to take as long on every computer, and this is what it took on TAO's, which had none (§5: ten hashes, 3 us).
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
