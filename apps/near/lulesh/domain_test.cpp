// The mesh of a cube: who is beside whom, which ranges hold what a range needs, and how long a step may be.
#include "domain.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace weft::apps::lulesh {
namespace {

domain filled(std::size_t size) {
  domain d(size, memory_placement::first_touch(), 8);
  d.fill_nodes(0, d.node_count());
  d.fill_elements(0, d.element_count());
  d.fill_masses(0, d.node_count());
  return d;
}

bool within(std::size_t at, const std::array<domain::range, 2>& ranges) {
  return std::ranges::any_of(ranges, [at](const domain::range& r) { return r.from <= at && at < r.to; });
}

}  // namespace

TEST_CASE("domain: nodes know the corners that they are, elements their nodes, and neighbours each other") {
  for (const std::size_t size : {1, 2, 3, 5}) {
    const domain d = filled(size);
    std::size_t found = 0;
    for (std::size_t n = 0; n < d.node_count(); ++n)
      for (const index c : d.node.corners[n]) {
        if (c == nothing) continue;
        CHECK(d.element.nodes[c / 8][c % 8] == n);
        ++found;
      }
    CHECK(found == 8 * d.element_count());
    for (std::size_t e = 0; e < d.element_count(); ++e)
      for (int side = 1; side < 6; side += 2) {
        const index other = d.element.beside[e][side];
        if (other != nothing) CHECK(d.element.beside[other][side - 1] == e);
      }
  }
}

TEST_CASE("domain: mass and energy of the whole cube") {
  const domain d = filled(3);
  double mass = 0;
  for (const double m : d.node.mass) mass += m;
  CHECK(mass == doctest::Approx(1.125 * 1.125 * 1.125));
  CHECK(total_energy(d) == doctest::Approx(d.element.energy[0] * d.element.mass[0]));
}

TEST_CASE("domain: two ranges hold the nodes of elements, and the elements at nodes, of any range") {
  for (const std::size_t size : {1, 2, 3, 4}) {
    const domain d = filled(size);
    for (std::size_t from = 0; from < d.element_count(); ++from)
      for (std::size_t to = from + 1; to <= d.element_count(); ++to) {
        const auto ranges = d.nodes_of(from, to);
        CHECK((ranges[0].to <= ranges[1].from && ranges[1].to <= d.node_count()));
        for (std::size_t e = from; e < to; ++e)
          for (const index n : d.element.nodes[e]) CHECK(within(n, ranges));
      }
    for (std::size_t from = 0; from < d.node_count(); ++from)
      for (std::size_t to = from + 1; to <= d.node_count(); ++to) {
        const auto ranges = d.elements_at(from, to);
        for (const domain::range& r : ranges) CHECK(r.to <= d.element_count());
        for (std::size_t n = from; n < to; ++n)
          for (const index c : d.node.corners[n])
            if (c != nothing) CHECK(within(c / 8, ranges));
      }
  }
}

TEST_CASE("domain: a step grows by a fifth at most, keeps still below a tenth, and ends with the time") {
  domain d(8, memory_placement::first_touch(), 8);
  const double first = d.step_time;
  choose_step(d, {});
  CHECK((d.cycle == 1 && d.step_time == first && d.time == first));
  choose_step(d, {.courant = 2 * first * 1.05, .hydro = 1});
  CHECK(d.step_time == first);
  choose_step(d, {.courant = 100 * first, .hydro = 100});
  CHECK(d.step_time == doctest::Approx(1.2 * first));
  choose_step(d, {.courant = first, .hydro = 1});
  CHECK(d.step_time == doctest::Approx(first / 2));
  choose_step(d, {.courant = 100 * first, .hydro = first / 4});
  CHECK(d.step_time == doctest::Approx(first / 6));
  const double before = d.step_time;
  d.time = stop_time - 1.2 * before;
  choose_step(d, {.courant = 2 * before, .hydro = 1});
  CHECK(d.step_time == doctest::Approx(before * 2 / 3));
  d.time = stop_time - before / 10;
  choose_step(d, {.courant = 100, .hydro = 100});
  CHECK(d.time == doctest::Approx(stop_time));
}

}  // namespace weft::apps::lulesh
