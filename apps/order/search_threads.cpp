#include "search_threads.hpp"

#include <algorithm>
#include <string>

namespace weft::apps::order {

void add_search(result& r, runtime& rt, const std::vector<std::uint64_t>& expected, const search_run& found) {
  describe_threads(r, rt, found.statistics);
  const auto reached =
      static_cast<std::uint64_t>(std::ranges::count_if(expected, [](std::uint64_t d) { return d != unreached; }));
  r.add("visits", found.visits);
  r.checks.push_back({"each_node_visited", found.visits >= reached,
                      std::to_string(found.visits) + " visits of " + std::to_string(reached) + " nodes"});
}

}  // namespace weft::apps::order
