// Coming from a bounded queue with shutdown: a pipeline has both. Which number below three million has the longest
// Collatz sequence? A stage makes jobs, the next does them side by side, and all ends when there are no more.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <weft/weft.hpp>

namespace {

constexpr long below = 3'000'000, job = 1000;

struct best {
  long steps = 0, from = 0;
};

best longest(long begin) {
  best b;
  for (long from = std::max(begin, 1L); from < begin + job; ++from) {
    long steps = 0;
    for (long x = from; x != 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1) ++steps;
    if (steps > b.steps) b = {steps, from};
  }
  return b;
}

}  // namespace

int main() {
  weft::runtime rt;
  best all;
  long next = 0;
  const auto make = [&]() -> std::optional<long> {
    if (next == below) return std::nullopt;
    return (next += job) - job;
  };
  const auto keep = [&](const best& b) { all = b.steps > all.steps ? b : all; };
  weft::pipeline(weft::in_flight(64), weft::serial(make), weft::parallel(longest), weft::serial(keep));
  std::printf("%ld, %ld steps\n", all.from, all.steps);
  return all.from == 2'298'025 && all.steps == 559 ? 0 : 1;
}
