#include "sha1.hpp"

#include <bit>
#include <cassert>

namespace weft::apps::tao {

namespace {

using word = std::uint32_t;

// §5.1.1: a one behind the message, zeros, and the length in bits as the last two words. The other 64 are §6.1.2's
// step 1.
std::array<word, 80> schedule(std::span<const word> message) noexcept {
  std::array<word, 80> w{};
  std::size_t t = 0;
  for (const word x : message) w[t++] = x;
  w[t] = 0x80000000u;
  w[15] = static_cast<word>(message.size() * 32);
  for (t = 16; t < 80; ++t) w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  return w;
}

// §6.1.2, step 3: twenty rounds with one function and one constant.
template <class Function>
sha1_words rounds(const sha1_words& before, const word* w, word constant, Function f) noexcept {
  auto [a, b, c, d, e] = before;
  for (int t = 0; t < 20; ++t) {
    const word next = std::rotl(a, 5) + f(b, c, d) + e + constant + w[t];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  return {a, b, c, d, e};
}

// §4.1.1
constexpr auto choose = [](word x, word y, word z) { return (x & y) ^ (~x & z); };
constexpr auto parity = [](word x, word y, word z) { return x ^ y ^ z; };
constexpr auto majority = [](word x, word y, word z) { return (x & y) ^ (x & z) ^ (y & z); };

}  // namespace

sha1_words sha1(std::span<const word> message) noexcept {
  assert(message.size() <= sha1_words_max);
  constexpr sha1_words first = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};  // §5.3.1
  const std::array<word, 80> w = schedule(message);
  sha1_words s = rounds(first, &w[0], 0x5a827999u, choose);
  s = rounds(s, &w[20], 0x6ed9eba1u, parity);
  s = rounds(s, &w[40], 0x8f1bbcdcu, majority);
  s = rounds(s, &w[60], 0xca62c1d6u, parity);
  for (std::size_t i = 0; i < s.size(); ++i) s[i] += first[i];
  return s;
}

}  // namespace weft::apps::tao
