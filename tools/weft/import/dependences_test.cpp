#include "dependences.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "weft/error.hpp"

namespace weft::tool::foreign {

namespace {

struct made {
  source from{"made", ""};
  graph g{from};
  explicit made(index tasks) {
    for (index t = 0; t < tasks; ++t) g.add("t" + std::to_string(t), "", t + 1, t + 1);
  }
};

// Whether one is behind the other, in any number of steps.
bool reaches(const dependences& d, index from, index to) {
  if (from == to) return true;
  return std::ranges::any_of(d.after(from), [&](index next) { return reaches(d, next, to); });
}

}  // namespace

TEST_CASE("import: accesses order tasks, but not those of a group") {
  made m(6);
  const index x = m.g.datum_of("x");
  constexpr mode modes[] = {mode::write, mode::read, mode::read, mode::add, mode::add, mode::write};
  for (index t = 0; t < 6; ++t) m.g.access(t, x, modes[t]);
  normalise(m.g);
  const dependences d(m.g);
  for (index a = 0; a < 6; ++a)
    for (index b = a + 1; b < 6; ++b) CHECK(reaches(d, a, b) == !((a == 1 && b == 2) || (a == 3 && b == 4)));
  CHECK(d.nodes() == 7);  // the reads and the adds meet in a point
  CHECK(submission_order(m.g, d) == std::vector<index>{0, 1, 2, 3, 4, 5});
  CHECK(longest_chain(m.g, d) == 1 + 3 + 5 + 6);
}

TEST_CASE("import: many that read what many added take a link each") {
  constexpr index n = 2000;
  made m(2 * n);
  const index x = m.g.datum_of("x");
  for (index t = 0; t < 2 * n; ++t) m.g.access(t, x, t < n ? mode::add : mode::read);
  normalise(m.g);
  const dependences d(m.g);
  std::size_t links = 0;
  for (index v = 0; v < d.nodes(); ++v) links += d.after(v).size();
  CHECK(links == 2 * n);
}

TEST_CASE("import: what is said twice counts once, and an edge that the data bring not at all") {
  made m(3);
  const index x = m.g.datum_of("x");
  m.g.access(0, x, mode::read);
  m.g.access(0, x, mode::write);
  m.g.access(1, x, mode::read);
  m.g.access(1, x, mode::read);
  m.g.access(2, x, mode::read);
  m.g.order(0, 1);
  m.g.order(1, 2);  // both only read
  m.g.order(1, 2);
  normalise(m.g);
  CHECK(m.g.accesses.size() == 3);
  CHECK(m.g.accesses[0].mode == mode::write);
  CHECK(m.g.edges == std::vector<edge>{{1, 2}});
}

TEST_CASE("import: the order of submission is that of the file as far as edges allow") {
  made m(5);
  m.g.order(3, 1);
  m.g.order(4, 3);
  const dependences d(m.g);
  CHECK(submission_order(m.g, d) == std::vector<index>{0, 2, 4, 3, 1});
}

TEST_CASE("import: a circle is named, also one that data close") {
  const auto refusal = [](made& m) -> std::string {
    try {
      normalise(m.g);
      static_cast<void>(submission_order(m.g, dependences(m.g)));
    } catch (const weft::error& e) {
      return e.what();
    }
    return "none";
  };
  made edges(4);
  edges.g.order(2, 1);
  edges.g.order(3, 2);
  edges.g.order(1, 3);
  CHECK(refusal(edges).find("task 't1' (line 2) after task 't2' (line 3)") != std::string::npos);
  made data(2);
  data.g.access(0, data.g.datum_of("x"), mode::write);
  data.g.access(1, data.g.datum_of("x"), mode::write);
  data.g.order(1, 0);
  CHECK(refusal(data).find("in a circle") != std::string::npos);
}

}  // namespace weft::tool::foreign
