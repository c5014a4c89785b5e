#include "lab/oracle/spread.hpp"

#include <doctest/doctest.h>

namespace weft::ordered_run {

TEST_CASE("oracle, spread: mean and 90th percentile, of small and of large numbers") {
  spread s;
  CHECK(s.get().mean == 0);
  s.add(7);
  CHECK(s.get().percentile_90 == 7);
  spread ten;
  for (std::uint64_t i = 1; i <= 10; ++i) ten.add(i);
  CHECK(ten.get().mean == 5.5);
  CHECK(ten.get().percentile_90 == 9);
  CHECK(ten.sum() == 55);
  spread large;
  for (std::uint64_t i = 1; i <= 100; ++i) large.add(i * 1000);
  CHECK(large.get().mean == 50'500);
  CHECK(large.get().percentile_90 == 90'000);
}

}  // namespace weft::ordered_run
