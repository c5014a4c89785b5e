// Searches by threads: what they find is checked by the programs themselves.
#include "threads_test.hpp"

namespace weft::apps {

TEST_CASE("bfs by threads: levels as a plain search finds them, with any number of cores") {
  require_right_by_threads("bfs", {{"width", 60}, {"height", 40}}, {{"width", 2}, {"height", 1}});
  require_right_by_threads("bfs", {{"width", 50}, {"height", 30}, {"shuffled", true}}, {{"width", 3}, {"height", 2}});
  // A level has to have several blocks of 128 nodes before anybody can help.
  require_faster_by_threads("bfs", {{"width", 300}, {"height", 300}}, 1.5);
}

TEST_CASE("sssp by threads: distances as Dijkstra's algorithm finds them, with any number of cores") {
  require_right_by_threads("sssp", {{"width", 25}, {"height", 20}},
                           {{"width", 2}, {"height", 2}, {"rivers", 0}, {"bends", 0}});
  require_faster_by_threads("sssp", {{"width", 80}, {"height", 80}}, 2);
  const result r = run_by_threads("sssp", {{"width", 80}, {"height", 80}}, 16);
  CHECK(count_in(r, "visits") > count_in(r, "nodes"));  // it runs ahead, and in vain
  CHECK(count_in(r, "visits") < 20 * count_in(r, "nodes"));
}

}  // namespace weft::apps
