// Many runs of the same: each point in a process of its own, several at a time. The processes come from a fork after
// the trace is loaded, so none reads it again, and what one does to its memory no other sees.
#pragma once
#include <functional>

#include "replay.hpp"
#include "tools/weft/json.hpp"

namespace weft::tool::sim {

struct point {
  std::string machine, policy, creation, grain;
  unsigned workers = 0;
};

// Does the work of one point in its process: gives the row, and tells of the share that is done.
using point_work = std::function<json(const point&, const std::function<void(double)>& tell)>;

// The rows in the order of the points; that of a point that failed has "error". `tell`: the share of all that is done.
// Errors: weft::error if no process can be started.
[[nodiscard]] std::vector<json> sweep(const std::vector<point>& points, unsigned at_once, const point_work& work,
                                      const std::function<void(double)>& tell);

}  // namespace weft::tool::sim
