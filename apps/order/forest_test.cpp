// The check of minimum spanning forests: it takes any of several, and sees what is lost, doubled or too long.
#include "forest.hpp"

#include <doctest/doctest.h>

namespace weft::apps::order {

TEST_CASE("order, forest: another forest as short passes; a lost edge, a circle and a longer one do not") {
  // A square of ones, a diagonal of two, and a pair beside it.
  const std::vector<edge> edges = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {0, 3, 1}, {0, 2, 2}, {4, 5, 7}};
  const std::vector<char> reference = kruskal(6, edges);
  CHECK(reference == std::vector<char>{1, 1, 1, 0, 0, 1});
  const auto passes = [&](const std::vector<char>& chosen) {
    return as_short_a_forest(6, edges, chosen, reference).passed;
  };
  CHECK(passes(reference));
  CHECK(passes({0, 1, 1, 1, 0, 1}));   // without another side of the square
  CHECK(!passes({1, 1, 1, 0, 0, 0}));  // the pair is lost
  CHECK(!passes({1, 1, 1, 1, 0, 1}));  // a circle
  CHECK(!passes({1, 1, 1, 1, 0, 0}));  // as many, with a circle for the pair
  CHECK(!passes({1, 0, 1, 0, 1, 1}));  // the diagonal is longer
  CHECK(!passes({1, 1, 1}));
}

TEST_CASE("order, forest: of equal edges the reference takes the first in the input") {
  const std::vector<edge> edges = {{0, 1, 3}, {0, 1, 3}, {0, 1, 2}};
  CHECK(kruskal(2, edges) == std::vector<char>{0, 0, 1});
  CHECK(kruskal(2, {edges[0], edges[1]}) == std::vector<char>{1, 0});
}

}  // namespace weft::apps::order
