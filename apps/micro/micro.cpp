#include "micro.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace weft::apps::micro {

grain::grain(const runtime& rt, double ns)
    : ns_(ns), spin_(std::string_view(rt.machine()) == "host" ? static_cast<std::int64_t>(ns) : 0) {}

double series::total() const noexcept {
  double sum = 0;
  for (const double s : seconds_) sum += s;
  return sum;
}

double series::seconds(double q) const {
  if (seconds_.empty()) return 0;
  std::vector<double> sorted = seconds_;
  std::sort(sorted.begin(), sorted.end());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

double efficiency(double tasks, double grain_ns, unsigned workers, double seconds) noexcept {
  return tasks * grain_ns * 1e-9 / workers / seconds;
}

double overhead_ns(double tasks, double grain_ns, unsigned workers, double seconds) noexcept {
  return seconds * 1e9 * workers / tasks - grain_ns;
}

check tasks_in_order(std::uint64_t wrong, std::uint64_t tasks) {
  return {"every_task_once_in_order", wrong == 0,
          std::to_string(wrong) + " of " + std::to_string(tasks) + " tasks ran too often, too early or never"};
}

std::vector<std::size_t> doubled(std::size_t first, std::size_t last) {
  std::vector<std::size_t> all;
  for (std::size_t ns = first; ns <= last; ns *= 2) all.push_back(ns);
  return all;
}

}  // namespace weft::apps::micro
