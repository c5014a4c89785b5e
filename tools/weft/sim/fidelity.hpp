// How far off a replay is on one trace: the run once more as it was recorded - on that machine, with as many workers,
// that policy, creation and seed - beside what it took then. Whatever a sweep predicts from the trace is off by about
// as much, so no gain below that is told as one.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "script.hpp"
#include "settings.hpp"
#include "sweep.hpp"
#include "tools/weft/trace/reader.hpp"

namespace weft::tool::sim {

inline constexpr double error_of_use = 0.5;  // of what was recorded: who is farther off advises nothing

struct fidelity {
  point at;                    // where it was replayed
  bool on_real_cores = false;  // recorded there, so the machine of `at` stands for them
  double recorded_ns = 0, replayed_ns = 0;
  double with_gaps_ns = 0;  // replayed with what the main program computed in between; 0: not tried
  std::string unknown;      // why there is nothing but this; else empty

  [[nodiscard]] bool known() const noexcept { return unknown.empty(); }
  // Shares of what was recorded. 0 if nothing is known.
  [[nodiscard]] double error() const noexcept { return off(replayed_ns); }
  // A sentence without a full stop.
  [[nodiscard]] std::string text() const;
  // The error alone, and what it is from.
  [[nodiscard]] std::string share() const;
  [[nodiscard]] std::string origin() const;

 private:
  [[nodiscard]] double off(double makespan_ns) const noexcept;
};

// The points of the run as it was recorded: as asked, and where `asap` with what the main program computed in between.
// A machine that was real, or is not known here, is `otherwise`. Empty, and `why` is set: it cannot be replayed so.
[[nodiscard]] std::vector<point> as_recorded(const trace::file& f, const settings& asked, const std::string& otherwise,
                                             bool asap, std::string& why);

// rows: of these points.
[[nodiscard]] fidelity compare(const trace::file& f, const std::vector<row>& rows, const std::string& why);

// The same of one replay more, which is made here: of the run as it was recorded, and with what the main program
// computes in between as it is asked for.
[[nodiscard]] fidelity measure(const trace::file& f, const script& s, const settings& asked, bool keep_gaps,
                               const std::function<void(double)>& tell);

[[nodiscard]] json to_json(const fidelity& x);

}  // namespace weft::tool::sim
