// Coming from rayon: which numbers below three million have a Collatz sequence of more than 400 steps, in order: a map
// that may keep nothing is a filter. original/main.rs is where it comes from.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <weft/weft.hpp>

namespace {

int steps(unsigned long x) {
  int steps = 0;
  for (; x != 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1) ++steps;
  return steps;
}

}  // namespace

int main() {
  weft::runtime rt;
  const auto found =
      weft::collect(1ul, 3'000'000ul, [](auto n) { return steps(n) > 400 ? std::optional(n) : std::nullopt; });
  const bool ordered = std::is_sorted(found.begin(), found.end());
  std::printf("%zu numbers, the first is %lu\n", found.size(), found[0]);
  return ordered && found[0] == 230'631 ? 0 : 1;
}
