// Digests as any sha1sum has them: of nothing, of "abcd", of the longest message, and of the root of a tree.
#include "sha1.hpp"

#include <doctest/doctest.h>

namespace weft::apps::tao {

TEST_CASE("sha1: as others compute it") {
  CHECK(sha1({}) == sha1_words{0xda39a3eeu, 0x5e6b4b0du, 0x3255bfefu, 0x95601890u, 0xafd80709u});
  const std::uint32_t abcd[] = {0x61626364u};
  CHECK(sha1(abcd) == sha1_words{0x81fe8bfeu, 0x87576c3eu, 0xcb22426fu, 0x8e578473u, 0x82917acfu});
  const std::uint32_t longest[sha1_words_max] = {};
  CHECK(sha1(longest) == sha1_words{0x2f1050adu, 0xf64f3329u, 0x8ff0ce42u, 0x3eb86d47u, 0x28441b21u});
  const std::uint32_t root[] = {0, 0, 0, 0, 3};
  CHECK(sha1(root) == sha1_words{0x6a13dc42u, 0x41faf2fcu, 0x4785f3d8u, 0xe9464978u, 0x83370c94u});
}

}  // namespace weft::apps::tao
