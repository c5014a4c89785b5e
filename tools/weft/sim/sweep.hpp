// Many runs of the same: each point in a process of its own, several at a time. The processes come from a fork after
// the trace is loaded, so none reads it again, and what one does to its memory no other sees.
#pragma once
#include <functional>
#include <vector>

#include "result.hpp"
#include "settings.hpp"

namespace weft::tool::sim {

// Where a sweep asks.
struct point {
  std::string machine, policy, creation, grain, team;
  unsigned workers = 0;
  bool path_first = false;   // tasks on the critical path have priority
  bool as_recorded = false;  // the run as the trace has it, whatever else was asked for (fidelity.hpp)
  bool without_gil = false;  // no body waits for the lock of Python (report/gil.hpp)
  bool keeps_gaps = false;   // and the main program computes in between, as it did
};

// A run's settings there, otherwise as asked.
[[nodiscard]] settings settings_at(const point& p, settings asked);

// What it gets there. Machine and number of workers are those of the point: a machine file calls itself as it likes.
struct row {
  point at;
  std::string error;  // else, if not empty, there is nothing but this
  modelled run;
  double speedup = 0;  // against the recorded bodies, of a program against its own
  [[nodiscard]] double efficiency() const noexcept { return speedup / at.workers; }
};

// Does the work of one point in its process, and tells of the share that is done. Errors: std::exception; the row has
// its text.
struct worked {
  modelled run;
  double speedup = 0;
};
using point_work = std::function<worked(const point&, const std::function<void(double)>& tell)>;

// The rows in the order of the points. `tell`: the share of all that is done. Interrupted from the keyboard, it ends at
// once, and rows that are not done say so. Errors: weft::error if no process can be started.
[[nodiscard]] std::vector<row> sweep(const std::vector<point>& points, unsigned at_once, const point_work& work,
                                     const std::function<void(double)>& tell);

// Who makes one takes SIGINT as a wish to see what is done so far, until it is gone.
class interruption {
 public:
  interruption();
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  [[nodiscard]] static bool wanted() noexcept;
  // Ends this process as the signal would have.
  static void obey();
};

[[nodiscard]] json to_json(const row& r);

}  // namespace weft::tool::sim
