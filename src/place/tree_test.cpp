// The place tree: distances and neighbours on a flat machine and on one with two memory nodes.
#include "place/tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace weft::place {
namespace {

using ids = std::vector<std::uint16_t>;

// Equal cores below one cache.
std::vector<core> flat(unsigned cores) {
  std::vector<core> all(cores);
  for (unsigned i = 0; i < cores; ++i) all[i].cpu = i;
  return all;
}

// Two memory nodes, two caches in each, two cores at each cache.
std::vector<core> two_nodes() {
  std::vector<core> cores;
  for (unsigned i = 0; i < 8; ++i) cores.push_back({i, i / 2, i / 4});
  return cores;
}

// What must hold for any tree: everybody else once, nearest first, equals in cyclic order; distances are symmetric.
void is_orderly(const tree& t) {
  for (unsigned w = 0; w < t.workers(); ++w) {
    const ids& near = t.neighbours(w);
    REQUIRE(near.size() == t.workers() - 1);
    ids sorted = near;
    std::sort(sorted.begin(), sorted.end());
    CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    CHECK(std::find(near.begin(), near.end(), w) == near.end());
    const auto steps = [&](unsigned other) { return (other + t.workers() - w) % t.workers(); };
    for (std::size_t i = 1; i < near.size(); ++i) {
      const unsigned before = t.distance(w, near[i - 1]);
      const unsigned here = t.distance(w, near[i]);
      CHECK(before <= here);
      if (before == here) CHECK(steps(near[i - 1]) < steps(near[i]));
    }
    for (unsigned other = 0; other < t.workers(); ++other) CHECK(t.distance(w, other) == t.distance(other, w));
    CHECK(t.distance(w, w) == 0);
  }
}

}  // namespace

TEST_CASE("tree: on a flat machine everybody is as near, and asked in cyclic order") {
  for (const unsigned n : {1u, 2u, 3u, 4u, 7u, 16u}) {
    CAPTURE(n);
    const tree t(flat(n), n);
    CHECK(t.workers() == n);
    is_orderly(t);
    for (unsigned w = 0; w < n; ++w) {
      CHECK(t.of(w).cpu == w);
      for (unsigned step = 1; step < n; ++step) {
        CHECK(t.neighbours(w)[step - 1] == (w + step) % n);
        CHECK(t.distance(w, (w + step) % n) == 1);
      }
    }
  }
}

TEST_CASE("tree: the same cache is nearer than the same node, and that than the other") {
  const tree t(two_nodes(), 8);
  is_orderly(t);
  CHECK(t.distance(0, 1) == 1);
  CHECK(t.distance(0, 2) == 2);
  CHECK(t.distance(0, 3) == 2);
  CHECK(t.distance(0, 4) == 3);
  CHECK(t.distance(3, 4) == 3);
  CHECK(t.neighbours(0) == ids{1, 2, 3, 4, 5, 6, 7});
  CHECK(t.neighbours(3) == ids{2, 0, 1, 4, 5, 6, 7});
  CHECK(t.neighbours(5) == ids{4, 6, 7, 0, 1, 2, 3});
}

TEST_CASE("tree: caches are told apart by number and node") {
  // A machine may number its caches anew in each node.
  const tree t({{0, 0, 0}, {1, 0, 1}}, 2);
  CHECK(t.distance(0, 1) == 3);
}

TEST_CASE("tree: fewer workers than cores take the first cores") {
  for (const unsigned n : {1u, 2u, 3u, 4u, 7u}) {
    const tree t(two_nodes(), n);
    is_orderly(t);
    for (unsigned w = 0; w < n; ++w) CHECK(t.of(w).cpu == w);
  }
}

TEST_CASE("tree: more workers than cores share them, and who shares a core is nearest") {
  const tree t(flat(3), 7);
  is_orderly(t);
  CHECK(t.distance(0, 3) == 0);
  CHECK(t.distance(0, 6) == 0);
  CHECK(t.neighbours(0) == ids{3, 6, 1, 2, 4, 5});
  CHECK(t.neighbours(4) == ids{1, 5, 6, 0, 2, 3});

  const tree nodes(two_nodes(), 16);
  is_orderly(nodes);
  CHECK(nodes.neighbours(9) == ids{1, 0, 8, 10, 11, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7});
}

TEST_CASE("tree: starting at a core keeps the cyclic order, and an unknown core changes nothing") {
  const auto cpus = [](const std::vector<core>& cores) {
    ids all;
    for (const core& c : cores) all.push_back(static_cast<std::uint16_t>(c.cpu));
    return all;
  };
  CHECK(cpus(starting_at(flat(4), 0)) == ids{0, 1, 2, 3});
  CHECK(cpus(starting_at(flat(4), 2)) == ids{2, 3, 0, 1});
  CHECK(cpus(starting_at(flat(4), 9)) == ids{0, 1, 2, 3});
}

TEST_CASE("tree: of other memory nodes the nearer ones come first") {
  std::vector<core> cores;
  for (unsigned i = 0; i < 8; ++i) cores.push_back({i, i / 2, i / 2});
  const std::vector<std::vector<unsigned>> ring{{0, 1, 2, 1}, {1, 0, 1, 2}, {2, 1, 0, 1}, {1, 2, 1, 0}};
  const tree t(cores, 8, ring);
  is_orderly(t);
  CHECK(t.distance(0, 1) == 1);
  CHECK(t.distance(0, 2) == 3);
  CHECK(t.distance(0, 4) == 4);
  CHECK(t.neighbours(0) == ids{1, 2, 3, 6, 7, 4, 5});
  CHECK(t.neighbours(5) == ids{4, 6, 7, 2, 3, 0, 1});
  const tree unknown(cores, 8);
  CHECK(unknown.neighbours(0) == ids{1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("tree: leaves are the shared caches that have workers") {
  const tree t({{.cpu = 0, .cache = 4, .node = 0},
                {.cpu = 1, .cache = 4, .node = 0},
                {.cpu = 2, .cache = 5, .node = 0},
                {.cpu = 3, .cache = 9, .node = 1}},
               5);
  CHECK(t.leaves() == 3);
  CHECK((t.leaf_of(0) == 0 && t.leaf_of(1) == 0 && t.leaf_of(2) == 1 && t.leaf_of(3) == 2 && t.leaf_of(4) == 0));
  CHECK(t.at_leaf(0) == std::vector<std::uint16_t>{0, 1, 4});
  CHECK(t.at_leaf(2) == std::vector<std::uint16_t>{3});
}

TEST_CASE("tree: memory nodes without workers are served by the nearest that has some") {
  const std::vector<std::vector<unsigned>> apart = {{0, 1, 2, 1}, {1, 0, 1, 2}, {2, 1, 0, 1}, {1, 2, 1, 0}};
  const tree t({{.cpu = 0, .cache = 0, .node = 0}, {.cpu = 1, .cache = 1, .node = 1}}, 2, apart);
  CHECK((t.nodes() == 2 && t.memory_nodes() == 4));
  CHECK((t.served_by(0) == 0 && t.served_by(1) == 1 && t.served_by(2) == 1 && t.served_by(3) == 0));
  CHECK(t.served_by(6) == 1);  // programs written for more nodes: counted round
  CHECK((t.apart(1, 1) == 0 && t.apart(0, 2) == 2));
  const tree one({{.cpu = 0}}, 3);
  CHECK((one.memory_nodes() == 1 && one.served_by(5) == 0 && one.leaves() == 1));
}

TEST_CASE("tree: a line costs what its class of distance does, the last for all beyond, and without costs the class") {
  const std::vector<std::vector<unsigned>> apart = {{0, 1, 3}, {1, 0, 2}, {3, 2, 0}};
  const std::vector<core> cores = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}};
  const tree plain(cores, 3, apart);
  CHECK((plain.read_cost(0, 0) == 0 && plain.read_cost(0, 1) == 1 && plain.write_cost(0, 2) == 3));
  CHECK((plain.unit_bytes() == 4096 && !plain.node_of_page(&plain)));
  const tree reads(cores, 3, apart, {.read_line = {90, 150, 200}});
  CHECK((reads.read_cost(1, 1) == 90 && reads.read_cost(1, 2) == 200 && reads.read_cost(0, 2) == 200));
  CHECK(reads.write_cost(0, 1) == 150);
  const tree both(cores, 3, apart,
                  {.read_line = {90}, .write_line = {10, 20}, .unit_bytes = 16384, .node_of = [](const void*) {
                     return std::optional<unsigned>(2);
                   }});
  CHECK((both.read_cost(0, 1) == 90 && both.write_cost(0, 0) == 10 && both.write_cost(0, 2) == 20));
  CHECK((both.unit_bytes() == 16384 && both.node_of_page(&plain) == 2u));
}

}  // namespace weft::place
