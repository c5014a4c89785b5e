#include "forest.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace weft::apps::order {

namespace {

class sets {
 public:
  explicit sets(std::uint64_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  // Returns whether they were two.
  bool unite(std::uint64_t a, std::uint64_t b) noexcept {
    a = find(a), b = find(b);
    parent_[a] = b;
    return a != b;
  }

 private:
  std::uint64_t find(std::uint64_t x) noexcept {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  std::vector<std::uint64_t> parent_;
};

struct sum {
  std::uint64_t edges = 0;
  std::uint64_t length = 0;
};

sum of_chosen(const std::vector<edge>& edges, const std::vector<char>& chosen) {
  sum all;
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (chosen[i] != 0) ++all.edges, all.length += edges[i].length;
  return all;
}

}  // namespace

std::vector<char> kruskal(std::uint64_t nodes, const std::vector<edge>& edges) {
  std::vector<std::uint64_t> order(edges.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint64_t i) { return edges[i].length; });
  sets trees(nodes);
  std::vector<char> chosen(edges.size());
  for (const std::uint64_t i : order) chosen[i] = trees.unite(edges[i].a, edges[i].b) ? 1 : 0;
  return chosen;
}

check as_short_a_forest(std::uint64_t nodes, const std::vector<edge>& edges, const std::vector<char>& chosen,
                        const std::vector<char>& reference) {
  if (chosen.size() != edges.size()) return {"forest", false, std::to_string(chosen.size()) + " choices"};
  sets trees(nodes);
  std::size_t circles = 0;
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (chosen[i] != 0 && !trees.unite(edges[i].a, edges[i].b)) ++circles;
  const sum is = of_chosen(edges, chosen), wanted = of_chosen(edges, reference);
  return {"forest", circles == 0 && is.edges == wanted.edges && is.length == wanted.length,
          std::to_string(is.edges) + " edges of together " + std::to_string(is.length) + ", " +
              std::to_string(circles) + " of them close a circle; expected " + std::to_string(wanted.edges) + " of " +
              std::to_string(wanted.length)};
}

}  // namespace weft::apps::order
