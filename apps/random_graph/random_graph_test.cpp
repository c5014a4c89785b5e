// The random graph: on both machines, at its smallest sizes, and that its numbers are what decides it.
#include "../programs_test.hpp"

namespace weft::apps {

TEST_CASE("random graph: the same bits on any number of workers") {
  for (const char* machine : {"host", "epyc-7551-32"})
    for (const unsigned workers : {1u, 2u, 5u})
      for (const int spins : {0, 50, 100}) {
        CAPTURE(std::string(machine));
        CAPTURE(workers);
        CAPTURE(spins);
        const settings all{{"tasks", 400}, {"blocks", 9}, {"size", 8}, {"grain-ns", 500}, {"spins", spins}};
        CHECK(run("random-graph", all, machine, workers).ok());
      }
}

TEST_CASE("random graph: the least of everything") {
  CHECK(run("random-graph", {{"tasks", 1}, {"blocks", 3}, {"size", 1}, {"grain-ns", 0}}, "virtual", 2).ok());
}

TEST_CASE("random graph: another draw is another graph, and the same draw is the same") {
  const auto seconds = [](int draw) {
    return run("random-graph", {{"tasks", 300}, {"draw", draw}}, "virtual", 4, "local").seconds;
  };
  CHECK(seconds(1) == seconds(1));
  CHECK(seconds(1) != seconds(2));
}

}  // namespace weft::apps
