// A recorded run once more, on a modelled machine, with the real scheduler: its tasks are submitted to a runtime by the
// public interface, in their order, with their accesses and clauses; a body computes for as long as it did, submits
// what it submitted, and waits where it waited.
// Cost: about the engine's own; a few hundred bytes of memory a task while it lives, 48 for the result.
#pragma once
#include <functional>
#include <memory>

#include "script.hpp"
#include "settings.hpp"
#include "strands.hpp"
#include "team_plan.hpp"
#include "weft/weft.hpp"

namespace weft::tool::sim {

struct replay_options {
  settings machine;        // on which it runs, and how
  bool keep_gaps = false;  // the main program computes between its submissions for as long as it did
  double speed = 1;        // bodies run so many times as fast as they were recorded
  team_wish teams{};       // how wide teams are
};

struct task_run {
  std::uint64_t submitted_ps = 0, from_ps = 0, to_ps = 0;
  ns own = -1;  // what the main program computed before it submitted this; -1: a body did
  std::uint16_t submitter = 0, from_worker = 0, to_worker = 0;
  bool ran = false;
  bool in_submission = false;  // the body that submits it is in that call
  bool is_call = false;        // it ran in there, as a call
};

// A member that the recorded team did not have.
struct more_member {
  std::uint32_t team;
  unsigned rank;
  task_run run;
};

struct replayed {
  std::string machine, policy;
  unsigned workers = 0;
  std::uint64_t makespan_ps = 0;  // from the first step of the main program until its last wait is over
  runtime::counts counts{};
  std::uint64_t slowed_ps = 0;     // of counts.units_wait_ns, what the ends of bodies show: they computed it themselves
  std::vector<task_run> tasks;     // as in the trace
  std::vector<more_member> more;   // of teams that are wider than they were
  std::vector<trace::stay> stays;  // of branches that ran elsewhere, and items of pipelines, as in a trace
  std::vector<double> own_in_strands;      // as in a trace
  std::vector<trace::wait> waits;          // that took time; as in a trace, times from the beginning
  std::vector<trace::passed_wait> passed;  // of the main program, that took none
  double host_seconds = 0;
  std::vector<std::string> notes;

  // Over task, worker, start and end of each: the same in two runs exactly if the runs were.
  [[nodiscard]] std::uint64_t digest() const noexcept;
};

// `tell` is called with the share of tasks that have ended, some hundred times.
// Errors: weft::error for settings that cannot be.
[[nodiscard]] replayed replay(const trace::file& f, const script& s, const replay_options& opt,
                              const std::function<void(double)>& tell);

// The replay as if it had been recorded: what the analysis of a report takes.
[[nodiscard]] trace::file as_trace(const trace::file& of, const replayed& r);

}  // namespace weft::tool::sim
