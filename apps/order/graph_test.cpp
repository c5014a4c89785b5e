// The inputs: what is asked of them, the same again for the same seed, and connected where they ought to be.
#include "graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "random.hpp"
#include "search.hpp"

namespace weft::apps::order {

namespace {

bool same(const graph& a, const graph& b) {
  const auto equal = [](const arc& x, const arc& y) { return x.to == y.to && x.length == y.length; };
  return a.first == b.first && std::ranges::equal(a.arcs, b.arcs, equal);
}

// Each arc has one back of the same length.
bool is_both_ways(const graph& g) {
  std::multiset<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> there, back;
  for (std::uint64_t n = 0; n < g.nodes(); ++n)
    for (const arc& a : g.arcs_of(n)) there.emplace(n, a.to, a.length), back.emplace(a.to, n, a.length);
  return there == back;
}

std::size_t reached(const graph& g) {
  return g.nodes() - static_cast<std::size_t>(std::ranges::count(levels_from(g, 0), unreached));
}

}  // namespace

TEST_CASE("order, graphs: random numbers are those of the seed") {
  random_numbers a(5), b(5), c(6);
  const std::uint64_t first = a.next();
  CHECK(first == b.next());
  CHECK(first != c.next());
  std::vector<int> seen(10);
  for (int i = 0; i < 1000; ++i) ++seen[a.between(3, 12) - 3];
  CHECK(std::ranges::min(seen) > 50);
  std::vector<int> all(100);
  std::iota(all.begin(), all.end(), 0);
  std::vector<int> shuffled = all;
  a.shuffle(shuffled);
  CHECK(shuffled != all);
  std::ranges::sort(shuffled);
  CHECK(shuffled == all);
}

TEST_CASE("order, graphs: a wall of bricks has degree 3 inside, and levels as wide as the wall") {
  const graph g = brick_wall(40, 21);
  CHECK(g.nodes() == 840);
  CHECK(is_both_ways(g));
  CHECK(reached(g) == 840);
  for (std::uint64_t n = 0; n < g.nodes(); ++n) {
    const bool is_inside = n % 40 != 0 && n % 40 != 39 && n / 40 != 0 && n / 40 != 20;
    CHECK(g.arcs_of(n).size() <= 3);
    if (is_inside) CHECK(g.arcs_of(n).size() == 3);
  }
  const std::vector<std::uint64_t> levels = levels_from(g, middle_of(40, 21));
  CHECK(std::ranges::max(levels) == 30);  // half the width and half the height
  CHECK(brick_wall(1, 1).arcs.empty());
}

TEST_CASE("order, graphs: the same graph with other numbers has the same distances") {
  const graph g = roads({.width = 12, .height = 9, .seed = 3});
  std::vector<std::uint64_t> number(g.nodes());
  std::iota(number.begin(), number.end(), 0u);
  random_numbers(7).shuffle(number);
  const std::vector<std::uint64_t> before = distances_from(g, 5),
                                   after = distances_from(renumbered(g, number), number[5]);
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(before[i] == after[number[i]]);
}

TEST_CASE("order, graphs: roads are connected, have the degree asked for, and no shorter way than the straight line") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const road_map m{.width = 60, .height = 40, .rivers = 2, .bridges = 2, .seed = seed};
    const graph g = roads(m);
    CAPTURE(seed);
    CHECK(same(g, roads(m)));
    CHECK(is_both_ways(g));
    CHECK(reached(g) == g.nodes());
    const double degree = static_cast<double>(g.arcs.size()) / static_cast<double>(g.nodes());
    CHECK(degree == doctest::Approx(2.44).epsilon(0.02));
    for (std::uint64_t n = 0; n < g.nodes(); ++n)
      for (const arc& a : g.arcs_of(n)) CHECK(a.length > straight_line(g.places[n], g.places[a.to]));
  }
  CHECK(!same(roads({.width = 20, .height = 20, .seed = 1}), roads({.width = 20, .height = 20, .seed = 2})));
}

TEST_CASE("order, graphs: straight lines are as long as on a globe") {
  const place berlin{52.5200, 13.4050}, munich{48.1351, 11.5820};
  CHECK(static_cast<double>(straight_line(berlin, munich)) == doctest::Approx(5'044'000).epsilon(0.002));
  CHECK(straight_line(berlin, berlin) == 0);
  CHECK(straight_line(berlin, munich) == straight_line(munich, berlin));
}

TEST_CASE("order, graphs: a Kronecker graph has no loops and no doubles, and hubs") {
  const std::vector<edge> edges = kronecker(10, 20'000, 50, 4);
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::vector<std::size_t> degree(1024);
  for (const edge& e : edges) {
    CHECK(e.a != e.b);
    CHECK((e.a < 1024 && e.b < 1024));
    CHECK((e.length >= 1 && e.length <= 50));
    CHECK(seen.insert({std::min(e.a, e.b), std::max(e.a, e.b)}).second);
    ++degree[e.a], ++degree[e.b];
  }
  CHECK(edges.size() > 10'000);
  CHECK(edges.size() < 20'000);
  CHECK(std::ranges::max(degree) > 10 * 2 * edges.size() / 1024);
}

TEST_CASE("order, graphs: a Kronecker multigraph has every draw, each pair once and as long as it was drawn often") {
  const std::size_t drawn = 20'000;
  const std::vector<edge> edges = kronecker_multigraph(10, drawn, 4), again = kronecker_multigraph(10, drawn, 4);
  const auto ends = [](const edge& e) { return std::pair(e.a, e.b); };
  CHECK(std::ranges::is_sorted(edges, {}, ends));
  CHECK(std::ranges::adjacent_find(edges, {}, ends) == edges.end());
  std::uint64_t all = 0;
  for (const edge& e : edges) {
    CHECK(e.a < e.b);
    all += e.length;
  }
  // Loops are R-MAT's: both ends take the same turn at all ten bits, which has a chance of 0.62.
  const double loops = 20'000 * std::pow(0.62, 10);
  CHECK(static_cast<double>(drawn - all) == doctest::Approx(loops).epsilon(0.3));
  CHECK(std::ranges::max(edges, {}, &edge::length).length > 5);
  CHECK(std::ranges::count(edges, 1u, &edge::length) > static_cast<std::ptrdiff_t>(edges.size() / 2));
  CHECK(std::ranges::equal(edges, again, {}, ends, ends));
  const std::vector<edge> random = kronecker(10, drawn, 50, 4);  // the same pairs
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (const edge& e : random) pairs.insert(ends(e));
  CHECK(pairs.size() == edges.size());
  for (const edge& e : edges) CHECK(pairs.contains(ends(e)));
}

}  // namespace weft::apps::order
