// Why a run takes as long as it does. Each bound is a time below which the run cannot go, whatever the scheduler does,
// computed from the run itself; the one that comes close to the makespan binds. Where none does, the time was lost, and
// the larger loss is named. The rules are in docs/guide/25-whatif.md.
#pragma once
#include "tools/weft/report/analysis.hpp"

namespace weft::tool::sim {

using report::none;
using report::ns;

enum class limit : std::uint8_t { cores, critical_path, creation, bandwidth, shared_units, contention, imbalance };
[[nodiscard]] const char* text(limit l) noexcept;

struct verdict {
  ns makespan = 0;
  // Bounds: see above.
  ns work_bound = 0;      // all bodies and the main program, spread evenly over the workers
  ns span = 0;            // the critical path of bodies
  ns creation_bound = 0;  // the main program's own time, then the body of what it submitted last
  // Losses, as shares of all workers' time.
  double busy = 0;       // in bodies
  double program = 0;    // in the main program
  double late = 0;       // in no body, though a task was ready, but for the next
  double bandwidth = 0;  // bodies waited for memory that others used, too
  double units = 0;      // or computed more slowly, because others that share their core's units did
  double idle = 0;       // no task was ready
  limit binds = limit::cores;
  std::vector<std::pair<std::string, ns>> path_names;  // tasks on the critical path of bodies by name, most time first
};

// Beside it, creation binds only where the main program itself takes so much of the makespan: the last body, which is
// part of that bound, may be most of it.
inline constexpr double program_from = 0.5;
inline constexpr double binds_from = 0.8;  // of the makespan: a bound that binds leaves the scheduler no more than 20 %

// By how much a machine made bodies longer whose ends in the trace do not show it (replay.cpp), all together.
struct unseen {
  std::uint64_t bandwidth_ns = 0;
  std::uint64_t units_ns = 0;
};
// The run, analysed; `order` and what follows as longest_chain() takes them, of the same file.
[[nodiscard]] verdict judge(const trace::file& f, const report::analysis& a, unseen longer = {});

// The longest chain of bodies alone: what the main program does costs nothing.
[[nodiscard]] report::chain chain_of_bodies(const trace::file& f, const report::analysis& a);

}  // namespace weft::tool::sim
