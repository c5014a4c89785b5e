#include "lab/swarm/lines.hpp"

#include <doctest/doctest.h>

#include <set>

TEST_CASE("swarm lines: pages are numbered by first use, and places within them stay") {
  weft::swarm::lines all;
  const auto at = [](std::uintptr_t a) { return reinterpret_cast<const void*>(a); };
  const weft::swarm::line own = all.fresh(3);
  const weft::swarm::line a = all.of(at(0x7f12'3456'7040));
  const weft::swarm::line b = all.of(at(0x1000'0fff));
  CHECK(own == 0);
  CHECK(a == 64 + 1);
  CHECK(b == 128 + 63);
  CHECK(all.of(at(0x7f12'3456'7000)) == 64);
  CHECK(all.of(at(0x7f12'3456'707f)) == 64 + 1);
  all.state(b).readers = 5;
  std::set<weft::swarm::line> seen;
  for (std::uintptr_t i = 0; i < 20'000; ++i) seen.insert(all.of(at(0x5000'0000'0000 + (i << 12))));
  CHECK(seen.size() == 20'000);
  CHECK(all.of(at(0x7f12'3456'7040)) == a);
  CHECK(all.of(at(0x1000'0fff)) == b);
  CHECK(all.state(b).readers == 5);
  CHECK(all.size() == (1 + 2 + 20'000) * 64);
}
