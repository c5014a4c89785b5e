// See statistics.hpp.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::tool::calibrate {

namespace {

// Between two neighbours in the order, by their distance (as R's type 7 has it).
double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  if (sorted[below] == sorted[above]) return sorted[below];  // also two infinities
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Quiet machines need few looks; each look sorts everything.
constexpr std::size_t looks_apart = 8;

}  // namespace

summary summarise(std::vector<double> values) {
  if (values.empty()) return {};
  for (double& v : values)
    if (std::isnan(v)) v = std::numeric_limits<double>::infinity();
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), values.front(), quantile(values, 0.25), quantile(values, 0.75), values.size()};
}

summary repeat(const effort& e, const std::function<double()>& sample) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(e.seconds));
  std::vector<double> values;
  for (;;) {
    values.push_back(sample());
    if (values.size() < e.repeats_min) continue;
    if (clock::now() >= end) break;
    if (values.size() % looks_apart == 0 && summarise(values).spread() <= spread_steady / 2) break;
  }
  return summarise(std::move(values));
}

}  // namespace weft::tool::calibrate
