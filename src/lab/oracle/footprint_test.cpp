#include "lab/oracle/footprint.hpp"

#include <doctest/doctest.h>

namespace weft::ordered_run {

TEST_CASE("oracle, footprint: each word once, in the order of the first touch, however many") {
  footprint f;
  for (int round = 0; round < 3; ++round) {
    CHECK(f.entries().empty());
    for (std::uint64_t w = 0; w < 1000; ++w) f.of(w * 8191).read = 1;
    for (std::uint64_t w = 0; w < 1000; w += 2) f.of(w * 8191).written |= 0x0f;
    REQUIRE(f.entries().size() == 1000);
    for (std::uint64_t w = 0; w < 1000; ++w) {
      CHECK(f.entries()[w].word == w * 8191);
      CHECK(f.entries()[w].read == 1);
      CHECK(f.entries()[w].written == (w % 2 == 0 ? 0x0f : 0));
    }
    f.clear();
  }
}

}  // namespace weft::ordered_run
