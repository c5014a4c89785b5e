// What a body's data costs: analytic cases, exact to the picosecond.
#include "model/memory.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdio>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace weft::model {
namespace {

constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20;

// Two nodes with two cores each, at 20 bytes per ns a controller; a line from the own node takes 64 ns, from the other
// 128 ns, and ten are under way: 10 and 5 bytes per ns for one core.
machine two_nodes() {
  machine m;
  for (unsigned i = 0; i < 4; ++i) m.cores.push_back({{i, i / 2, i / 2}, i, 0, i});
  m.apart = {{0, 1}, {1, 0}};
  m.classes = 2;
  m.memory.controller_bytes_per_ns = 20;
  m.memory.link_bytes_per_ns = {0, 8};
  m.memory.read_line_ps = {64'000, 128'000};
  m.memory.write_line_ps = {64'000, 256'000};
  m.lines.transfer_ps = {0, 16'000, 32'000, 64'000, 160'000};
  return m;
}

machine one_cache(std::uint64_t bytes, std::uint64_t chunk) {
  machine m = two_nodes();
  m.memory.chunk_bytes = chunk;
  m.memory.caches = {{cache::shared_by::core, bytes, 32}};
  return m;
}

// Runs bodies one after the other and asks for the bytes they moved.
struct runs {
  memory m;
  std::uint64_t now = 0;
  std::vector<change> changed;

  explicit runs(const machine& description) : m(description) {}

  std::uint64_t operator()(unsigned core, std::vector<use> uses, std::uint64_t compute_ps = 0) {
    const std::uint64_t began = now;
    now = m.begin(core, uses, now, compute_ps, changed);
    m.end(core, now, changed);
    CHECK(changed.empty());
    return now - began;
  }
  std::uint64_t read(unsigned core, std::uint32_t region, std::uint64_t bytes) {
    return operator()(core, {{region, bytes, true, false}});
  }
  std::uint64_t write(unsigned core, std::uint32_t region, std::uint64_t bytes) {
    return operator()(core, {{region, bytes, false, true}});
  }
  [[nodiscard]] std::uint64_t from_memory() const {
    return std::accumulate(m.moved().memory_bytes.begin(), m.moved().memory_bytes.end(), std::uint64_t{0});
  }
};

// Begins a body that reads one region that nobody has touched.
std::uint64_t stream(memory& m, unsigned core, std::uint32_t region, std::uint64_t bytes, std::uint64_t now,
                     std::vector<change>& changed) {
  const use u{region, bytes, true, false};
  return m.begin(core, {&u, 1}, now, 0, changed);
}

}  // namespace

TEST_CASE("memory: one stream goes at what its core can take, or the controller gives") {
  runs run(two_nodes());
  CHECK(run.read(0, 0, 1'000'000) == 100'000'000);  // 10 bytes per ns
  machine slow = two_nodes();
  slow.memory.controller_bytes_per_ns = 4;
  runs slower(slow);
  CHECK(slower.read(0, 0, 1'000'000) == 250'000'000);
  CHECK(slower.m.moved().latency_ps == 100'000'000);
  CHECK(slower.m.moved().bandwidth_ps == 150'000'000);
}

TEST_CASE("memory: remote latency, reads and writes apart") {
  runs run(two_nodes());
  CHECK(run.write(0, 0, 64'000) == 6'400'000);   // first touch: home is node 0
  CHECK(run.read(2, 0, 64'000) == 12'800'000);   // 128 ns a line
  CHECK(run.write(2, 0, 64'000) == 25'600'000);  // 256 ns a line
  CHECK(run.m.home(0) == 0);
  CHECK(run.m.moved().memory_bytes == std::vector<std::uint64_t>{64'000, 128'000});
  CHECK(run.m.moved().node_bytes == std::vector<std::uint64_t>{192'000, 0});
}

TEST_CASE("memory: a link can be narrower than what the latency allows") {
  machine m = two_nodes();
  m.memory.link_bytes_per_ns = {0, 2};
  runs run(m);
  run.write(0, 0, 64'000);
  CHECK(run.read(2, 0, 64'000) == 32'000'000);
}

TEST_CASE("memory: equal streams get equal parts, and the rest when others end") {
  machine d = two_nodes();
  d.memory.controller_bytes_per_ns = 10;
  memory m(d);
  std::vector<change> changed;
  CHECK(stream(m, 0, 0, 1'000'000, 0, changed) == 100'000'000);
  // at 50 us a second one comes: half is done, the rest takes twice as long
  CHECK(stream(m, 1, 1, 1'000'000, 50'000'000, changed) == 250'000'000);
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].core == 0);
  CHECK(changed[0].end_ps == 150'000'000);
  changed.clear();
  // at 150 us the first ends; the second has half left and all of the controller
  m.end(0, 150'000'000, changed);
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].core == 1);
  CHECK(changed[0].end_ps == 200'000'000);
  m.end(1, 200'000'000, changed);
  CHECK(m.controller(0, 200'000'000).busy_ps == 200'000'000);
  CHECK(m.controller(0, 200'000'000).full_ps == 200'000'000);
  CHECK(m.controller(1, 200'000'000).busy_ps == 0);
  CHECK(m.moved().bodies_ps == 300'000'000);
  CHECK(m.moved().latency_ps == 200'000'000);
  CHECK(m.moved().bandwidth_ps == 100'000'000);
}

TEST_CASE("memory: streams of two nodes do not meet") {
  machine d = two_nodes();
  d.memory.controller_bytes_per_ns = 10;
  memory m(d);
  std::vector<change> changed;
  CHECK(stream(m, 0, 0, 1'000'000, 0, changed) == 100'000'000);
  CHECK(stream(m, 2, 1, 1'000'000, 0, changed) == 100'000'000);
  CHECK(changed.empty());
}

TEST_CASE("memory: computing and moving overlap; a body that computes slowly draws slowly") {
  runs run(two_nodes());
  CHECK(run(0, {{0, 1'000'000, true, false}}, 70'000'000) == 100'000'000);
  CHECK(run(0, {{1, 1'000'000, true, false}}, 130'000'000) == 130'000'000);
  CHECK(run(0, {}, 5'000) == 5'000);
  CHECK(run(0, {}, 0) == 0);
  CHECK(run(0, {{2, 0, true, true}}, 7) == 7);
  machine d = two_nodes();
  d.memory.controller_bytes_per_ns = 10;
  memory m(d);
  std::vector<change> changed;
  const use a{0, 1'000'000, true, false};
  CHECK(m.begin(0, {&a, 1}, 0, 400'000'000, changed) == 400'000'000);  // 2.5 bytes per ns
  CHECK(stream(m, 1, 1, 1'500'000, 0, changed) == 200'000'000);        // 7.5 are left
  CHECK(changed.empty());
}

TEST_CASE("memory: pace lost to others is not caught up") {
  machine d = two_nodes();
  d.memory.controller_bytes_per_ns = 10;
  memory m(d);
  std::vector<change> changed;
  const use a{0, 4'000'000, true, false};
  CHECK(m.begin(0, {&a, 1}, 0, 400'000'000, changed) == 400'000'000);
  CHECK(stream(m, 1, 1, 1'000'000, 0, changed) == 200'000'000);
  changed.clear();
  m.end(1, 200'000'000, changed);
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].end_ps == 500'000'000);  // a quarter is done; the rest computes for 300 us
}

TEST_CASE("memory: data on two nodes has both controllers, but one core's lines in flight") {
  machine d = two_nodes();
  d.memory.placement = memory_costs::home::interleave;
  d.memory.chunk_bytes = 1000;
  d.memory.link_bytes_per_ns.clear();
  runs latency(d);
  CHECK(latency.read(0, 0, 64'000) == 3'200'000 + 6'400'000);  // half local, half remote, one core's lines
  d.memory.read_line_ps.clear();
  runs controllers(d);
  CHECK(controllers.read(0, 0, 64'000) == 1'600'000);  // 20 bytes per ns from each
}

TEST_CASE("memory: zero is no limit") {
  machine m = two_nodes();
  m.memory.controller_bytes_per_ns = 0;
  m.memory.link_bytes_per_ns.clear();
  runs latency(m);
  CHECK(latency.read(0, 0, 64'000) == 6'400'000);
  CHECK(latency.read(2, 0, 64'000) == 12'800'000);
  CHECK(latency.m.controller(0, latency.now).busy_ps == 0);
  m.memory.read_line_ps.clear();
  m.memory.write_line_ps.clear();
  runs nothing(m);
  CHECK(nothing.read(0, 0, mib) == 0);
  m.memory.controller_bytes_per_ns = 20;
  runs controller(m);
  CHECK(controller.read(0, 0, 2'000) == 100'000);
}

TEST_CASE("memory: without caches every touch is from memory") {
  runs run(two_nodes());
  for (int i = 0; i < 3; ++i) CHECK(run.read(0, 0, 64'000) == 6'400'000);
  CHECK(run.from_memory() == 192'000);
}

TEST_CASE("memory: the second touch is a hit") {
  runs run(one_cache(256 * kib, 16 * kib));
  CHECK(run.read(0, 0, 64'000) == 6'400'000);
  CHECK(run.read(0, 0, 64'000) == 2'000'000);  // 32 bytes per ns
  CHECK(run.read(1, 0, 64'000) == 6'400'000);  // the other core has its own
  CHECK(run.m.moved().level_bytes == std::vector<std::uint64_t>{64'000});
}

TEST_CASE("memory: a write takes the copies of the others, who then read from the writer's cache") {
  runs run(one_cache(256 * kib, 16 * kib));
  run.read(0, 0, 64'000);
  run.read(1, 0, 64'000);
  CHECK(run.write(1, 0, 64'000) == 2'000'000);  // had it
  CHECK(run.read(0, 0, 64'000) == 3'200'000);   // from core 1: no cache in common but the outer one, 32 ns a line
  CHECK(run.read(0, 0, 64'000) == 2'000'000);
  CHECK(run.read(3, 0, 64'000) == 12'800'000);  // clean since core 0 read it: from memory, across the link
  run.write(1, 0, 64'000);
  CHECK(run.read(3, 0, 64'000) == 16'000'000);  // dirty: 160 ns a line
  CHECK(run.m.moved().core_bytes == std::vector<std::uint64_t>{0, 0, 64'000, 0, 64'000});
}

TEST_CASE("memory: what was written and has left the writer's cache is in memory") {
  runs run(one_cache(16 * kib, 16 * kib));
  run.write(0, 0, 16 * kib);
  run.write(0, 1, 16 * kib);
  run.read(1, 0, 16 * kib);
  CHECK(run.m.moved().core_bytes[2] == 0);
  run.read(1, 1, 16 * kib);
  CHECK(run.m.moved().core_bytes[2] == 16 * kib);
}

TEST_CASE("memory: dirty data of another node cross the link, and no controller") {
  machine m = one_cache(256 * kib, 16 * kib);
  m.memory.link_bytes_per_ns = {0, 1};
  m.memory.controller_bytes_per_ns = 0.5;
  runs run(m);
  CHECK(run.write(0, 0, 64'000) == 128'000'000);
  CHECK(run.read(3, 0, 64'000) == 64'000'000);
  CHECK(run.m.controller(0, run.now).busy_ps == 128'000'000);
}

TEST_CASE("memory: a chunk that grows is not the one that was cached") {
  runs run(one_cache(256 * kib, 16 * kib));
  run.read(0, 0, 20'000);  // one whole chunk, and one of 3616 bytes
  run.read(0, 0, 24'000);
  CHECK(run.m.moved().level_bytes[0] == 16 * kib);
  run.read(0, 0, 20'000);  // less is a part of it
  CHECK(run.m.moved().level_bytes[0] == 16 * kib + 20'000);
}

TEST_CASE("memory: first touch puts data near who touches, interleaving spreads them") {
  machine m = two_nodes();
  m.memory.chunk_bytes = 16 * kib;
  runs touch(m);
  touch.read(3, 0, 64 * kib);
  CHECK(touch.m.moved().node_bytes == std::vector<std::uint64_t>{0, 64 * kib});
  CHECK(touch.m.home(0) == 1);
  CHECK(touch.m.home(1) == caches::none);
  touch.read(0, 0, 80 * kib);  // the region grows: the new chunk is core 0's
  CHECK(touch.m.home(0) == caches::none);
  CHECK(touch.m.moved().node_bytes == std::vector<std::uint64_t>{16 * kib, 128 * kib});
  m.memory.placement = memory_costs::home::interleave;
  runs spread(m);
  spread.read(3, 0, 64 * kib);
  CHECK(spread.m.moved().node_bytes == std::vector<std::uint64_t>{32 * kib, 32 * kib});
  spread.read(3, 1, 16 * kib);  // small regions are spread as well
  CHECK(spread.m.moved().node_bytes == std::vector<std::uint64_t>{32 * kib, 48 * kib});
}

TEST_CASE("memory: a region lies as it was placed, chunk by chunk") {
  machine m = two_nodes();
  m.memory.chunk_bytes = 16 * kib;
  using where = memory_placement;
  // Read on node 1; returns the bytes by node.
  const auto nodes = [&](const where& how, std::uint64_t offset, std::uint64_t whole, std::uint64_t bytes) {
    runs run(m);
    run.m.place(3, {how, offset, whole});
    run.read(2, 3, bytes);
    return run.m.moved().node_bytes;
  };
  using by_node = std::vector<std::uint64_t>;
  CHECK(nodes(where::first_touch(), 0, 96 * kib, 96 * kib) == by_node{0, 96 * kib});
  CHECK(nodes(where::on_node(0), 0, 96 * kib, 96 * kib) == by_node{96 * kib, 0});
  CHECK(nodes(where::interleaved(), 0, 40 * kib, 40 * kib) == by_node{24 * kib, 16 * kib});
  CHECK(nodes(where::interleaved(), 16 * kib, 96 * kib, 40 * kib) == by_node{16 * kib, 24 * kib});
  // 50 KiB are two blocks of 25; the second chunk begins in the first of them and lies there.
  CHECK(nodes(where::blocked(), 0, 50 * kib, 50 * kib) == by_node{32 * kib, 18 * kib});
  CHECK(nodes(where::blocked(), 49 * kib, 50 * kib, kib) == by_node{0, kib});
  CHECK(nodes(where::block_cyclic(32 * kib), 0, 96 * kib, 96 * kib) == by_node{64 * kib, 32 * kib});
  CHECK(nodes(where::block_cyclic(1), 0, 96 * kib, 96 * kib) ==
        by_node{96 * kib, 0});  // all chunks begin at even bytes
  // The machine's own way to place is for what nobody has placed.
  m.memory.placement = memory_costs::home::interleave;
  CHECK(nodes(where::first_touch(), 0, 96 * kib, 96 * kib) == by_node{0, 96 * kib});
}

TEST_CASE("memory: a forgotten region is touched for the first time again") {
  runs run(one_cache(256 * kib, 16 * kib));
  run.write(0, 0, 64'000);
  run.m.forget(0);
  run.m.forget(7);
  CHECK(run.m.home(0) == caches::none);
  run.read(2, 0, 64'000);
  CHECK(run.m.home(0) == 1);
  CHECK(run.from_memory() == 128'000);
}

TEST_CASE("memory: a body that ends early leaves the bandwidth to the others") {
  machine d = two_nodes();
  d.memory.controller_bytes_per_ns = 10;
  memory m(d);
  std::vector<change> changed;
  stream(m, 0, 0, 1'000'000, 0, changed);
  CHECK(stream(m, 1, 1, 1'000'000, 0, changed) == 200'000'000);
  changed.clear();
  m.end(0, 100'000'000, changed);
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].end_ps == 150'000'000);
  m.end(1, 170'000'000, changed);  // late: what it did after its data had come is not the memory's
  CHECK(m.moved().bodies_ps == 100'000'000 + 150'000'000);
}

namespace {

std::string us(std::uint64_t ps) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", static_cast<double>(ps) / 1e6);
  return text;
}

// The tests run in the root of the sources.
std::string guide_page() {
  std::ifstream file("docs/guide/28-memory-model.md");
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE_MESSAGE(file.good(), "docs/guide/28-memory-model.md: not found; run from the root of the sources");
  return text.str();
}

}  // namespace

TEST_CASE("memory: the example of the guide is what the model says") {
  const std::string page = guide_page();
  const auto says = [&page](const std::string& text) {
    CAPTURE(text);
    CHECK(page.find(text) != std::string::npos);
  };
  machine d = two_nodes();
  d.memory.caches = {{cache::shared_by::core, 256 * kib, 32}};
  d.memory.controller_bytes_per_ns = 12;
  d.memory.link_bytes_per_ns = {0, 4};
  const use first{0, 96'000, true, false}, second{1, 96'000, true, false};
  runs alone(d);
  says("is node 0, 10 bytes per ns | " + us(alone(0, {first})) + " |");
  says("from its cache, 32 bytes per ns | " + us(alone(0, {first})) + " |");
  says("the link 4 | " + us(alone(2, {first})) + " |");

  memory m(d);
  std::vector<change> changed;
  says("| 0.0 us | core 0 begins | " + us(m.begin(0, {&first, 1}, 0, 0, changed)) + " | |");
  const std::uint64_t told = m.begin(1, {&second, 1}, 4'800'000, 0, changed);
  REQUIRE(changed.size() == 1);
  const std::uint64_t end = changed[0].end_ps;
  says("| 4.8 us | core 1 begins | " + us(end) + " | " + us(told) + " |");
  changed.clear();
  m.end(0, end, changed);
  REQUIRE(changed.size() == 1);
  says("| " + us(end) + " | core 0 ends, core 1 has half of its tile left and goes at 10 again | | " +
       us(changed[0].end_ps) + " |");
  m.end(1, changed[0].end_ps, changed);
  says("Of the " + us(m.moved().bodies_ps) + " of these two bodies, " + us(m.moved().latency_ps) + " are latency and " +
       us(m.moved().bandwidth_ps) + " waiting");
  CHECK(m.moved().bodies_ps == 25'600'000);  // the page and the model do not change together unnoticed
}

namespace {

// Bodies come and go on four cores. Everything that `memory` says, in order.
std::vector<std::uint64_t> diary(std::uint64_t seed, const machine& d) {
  base::random draw(seed);
  memory m(d);
  std::vector<std::uint64_t> said;
  std::vector<change> changed;
  std::vector<bool> running(d.cores.size());
  std::uint64_t now = 0, asked = 0;
  for (int step = 0; step < 200; ++step) {
    now += draw.below(3'000'000);
    const unsigned core = draw.below(static_cast<std::uint32_t>(d.cores.size()));
    if (running[core]) {
      m.end(core, now, changed);
      if (draw.below(8) == 0) m.forget(draw.below(20));
    } else {
      std::vector<use> uses;
      for (unsigned i = draw.below(4); i > 0; --i) {
        uses.push_back({draw.below(20), draw.below(60'000), draw.below(2) == 0, draw.below(2) == 0});
        asked += uses.back().bytes;
      }
      said.push_back(m.begin(core, uses, now, draw.below(4'000'000), changed));
      RC_ASSERT(said.back() >= now);
    }
    running[core] = !running[core];
    for (const change& c : changed) {
      RC_ASSERT(running[c.core]);
      said.insert(said.end(), {c.core, c.end_ps});
    }
    changed.clear();
  }
  const traffic& t = m.moved();
  std::uint64_t moved = 0, stored = 0;
  for (const std::vector<std::uint64_t>* part : {&t.level_bytes, &t.core_bytes, &t.memory_bytes})
    moved = std::accumulate(part->begin(), part->end(), moved);
  for (const std::uint64_t bytes : t.node_bytes) stored += bytes;
  RC_ASSERT(moved == asked);
  RC_ASSERT(std::accumulate(t.memory_bytes.begin(), t.memory_bytes.end(), std::uint64_t{0}) == stored);
  RC_ASSERT(t.bodies_ps == t.computing_ps + t.latency_ps + t.bandwidth_ps);
  for (unsigned node = 0; node < 2; ++node) {
    const sharing::use_of_time use = m.controller(node, now);
    RC_ASSERT(use.full_ps <= use.busy_ps);
    RC_ASSERT(use.busy_ps <= now);
    said.insert(said.end(), {use.busy_ps, use.full_ps});
  }
  return said;
}

}  // namespace

TEST_CASE("memory: every byte has one source, and the same calls give the same answers") {
  CHECK(rc::check("conservation and determinism", [](std::uint64_t seed) {
    machine d = two_nodes();
    d.memory.chunk_bytes = *rc::gen::element<std::uint64_t>(1000, 4096, 16 * kib, mib);
    d.memory.controller_bytes_per_ns = *rc::gen::element(0.0, 3.0, 12.0);
    if (*rc::gen::arbitrary<bool>()) d.memory.placement = memory_costs::home::interleave;
    if (*rc::gen::arbitrary<bool>())
      d.memory.caches = {{cache::shared_by::core, 32 * kib, 32}, {cache::shared_by::outer, 200'000, 16}};
    RC_ASSERT(diary(seed, d) == diary(seed, d));
  }));
}

}  // namespace weft::model
