// The shortest route between two places of a road map by A* (Swarm §2.2): timestamps are the way so far plus the
// straight line to the target, which no route can be shorter than. What is still to come when the target is reached
// does nothing. Check: the length that Dijkstra's algorithm finds, and the distances and the calls of A* with a queue
// of its own.
#include <algorithm>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "../app.hpp"
#include "map.hpp"
#include "search.hpp"
#include "section.hpp"

namespace weft::apps {
namespace {

struct parameters {
  order::map_setting map{.width = 200, .height = 60, .bends = 0, .more = 92};
  order::section_setting section;
};

struct route {
  struct node {
    std::uint64_t distance;  // from the source
    std::uint64_t first;     // of its arcs
    std::uint64_t last;      // behind them
    order::place at;
  };
  node* nodes;
  const order::arc* arcs;
  std::uint64_t target;
  order::place target_at;
};

// Instructions beside the loads and stores, so that a visit of a node of degree d takes 84 + 106 d, most of it for
// straight lines, and a vain one 91: then mean and 90th percentile are near those of the paper's Table 1.
constexpr std::uint64_t visit_instructions = 74, arc_instructions = 102, vain_instructions = 87;

// The body of a way that has come so far. What is left shrinks by at most an arc's length, so no timestamp goes back.
void visit(ordered_context& x, std::uint64_t now, const route* r, std::uint64_t at, std::uint64_t so_far) {
  route::node* const nodes = x.read(r->nodes);
  const bool is_over = x.load(nodes[x.read(r->target)].distance) != order::unreached;
  route::node& n = nodes[at];
  if (x.load(n.distance) != order::unreached || is_over) return x.work(vain_instructions);
  x.store(n.distance, so_far);
  x.work(visit_instructions);
  const order::arc* const arcs = x.read(r->arcs);
  const order::place target_at = x.read(r->target_at);
  const std::uint64_t last = x.read(n.last);
  for (std::uint64_t i = x.read(n.first); i < last; ++i) {
    const order::arc a = x.read(arcs[i]);
    x.work(arc_instructions);
    const std::uint64_t left = order::straight_line(x.read(nodes[a.to].at), target_at);
    x.at(std::max(now, so_far + a.length + left), visit, r, a.to, so_far + a.length);
  }
}

// The node nearest to a point of the map, both parts from 0 to 1.
std::uint64_t node_near(const order::graph& g, double east, double south) {
  double north_most = -90, south_most = 90, west_most = 180, east_most = -180;
  for (const order::place& p : g.places) {
    north_most = std::max(north_most, p.latitude), south_most = std::min(south_most, p.latitude);
    east_most = std::max(east_most, p.longitude), west_most = std::min(west_most, p.longitude);
  }
  const order::place wanted{north_most + south * (south_most - north_most), west_most + east * (east_most - west_most)};
  const auto nearest =
      std::ranges::min_element(g.places, {}, [&](const order::place& p) { return order::straight_line(p, wanted); });
  return static_cast<std::uint64_t>(nearest - g.places.begin());
}

struct found {
  std::vector<std::uint64_t> distances;
  std::uint64_t calls = 0;
};

// The same with a queue of its own.
found search_serially(const order::graph& g, std::uint64_t source, std::uint64_t target) {
  using entry = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;  // when, number, node, so far
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
  found f{std::vector<std::uint64_t>(g.nodes(), order::unreached)};
  std::uint64_t number = 0;
  queue.emplace(0, number++, source, 0);
  while (!queue.empty()) {
    const auto [now, _, at, so_far] = queue.top();
    queue.pop();
    ++f.calls;
    if (f.distances[target] != order::unreached || f.distances[at] != order::unreached) continue;
    f.distances[at] = so_far;
    for (const order::arc& a : g.arcs_of(at)) {
      const std::uint64_t there = so_far + a.length;
      const std::uint64_t left = order::straight_line(g.places[a.to], g.places[target]);
      queue.emplace(std::max(now, there + left), number++, a.to, there);
    }
  }
  return f;
}

result run(const parameters& p, const weft::options& opt) {
  runtime rt(opt);
  ordered q(rt, p.section.get());
  const order::graph g = p.map.make(opt.seed);
  const std::uint64_t source = node_near(g, 0.02, 0.5), target = node_near(g, 0.98, 0.5);
  order::paged<route::node> nodes(g.nodes());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = {order::unreached, g.first[i], g.first[i + 1], g.places[i]};
  alignas(order::page_bytes) const route way{nodes.data(), g.arcs.data(), target, g.places[target]};
  q.at(0, visit, &way, source, std::uint64_t{0});
  result r;
  order::run_section(r, rt, q);
  found expected;
  const double serial = order::host_seconds([&] { expected = search_serially(g, source, target); });
  const std::uint64_t shortest = order::distances_from(g, source)[target];
  std::vector<std::uint64_t> distances;
  for (const route::node& n : nodes) distances.push_back(n.distance);
  order::describe(r, g);
  r.add("nodes_visited", static_cast<std::uint64_t>(
                             nodes.size() - static_cast<std::size_t>(std::ranges::count(distances, order::unreached))));
  r.add("route_decimetres", distances[target]);
  r.add("reference_seconds", serial, "s");
  r.checks.push_back({"shortest", distances[target] == shortest,
                      std::to_string(distances[target]) + " dm; by Dijkstra's algorithm " + std::to_string(shortest)});
  r.checks.push_back(order::as_serial("distances", distances, expected.distances));
  r.checks.push_back(order::each_call_once(q, expected.calls));
  return r;
}

}  // namespace

app astar_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = p->map.options();
  options.push_back(p->section.executor_option());
  return {.name = "astar",
          .summary = "a shortest route on a road map by A*, ordered by the length a route has at least",
          .example = "astar --width 200 --height 60",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
