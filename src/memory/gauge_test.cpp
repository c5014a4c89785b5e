// Sums and peaks of one thread to the byte, and of several within what gauge.hpp says.
#include "memory/gauge.hpp"

#include <doctest/doctest.h>

#include <array>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace weft::memory {

TEST_CASE("gauge: of one thread sum and peak are exact, with large steps and small ones") {
  for (const std::uint32_t step : {100u, 10'000u, 200'000u}) {
    gauge g;
    gauge::drift mine;
    base::random rng(step);
    std::int64_t sum = 0, peak = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::int64_t n = rng.below(step);
      const std::int64_t by = i / 100 % 2 == 0 ? n : -std::min(n, sum);
      sum += by;
      peak = std::max(peak, sum);
      g.add(by, mine);
      gauge::reading r(g);
      r.with(mine);
      REQUIRE(r.sum() == static_cast<std::uint64_t>(sum));
      REQUIRE(r.peak() == static_cast<std::uint64_t>(peak));
    }
  }
}

TEST_CASE("gauge: of several threads the sum is exact, and the peak is near") {
  gauge g;
  constexpr std::size_t threads = 4;
  std::array<gauge::drift, threads> drifts;
  {
    std::vector<std::jthread> all;
    for (gauge::drift& d : drifts)
      all.emplace_back([&g, &d] {
        for (int i = 0; i < 1000; ++i) g.add(1000, d);
        for (int i = 0; i < 500; ++i) g.add(-1000, d);
        g.add(1'000'000'000);  // as a thread without a drift does
        g.add(-1'000'000'000);
      });
  }
  gauge::reading r(g);
  for (const gauge::drift& d : drifts) r.with(d);
  CHECK(r.sum() == threads * 500'000);
  CHECK(r.peak() >= 1'000'000'000);
  CHECK(r.peak() <= threads * (1'001'000'000 + gauge::drift_max));
}

}  // namespace weft::memory
