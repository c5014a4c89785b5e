// The minimum spanning forest of a graph by Kruskal's algorithm (Swarm §2.2): a body for each edge, its length the
// timestamp, so that the sort is the order of bodies. With --sorted the edges are sorted before, and a body's timestamp
// is its place. The graph is an integer multigraph: an edge's length is how often it was drawn, so most are of length
// 1, and these come in any order (§4.1). Check: a forest as short as that of sorting and a plain union-find, the very
// same where the order of equal edges is given, and as many calls as edges. By threads it is another program
// (msf_threads.cpp).
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../app.hpp"
#include "forest.hpp"
#include "graph.hpp"
#include "msf_threads.hpp"
#include "section.hpp"
#include "threads.hpp"

namespace weft::apps {
namespace {

struct parameters {
  std::size_t scale = 12;
  std::size_t drawn = 200'000;
  bool sorted = false;
  bool unfiltered = false;
  std::string link = "number";
  std::string lengths = "drawn";
  order::section_setting section;
};

using order::candidate;
using order::edge_instructions;

// Trees over the nodes. Each has a word: the number of a node nearer to the root or, of a root, that of nodes plus the
// size of its tree. Linked by size, the root of a large tree is stored with each edge that joins something to it; by
// number it stays as it is, trees are deeper, and bodies have next to nothing in common.
struct forest {
  std::uint64_t* up;
  std::uint64_t nodes;
  bool by_size;
};

struct root {
  std::uint64_t at;
  std::uint64_t size;
};

// The root of a node's tree. Whoever is two steps away from it moves up: loads are many, and stores few. The words may
// be those of another time, and then lead in a circle: as many steps as nodes are enough.
root root_of(ordered_context& x, const forest& f, std::uint64_t node) {
  std::uint64_t up = x.load(f.up[node]);
  for (std::uint64_t steps = 0; up < f.nodes && steps < f.nodes; ++steps) {
    const std::uint64_t above = x.load(f.up[up]);
    if (above < f.nodes) x.store(f.up[node], above);
    node = up, up = above;
  }
  return {node, up - f.nodes};
}

void consider(ordered_context& x, const forest* f, candidate* c) {
  x.work(edge_instructions);
  const bool by_size = x.read(f->by_size);
  root a = root_of(x, *f, x.read(c->a)), b = root_of(x, *f, x.read(c->b));
  if (a.at == b.at) return;
  if (by_size ? a.size < b.size : a.at < b.at) std::swap(a, b);
  x.store(f->up[b.at], a.at);
  if (by_size) x.store(f->up[a.at], f->nodes + a.size + b.size);
  x.store(c->chosen, 1);
}
void consider_at(ordered_context& x, std::uint64_t, const forest* f, candidate* c) { consider(x, f, c); }

bool links_by_size(const std::string& link) {
  if (link != "size" && link != "number") throw error("--link " + link + " is none: number or size");
  return link == "size";
}

void by_bodies(result& r, const parameters& p, const weft::options& opt, std::uint64_t nodes,
               order::paged<candidate>& candidates) {
  if (p.unfiltered) throw error("--unfiltered is for --executor threads: bodies leave no edge out");
  runtime rt(opt);
  ordered q(rt, p.section.get());
  order::paged<std::uint64_t> up(nodes, nodes + 1);
  alignas(order::page_bytes) const forest f{up.data(), nodes, links_by_size(p.link)};
  if (p.sorted) std::ranges::stable_sort(candidates, {}, &candidate::length);
  for (std::size_t i = 0; i < candidates.size(); ++i)
    q.at(p.sorted ? i : candidates[i].length, consider_at, &f, &candidates[i]);
  order::run_section(r, rt, q);
  if (p.sorted) std::ranges::sort(candidates, {}, &candidate::number);
  r.checks.push_back(order::each_call_once(q, candidates.size()));
}

void by_threads(result& r, const parameters& p, const weft::options& opt, std::uint64_t nodes,
                order::paged<candidate>& candidates) {
  if (p.sorted || p.link != parameters().link)
    throw error("--executor threads sorts by itself and links by reservations: --sorted and --link are for bodies");
  runtime rt(opt);
  const order::forest_by_threads f = order::forest_of(nodes, candidates, !p.unfiltered);
  order::describe_threads(r, rt, f.chip);
  r.add("edges_filtered", f.filtered);
  r.add("rounds", f.rounds);
  r.add("tries", f.tries);
  const std::uint64_t once = f.filtered + f.dropped + f.linked;
  r.checks.push_back(
      {"each_edge_once", once == candidates.size(),
       std::to_string(once) + " edges linked or left out, " + std::to_string(candidates.size()) + " expected"});
}

std::vector<order::edge> edges_of(const parameters& p, std::uint64_t seed) {
  constexpr std::uint64_t length_max = 1'000'000;
  if (p.lengths == "random") return order::kronecker(static_cast<unsigned>(p.scale), p.drawn, length_max, seed);
  if (p.lengths != "drawn") throw error("--lengths " + p.lengths + " are none: drawn or random");
  return order::kronecker_multigraph(static_cast<unsigned>(p.scale), p.drawn, seed);
}

result run(const parameters& p, const weft::options& opt) {
  const std::uint64_t nodes = std::uint64_t{1} << p.scale;
  require_memory("a graph of " + std::to_string(p.drawn) + " edges", static_cast<double>(p.drawn) * 300);
  const std::vector<order::edge> edges = edges_of(p, opt.seed);
  order::paged<candidate> candidates;
  for (const order::edge& e : edges) candidates.push_back({e.a, e.b, e.length, candidates.size(), 0});
  result r;
  (p.section.by_threads() ? by_threads : by_bodies)(r, p, opt, nodes, candidates);
  std::vector<char> expected, chosen;
  const double serial = order::host_seconds([&] { expected = order::kruskal(nodes, edges); });
  for (const candidate& c : candidates) chosen.push_back(static_cast<char>(c.chosen));
  r.add("edges", std::uint64_t{edges.size()});
  r.add("edges_chosen", static_cast<std::uint64_t>(std::ranges::count(chosen, 1)));
  r.add("reference_seconds", serial, "s");
  const bool is_one_of_several = !p.sorted && !p.section.by_threads();
  r.checks.push_back(is_one_of_several ? order::as_short_a_forest(nodes, edges, chosen, expected)
                                       : order::as_serial("forest", chosen, expected));
  return r;
}

}  // namespace

app msf_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "msf",
          .summary = "minimum spanning forest, an edge a body, ordered by length",
          .example = "msf --scale 12 --edges 200000",
          .options = {{"scale", "the graph has two to this power of nodes", &p->scale, 1, 30},
                      {"edges", "that are drawn; loops are dropped, and doubles make an edge longer", &p->drawn, 1,
                       1'000'000'000},
                      {"sorted", "edges are sorted before, and come in the order of a list", &p->sorted},
                      {"link",
                       "the root of which tree becomes the root of both: number (the higher one's) or size "
                       "(the larger one's)",
                       &p->link},
                      {"lengths", "drawn (how often an edge was) or random (up to a million)", &p->lengths},
                      {"unfiltered", "threads sort all edges at once, and leave none out", &p->unfiltered},
                      p->section.executor_option_with_threads()},
          .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
