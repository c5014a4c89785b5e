#include "lab/swarm/memory.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using weft::swarm::conflict_check;
using weft::swarm::line;
using weft::swarm::memory;
using weft::swarm::virtual_time;

namespace {

struct note_checks final : conflict_check {
  std::vector<unsigned> tiles;
  answer next;
  answer check(unsigned tile, line, bool) override {
    tiles.push_back(tile);
    return next;
  }
  std::vector<unsigned> asked() { return std::exchange(tiles, {}); }
};

struct setting {
  explicit setting(const weft::swarm_options& given = {})
      : options(given), net(16, 3), caches(options, net, all, counts) {
    static_cast<void>(all.fresh(1 << 20));
  }
  weft::swarm_options options;
  weft::swarm_statistics counts;
  weft::swarm::lines all;
  weft::swarm::mesh net;
  memory caches;
  note_checks check;
  std::uint32_t access(unsigned core, std::uint64_t time, line l, bool write) {
    return caches.access({core / 4, core, virtual_time::of(time, 1, core / 4)}, l, write, &check);
  }
};

using tiles = std::vector<unsigned>;

}  // namespace

TEST_CASE("swarm memory: latencies of Table 3, level by level") {
  setting s;
  constexpr line l = 16 * 64 * 7;  // home: tile 0
  CHECK_FALSE(s.caches.hit(0, l, false));
  CHECK(s.access(0, 10, l, false) == 2 + 7 + 9 + 2 * s.net.to_memory(0, l) + 120);
  CHECK(s.caches.hit(0, l, false));
  CHECK_FALSE(s.caches.hit(0, l, true));
  CHECK(s.access(1, 20, l, false) == 2 + 7);                  // L2; the tile's check is shorter
  CHECK(s.access(4, 20, l, false) == 2 + 7 + 2 * 3 + 9 + 7);  // from the tile that had it to itself
  CHECK(s.access(0, 30, l, true) == 2 + 7 + 9 + 2 * 3 + 7);   // takes it from tile 1
  CHECK(s.caches.hit(0, l, true));
  CHECK_FALSE(s.caches.hit(1, l, false));
  CHECK_FALSE(s.caches.hit(4, l, false));
  CHECK(s.counts.checks.global == 3);
  CHECK(s.counts.checks.tile == 1);
}

TEST_CASE("swarm memory: who is asked about conflicts") {
  setting s({.canary_per_line = 1});
  s.check.next = {1, true};  // every tile may have everything
  constexpr line l = 1024;
  s.access(0, 100, l, false);
  CHECK(s.check.asked() == tiles{0});
  s.access(1, 101, l, false);  // above the canary
  CHECK(s.check.asked() == tiles{0});
  s.access(1, 99, l, false);  // below: but no other tile is marked
  CHECK(s.check.asked() == tiles{0});
  CHECK(s.counts.checks.global == 2);
  s.access(8, 200, l, true);
  CHECK(s.check.asked() == tiles{2, 0});
  s.access(12, 300, l, false);  // a reader asks tiles with writers only; E counts as one
  CHECK(s.check.asked() == tiles{3, 0, 2});
  s.check.next = {0, false};
  s.access(16, 400, l, true);  // all are asked, and, having nothing, forgotten
  CHECK(s.check.asked() == tiles{4, 0, 2, 3});
  s.access(20, 500, l, true);
  CHECK(s.check.asked() == tiles{5, 4});
}

TEST_CASE("swarm memory: marks of a tile outlive its caches") {
  setting s({.l2_kib = 1, .l2_ways = 1});
  s.check.next = {1, true};
  const std::uint32_t sets = 4 * 1024 / 64;
  s.access(0, 10, 64, true);
  s.access(0, 11, 64 + sets, false);  // throws the first out
  static_cast<void>(s.check.asked());
  s.access(4, 12, 64, false);
  CHECK(s.check.asked() == tiles{1, 0});
}

TEST_CASE("swarm memory: a canary of a set is that of its latest line") {
  for (const std::uint32_t per_line : {0u, 1u}) {
    setting s({.canary_per_line = per_line});
    const std::uint32_t sets = 64 * 4 * 1024 / 64 / 8;
    s.access(0, 10, 640, false);
    s.access(0, 90, 640 + sets, false);  // same set
    const std::uint64_t before = s.counts.checks.global;
    s.access(1, 50, 640, false);
    CHECK(s.counts.checks.global - before == 1 - per_line);
  }
}

TEST_CASE("swarm memory: a flush empties one L1") {
  setting s;
  s.access(0, 10, 64, false);
  s.access(1, 11, 64, false);
  s.caches.flush(0);
  CHECK_FALSE(s.caches.hit(0, 64, false));
  CHECK(s.caches.hit(1, 64, false));
}
