// The figures of a report, from a trace. What is measured is measured between the first submission and the end of the
// last task or of the main program's last wait; what a worker did is split so that the parts add up to that.
#pragma once
#include <array>
#include <string>

#include "graph.hpp"

namespace weft::tool::report {

// A worker is in a body, in the main program, asleep, or else it looks for work and keeps the books of tasks.
struct worker_figures {
  std::uint64_t tasks = 0;  // that began here
  ns bodies = 0;
  ns program = 0;
  ns asleep = 0;
  ns rest = 0;
};

struct spread {
  ns total = 0;
  ns min = 0;
  ns median = 0;
  ns p95 = 0;  // the smallest that 95 % do not exceed
  ns max = 0;
};

// Bytes that clauses name, by whether they lay on the memory node of the worker; all 0 of files before format 6, and of
// machines with one such node.
struct data_figures {
  double local = 0, remote = 0;
  [[nodiscard]] double all() const noexcept { return local + remote; }
};

struct name_figures {
  std::uint32_t name = none;  // in trace::file::names; none: tasks without a name
  std::uint64_t count = 0;    // that ran
  spread body;                // time in the body, without waits that set it aside
  ns waited_for_data = 0;     // from submission until the last of what it needed was done
  ns waited_for_worker = 0;   // from then until it began
  std::uint64_t on_path = 0;  // steps of the critical path
  ns path_time = 0;
  std::uint64_t hinted = 0;   // that wanted a memory node
  std::uint64_t at_near = 0;  // of those, that began there
  data_figures data;
};

// Tasks with hints, and what came of tasks beside being queued; all 0 of files before format 4.
struct placing_figures {
  std::uint64_t hinted = 0, at_near = 0;  // as of a name
  std::uint64_t spanning = 0;             // with hints, whose data lie on several nodes
  std::uint64_t calls = 0;                // tasks that were called where they were submitted
  std::array<std::uint64_t, 3> stolen{};  // by trace::booty
};

struct wait_figures {
  std::uint64_t count = 0;
  ns total = 0;
};

struct figures {
  ns makespan = 0;
  ns work = 0;             // all bodies
  ns program = 0;          // the main program between its waits, from the first submission on
  ns program_own = -1;     // of that, what it computed itself; the rest is submitting; -1: the trace does not say
  ns span = 0;             // the critical path
  double parallelism = 0;  // (work + program) / span
  double utilisation = 0;  // share of all workers' time that was work or program
  // While r tasks are ready and w workers in no body, awake, min(r, w) of these are busy with the runtime's own work:
  // taking and finishing tasks, stealing. The others search, because nothing is ready.
  ns overhead = 0;
  ns searching = 0;
  ns asleep = 0;
  std::array<std::uint64_t, 4> outcomes{};  // by trace::outcome
  std::uint64_t sleeps = 0;
  std::vector<worker_figures> workers;
  std::vector<name_figures> names;                        // most time first, then by name
  std::array<wait_figures, trace::wait_reasons> waits{};  // by trace::wait_reason
  ns path_program = 0;                                    // of the span, in the main program
  placing_figures placing;
  data_figures data;

  [[nodiscard]] std::uint64_t ran() const noexcept { return outcomes[0] + outcomes[1] + outcomes[2]; }
  [[nodiscard]] double overhead_per_task() const noexcept {
    return ran() == 0 ? 0 : static_cast<double>(overhead) / static_cast<double>(ran());
  }
};

// All that the pages are made of.
struct analysis {
  pieces parts;
  // Of each task: the first entry of trace::file::names with the same text, which may be there several times; their
  // number for tasks without a name.
  std::vector<std::uint32_t> names;
  moments order;
  std::vector<ns> ready;  // of each task
  chain path;
  figures sums;
};

// `tell` is called with what is done, from 0 to 1. Cost: O(n log n), about a second for 10^6 tasks.
[[nodiscard]] analysis analyse(const trace::file& r, void (*tell)(void* to, double done), void* to);
[[nodiscard]] inline analysis analyse(const trace::file& r) {
  return analyse(
      r, [](void*, double) {}, nullptr);
}

}  // namespace weft::tool::report
