#include "graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "random.hpp"

namespace weft::apps::order {

graph graph_of(std::size_t nodes, const std::vector<edge>& edges) {
  graph g;
  g.first.assign(nodes + 1, 0);
  for (const edge& e : edges) ++g.first[e.a + 1], ++g.first[e.b + 1];
  std::partial_sum(g.first.begin(), g.first.end(), g.first.begin());
  g.arcs.resize(2 * edges.size());
  std::vector<std::uint64_t> next(g.first.begin(), g.first.end() - 1);
  for (const edge& e : edges) {
    g.arcs[next[e.a]++] = {e.b, e.length};
    g.arcs[next[e.b]++] = {e.a, e.length};
  }
  return g;
}

graph renumbered(const graph& g, const std::vector<std::uint64_t>& new_number) {
  graph out;
  const std::size_t n = g.nodes();
  out.first.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) out.first[new_number[i] + 1] = g.first[i + 1] - g.first[i];
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.arcs.resize(g.arcs.size());
  out.places.resize(g.places.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t at = out.first[new_number[i]];
    for (const arc& a : g.arcs_of(i)) out.arcs[at++] = {new_number[a.to], a.length};
    if (!g.places.empty()) out.places[new_number[i]] = g.places[i];
  }
  return out;
}

graph brick_wall(std::size_t width, std::size_t height) {
  std::vector<edge> edges;
  edges.reserve(width * height * 3 / 2);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const std::uint64_t here = y * width + x;
      if (x + 1 < width) edges.push_back({here, here + 1, 1});
      if ((x + y) % 2 == 0 && y + 1 < height) edges.push_back({here, here + width, 1});
    }
  return graph_of(width * height, edges);
}

std::uint64_t middle_of(std::size_t width, std::size_t height) noexcept { return height / 2 * width + width / 2; }

std::uint64_t straight_line(const place& a, const place& b) noexcept {
  constexpr double radius_dm = 63'710'088, radians = std::numbers::pi / 180;
  const double north = std::sin((b.latitude - a.latitude) * radians / 2);
  const double east = std::sin((b.longitude - a.longitude) * radians / 2);
  const double h = north * north + std::cos(a.latitude * radians) * std::cos(b.latitude * radians) * east * east;
  return static_cast<std::uint64_t>(2 * radius_dm * std::asin(std::min(1.0, std::sqrt(h))));
}

namespace {

// Sets that grow together.
class union_find {
 public:
  explicit union_find(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  bool unite(std::uint64_t a, std::uint64_t b) noexcept {
    a = find(a), b = find(b);
    parent_[a] = static_cast<std::uint32_t>(b);
    return a != b;
  }

 private:
  std::uint64_t find(std::uint64_t x) noexcept {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  std::vector<std::uint32_t> parent_;
};

struct grid_edge {
  std::uint64_t a, b;
  std::uint32_t rank;  // random; wide roads come first
  bool is_wide;
};

// Roads that no river cuts.
std::vector<grid_edge> possible_roads(const road_map& m, random_numbers& random) {
  std::vector<std::vector<char>> bridged(m.width, std::vector<char>());
  for (std::size_t r = 0; r < m.rivers; ++r) {
    std::vector<char>& at = bridged[(r + 1) * m.width / (m.rivers + 1)];
    at.assign(m.height, 0);
    for (std::size_t b = 0; b < std::max<std::size_t>(1, m.bridges); ++b) at[random.below(m.height)] = 1;
  }
  constexpr std::size_t wide_every = 16;  // crossings from one highway to the next
  std::vector<grid_edge> all;
  for (std::size_t y = 0; y < m.height; ++y)
    for (std::size_t x = 0; x < m.width; ++x) {
      const std::uint64_t here = y * m.width + x;
      const auto add = [&](std::uint64_t there, bool is_wide) {
        const auto rank = static_cast<std::uint32_t>(random.next() >> 33);
        all.push_back({here, there, is_wide ? rank / 4 : rank, is_wide});
      };
      if (x + 1 < m.width && (bridged[x + 1].empty() || bridged[x + 1][y] != 0)) add(here + 1, y % wide_every == 0);
      if (y + 1 < m.height) add(here + m.width, x % wide_every == 0);
    }
  return all;
}

// A spanning tree of them, and some of the others.
std::vector<grid_edge> chosen_roads(const road_map& m, random_numbers& random) {
  std::vector<grid_edge> all = possible_roads(m, random);
  std::ranges::sort(all, {}, [](const grid_edge& e) { return std::pair(e.rank, e.a * 2 + (e.b != e.a + 1)); });
  union_find sets(m.width * m.height);
  std::vector<grid_edge> chosen, others;
  for (const grid_edge& e : all) (sets.unite(e.a, e.b) ? chosen : others).push_back(e);
  random.shuffle(others);
  const double wanted = m.more * static_cast<double>(m.width * m.height);
  others.resize(std::min(others.size(), static_cast<std::size_t>(wanted)));
  chosen.insert(chosen.end(), others.begin(), others.end());
  return chosen;
}

// How many bends, so that their mean is m: none or more, each as likely as the last.
std::size_t bends_of(double mean, random_numbers& random) {
  std::size_t n = 0;
  while (n < 64 && random.unit() < mean / (1 + mean)) ++n;
  return n;
}

// Nodes in the order of small squares of land, so that neighbours are near in memory, as on real maps.
std::vector<std::uint64_t> by_land(const paged<place>& places) {
  constexpr double squares_per_degree = 20;
  std::vector<std::uint64_t> order(places.size()), number(places.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto square = [&](std::uint64_t i) {
    return std::pair(static_cast<int>(-places[i].latitude * squares_per_degree),
                     static_cast<int>(places[i].longitude * squares_per_degree));
  };
  std::ranges::stable_sort(order, {}, square);
  for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  return number;
}

}  // namespace

graph roads(const road_map& m) {
  random_numbers random(m.seed);
  const double degrees = m.kilometres_per_crossing / 111.2;
  const double squeeze = 1 / std::cos((m.north - degrees * static_cast<double>(m.height) / 2) * std::numbers::pi / 180);
  paged<place> places;
  for (std::size_t y = 0; y < m.height; ++y)
    for (std::size_t x = 0; x < m.width; ++x) {
      const double north = static_cast<double>(y) + 0.6 * (random.unit() - 0.5);
      const double east = static_cast<double>(x) + 0.6 * (random.unit() - 0.5);
      places.push_back({m.north - north * degrees, m.west + east * degrees * squeeze});
    }
  std::vector<edge> edges;
  for (const grid_edge& road : chosen_roads(m, random)) {
    const std::size_t bends = bends_of(m.bends, random);
    const double slow = road.is_wide ? 1.0 : 1.2 + 0.8 * random.unit();
    std::uint64_t from = road.a;
    const place begin = places[road.a], end = places[road.b];
    for (std::size_t i = 1; i <= bends + 1; ++i) {
      std::uint64_t to = road.b;
      if (i <= bends) {
        const double part = (static_cast<double>(i) + 0.4 * (random.unit() - 0.5)) / static_cast<double>(bends + 1);
        const double aside = 0.1 * degrees * (random.unit() - 0.5);
        to = places.size();
        places.push_back({begin.latitude + part * (end.latitude - begin.latitude) + aside,
                          begin.longitude + part * (end.longitude - begin.longitude) + aside});
      }
      const double length = static_cast<double>(straight_line(places[from], places[to])) * slow;
      edges.push_back({from, to, static_cast<std::uint64_t>(length) + 2});
      from = to;
    }
  }
  graph g = graph_of(places.size(), edges);
  g.places = std::move(places);
  return renumbered(g, by_land(g.places));
}

namespace {

// So many edges by R-MAT, loops left out; each pair of ends once, in order, its length how often it was drawn.
std::vector<edge> drawn_edges(unsigned scale, std::size_t drawn, random_numbers& random) {
  constexpr double a = 0.57, b = 0.19, c = 0.19;
  std::vector<std::uint64_t> names(std::uint64_t{1} << scale);  // or the hubs would be the first nodes
  std::iota(names.begin(), names.end(), 0u);
  random.shuffle(names);
  std::vector<edge> edges;
  edges.reserve(drawn);
  for (std::size_t i = 0; i < drawn; ++i) {
    std::uint64_t from = 0, to = 0;
    for (unsigned bit = 0; bit < scale; ++bit) {
      const double corner = random.unit();
      from = 2 * from + (corner >= a + b ? 1 : 0);
      to = 2 * to + ((corner >= a && corner < a + b) || corner >= a + b + c ? 1 : 0);
    }
    if (from == to) continue;
    from = names[from], to = names[to];
    edges.push_back({std::min(from, to), std::max(from, to), 1});
  }
  const auto ends = [](const edge& e) { return std::pair(e.a, e.b); };
  std::ranges::sort(edges, {}, ends);
  std::size_t kept = 0;
  for (const edge& e : edges)
    if (kept != 0 && ends(edges[kept - 1]) == ends(e))
      ++edges[kept - 1].length;
    else
      edges[kept++] = e;
  edges.resize(kept);
  return edges;
}

}  // namespace

std::vector<edge> kronecker(unsigned scale, std::size_t drawn, std::uint64_t length_max, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<edge> edges = drawn_edges(scale, drawn, random);
  for (edge& e : edges) e.length = random.between(1, length_max);
  random.shuffle(edges);
  return edges;
}

std::vector<edge> kronecker_multigraph(unsigned scale, std::size_t drawn, std::uint64_t seed) {
  random_numbers random(seed);
  return drawn_edges(scale, drawn, random);
}

}  // namespace weft::apps::order
