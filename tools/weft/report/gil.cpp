#include "gil.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::tool::report {

std::vector<ns> gil_waits(const trace::file& r) {
  const auto name = std::find(r.counter_names.begin(), r.counter_names.end(), "gil_wait_ns");
  if (name == r.counter_names.end()) return {};
  const auto number = static_cast<std::uint32_t>(name - r.counter_names.begin());
  std::vector<ns> all(r.tasks.size(), 0);
  for (const trace::counter& c : r.counters)
    if (c.name == number) all[c.task] += std::max<ns>(0, c.value);
  return all;
}

double gil_share(const trace::file& r) {
  const std::vector<ns> waits = gil_waits(r);
  ns in_bodies = 0, waited = 0;
  for (std::size_t t = 0; t < waits.size(); ++t) {
    if (!r.tasks[t].ran()) continue;
    const ns body = std::max<ns>(0, r.tasks[t].finished_ns - r.tasks[t].started_ns);
    in_bodies += body;
    waited += std::min(body, waits[t]);
  }
  return in_bodies > 0 ? static_cast<double>(waited) / static_cast<double>(in_bodies) : 0;
}

std::vector<advice> gil_advice(const trace::file& r) {
  const double share = gil_share(r);
  if (share < gil_from) return {};
  return {
      {"gil", std::to_string(std::lround(100 * share)) +
                  " % of the time in bodies is a wait for Python's lock, the GIL: let them call what goes without it "
                  "(NumPy on large arrays, compiled code), or run a Python that has none; weft whatif says what that "
                  "would bring"}};
}

}  // namespace weft::tool::report
