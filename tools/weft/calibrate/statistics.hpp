// What many repetitions of one measurement say. The median is the value, because whatever disturbs a run makes some
// repetitions longer and a mean follows them; the quartiles say how far to trust it.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace weft::tool::calibrate {

struct summary {
  double median = 0;
  double min = 0;
  double q1 = 0;
  double q3 = 0;
  std::size_t count = 0;

  // Distance of the quartiles over the median; 0 for a constant.
  [[nodiscard]] double spread() const noexcept { return median > 0 ? (q3 - q1) / median : 0; }
};

inline constexpr double spread_steady = 0.1;  // a median whose quartiles are further apart than this is called noisy

// Of all values; those that are no number count as infinitely long. An empty list gives zeros.
[[nodiscard]] summary summarise(std::vector<double> values);

// How long a measurement may try.
struct effort {
  double seconds = 0.5;  // at most, unless `repeats_min` take longer
  std::size_t repeats_min = 15;
};

// Calls `sample` until the spread is as small as it should be, or the time is over. Every sample counts.
[[nodiscard]] summary repeat(const effort& e, const std::function<double()>& sample);

}  // namespace weft::tool::calibrate
