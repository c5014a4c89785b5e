#include "lab/swarm/signature.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

using weft::swarm::h3;
using weft::swarm::line;
using weft::swarm::signatures;

TEST_CASE("swarm signature: never denies a line it has, and claims others as often as computed") {
  struct shape {
    std::uint32_t bits, ways, lines;
  };
  for (const shape s : {shape{2048, 8, 200}, {512, 4, 60}, {256, 2, 40}, {64, 1, 20}}) {
    const std::uint32_t columns = s.bits / s.ways;
    const h3 hash(columns);
    signatures all(s.ways, columns, 64);
    weft::base::random draw(s.bits);
    std::uint64_t claimed = 0;
    std::uint64_t asked = 0;
    for (std::uint32_t slot = 0; slot < 64; ++slot) {
      std::set<line> in;
      while (in.size() < s.lines) in.insert(static_cast<line>(draw.next()));
      for (const line l : in) all.insert(slot, hash(l));
      for (const line l : in) REQUIRE((all.matches(0, hash(l)) >> slot & 1) == 1);
    }
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t m = all.matches(0, hash(static_cast<line>(draw.next())));
      claimed += static_cast<unsigned>(std::popcount(m));
      asked += 64;
    }
    const double set = 1 - std::pow(1 - 1.0 / columns, s.lines);
    const double expected = std::pow(set, s.ways);
    const double found = static_cast<double>(claimed) / static_cast<double>(asked);
    CAPTURE(s.bits);
    CHECK(found > expected * 0.7);
    CHECK(found < expected * 1.3 + 1e-4);
  }
}

TEST_CASE("swarm signature: a slot is cleared by its lines, and growing keeps the rest") {
  const h3 hash(256);
  signatures s(8, 256, 64);
  for (line l = 0; l < 30; ++l) s.insert(l % 2 == 0 ? 5 : 63, hash(l));
  s.grow(200);
  CHECK(s.words() == 4);
  s.insert(150, hash(4));
  for (line l = 0; l < 30; l += 2) s.erase(5, hash(l));
  for (line l = 0; l < 30; ++l) CHECK((s.matches(0, hash(l)) >> 5 & 1) == 0);
  for (line l = 1; l < 30; l += 2) CHECK((s.matches(0, hash(l)) >> 63 & 1) == 1);
  CHECK((s.matches(2, hash(4)) >> (150 - 128) & 1) == 1);
  for (std::uint32_t word = 0; word < 4; ++word) s.erase(150, hash(4));
  CHECK(s.matches(2, hash(4)) == 0);
}
