#include "ordered/word.hpp"

#include <doctest/doctest.h>

#include <tuple>
#include <vector>

using namespace weft::speculative;

TEST_CASE("ordered, word: bytes of a mask are read and written, and no others") {
  alignas(8) std::uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto word = reinterpret_cast<std::uintptr_t>(bytes);
  for (unsigned mask = 1; mask < 256; ++mask) {
    const auto m = static_cast<byte_mask>(mask);
    const std::uint64_t read = read_memory<weft::base::relaxed>(word, m);
    for (unsigned i = 0; i < 8; ++i) CHECK((read >> (8 * i) & 0xff) == ((mask >> i & 1) != 0 ? bytes[i] : 0));
    write_memory<weft::base::relaxed>(word, 0x1817161514131211u, m);
    for (unsigned i = 0; i < 8; ++i) {
      CHECK(bytes[i] == ((mask >> i & 1) != 0 ? 0x11 + i : i + 1));
      bytes[i] = static_cast<std::uint8_t>(i + 1);
    }
  }
}
TEST_CASE("ordered, word: pieces are as large as alignment and mask allow") {
  const auto is = [](byte_mask mask, unsigned first, unsigned bytes) {
    return first_piece(mask).first == first && first_piece(mask).bytes == bytes;
  };
  CHECK(is(0xff, 0, 8));
  CHECK(is(0xf0, 4, 4));
  CHECK(is(0x3c, 2, 2));
  CHECK(is(0x0e, 1, 1));
  CHECK(is(0x7f, 0, 4));
}
TEST_CASE("ordered, word: an access of any size is a row of words") {
  alignas(8) std::uint8_t bytes[32];
  std::vector<std::tuple<std::uintptr_t, unsigned, unsigned, unsigned, std::size_t>> seen;
  for_each_word(bytes + 6, 13, [&](std::uintptr_t word, byte_mask mask, unsigned first, unsigned here, std::size_t at) {
    seen.emplace_back(word - reinterpret_cast<std::uintptr_t>(bytes), mask, first, here, at);
  });
  const decltype(seen) expected{{0, 0xc0u, 6u, 2u, 0}, {8, 0xffu, 0u, 8u, 2}, {16, 0x07u, 0u, 3u, 10}};
  CHECK(seen == expected);
}
TEST_CASE("ordered, word: difference and merge go by bytes") {
  CHECK(difference(0x0011223344556677u, 0x0011ff3344556600u, 0xff) == 0x21);
  CHECK(difference(0x0011223344556677u, 0x0011ff3344556600u, 0x0f) == 0x01);
  CHECK(merged(0x1111111111111111u, 0x2222222222222222u, 0x81) == 0x2211111111111122u);
}
