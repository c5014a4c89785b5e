#include "search.hpp"

#include <functional>
#include <queue>
#include <utility>

namespace weft::apps::order {

paged<search::node> nodes_of(const graph& g) {
  paged<search::node> nodes(g.nodes());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = {unreached, g.first[i], g.first[i + 1]};
  return nodes;
}

std::vector<std::uint64_t> distances_of(const paged<search::node>& nodes) {
  std::vector<std::uint64_t> all;
  all.reserve(nodes.size());
  for (const search::node& n : nodes) all.push_back(n.distance);
  return all;
}

std::uint64_t calls_of(const graph& g, const std::vector<std::uint64_t>& distances) {
  std::uint64_t calls = 1;
  for (std::size_t i = 0; i < distances.size(); ++i)
    if (distances[i] != unreached) calls += g.arcs_of(i).size();
  return calls;
}

std::vector<std::uint64_t> levels_from(const graph& g, std::uint64_t source) {
  std::vector<std::uint64_t> level(g.nodes(), unreached), queue{source};
  queue.reserve(g.nodes());
  level[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const arc& a : g.arcs_of(queue[i]))
      if (level[a.to] == unreached) {
        level[a.to] = level[queue[i]] + 1;
        queue.push_back(a.to);
      }
  return level;
}

std::vector<std::uint64_t> distances_from(const graph& g, std::uint64_t source) {
  using entry = std::pair<std::uint64_t, std::uint64_t>;  // distance, node
  std::vector<std::uint64_t> distance(g.nodes(), unreached);
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
  distance[source] = 0;
  queue.emplace(0, source);
  while (!queue.empty()) {
    const auto [there, node] = queue.top();
    queue.pop();
    if (there != distance[node]) continue;
    for (const arc& a : g.arcs_of(node))
      if (there + a.length < distance[a.to]) {
        distance[a.to] = there + a.length;
        queue.emplace(distance[a.to], a.to);
      }
  }
  return distance;
}

}  // namespace weft::apps::order
