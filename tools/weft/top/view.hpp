// What is shown of a program's counters: tables for people, JSON, and OpenMetrics text for whoever collects metrics.
#pragma once
#include <span>
#include <string>

#include "tools/weft/json.hpp"
#include "watched.hpp"

namespace weft::tool {

// A runtime at two moments. Rates and shares are of the time between them; where it was first met at the second, since
// it was made.
struct live_change {
  live_answer before, now;
};
[[nodiscard]] live_change since_it_began(live_answer now);

[[nodiscard]] json live_json(const watched_program& program, std::span<const live_change> runtimes);
[[nodiscard]] std::string live_text(const watched_program& program, std::span<const live_change> runtimes, bool colour);
// https://prometheus.io/docs/specs/om/open_metrics_spec/: counters and gauges, each with the labels pid, program,
// runtime and, of a worker, worker.
[[nodiscard]] std::string open_metrics(const watched_program& program, std::span<const live_answer> runtimes);

}  // namespace weft::tool
