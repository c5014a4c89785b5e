// Pages that the system moves: when it looks, what it moves, and what that costs, to the picosecond.
#include "model/page_migration.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "model/memory.hpp"

namespace weft::model {
namespace {

constexpr std::uint64_t kib = 1 << 10, us = 1'000'000;

page_costs costs(std::uint64_t page_bytes, bool migrate = true) {
  page_costs c;
  c.bytes = page_bytes, c.migrate = migrate;
  c.scan_ps = 100 * us, c.scan_most_ps = 350 * us;
  c.fault_ps = 1 * us, c.move_ps = 10 * us;
  c.copy_bytes_per_ns = 4;
  return c;
}

// Two nodes of two cores; a line takes 64 ns from the own node, 128 ns from the other, one at a time. Nothing is kept.
machine two_nodes(const page_costs& pages) {
  machine m;
  for (unsigned i = 0; i < 4; ++i) m.cores.push_back({{i, i / 2, i / 2}, i, 0, i});
  m.apart = {{0, 1}, {1, 0}};
  m.classes = 2;
  m.memory.read_line_ps = {64'000, 128'000};
  m.memory.lines_in_flight = 1;
  m.lines.transfer_ps = {0, 16'000, 32'000, 64'000, 128'000};
  m.memory.pages = pages;
  return m;
}

constexpr std::uint64_t near_ps = 256 * 64'000, far_ps = 256 * 128'000;  // of a chunk of 16 KiB

}  // namespace

TEST_CASE("page_migration: a page goes where it is touched twice in a row, and looks get rarer where it lies right") {
  page_migration m(costs(16 * kib), 16 * kib);
  CHECK(m.find(7, 20'000) == page_migration::none);
  const std::uint32_t p = m.make(7, 20'000, 0);
  CHECK(m.find(7, 16'384) == p);
  CHECK(m.find(7, 32'768) == page_migration::none);
  CHECK(m.find(8, 20'000) == page_migration::none);
  const std::uint64_t move = 10 * us + 16 * kib / 4 * 1000;
  CHECK(m.touch(p, 1, 0).alone_ps == 1 * us);   // in passing
  CHECK(m.touch(p, 1, 99 * us).alone_ps == 0);  // before the next look
  CHECK(m.touch(p, 0, 100 * us).alone_ps == 1 * us);
  CHECK(m.touch(p, 1, 300 * us).locked_ps == 0);  // the one before was of node 0
  CHECK(m.home(p) == 0);
  const page_migration::cost moved = m.touch(p, 1, 400 * us);
  CHECK(moved.locked_ps == move);
  CHECK(moved.alone_ps == move + 1 * us);
  CHECK(m.home(p) == 1);
  CHECK(m.moved() == 1);
  CHECK(m.faults() == 4);
  CHECK(m.touch(p, 1, 500 * us).alone_ps == 1 * us);  // from now on 200, then at most 350
  CHECK(m.touch(p, 1, 699 * us).alone_ps == 0);
  CHECK(m.touch(p, 1, 700 * us).alone_ps == 1 * us);
  CHECK(m.touch(p, 1, 1'049 * us).alone_ps == 0);
  CHECK(m.touch(p, 0, 1'050 * us).alone_ps == 1 * us);  // and often again
  CHECK(m.touch(p, 0, 1'150 * us).locked_ps == move);
}

TEST_CASE("page_migration: pages smaller than a chunk go together, larger ones are of several chunks") {
  page_migration small(costs(4 * kib), 16 * kib);
  CHECK(small.unit_bytes() == 16 * kib);
  const std::uint32_t p = small.make(1, 0, 0);
  CHECK(small.touch(p, 1, 0).alone_ps == 4 * us);
  CHECK(small.touch(p, 1, 100 * us).locked_ps == 4 * (10 * us + 4 * kib / 4 * 1000));
  CHECK(small.moved() == 4);
  page_migration large(costs(64 * kib), 16 * kib);
  CHECK(large.unit_bytes() == 64 * kib);
  const std::uint32_t q = large.make(1, 70'000, 0);
  CHECK(large.find(1, 64 * kib) == q);
  CHECK(large.find(1, 128 * kib - 1) == q);
  CHECK(large.find(1, 64 * kib - 1) == page_migration::none);
}

TEST_CASE("page_migration: off, pages say where data lie and cost nothing") {
  page_migration m(costs(64 * kib, false), 16 * kib);
  const std::uint32_t p = m.make(1, 0, 0);
  for (std::uint64_t t = 0; t < 10; ++t) CHECK(m.touch(p, 1, t * 1'000 * us).alone_ps == 0);
  CHECK(m.home(p) == 0);
  CHECK_FALSE(page_migration(page_costs{}, 16 * kib).is_on());
}

TEST_CASE("page_migration: a body pays for its faults and moves, and reads from its own node from then on") {
  memory m(two_nodes(costs(16 * kib)));
  std::vector<change> changed;
  const use chunk[] = {{0, 16 * kib, true, false}};
  m.place(0, {memory_placement::on_node(0), 0, 16 * kib}, 1);
  const auto runs = [&](unsigned core, std::uint64_t at) {
    const std::uint64_t end = m.begin(core, chunk, at, 0, changed);
    m.end(core, end, changed);
    CHECK(changed.empty());
    return end - at;
  };
  const std::uint64_t move = 10 * us + 16 * kib / 4 * 1000;
  CHECK(runs(2, 0) == far_ps + 1 * us);
  CHECK(runs(2, 100 * us) == far_ps + 1 * us + move);
  CHECK(runs(2, 150 * us) == near_ps);
  CHECK(runs(0, 170 * us) == far_ps);
  CHECK(m.home(0) == 1);
  CHECK(m.pages().moved() == 1);
  CHECK(m.moved().paging_ps == 2 * us + move);
  CHECK(m.kinds().local == 16 * kib);
}

TEST_CASE("page_migration: moves of several cores are one after the other") {
  page_costs slow = costs(16 * kib);
  slow.move_ps = 400 * us;
  memory m(two_nodes(slow));
  std::vector<change> changed;
  for (const std::uint32_t r : {0u, 1u}) m.place(r, {memory_placement::on_node(0), r * 16 * kib, 32 * kib}, 1);
  const use first[] = {{0, 16 * kib, true, false}}, second[] = {{1, 16 * kib, true, false}};
  for (const auto& [core, uses] : {std::pair(2u, first), std::pair(3u, second)})
    m.end(core, m.begin(core, {uses, 1}, 0, 0, changed), changed);
  const std::uint64_t began = 1'000 * us, locked = 400 * us + 16 * kib / 4 * 1000;
  changed.clear();
  CHECK(m.begin(2, first, began, 0, changed) - began == far_ps + 1 * us + locked);
  const std::uint64_t end = m.begin(3, second, began, 0, changed);
  CHECK(end - began == doctest::Approx(2.0 * static_cast<double>(locked)).epsilon(1e-6));
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].core == 2);
  CHECK(changed[0].end_ps - began == doctest::Approx(2.0 * static_cast<double>(locked)).epsilon(1e-6));
}

TEST_CASE("page_migration: chunks of one page lie together, interleaved by pages, and without pages by chunks") {
  for (const std::uint64_t page : {std::uint64_t{0}, 64 * kib}) {
    machine description = two_nodes(page == 0 ? page_costs{} : costs(page, false));
    memory m(description);
    std::vector<change> changed;
    std::vector<std::uint32_t> homes;
    for (std::uint32_t c = 0; c < 8; ++c) {
      m.place(c, {memory_placement::interleaved(), c * 16 * kib, 128 * kib}, 1);
      const use u[] = {{c, 16 * kib, true, false}};
      m.end(0, m.begin(0, u, c, 0, changed), changed);
      homes.push_back(m.home(c));
    }
    CHECK(homes == (page == 0 ? std::vector<std::uint32_t>{0, 1, 0, 1, 0, 1, 0, 1}
                              : std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  }
}

}  // namespace weft::model
