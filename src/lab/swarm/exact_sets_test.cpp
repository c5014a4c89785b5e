#include "lab/swarm/exact_sets.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>

TEST_CASE("swarm exact sets: who has accessed a line, until it is taken out") {
  weft::swarm::exact_sets sets;
  std::array<weft::swarm::task, 3> t;
  const auto of = [&](weft::swarm::line l) {
    std::set<std::pair<weft::swarm::task*, bool>> all;
    sets.of(l, [&](weft::swarm::task* who, bool wrote) { all.insert({who, wrote}); });
    return all;
  };
  const std::uint32_t a = sets.insert(1000, t.data(), false);
  const std::uint32_t b = sets.insert(1000, &t[1], true);
  const std::uint32_t c = sets.insert(1000, &t[2], false);
  const std::uint32_t d = sets.insert(7, t.data(), true);
  CHECK(of(1000).size() == 3);
  CHECK(of(1000).count({&t[1], true}) == 1);
  sets.erase(b);
  CHECK(of(1000).size() == 2);
  sets.erase(c);
  sets.erase(a);
  CHECK(of(1000).empty());
  CHECK(of(5'000'000).empty());
  CHECK(of(7).count({t.data(), true}) == 1);
  CHECK(sets.insert(7, &t[2], false) != d);
  CHECK(of(7).size() == 2);
}
