// Greedy colouring of a graph: each node in its turn takes the first colour that no neighbour before it has. Order
// decides the colours, so a parallel program without order has others each time. Check: the colours of a plain loop, no
// two neighbours alike, and as many calls as nodes.
#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "../app.hpp"
#include "graph.hpp"
#include "section.hpp"

namespace weft::apps {
namespace {

struct parameters {
  std::size_t scale = 14;
  std::size_t drawn = 60'000;
  order::section_setting section;
};

constexpr std::uint64_t node_instructions = 20, arc_instructions = 6;

struct coloured {
  std::uint64_t colour;  // from 1; 0: none yet
  std::uint64_t first;   // of its arcs
  std::uint64_t last;    // behind them
};

// The first colour from 1 that is not among these, which are sorted here.
std::uint64_t first_free(std::vector<std::uint64_t>& taken) {
  std::ranges::sort(taken);
  std::uint64_t colour = 1;
  for (const std::uint64_t t : taken)
    if (t == colour) ++colour;
  return colour;
}

void colour(ordered_context& x, coloured* nodes, const order::arc* arcs, coloured& n) {
  x.work(node_instructions);
  std::vector<std::uint64_t> taken;
  const std::uint64_t last = x.read(n.last);
  for (std::uint64_t i = x.read(n.first); i < last; ++i) {
    x.work(arc_instructions);
    coloured& other = nodes[x.read(arcs[i].to)];
    if (&other < &n) taken.push_back(x.load(other.colour));
  }
  x.store(n.colour, first_free(taken));
}

std::vector<std::uint64_t> colour_serially(const order::graph& g) {
  std::vector<std::uint64_t> colours(g.nodes(), 0);
  for (std::size_t i = 0; i < g.nodes(); ++i) {
    std::vector<std::uint64_t> taken;
    for (const order::arc& a : g.arcs_of(i))
      if (a.to < i) taken.push_back(colours[a.to]);
    colours[i] = first_free(taken);
  }
  return colours;
}

result run(const parameters& p, const weft::options& opt) {
  require_memory("a graph of " + std::to_string(p.drawn) + " edges", static_cast<double>(p.drawn) * 200);
  runtime rt(opt);
  ordered q(rt, p.section.get());
  const std::size_t nodes = std::size_t{1} << p.scale;
  const order::graph g = order::graph_of(nodes, order::kronecker(static_cast<unsigned>(p.scale), p.drawn, 1, opt.seed));
  std::vector<coloured> all(nodes);
  for (std::size_t i = 0; i < nodes; ++i) all[i] = {0, g.first[i], g.first[i + 1]};
  result r;
  q.for_each(std::span<coloured>(all), [first = all.data(), arcs = g.arcs.data()](ordered_context& x, coloured& n) {
    colour(x, first, arcs, n);
  });
  order::describe_section(r, rt, q);
  std::vector<std::uint64_t> expected, colours;
  r.add("reference_seconds", order::host_seconds([&] { expected = colour_serially(g); }), "s");
  for (const coloured& n : all) colours.push_back(n.colour);
  std::uint64_t alike = 0;
  for (std::size_t i = 0; i < nodes; ++i)
    for (const order::arc& a : g.arcs_of(i)) alike += colours[i] == colours[a.to] ? 1 : 0;
  r.add("edges", std::uint64_t{g.arcs.size() / 2});
  r.add("colours", *std::ranges::max_element(colours));
  r.checks.push_back(order::as_serial("colours", colours, expected));
  r.checks.push_back({"no_two_alike", alike == 0, std::to_string(alike) + " arcs between nodes of one colour"});
  r.checks.push_back(order::each_call_once(q, nodes));
  return r;
}

}  // namespace

app colouring_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "colouring",
          .summary = "greedy colouring of a graph in the order of its nodes",
          .example = "colouring --scale 14 --edges 60000",
          .options = {{"scale", "the graph has two to this power of nodes", &p->scale, 1, 28},
                      {"edges", "that are drawn; loops and doubles are dropped", &p->drawn, 1, 1'000'000'000},
                      p->section.executor_option()},
          .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
