#include "lab/swarm/cache_sets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using weft::swarm::cache_sets;
using weft::swarm::line;

namespace {

// The same by a list of what a set has, the line used least lately first.
struct plain_set {
  unsigned ways;
  std::vector<line> has;
  bool use(line l) {
    const auto at = std::find(has.begin(), has.end(), l);
    const bool hit = at != has.end();
    if (hit) has.erase(at);
    if (has.size() == ways) has.erase(has.begin());
    has.push_back(l);
    return hit;
  }
};

}  // namespace

TEST_CASE("swarm cache_sets: any number of ways keeps the lines that were used last") {
  constexpr std::size_t sets = 5;
  for (const unsigned ways : {1u, 2u, 3u, 8u, 12u, 16u, 32u}) {
    cache_sets has(sets, ways);
    std::vector<plain_set> plain(sets, {ways, {}});
    std::mt19937 random(ways);
    std::uint32_t tick = 0;
    for (int i = 0; i < 5000; ++i) {
      const std::size_t set = random() % sets;
      const auto l = static_cast<line>(random() % (2 * ways + 1));  // line 0, too
      if (random() % 16 == 0) {                                     // somebody else takes it away
        if (const unsigned way = has.find(set, l); way != cache_sets::absent) {
          has.drop(set, way);
          std::erase(plain[set].has, l);
          CHECK(has.empty(set, way));
        }
        continue;
      }
      unsigned way = has.find(set, l);
      REQUIRE(plain[set].use(l) == (way != cache_sets::absent));
      if (way == cache_sets::absent) has.put(set, way = has.victim(set), l);
      has.use(set, way, ++tick);
      REQUIRE(has.at(set, way) == l);
    }
    for (std::size_t set = 0; set < sets; ++set)
      for (line l = 0; l <= 2 * ways; ++l)
        CHECK((has.find(set, l) != cache_sets::absent) == (std::ranges::count(plain[set].has, l) == 1));
  }
}
