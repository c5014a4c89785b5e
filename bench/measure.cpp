// What does not depend on the system.
#include "measure.hpp"

#include <cmath>

namespace weft::bench {

namespace {

// Program order is always a legal order.
struct in_order {
  std::vector<value>& cells;
  template <class Body> void independent_task(cell_index c, Body body) const { body(cells[c]); }
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) const {
    job(cells.data(), reads, writes[0], body)();
  }
};

}  // namespace

void reference::prove(const problem& p) {
  in_order all{cells_};
  submit_pass(p, all, mix{});
}

void reference::count(const problem& p, std::uint64_t passes) {
  std::vector<value> once(cells_.size());
  in_order all{once};
  submit_pass(p, all, increment{});
  for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c] += once[c] * passes;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double calibrate_spin() {
  constexpr std::uint64_t rounds = 100'000;
  double best = HUGE_VAL;
  for (int i = 0; i < 20; ++i) {
    const auto start = steady::now();
    spin(rounds);
    best = std::min(best, nanoseconds(steady::now() - start).count());
  }
  return best / static_cast<double>(rounds);
}

sample find_grain(const std::function<double(double)>& efficiency) {
  constexpr double ns_min = 4;
  double high = 128;
  while (high > ns_min && efficiency(high / 2) >= 0.5) high /= 2;
  while (efficiency(high) < 0.5) {
    high *= 2;
    if (high > grain_ns_max) return {.ns = grain_ns_max, .above = true};
  }
  double low = high / 2;
  while (high / low > 1.05) {
    const double middle = std::sqrt(low * high);
    (efficiency(middle) >= 0.5 ? high : low) = middle;
  }
  return {.ns = std::sqrt(low * high)};
}

std::uint64_t grain_tasks(double ns) noexcept {
  return static_cast<std::uint64_t>(std::clamp(10e6 / ns, 2'000.0, 20'000.0));
}

}  // namespace weft::bench
