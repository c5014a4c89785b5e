#include "lab/swarm/mesh.hpp"

#include <doctest/doctest.h>

TEST_CASE("swarm mesh: X-Y routes of so many cycles a hop") {
  const weft::swarm::mesh m(16, 3);
  CHECK(m.latency(0, 0) == 0);
  CHECK(m.latency(0, 1) == 3);
  CHECK(m.latency(0, 15) == 18);
  CHECK(m.latency(7, 8) == m.latency(8, 7));
  CHECK(m.worst() == 18);
  for (unsigned tile = 0; tile < 16; ++tile)
    for (std::uint32_t line = 0; line < 256; line += 64) CHECK(m.to_memory(tile, line) <= m.worst());
  const weft::swarm::mesh one(1, 3);
  CHECK(one.worst() == 0);
  CHECK(one.to_memory(0, 64) == 0);
}
