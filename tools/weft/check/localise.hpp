// Which two tasks matter. Between an order with one result and an order with another there is a step by step way of
// orders that the task graph allows, and somewhere on it the result changes:
//   1. "the first k steps of b, then the rest as in a", for k from 0 to all. Somewhere one more step of b, s, taken to
//      the front of the rest, changes the result; found by halving.
//   2. s may stand anywhere between there and where it was. Somewhere it passes a step t, and the result changes; found
//      by halving, too.
// Then the two orders differ by nothing but s and t, one directly after the other: their order alone matters. That
// takes about 2 log2(steps) runs, and none of them is believed: the orders that really came are read from the last two
// runs.
#pragma once
#include <functional>
#include <string>

#include "program.hpp"

namespace weft::tool::check {

struct finding {
  order plain, other;  // as they came: equal but for one place, where two steps have changed places
  result plain_got, other_got;
  history seen;           // of the plain one
  step first, second;     // as in `plain`
  bool adjacent = false;  // false: the orders differ in more than that, because the program did something else
  unsigned runs = 0;
  std::string why_not;  // if nothing was found: what is known
  [[nodiscard]] bool found() const noexcept { return why_not.empty(); }
};

// plain has the result `expected`; so many runs.
[[nodiscard]] finding localise(const program& p, const result& expected, const order& plain, const order& other);

// What a reader should look at: what one of the two declares and the other does not, and what both declare as something
// that may come in any order.
[[nodiscard]] std::vector<std::string> suspicions(const history& h, const step& a, const step& b);

}  // namespace weft::tool::check
