#include "solver.hpp"

#include <doctest/doctest.h>

#include <random>

namespace weft::tool::calibrate {

TEST_CASE("as many equations as unknowns have one solution") {
  const solution s = solve_costs({{{1, 0}, 5}, {{1, 1}, 8}});
  CHECK(s.values[0] == doctest::Approx(5));
  CHECK(s.values[1] == doctest::Approx(3));
  CHECK(s.determined == std::vector<bool>{true, true});
}

TEST_CASE("more equations than unknowns are met as well as can be") {
  const solution s = solve_costs({{{1}, 1}, {{1}, 2}, {{1}, 6}});
  CHECK(s.values[0] == doctest::Approx(3));
  const solution weighted = solve_costs({{{1}, 1, 1}, {{1}, 2, 1}, {{1}, 6, 0}});
  CHECK(weighted.values[0] == doctest::Approx(1.5));
}

TEST_CASE("a cost is never negative, and the others are then solved without it") {
  // The first two alone would want 6 and -2.
  const solution s = solve_costs({{{1, 0}, 6}, {{1, 1}, 4}});
  CHECK(s.values[0] == doctest::Approx(5));
  CHECK(s.values[1] == 0);
  CHECK(s.determined[1]);
}

TEST_CASE("what no equation tells is 0 and said to be unknown") {
  const solution s = solve_costs({{{1, 0, 2}, 4}, {{1, 0, 3}, 5}});
  CHECK(s.values[0] == doctest::Approx(2));
  CHECK(s.values[1] == 0);
  CHECK(s.values[2] == doctest::Approx(1));
  CHECK(s.determined == std::vector<bool>{true, false, true});
  CHECK(solve_costs({}).values.empty());
  // Two that always come together: only one of them can be told.
  const solution both = solve_costs({{{1, 1}, 10}, {{2, 2}, 20}});
  CHECK(both.values[0] + both.values[1] == doctest::Approx(10));
  CHECK(both.determined[0] != both.determined[1]);
}

TEST_CASE("costs come back from programs made of them, with some noise too") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> count(0, 4), cost(1, 100), noise(-0.01, 0.01);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> truth(6);
    for (double& t : truth) t = cost(random);
    std::vector<equation> equations;
    for (int e = 0; e < 20; ++e) {
      equation one{std::vector<double>(6), 0};
      for (std::size_t u = 0; u < 6; ++u) {
        one.counts[u] = static_cast<int>(count(random));
        one.value += one.counts[u] * truth[u];
      }
      one.value *= 1 + noise(random);
      equations.push_back(one);
    }
    const solution s = solve_costs(equations);
    for (std::size_t u = 0; u < 6; ++u) CHECK(s.values[u] == doctest::Approx(truth[u]).epsilon(0.5));
  }
}

}  // namespace weft::tool::calibrate
