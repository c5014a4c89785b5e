// Greedy loops by reservations: the serial result, in the same rounds, for every number of workers on both machines.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "../everywhere.hpp"
#include "base/random.hpp"
#include "quick.hpp"
#include "weft/weft.hpp"

namespace {

using weft::ordered_for_counts;
using weft::reservation;
using ends = std::array<std::uint32_t, 2>;

std::vector<ends> random_edges(std::uint32_t nodes, std::size_t n, std::uint64_t seed) {
  weft::base::random rng(seed);
  std::vector<ends> edges(n);
  for (ends& e : edges)
    for (std::uint32_t& v : e) v = static_cast<std::uint32_t>(std::min(rng.below(nodes), rng.below(nodes)));
  return edges;
}

std::uint32_t root(const std::vector<std::uint32_t>& parent, std::uint32_t v) {
  while (parent[v] != v) v = parent[v];
  return v;
}

// Kruskal's: edges in the order of their weight, and which of them are in the forest.
struct forest {
  std::vector<std::uint32_t> parent;
  std::vector<char> taken;
  forest(std::uint32_t nodes, std::size_t edges) : parent(nodes), taken(edges) {
    std::iota(parent.begin(), parent.end(), 0u);
  }
};

std::vector<char> serial_forest(std::uint32_t nodes, const std::vector<ends>& edges) {
  forest f(nodes, edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::uint32_t u = root(f.parent, edges[i][0]), v = root(f.parent, edges[i][1]);
    if (u == v) continue;
    f.parent[u] = v;
    f.taken[i] = 1;
  }
  return f.taken;
}

// A root is linked by whoever has it alone, so one of the two is enough.
std::vector<char> reserved_forest(std::uint32_t nodes, const std::vector<ends>& edges, ordered_for_counts& counts) {
  forest f(nodes, edges.size());
  std::vector<reservation> place(nodes);
  std::vector<ends> roots(edges.size());
  counts = weft::ordered_for(
      0, edges.size(),
      [&](std::uint64_t i) {
        roots[i] = {root(f.parent, edges[i][0]), root(f.parent, edges[i][1])};
        if (roots[i][0] == roots[i][1]) return false;
        for (const std::uint32_t v : roots[i]) place[v].reserve(i);
        return true;
      },
      [&](std::uint64_t i) {
        auto [u, v] = roots[i];
        if (place[u].holds(i) && place[v].release(i))
          place[u].release(i);
        else if (place[v].release(i))
          std::swap(u, v);
        else if (!place[u].release(i))
          return false;
        f.parent[u] = v;
        f.taken[i] = 1;
        return true;
      },
      {.round = 64, .least = 16});
  return f.taken;
}

struct graph {
  std::vector<std::vector<std::uint32_t>> beside;
  graph(std::uint32_t nodes, const std::vector<ends>& edges) : beside(nodes) {
    for (const auto& [u, v] : edges)
      if (u != v) beside[u].push_back(v), beside[v].push_back(u);
  }
};

// The smallest colour, above 0, that no neighbour has.
unsigned free_colour(const graph& g, const std::vector<unsigned>& colour, std::uint64_t v) {
  std::vector<char> used(g.beside[v].size() + 2);
  for (const std::uint32_t u : g.beside[v])
    if (colour[u] < used.size()) used[colour[u]] = 1;
  return static_cast<unsigned>(std::find(used.begin() + 1, used.end(), 0) - used.begin());
}

std::vector<unsigned> reserved_colours(const graph& g, ordered_for_counts& counts) {
  std::vector<unsigned> colour(g.beside.size());
  std::vector<reservation> place(g.beside.size());
  counts = weft::ordered_for(
      0, g.beside.size(),
      [&](std::uint64_t v) {
        place[v].reserve(v);
        for (const std::uint32_t u : g.beside[v])
          if (u > v) place[u].reserve(v);
        return true;
      },
      [&](std::uint64_t v) {
        const bool first = place[v].holds(v);
        if (first) colour[v] = free_colour(g, colour, v);
        for (const std::uint32_t u : g.beside[v])
          if (u > v) place[u].release(v);
        place[v].release(v);
        return first;
      },
      {.round = 32, .least = 8});
  return colour;
}

bool same(const ordered_for_counts& a, const ordered_for_counts& b) {
  return a.rounds == b.rounds && a.tries == b.tries;
}

}  // namespace

TEST_CASE("ordered_for: Kruskal's forest and a greedy colouring are the serial ones, in the same rounds everywhere") {
  constexpr std::uint32_t nodes = 300;
  const std::vector<ends> edges = random_edges(nodes, 2000, 7);
  const std::vector<char> forest = serial_forest(nodes, edges);
  const graph g(nodes, edges);
  std::vector<unsigned> colours(nodes);
  for (std::uint32_t v = 0; v < nodes; ++v) colours[v] = free_colour(g, colours, v);

  ordered_for_counts first_forest, first_colours;
  CHECK(reserved_forest(nodes, edges, first_forest) == forest);
  CHECK(reserved_colours(g, first_colours) == colours);
  CHECK((first_forest.tries > edges.size() && first_forest.rounds > 10 && first_colours.tries > nodes));
  everywhere_inline([&](weft::runtime&) {
    ordered_for_counts of_forest, of_colours;
    CHECK(reserved_forest(nodes, edges, of_forest) == forest);
    CHECK(reserved_colours(g, of_colours) == colours);
    CHECK((same(of_forest, first_forest) && same(of_colours, first_colours)));
  });
}

TEST_CASE("ordered_for: large, with more workers than cores, and inside a task") {
  const std::uint32_t nodes = brief ? 4'000 : 20'000;
  const std::vector<ends> edges = random_edges(nodes, std::size_t{5} * nodes, 3);
  const std::vector<char> forest = serial_forest(nodes, edges);
  for (const unsigned workers : {1u, 2u, 4u, 9u, 16u}) {
    weft::runtime rt({.workers = workers});
    ordered_for_counts counts;
    CHECK(reserved_forest(nodes, edges, counts) == forest);
    std::vector<char> inside;
    rt.submit([&] { inside = reserved_forest(nodes, edges, counts); });
    rt.wait();
    CHECK(inside == forest);
  }
}

TEST_CASE("ordered_for: rounds grow where nothing is in vain and shrink where all want one place") {
  weft::runtime rt({.workers = 2});
  const auto yes = [](std::uint64_t) { return true; };
  std::vector<char> ran(100'000);
  const ordered_for_counts apart =
      weft::ordered_for(0, ran.size(), yes, [&](std::uint64_t i) { return ++ran[i] == 1; });
  CHECK((apart.tries == ran.size() && apart.rounds == 7));  // of 1024, 2048 and so on
  CHECK(std::count(ran.begin(), ran.end(), 1) == static_cast<std::ptrdiff_t>(ran.size()));

  reservation one;
  std::vector<std::uint64_t> order;
  const ordered_for_counts together = weft::ordered_for(
      10, 60, [&](std::uint64_t i) { return one.reserve(i), true; },
      [&](std::uint64_t i) {
        if (!one.release(i)) return false;
        order.push_back(i);
        return true;
      },
      {.round = 16, .least = 4});
  CHECK((order.size() == 50 && std::is_sorted(order.begin(), order.end())));
  CHECK(together.rounds == 50);
  CHECK(together.tries < 50 * 6);  // 16, and then 4 and less at a time
  CHECK(weft::ordered_for(5, 5, yes, yes).rounds == 0);
  CHECK(weft::ordered_for(6, 5, yes, yes).rounds == 0);
  CHECK(weft::ordered_for(
            0, 9, [](std::uint64_t) { return false; }, yes)
            .tries == 9);
}

TEST_CASE("ordered_for: what a body throws is thrown, and what cannot end or be meant is refused in words") {
  weft::runtime rt({.workers = 2});
  const auto yes = [](std::uint64_t) { return true; };
  const auto fails = [](std::uint64_t i) -> bool {
    if (i >= 77) throw std::runtime_error("at " + std::to_string(i));
    return true;
  };
  CHECK_THROWS_AS(weft::ordered_for(0, 100, fails, yes), std::runtime_error);
  CHECK_THROWS_AS(weft::ordered_for(0, 100, yes, fails), std::runtime_error);
  CHECK_THROWS_WITH_AS(weft::ordered_for(0, 100, yes, [](std::uint64_t i) { return i < 40; }),
                       doctest::Contains("iteration 40 of ordered_for was not done, though no earlier one was left"),
                       weft::error);
  CHECK_THROWS_WITH_AS(weft::ordered_for(0, 1, yes, yes, {.round = 8, .least = 16}),
                       doctest::Contains("begins with 8 iterations and has from 16 to"), weft::error);
  CHECK_THROWS_AS(weft::ordered_for(0, 1, yes, yes, {.round = 1, .least = 0}), weft::error);
}

TEST_CASE("ordered_for: a round with room for more iterations than memory has takes what there are") {
  weft::runtime rt({.workers = 2});
  constexpr std::uint64_t all = std::uint64_t{1} << 62;
  std::vector<int> done(100);
  const auto yes = [](std::uint64_t) { return true; };
  const auto set = [&](std::uint64_t i) { return ++done[i] == 1; };
  const auto counts = weft::ordered_for(0, done.size(), yes, set, {.round = all, .least = 1, .most = all});
  CHECK((counts.rounds == 1 && counts.tries == 100));
  CHECK(std::count(done.begin(), done.end(), 1) == 100);
  CHECK(weft::ordered_for(7, 3, yes, set, {.round = all, .least = 1, .most = all}).rounds == 0);
}
