// Breadth-first search of a mesh (Swarm §2.2), its levels as timestamps: bodies of a level need not wait for the one
// before, but for those next to them. The mesh is a wall of bricks, alike hugetric-00020 in degree and, at the sizes of
// the paper, in nodes and levels. Check: the levels that a plain search finds, and as many calls.
#include <memory>
#include <numeric>

#include "../app.hpp"
#include "random.hpp"
#include "search.hpp"
#include "search_threads.hpp"
#include "section.hpp"
#include "threads.hpp"

namespace weft::apps {
namespace {

using order::search;

struct parameters {
  std::size_t width = 400;
  std::size_t height = 213;
  bool shuffled = false;
  order::section_setting section;
};

// Instructions beside the loads and stores, so that a visit of a node of degree 3 takes 47 and a vain one 10: then mean
// and 90th percentile are those of the paper's Table 1.
struct by_level {
  static constexpr std::uint64_t visit_instructions = 5, arc_instructions = 11, vain_instructions = 8;
  static std::uint64_t length(ordered_context&, const order::arc&) { return 1; }
};

order::graph make_mesh(const parameters& p, std::uint64_t seed, std::uint64_t& source) {
  require_memory("a mesh of " + std::to_string(p.width) + " x " + std::to_string(p.height),
                 static_cast<double>(p.width) * static_cast<double>(p.height) * 250);
  order::graph g = order::brick_wall(p.width, p.height);
  source = order::middle_of(p.width, p.height);
  if (!p.shuffled) return g;
  std::vector<std::uint64_t> number(g.nodes());
  std::iota(number.begin(), number.end(), 0u);
  order::random_numbers(seed).shuffle(number);
  source = number[source];
  return order::renumbered(g, number);
}

result run(const parameters& p, const weft::options& opt) {
  runtime rt(opt);
  std::uint64_t source = 0;
  const order::graph g = make_mesh(p, opt.seed, source);
  order::paged<search::node> nodes = order::nodes_of(g);
  alignas(order::page_bytes) search s{nodes.data(), g.arcs.data()};
  result r;
  std::vector<std::uint64_t> expected;
  const double serial = order::host_seconds([&] { expected = order::levels_from(g, source); });
  if (p.section.by_threads()) {
    order::add_search(r, rt, expected,
                      order::levels_by_threads(s, source, {by_level::visit_instructions, by_level::arc_instructions}));
  } else {
    ordered q(rt, p.section.get());
    q.at(0, order::visit<by_level>, &s, source);
    order::run_section(r, rt, q);
    r.checks.push_back(order::each_call_once(q, order::calls_of(g, expected)));
  }
  std::uint64_t levels = 0, reached = 0;
  for (const std::uint64_t level : expected)
    if (level != order::unreached) levels = std::max(levels, level + 1), ++reached;
  r.add("nodes", std::uint64_t{g.nodes()});
  r.add("nodes_reached", reached);
  r.add("arcs", std::uint64_t{g.arcs.size()});
  r.add("levels", levels);
  r.add("reference_seconds", serial, "s");
  r.checks.push_back(order::as_serial("levels", order::distances_of(nodes), expected));
  return r;
}

}  // namespace

app bfs_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "bfs",
          .summary = "breadth-first search of a mesh, ordered by level",
          .example = "bfs --width 400 --height 213",
          .options = {{"width", "nodes of the mesh from left to right", &p->width, 2, 100'000},
                      {"height", "nodes from top to bottom", &p->height, 1, 100'000},
                      {"shuffled", "nodes lie in memory at random", &p->shuffled},
                      p->section.executor_option_with_threads()},
          .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
