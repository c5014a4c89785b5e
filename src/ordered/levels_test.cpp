// Bodies of one timestamp at the same time: the serial result where the order among them does not matter, and waves in
// the order of a serial run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/random.hpp"
#include "crews.hpp"
#include "weft/lab/executors.hpp"  // oracle and swarm
#include "weft/weft.hpp"

namespace {

constexpr unsigned crews[] = {1, 2, 3, 4, 7, 16, 64};

// Breadth-first search: each node is visited once, by whoever comes first of its level.
struct graph {
  static constexpr std::uint32_t nowhere = ~0u;
  std::vector<std::vector<std::uint32_t>> beside;
  std::vector<std::uint32_t> level;

  graph(std::uint32_t nodes, std::size_t edges, std::uint64_t seed) : beside(nodes), level(nodes, nowhere) {
    weft::base::random rng(seed);
    for (std::size_t i = 0; i < edges; ++i) {
      const std::uint32_t u = rng.below(nodes), v = rng.below(nodes);
      beside[u].push_back(v);
      beside[v].push_back(u);
    }
  }
  static void visit(weft::ordered_context& x, std::uint64_t now, graph* g, std::uint32_t node) {
    if (!x.exchange_if(g->level[node], nowhere, static_cast<std::uint32_t>(now))) return;
    for (const std::uint32_t v : g->beside[node])
      if (x.load(g->level[v]) == nowhere) x.at(now + 1, visit, g, v);
  }
  weft::ordered_counts search(weft::runtime& rt, const char* executor) {
    level.assign(level.size(), nowhere);
    weft::ordered q(rt, {.executor = executor});
    q.at(0, visit, this, 0u);
    q.run();
    return q.counts();
  }
};

struct waves {
  std::vector<std::uint64_t> sum = std::vector<std::uint64_t>(8);
  std::uint64_t wave = 0;

  // Takes one of the places of its wave, and begins the next wave if it is the last.
  static void add(weft::ordered_context& x, std::uint64_t now, waves* w, std::uint64_t i) {
    for (std::uint64_t old = x.load(w->sum[i % 8]); !x.exchange_if(w->sum[i % 8], old, old + i);)
      old = x.load(w->sum[i % 8]);
    if (i % 100 == 7 && now < 9) x.at(now, add, w, i + 1);
    if (i % 100 == 8) x.at(now + 1, add, w, i - 1);
  }
};

}  // namespace

TEST_CASE("ordered, levels: a breadth-first search visits each node at its level, once") {
  graph g(5000, 12'000, 5);
  weft::runtime one({.workers = 1});
  g.search(one, "serial");
  const std::vector<std::uint32_t> levels = g.level;
  std::size_t reached = 0;
  for (const std::uint32_t l : levels) reached += l != graph::nowhere;
  on_each_crew(crews, [&](weft::runtime& rt) {
    const weft::ordered_counts c = g.search(rt, "levels");
    CHECK(g.level == levels);
    CHECK((c.committed == c.started && c.committed >= reached));
  });
  for (const char* executor : {"speculative", "oracle"}) {
    weft::runtime rt({.workers = 2});
    g.search(rt, executor);
    CHECK(g.level == levels);
  }
}

TEST_CASE("ordered, levels: exchanges lose nothing, and what is created for now is the next wave") {
  weft::runtime one({.workers = 1});
  const auto run = [](weft::runtime& rt, const char* executor) {
    waves w;
    weft::ordered q(rt, {.executor = executor});
    for (std::uint64_t i = 0; i < 3000; ++i) q.at(i % 3, waves::add, &w, i);
    q.run();
    return std::pair(w.sum, q.counts().committed);
  };
  const auto expected = run(one, "serial");
  CHECK(expected.second > 3000);
  on_each_crew(crews, [&](weft::runtime& rt) { CHECK(run(rt, "levels") == expected); });
}

// What is handed on is a plain number: ThreadSanitizer sees a race if a load that finds the flag has not acquired.
TEST_CASE("ordered, side by side: who finds what another body has stored sees what it had written before") {
  struct box {
    int plain = 0;
    std::uint8_t full = 0;
    int seen = -1;
  };
  constexpr std::size_t n = 2048;
  for (const char* executor : {"levels", "relaxed"})
    for (const unsigned workers : {1u, 2u, 4u, 7u}) {
      std::vector<box> boxes(n);
      weft::runtime rt({.workers = workers});
      weft::ordered q(rt, {.executor = executor});
      for (std::size_t i = 0; i < 2 * n; ++i)
        q.at(
            0,
            [](weft::ordered_context& x, std::uint64_t, box* b, bool fills) {
              if (fills) {
                b->plain = 42;
                x.store(b->full, std::uint8_t{1});
              } else if (x.load(b->full) != 0) {
                b->seen = b->plain;
              }
            },
            &boxes[i % n], i < n);
      q.run();
      CHECK(std::ranges::all_of(boxes, [](const box& b) { return b.full == 1 && (b.seen == 42 || b.seen == -1); }));
    }
}

TEST_CASE("ordered, levels: of what bodies throw the first of a wave is thrown, and later timestamps do not run") {
  on_each_crew(crews, [](weft::runtime& rt) {
    weft::ordered q(rt, {.executor = "levels"});
    std::vector<int> ran(2);
    const auto body = [&ran](weft::ordered_context& x, std::uint64_t now, std::uint64_t i) {
      if (i >= 40 && i % 2 == 0) throw std::runtime_error("call " + std::to_string(i));
      if (now == 1) x.store(ran[1], 1);
    };
    for (std::uint64_t i = 0; i < 200; ++i) q.at(0, body, i);
    q.at(1, body, std::uint64_t{1});
    CHECK_THROWS_WITH(q.run(), "call 40");
    CHECK(ran[1] == 0);
    q.run();
    CHECK(ran[1] == 0);
    weft::ordered s(rt, {.executor = "levels"});
    s.at(0, [](weft::ordered_context& x, std::uint64_t) { x.serialize(); });
    CHECK_THROWS_WITH_AS(s.run(), doctest::Contains("wants to be the oldest (serialize)"), weft::error);
  });
}

TEST_CASE("ordered, levels: parts of objects of any size, and memory that is taken and released") {
  on_each_crew(crews, [](weft::runtime& rt) {
    struct wide {
      std::uint8_t a;
      std::uint16_t b[3];
      double c[2];
    };
    std::vector<wide> objects(100);
    weft::ordered q(rt, {.executor = "levels"});
    q.for_each(std::span<wide>(objects), [](weft::ordered_context& x, wide& w) {
      auto* const copy = x.allocate<wide>();
      x.store(*copy, {1, {2, 3, 4}, {5, 6}});
      x.store(w, x.load(*copy));
      x.store(w.b[1], std::uint16_t{9});
      x.release(copy);
    });
    for (const wide& w : objects)
      CHECK((w.a == 1 && w.b[0] == 2 && w.b[1] == 9 && w.b[2] == 4 && w.c[0] == 5 && w.c[1] == 6));
  });
}
