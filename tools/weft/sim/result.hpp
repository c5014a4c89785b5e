// What came of a modelled run: the same for sim and for the rows of whatif. It is text only where it leaves this
// program: as JSON for scripts and pages, and through the pipe of a process that did the work.
#pragma once
#include <optional>
#include <string>

#include "replay.hpp"
#include "tools/weft/json.hpp"
#include "verdict.hpp"
#include "weft/counts.hpp"

namespace weft::tool::sim {

// Of all tasks of a name.
struct name_sum {
  std::optional<std::string> name;  // shortened; none: tasks without one
  std::uint64_t count = 0;
  ns total = 0, median = 0, max = 0;
  [[nodiscard]] double mean() const noexcept { return static_cast<double>(total) / static_cast<double>(count); }
};

// What only a replay knows.
struct replay_sums {
  std::uint64_t events = 0, transfers = 0, line_waits_ns = 0, remote_bytes = 0, local_bytes = 0, cached_bytes = 0,
                shared_bytes = 0, modified_bytes = 0, written_back_bytes = 0, tasks = 0;
  std::string digest;
  double host_seconds = 0;
};

struct modelled {
  double makespan_ns = 0;
  unsigned workers = 0;
  std::string machine, policy;
  std::uint64_t tasks = 0, steals = 0, sleeps = 0;
  ns work = 0;         // in bodies
  ns program = 0;      // in the main program
  ns program_own = 0;  // of that, what it computed itself between its submissions
  verdict why;
  std::vector<name_sum> names;  // most time first
  std::optional<replay_sums> replay;
  joules energy{};
  std::string unseen;   // what the trace has no rows of, so that what binds is not known; empty: nothing
  std::string caution;  // how far off the mode may be here; empty: it is not

  [[nodiscard]] double speedup() const noexcept {
    return makespan_ns > 0 ? static_cast<double>(work) / makespan_ns : 0;
  }
};

[[nodiscard]] unseen unseen_of(const replayed& r) noexcept;
[[nodiscard]] modelled make_result(const trace::file& f, const report::analysis& a, const verdict& v);
[[nodiscard]] modelled make_result(const trace::file& f, const report::analysis& a, const verdict& v,
                                   const replayed& r);

// What to expect of a run in that mode, "fine", "coarse" or "": by the lengths of its bodies and its workers, as
// docs/decisions/0024 has measured.
[[nodiscard]] std::string caution_of(const std::string& mode, const modelled& m);

[[nodiscard]] json to_json(const modelled& m);
// What to_json() made.
[[nodiscard]] modelled from_json(const json& j);

// Why that limit binds, in a sentence without a full stop.
[[nodiscard]] const char* reason(const modelled& m) noexcept;
[[nodiscard]] std::string percent(double share);

}  // namespace weft::tool::sim
