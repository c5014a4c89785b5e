// Caches against a slow reference: lists that are searched, by the same rules in other words.
#include "model/caches.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace weft::model {
namespace {

using kind = caches::source::kind;

// Four cores; two share a second level, all share a third.
machine four(std::uint64_t first, std::uint64_t second, std::uint64_t third) {
  machine m;
  for (unsigned i = 0; i < 4; ++i) m.cores.push_back({{i, 7, 0}, 10 + i / 2, 0, i});
  m.memory.caches = {
      {cache::shared_by::core, first, 0}, {cache::shared_by::inner, second, 0}, {cache::shared_by::outer, third, 0}};
  return m;
}

machine one_level(std::uint64_t bytes) {
  machine m;
  m.cores.push_back({{0, 0, 0}, 0, 0, 0});
  m.memory.caches = {{cache::shared_by::core, bytes, 0}};
  return m;
}

bool hit(caches& c, std::uint32_t chunk, std::uint32_t bytes = 10) {
  return c.touch(0, chunk, bytes, false).where == kind::level;
}

// A cache is a list of chunks, the newest last. Levels that two cores share are the same object.
struct reference {
  struct store {
    std::uint64_t capacity;
    std::vector<std::uint32_t> held;
  };
  std::vector<store> stores;
  std::vector<std::vector<std::size_t>> path;  // [core][level]
  std::vector<std::uint32_t> bytes;
  std::map<std::uint32_t, unsigned> owner;

  static bool holds(const store& s, std::uint32_t chunk) {
    return std::find(s.held.begin(), s.held.end(), chunk) != s.held.end();
  }
  void put(store& s, std::uint32_t chunk) {
    std::erase(s.held, chunk);
    s.held.push_back(chunk);
    const auto used = [&] {
      std::uint64_t sum = 0;
      for (const std::uint32_t c : s.held) sum += bytes[c];
      return sum;
    };
    while (used() > s.capacity) s.held.erase(s.held.begin());
  }
  caches::source touch(unsigned core, std::uint32_t chunk, bool writes) {
    const auto owned = owner.find(chunk);
    caches::source from{kind::memory, 0};
    for (unsigned l = static_cast<unsigned>(path[core].size()); l-- > 0;)
      if (holds(stores[path[core][l]], chunk)) from = {kind::level, l};
    if (owned != owner.end() && owned->second != core)
      for (std::size_t l = 0; l < path[core].size(); ++l)
        if (path[owned->second][l] != path[core][l] && holds(stores[path[owned->second][l]], chunk))
          from = {kind::core, owned->second};
    for (unsigned l = static_cast<unsigned>(path[core].size()); l-- > 0;)
      if (from.where != kind::level || l <= from.number) put(stores[path[core][l]], chunk);
    if (writes) {
      for (std::size_t s = 0; s < stores.size(); ++s)
        if (std::find(path[core].begin(), path[core].end(), s) == path[core].end()) std::erase(stores[s].held, chunk);
      owner[chunk] = core;
    } else if (owned != owner.end() && owned->second != core) {
      write_back(chunk);
    }
    std::vector<std::uint32_t> gone;
    for (const auto& [written, by] : owner)
      if (std::none_of(stores.begin(), stores.end(), [w = written](const store& s) { return holds(s, w); }))
        gone.push_back(written);
    for (const std::uint32_t g : gone) write_back(g);
    return from;
  }
  void write_back(std::uint32_t chunk) {
    written_back += bytes[chunk];
    owner.erase(chunk);
  }
  std::uint64_t written_back = 0;
};

}  // namespace

TEST_CASE("caches: the chunk that was touched longest ago goes first") {
  const machine m = one_level(30);
  caches c(m);
  for (const std::uint32_t chunk : {0u, 1u, 2u}) CHECK(!hit(c, chunk));
  CHECK(hit(c, 0));   // order is now 1 2 0
  CHECK(!hit(c, 3));  // 2 0 3
  CHECK(hit(c, 2));   // 0 3 2
  CHECK(!hit(c, 1));  // 3 2 1
  CHECK(!hit(c, 0));
  CHECK(!hit(c, 3));
}

TEST_CASE("caches: what fits to the byte stays, one byte more does not") {
  const machine m = one_level(30);
  caches exact(m);
  for (int round = 0; round < 2; ++round)
    for (const std::uint32_t chunk : {0u, 1u, 2u}) CHECK(hit(exact, chunk) == (round == 1));
  caches more(m);
  for (int round = 0; round < 3; ++round) {  // in turn, with least recently used: never a hit
    CHECK(!hit(more, 0, 10));
    CHECK(!hit(more, 1, 10));
    CHECK(!hit(more, 2, 11));
  }
  caches small(m);  // small data occupy what they are
  for (std::uint32_t chunk = 0; chunk < 30; ++chunk) CHECK(!hit(small, chunk, 1));
  for (std::uint32_t chunk = 0; chunk < 30; ++chunk) CHECK(hit(small, chunk, 1));
}

TEST_CASE("caches: a chunk larger than the cache sweeps it and is not kept") {
  const machine m = one_level(30);
  caches c(m);
  hit(c, 0);
  CHECK(!hit(c, 1, 31));
  CHECK(!hit(c, 1, 31));
  CHECK(!hit(c, 0));
  CHECK(hit(c, 0));
}

TEST_CASE("caches: levels shared by core, by inner and by outer group") {
  const machine m = four(10, 20, 100);
  caches c(m);
  const auto level = [&](unsigned core) {
    const caches::source s = c.touch(core, 5, 10, false);
    return s.where == kind::level ? static_cast<int>(s.number) : -1;
  };
  CHECK(level(0) == -1);
  CHECK(level(0) == 0);
  CHECK(level(1) == 1);
  CHECK(level(3) == 2);
  CHECK(level(2) == 1);
  c.touch(0, 6, 10, false);  // out of the first level, still in the second
  CHECK(level(0) == 1);
  c.drop(5);
  CHECK(level(3) == -1);
}

TEST_CASE("caches: a level is shared if one of its caches serves two cores, whatever it is called") {
  machine m = four(10, 20, 30);
  const caches two(m);
  CHECK((!two.is_shared(0) && two.is_shared(1) && two.is_shared(2)));
  for (unsigned i = 0; i < 4; ++i) m.cores[i].inner = i;
  const caches one(m);
  CHECK((!one.is_shared(0) && !one.is_shared(1) && one.is_shared(2)));
}

TEST_CASE("caches: the owner delivers what only it has, the shared level what it has dropped") {
  const machine m = four(10, 20, 100);
  caches c(m);
  c.touch(0, 5, 10, true);
  const caches::source near = c.touch(1, 5, 10, false);
  CHECK(near.where == kind::core);
  CHECK(near.number == 0);
  CHECK(c.touch(2, 5, 10, false).where == kind::level);  // clean by now
  c.touch(0, 5, 10, true);
  for (const std::uint32_t other : {6u, 7u}) c.touch(0, other, 10, false);
  const caches::source shared = c.touch(3, 5, 10, false);
  CHECK(shared.where == kind::level);
  CHECK(shared.number == 2);
}

TEST_CASE("caches: what was written goes back once, when it leaves the last cache or others read it") {
  const machine m = four(10, 20, 100);
  caches c(m);
  auto back = [&c, before = std::uint64_t{0}]() mutable {
    return c.written_back() - std::exchange(before, c.written_back());
  };
  c.touch(0, 5, 10, true);
  c.touch(0, 5, 10, true);
  c.touch(0, 6, 10, false);  // out of the first level
  CHECK(back() == 0);
  c.touch(1, 5, 10, false);
  CHECK(back() == 10);
  c.touch(3, 5, 10, false);
  for (std::uint32_t other = 10; other < 20; ++other) c.touch(0, other, 10, false);  // out of all caches, clean
  CHECK(back() == 0);
  c.touch(0, 5, 10, true);
  c.touch(3, 5, 10, true);  // from writer to writer
  CHECK(back() == 0);
  for (std::uint32_t other = 20; other < 30; ++other) c.touch(3, other, 10, false);
  CHECK(back() == 10);
  c.touch(0, 5, 10, false);
  CHECK(c.touch(3, 5, 10, false).where == kind::level);  // nobody's any more
  CHECK(back() == 0);
  c.touch(0, 7, 200, true);  // fits nowhere
  CHECK(back() == 200);
  c.touch(0, 8, 10, true);
  c.drop(8);
  CHECK(back() == 0);
}

TEST_CASE("caches: no levels, no hits") {
  machine m = one_level(30);
  m.memory.caches.clear();
  caches c(m);
  for (int i = 0; i < 3; ++i) CHECK(c.touch(0, 0, 10, i == 1).where == kind::memory);
}

TEST_CASE("caches: as the reference, for any touches") {
  CHECK(rc::check("caches as reference", [] {
    const auto size = [] { return static_cast<std::uint64_t>(*rc::gen::inRange(0, 60)); };
    const machine m = four(size(), size(), size());
    caches c(m);
    reference r;
    for (int i = 0; i < 4; ++i) r.stores.push_back({m.memory.caches[0].bytes, {}});
    for (int i = 0; i < 2; ++i) r.stores.push_back({m.memory.caches[1].bytes, {}});
    r.stores.push_back({m.memory.caches[2].bytes, {}});
    for (std::size_t core = 0; core < 4; ++core) r.path.push_back({core, 4 + core / 2, 6});
    r.bytes = *rc::gen::container<std::vector<std::uint32_t>>(24, rc::gen::inRange<std::uint32_t>(1, 20));
    const auto touches = *rc::gen::container<std::vector<std::tuple<unsigned, std::uint32_t, bool>>>(
        200, rc::gen::tuple(rc::gen::inRange(0u, 4u), rc::gen::inRange(0u, 24u),
                            rc::gen::map(rc::gen::inRange(0, 4), [](int x) { return x == 0; })));
    for (const auto& [core, chunk, writes] : touches) {
      const caches::source expected = r.touch(core, chunk, writes);
      const caches::source got = c.touch(core, chunk, r.bytes[chunk], writes);
      RC_ASSERT(static_cast<int>(got.where) == static_cast<int>(expected.where));
      RC_ASSERT(got.number == expected.number);
      RC_ASSERT(c.written_back() == r.written_back);
    }
  }));
}

}  // namespace weft::model
