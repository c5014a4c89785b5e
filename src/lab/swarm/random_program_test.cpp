// Random programs: few cells, many tasks that read, mix and write them, and create others as what they read tells them.
// A wrong order, a lost store or a child too many shows in the cells.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "lab/swarm/chip.hpp"
#include "lab/swarm/options.hpp"
#include "ordered/one_by_one.hpp"
#include "quick.hpp"
#include "sanitized.hpp"
#include "weft/lab/swarm.hpp"
#include "weft/weft.hpp"

namespace {

struct alignas(4096) cells {
  std::uint64_t of[512] = {};
  std::uint32_t used = 64;
  std::uint32_t depth = 6;
  bool unique = true;   // timestamps
  bool blocks = false;  // take and release memory
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  a = (a ^ (a >> 30)) * 0xbf58476d1ce4e5b9u;
  return a ^ (a >> 29);
}

void step(weft::ordered_context& x, std::uint64_t now, cells* all, std::uint64_t path, std::uint32_t depth) {
  std::uint64_t value = path;
  std::uint64_t* block = nullptr;
  if (all->blocks && path % 3 == 0) {
    block = x.allocate<std::uint64_t>(1 + path % 20);
    x.store(*block, path);
  }
  for (std::uint64_t i = 0; i < 1 + path % 4; ++i) {
    value = mix(value, x.load(all->of[mix(path, i) % all->used]));
    x.work(path % 13);
  }
  for (std::uint64_t i = 0; i < path % 3; ++i) x.store(all->of[mix(path, 100 + i) % all->used], mix(value, i));
  if (block != nullptr) {
    value = mix(value, x.load(*block));
    x.release(block, 1 + path % 20);
  }
  if (depth == 0) return;
  for (std::uint64_t i = 0; i < value % 4; ++i) {
    const std::uint64_t next = mix(path, 200 + i);
    const std::uint64_t later = (now >> 40) + (all->unique ? 1 : 0) + next % 3;
    x.at(later << 40 | (all->unique ? next & 0xff'ffff'ffff : 0), step, all, next, depth - 1);
  }
}

void reset(cells& all) {
  for (std::uint64_t i = 0; i < 512; ++i) all.of[i] = i;
}

void create_roots(weft::ordered& q, cells& all, std::uint64_t seed, std::uint64_t roots) {
  for (std::uint64_t i = 0; i < roots; ++i) {
    const std::uint64_t path = mix(seed, i);
    q.at((path % 8) << 40 | (all.unique ? path & 0xff'ffff'ffff : 0), step, &all, path, all.depth);
  }
}

struct outcome {
  std::vector<std::uint64_t> state;
  std::uint64_t committed;
};

outcome run_serially(cells& all, std::uint64_t seed, std::uint64_t roots) {
  weft::runtime rt({.workers = 1});
  reset(all);
  weft::ordered q(rt, {.executor = "serial"});
  create_roots(q, all, seed, roots);
  q.run();
  return {{all.of, all.of + 512}, q.counts().committed};
}

void check_breakdown(const weft::swarm_statistics& s) {
  const auto& c = s.core_cycles;
  CHECK(c.committed + c.aborted + c.spill + c.stall + c.empty == s.cores * s.cycles);
  CHECK(s.tasks.started == s.tasks.committed + s.tasks.helpers + s.aborts.all());
}

void compare(cells& all, const weft::swarm_options& chip, std::uint64_t seed, std::uint64_t roots) {
  CAPTURE(chip.cores);
  CAPTURE(chip.task_queue);
  CAPTURE(chip.commit_queue);
  CAPTURE(chip.precise);
  CAPTURE(seed);
  const outcome expected = run_serially(all, seed, roots);
  weft::runtime rt({.workers = 1});
  reset(all);
  weft::ordered q(rt, {.executor = "swarm", .swarm = &chip});
  create_roots(q, all, seed, roots);
  q.run();
  CHECK(std::memcmp(expected.state.data(), all.of, sizeof all.of) == 0);
  CHECK(q.counts().committed == expected.committed);
  const weft::swarm_statistics& s = weft::statistics_of(q);
  check_breakdown(s);
  const std::uint64_t tile_cores = std::min(chip.cores, chip.tile_cores);
  if (chip.task_queue != 0) CHECK(s.tasks.task_queue_max <= chip.task_queue * tile_cores + 1);
  if (chip.commit_queue != 0) CHECK(s.tasks.commit_queue_max <= chip.commit_queue * tile_cores);
}

cells* const memory = new cells;

// One thread plays the chip, the same in each build.
const std::uint32_t slower = sanitized ? 4 : hurried ? 8 : 1;

}  // namespace

TEST_CASE("swarm: random programs end as serial ones do, and commit as many tasks") {
  for (const bool blocks : {false, true})
    for (const std::uint32_t used : {4u, 64u, 512u})
      for (const std::uint32_t cores : {1u, 4u, 16u, 64u}) {
        *memory = {.used = used, .blocks = blocks};
        compare(*memory, {.cores = cores, .audit = 1}, cores * 1000 + used, 40 / slower);
      }
}

TEST_CASE("swarm: random programs in tiny queues") {
  for (const std::uint32_t task_queue : {1u, 2u, 5u})
    for (const std::uint32_t commit_queue : {1u, 3u})
      for (const std::uint32_t cores : {1u, 2u, 8u, 32u}) {
        *memory = {.used = 32};
        compare(*memory,
                {.cores = cores, .task_queue = task_queue, .commit_queue = commit_queue, .children = 3, .audit = 1},
                cores + task_queue, 60 / slower);
      }
}

TEST_CASE("swarm: random programs on chips that no paper describes") {
  const weft::swarm_options chips[] = {
      {.cores = 16, .task_queue = 0, .commit_queue = 0, .audit = 1},
      {.cores = 16, .gvt_period = 1, .audit = 1},
      {.cores = 16, .gvt_period = 5000, .audit = 1},
      {.cores = 16, .bloom_bits = 16, .bloom_ways = 2, .audit = 1},
      {.cores = 16, .bloom_bits = 64, .bloom_ways = 1, .audit = 1},
      {.cores = 16, .precise = 1, .audit = 1},
      {.cores = 16, .canary_per_line = 1, .audit = 1},
      {.cores = 16, .l1_kib = 1, .l1_ways = 1, .l2_kib = 1, .l2_ways = 1, .l3_kib = 1, .l3_ways = 2, .audit = 1},
      {.cores = 16, .tile_cores = 1, .audit = 1},
      {.cores = 16, .tile_cores = 8, .task_queue = 3, .audit = 1},
      {.cores = 16, .instant_memory = 1, .audit = 1},
      {.cores = 64, .task_queue = 2, .commit_queue = 1, .task_instruction = 1, .instant_memory = 1, .audit = 1},
  };
  for (const weft::swarm_options& chip : chips)
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      *memory = {.used = seed % 2 == 0 ? 16u : 256u};
      compare(*memory, chip, seed + 500, 50 / slower);
    }
}

namespace {

struct journal {
  std::vector<weft::detail::ordered_call> calls;
  weft::swarm::virtual_time last;
  bool in_order = true;
};

struct deaf_hooks final : weft::ordered_run::one_by_one {
  void load(const void*, void*, std::size_t) override {}
  void store(void*, const void*, std::size_t) override {}
  void read_only(const void*, std::size_t) override {}
  void work(std::uint64_t) override {}
  void create(const weft::detail::ordered_call&) override {}
};

}  // namespace

// With equal timestamps the chip may choose any order, but it has to be one: that of virtual time, in which it commits.
TEST_CASE("swarm: what has equal timestamps runs as if one by one, in the order of unique virtual times") {
  for (const std::uint32_t cores : {1u, 4u, 64u})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      *memory = {.used = 24, .unique = false, .blocks = seed % 2 == 1};
      reset(*memory);
      weft::runtime rt({.workers = 1});
      const weft::swarm_options chip{.cores = cores, .audit = 1};
      weft::ordered q(rt, {.executor = "swarm", .swarm = &chip});
      journal log;
      weft::swarm::chip_of(q).committed_whom = &log;
      weft::swarm::chip_of(q).committed = [](void* whom, const weft::detail::ordered_call& call,
                                             weft::swarm::virtual_time at) {
        auto& j = *static_cast<journal*>(whom);
        j.in_order &= j.calls.empty() || j.last < at;  // and never equal
        j.last = at;
        j.calls.push_back(call);
      };
      create_roots(q, *memory, seed, 40 / slower);
      q.run();
      CHECK(log.in_order);
      CHECK(log.calls.size() == q.counts().committed);
      const std::vector<std::uint64_t> ended(memory->of, memory->of + 512);
      reset(*memory);
      deaf_hooks hooks;
      weft::ordered_context x(hooks, true);
      for (const weft::detail::ordered_call& call : log.calls) {
        x.set_timestamp(call.timestamp);
        call.run(x, call.timestamp, call.argument);
      }
      CHECK(std::memcmp(ended.data(), memory->of, sizeof memory->of) == 0);
    }
}
