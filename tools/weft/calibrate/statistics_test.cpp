#include "statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace weft::tool::calibrate {

TEST_CASE("median and quartiles of few and of many") {
  CHECK(summarise({}).count == 0);
  const summary one = summarise({7});
  CHECK(one.median == 7);
  CHECK(one.min == 7);
  CHECK(one.q1 == 7);
  CHECK(one.q3 == 7);
  const summary four = summarise({4, 1, 3, 2});
  CHECK(four.median == doctest::Approx(2.5));
  CHECK(four.q1 == doctest::Approx(1.75));
  CHECK(four.q3 == doctest::Approx(3.25));
  CHECK(four.min == 1);
  CHECK(four.spread() == doctest::Approx(0.6));
}

TEST_CASE("one disturbance of any size leaves the median") {
  std::vector<double> values(99, 5.0);
  values.push_back(1e12);
  CHECK(summarise(values).median == 5);
  CHECK(summarise(values).spread() == 0);
}

TEST_CASE("what is no number counts as infinitely long") {
  const summary s = summarise({std::numeric_limits<double>::quiet_NaN(), 1, 2, 3, 4});
  CHECK(s.median == 3);
  CHECK(s.min == 1);
  CHECK(std::isinf(
      summarise({1, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}).median));
}

TEST_CASE("repeating stops when the values agree, and not before there are enough") {
  int calls = 0;
  const summary s = repeat({.seconds = 100, .repeats_min = 9}, [&] { return ++calls, 3.0; });
  CHECK(s.median == 3);
  CHECK(s.count >= 9);
  CHECK(s.count < 30);  // a hundred seconds would be many more
}

TEST_CASE("repeating stops when the time is over, also if the values never agree") {
  double x = 1;
  const summary s = repeat({.seconds = 0.01, .repeats_min = 3}, [&] { return x = x > 100 ? 1 : x * 3; });
  CHECK(s.count >= 3);
  CHECK(s.spread() > spread_steady);
  CHECK(repeat({.seconds = 0, .repeats_min = 5}, [] { return 1.0; }).count == 5);
}

}  // namespace weft::tool::calibrate
