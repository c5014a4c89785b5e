#include "sched/balance/decisions.hpp"

#include <doctest/doctest.h>

namespace weft::sched {

TEST_CASE("decisions: each row is counted by itself") {
  decisions one, other;
  one.count(by::tiny);
  one.count(by::in_vain);
  one.count(by::in_vain);
  other.count(by::in_vain);
  std::uint64_t sums[rules::count] = {};
  one.add_to(sums);
  CHECK(sums[0] == 1);
  CHECK(sums[rules::count - 1] == 2);
  other.add_to(sums);
  CHECK(sums[0] == 1);
  CHECK(sums[rules::count - 1] == 3);
  for (std::size_t i = 1; i + 1 < rules::count; ++i) CHECK(sums[i] == 0);
}

}  // namespace weft::sched
