// Shortest paths from one node of a road map: Dijkstra's algorithm, its distances as timestamps (Swarm §2.1). The first
// body that comes to a node has come on a shortest path. Check: the distances that Dijkstra's algorithm finds with a
// priority queue of its own, and as many calls as arcs.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "../app.hpp"
#include "map.hpp"
#include "search.hpp"
#include "search_threads.hpp"
#include "section.hpp"

namespace weft::apps {
namespace {

using order::search;

struct parameters {
  order::map_setting map{.rivers = 2};
  order::section_setting section;
};

// Instructions beside the loads and stores, so that a visit of a node of degree d takes 28 + 14 d and a vain one 11:
// then mean and 90th percentile are near those of the paper's Table 1.
struct by_distance {
  static constexpr std::uint64_t visit_instructions = 22, arc_instructions = 12, vain_instructions = 9;
  static std::uint64_t length(ordered_context& x, const order::arc& a) { return x.read(a.length); }
};

// What the threads' lists take together: four arcs. A third of it and twice as much are slower at 64 cores.
std::uint64_t range_of(const order::graph& g) {
  std::uint64_t sum = 0;
  for (const order::arc& a : g.arcs) sum += a.length;
  return std::max<std::uint64_t>(1, 4 * sum / std::max<std::size_t>(1, g.arcs.size()));
}

result run(const parameters& p, const weft::options& opt) {
  runtime rt(opt);
  const order::graph g = p.map.make(opt.seed);
  order::paged<search::node> nodes = order::nodes_of(g);
  alignas(order::page_bytes) search s{nodes.data(), g.arcs.data()};
  constexpr std::uint64_t source = 0;
  result r;
  std::vector<std::uint64_t> expected;
  const double serial = order::host_seconds([&] { expected = order::distances_from(g, source); });
  if (p.section.by_threads()) {
    const order::search_costs costs{by_distance::visit_instructions, by_distance::arc_instructions, range_of(g)};
    order::add_search(r, rt, expected, order::distances_by_threads(s, source, costs));
  } else {
    ordered q(rt, p.section.get());
    q.at(0, order::visit<by_distance>, &s, source);
    order::run_section(r, rt, q);
    r.checks.push_back(order::each_call_once(q, order::calls_of(g, expected)));
  }
  order::describe(r, g);
  r.add("reference_seconds", serial, "s");
  r.checks.push_back(order::as_serial("distances", order::distances_of(nodes), expected));
  return r;
}

}  // namespace

app sssp_app() {
  auto p = std::make_shared<parameters>();
  std::vector<option> options = p->map.options();
  options.push_back(p->section.executor_option_with_threads());
  return {.name = "sssp",
          .summary = "shortest paths on a road map, ordered by distance",
          .example = "sssp --width 150 --height 100",
          .options = std::move(options),
          .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
