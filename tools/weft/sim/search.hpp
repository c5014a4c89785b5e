// The best combination of workers, policy, creation and grain: what helps alone is often not what helps together. Tasks
// that are too short bind the more workers there are, so the best number of workers for them is small, and only larger
// tasks make more workers worth having. So first some grains are tried with all numbers of workers; then, from the best
// that is known, one thing at a time is changed as long as that helps. It is no exhaustive search.
// The rules are in docs/guide/25-whatif.md.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sweep.hpp"

namespace weft::tool::sim {

inline constexpr double same_until =
    1.01;  // of the least makespan: fewer changes or workers that are as fast are better

// What may be combined. Empty lists: that is left as it is.
struct search_space {
  std::vector<unsigned> workers;  // ascending
  std::vector<std::string> policies;
  std::vector<std::string> splits;  // grains "/k"
  bool merges = false;              // grains "k"
  bool creations = false;
  std::size_t points_max = 64;
  std::uint64_t events_max = 0;  // of replays, estimated; 0: no limit
  double gain_least = 0;         // of the base's makespan: what gains less is not looked for
};

struct combination {
  row base;               // the best of the rows in which nothing but workers changes
  row best;               // of all that is known; of those as good as the least the one with fewest changes
  std::size_t tried = 0;  // points, beside the rows that were known
  [[nodiscard]] double gain() const noexcept { return 1 - best.run.makespan_ns / base.run.makespan_ns; }
};

// In how many things, workers among them, they differ.
[[nodiscard]] unsigned changes(const point& a, const point& b) noexcept;

using run_points = std::function<std::vector<row>(const std::vector<point>&)>;

// series: rows that differ in their workers alone, as find_limits() takes them; known: all rows of that machine there
// are. Calls `run` once a round. Returns what it found; nothing if no row is left.
[[nodiscard]] std::optional<combination> search(const std::vector<row>& series, const std::vector<row>& known,
                                                const search_space& space, const run_points& run);

}  // namespace weft::tool::sim
