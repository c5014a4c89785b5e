// What pack() writes is read back as page.js does.
#include "columns.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstring>

#include "weft/error.hpp"

namespace weft::tool::report {
namespace {

std::string decode(const std::string& text) {
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    if (c == '=') break;
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits = bits << 6 | static_cast<unsigned>(std::strchr(digits, c) - digits);
    held += 6;
    if (held >= 8) out += static_cast<char>(bits >> (held -= 8) & 0xff);
  }
  return out;
}

std::vector<std::int64_t> unpack(const packed_column& c) {
  const std::string bytes = decode(c.base64);
  REQUIRE(bytes.size() == c.width * c.count);
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < c.count; ++i) {
    std::int64_t x = 0;
    for (unsigned k = 0; k < c.width; ++k)
      x |= std::int64_t{static_cast<unsigned char>(bytes[i * c.width + k])} << (8 * k);
    out.push_back(c.base + x);
  }
  return out;
}

}  // namespace

TEST_CASE("columns: known text") {
  CHECK(pack({}).base64.empty());
  CHECK(pack({7, 7, 7}).width == 0);
  CHECK(pack({10, 11, 12}).base64 == "AAEC");  // RFC 4648
  CHECK(pack({-1, 254}).base64 == "AP8=");
  CHECK(pack({0, 1, 256}).base64 == "AAABAAAB");
  CHECK(pack({0, 65535}).width == 2);
  CHECK(pack({0, 65536}).width == 4);
  CHECK(pack({-5, 0xfffffffaLL}).width == 4);
  CHECK(pack({0, 0x100000000LL}).width == 6);
}

TEST_CASE("columns: what is packed is read back") {
  CHECK(rc::check([] {
    const auto bits = *rc::gen::inRange(0, 47);
    const auto values = *rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(-(std::int64_t{1} << bits), (std::int64_t{1} << bits)));
    RC_ASSERT(unpack(pack(values)) == values);
  }));
}

TEST_CASE("columns: too far apart") {
  CHECK_THROWS_AS(static_cast<void>(pack({0, std::int64_t{1} << 48})), weft::error);
  CHECK_THROWS_AS(static_cast<void>(pack({INT64_MIN, INT64_MAX})), weft::error);
}

}  // namespace weft::tool::report
