// The runtime: workers that execute submitted tasks on this machine or on a modelled one.
//
//   weft::runtime rt;                                   usable cores, this machine
//   weft::runtime rt({.workers = 64, .machine = "virtual"});
//
// The thread that makes a runtime becomes its worker 0: it executes tasks while it waits, so a runtime with one worker
// starts no thread for them. Several runtimes may live in one process; each joins its threads in its destructor.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>

#include "weft/choice.hpp"
#include "weft/clause.hpp"
#include "weft/counts.hpp"
#include "weft/detail/arguments.hpp"
#include "weft/error.hpp"
#include "weft/event.hpp"
#include "weft/handle.hpp"
#include "weft/rule.hpp"

namespace weft {

// What only modelled machines have: options::model. Real ones refuse a schedule, a mode and a core, because a program
// that asks for them does not mean them. In the environment these too are WEFT_<NAME>: WEFT_SCHEDULE, WEFT_MODE.
struct model_options {
  // "time" (default): the earliest event is next. "random": any event, drawn from the seed; finds what depends on the
  // schedule. "pct" and "tasks" draw priorities of cores and of tasks, "order:FILE" runs the tasks in the order of that
  // file: docs/guide/26-check.md.
  const char* schedule = nullptr;
  // "fine" (default): every cache line that moves is an event. "coarse": one event per step of a task's life, for
  // sweeps over millions of tasks.
  const char* mode = nullptr;
  // How long bodies take. "declared" (default): what cost, cycles and charge say, else the machine's default.
  // "measured": the CPU time they take here, times body_scale; then runs do not repeat exactly.
  const char* body = nullptr;
  double body_scale = 1;
  // The modelled core that worker 0 sits on, counted from 0; the others take the rest in order.
  unsigned core = 0;
  // What is different about the machine: lines of a machine file that come instead of its own, separated by new lines
  // or semicolons. "runtime.submit.cycles = 15000; types.little.speed.x = 0.5": docs/guide/22-machine-files.md.
  const char* change = nullptr;
};

// Every option may also be given in the environment as WEFT_<NAME> in capitals (WEFT_WORKERS=8,
// WEFT_MACHINE=virtual). A field that differs from its default wins over the environment, the environment over the
// default. A variable WEFT_... that no option has is said on stderr, with the nearest that one has.
struct options {
  // Number of workers, 1 to 1024. 0: usable_cpus() on real cores, all cores of a modelled machine, 1 on "virtual".
  unsigned workers = 0;
  // "host": this machine, real threads. Else a modelled one, the same scheduler in virtual time: "virtual", as many
  // equal cores as there are workers; the name of a machine file, "epyc-7551-32" (`weft info` lists them); or a path,
  // which has a '/' in it or ends in .toml or .xml. nullptr: host.
  const char* machine = nullptr;
  // Scheduling policy: "local" (default), "random", "central". `weft info` lists them.
  const char* policy = nullptr;
  // Seed of everything random, above 0: victim choice, random schedules. Same seed, same run on a virtual machine.
  std::uint64_t seed = 1;
  // What only modelled machines have.
  model_options model{};
  // Live tasks (submitted and not done) at most, 64 to 2^40, counted per size of task and beside 128 per worker. A
  // submitter that meets the limit sleeps until there is room, and a reserve thread runs tasks in its place: no body
  // ever runs on a submitter's stack, so it may hold a lock that bodies take. Nothing is dropped. On real machines the
  // limit begins at 4096, so that small tasks stay in the caches, and grows up to this where that helps: a program need
  // not know. It is exceeded step by step when for 20 ms no task begins and no worker uses its core - bodies then wait
  // for something, perhaps for the submitter - and it does not hold for tasks above 640 bytes.
  std::size_t window = std::size_t{1} << 20;
  // How long a worker without work looks for some before it sleeps, in microseconds, 0 to 1000000. 0: it looks once and
  // sleeps at once, which burns no core where others need it; the next task then waits for a wake-up, some 25 us. The
  // rules by which a worker looks again and again are off then, unless `rules` sets them.
  unsigned search_us = 25;
  // Stack of a task body in KiB, 64 to 4194304 (4 GiB). Reserved address space; memory is used as touched.
  std::size_t stack_kib = 1024;
  // Who creates tasks, that is gives them their versions and puts them into a queue. "inline" (default): the thread
  // that submits them. "decoupled": one worker, which does nothing else from three workers on; submit() then only hands
  // the task over (TaskGenX §3). Needs two workers at least. What inline creation would throw from submit() about
  // handles is then thrown by the wait, as if the task had failed with it. docs/guide/27-creation.md.
  const char* creation = nullptr;
  // The worker that creates where creation is decoupled, 1 to workers-1. 0: the last.
  unsigned creator = 0;
  // Begin paused: tasks are accepted and none runs until start() or a wait outside of tasks.
  bool paused = false;
  // Bind each worker thread to one core. The calling thread is never bound.
  bool pin = true;
  // Real cores only. When every worker has been in a body for so many milliseconds, none of them has ended, and other
  // tasks wait, that is said on stderr, once, with the names of the bodies: they may wait for those tasks, and then
  // never end. 0: never, nor of events that do not come, nor of a thread outside that waits while all others sleep. A
  // thread of its own looks while somebody waits, each third of it, and each half second where it may be one of those.
  unsigned stuck_ms = 30'000;
  // File to record a trace in: an SQLite database, described in docs/guide/10-traces.md. nullptr: none is recorded. The
  // second runtime of a process that is given the same file writes name.2.weft, the third name.3.weft.
  const char* trace = nullptr;
  // Memory that recording may use, in MiB, at least 1; two chunks of 64 KiB per worker it may in any case. What is
  // recorded beyond that overwrites the oldest, and the trace says how much was lost.
  std::size_t trace_mib = 1024;
  // Counters to read around each task and put into the trace, separated by commas: "cycles,instructions,cache-misses".
  // On real cores only. What this machine does not have or allow is named on stderr and left out.
  const char* counters = nullptr;
  // Rules of the scheduler with other numbers than the usual ones, or switched off: "tiny=off,sweep=16". For
  // measurements and for the curious; `weft info --rules` lists them. nullptr: all as usual.
  const char* rules = nullptr;
  // Real cores only. `weft top` may look at the counters while the runtime lives: docs/guide/63-top.md. Costs a thread
  // that sleeps until somebody looks, some pages of memory, and two looks at the clock each time a worker runs dry.
  bool top = false;
};

class graph;
class runtime;
namespace detail {
[[nodiscard]] engine_base& engine_of(runtime& rt) noexcept;
}

class runtime {
 public:
  // Errors: throws weft::error for an option that cannot be meant, naming the option and what is allowed, and for a
  // trace that could not be written: no such folder, no right, or a file there that is no trace. Fewer threads than
  // asked for, or no right to bind them, is not an error: the runtime goes on with less and says so on stderr.
  explicit runtime(const options& opt = {});
  // Waits for all tasks, and for other threads that are still in a call of it, then ends the workers. A wait of another
  // thread for what nothing brings any more throws weft::error there; a call that begins after this is not seen. An
  // exception of a task that nobody waited for is reported on stderr.
  // Who: the thread that made it. In a child after fork(), where the workers do not exist, it returns at once.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // Submits a task: clauses first, the body last. The body is called once, with the data of the access clauses in
  // order, when the versions it needs are there (SuperGlue §3.1); what it returns is ignored, unless weft::returns() is
  // among the clauses: then this returns a weft::future of it (weft/future.hpp).
  // Who: any thread, and from inside tasks; then the new task is a child of the running one.
  // Cost: the table in README.md; nothing is allocated in the steady state for bodies up to about 400 bytes.
  // Errors: weft::error if one handle is named with two kinds, or is in use by another runtime.
  template <class... Args> auto submit(Args&&... clauses_and_body) {
    using given = detail::arguments<Args...>;
    static_assert(given::has_body,
                  "weft: submit needs a body, and it comes last: rt.submit(weft::read(a), [](int x) {})");
    if constexpr (given::has_body) {
      static_assert(given::no_bare_handle, "weft: a handle alone does not say how the body uses it: write "
                                           "weft::read(h), weft::write(h), weft::add(h) or weft::concurrent(h)");
      static_assert(!given::no_bare_handle || given::all_clauses,
                    "weft: every argument before the body must be a clause");
      if constexpr (given::all_clauses && detail::asks_for_result<Args...>)
        return submit_returning(*engine_, static_cast<Args&&>(clauses_and_body)...);
      else if constexpr (given::all_clauses)
        detail::submit(*engine_, static_cast<Args&&>(clauses_and_body)...);
    }
  }
  // A run of g (weft/graph.hpp), which behaves as one task with all accesses of its nodes.
  void submit(graph& g);

  // Outside a task: returns when every task of this runtime is done, with all that those submitted. Inside a task:
  // when the children of the running task are. The task is set aside and its worker goes on; nothing else runs on its
  // stack, so a wait inside a task cannot deadlock on what lies below it. The task may continue on another thread,
  // unless it is pinned.
  // Errors: rethrows, of the tasks waited for, the exception that the serial program would throw first; else
  // weft::error if the tasks that are left can never run (each waits for an access that nobody submitted).
  void wait() { detail::wait_all(*engine_); }

  // Returns when the accesses to `h` that are submitted so far are done.
  void wait(handle_base& h) { engine_->wait_handle(h.state()); }

  // Returns when h.version() has reached `version`, so many accesses to `h` are done, also if they are not submitted
  // yet. Among adds on `h` it may return later, when none of them is queued. Of a resource there is no such wait.
  // Errors: as wait(h); weft::error on a modelled machine if nobody is left to submit them.
  void wait(handle_base& h, std::uint64_t version) { engine_->wait_version(h.state(), version); }
  void wait(resource& r, std::uint64_t version) = delete;

  // Waits for `h`, then gives its datum, for use outside of tasks.
  template <class T> [[nodiscard]] T& get(handle<T>& h) {
    wait(h);
    return h.unguarded();
  }

  // No worker takes another task until start(): none that is submitted after this call, and of those before at most the
  // one that it was about to begin. Bodies that run go on. A wait outside of tasks starts the runtime too.
  void pause() { engine_->pause(true); }
  void start() { engine_->pause(false); }

  // Virtual machine: the program itself computes for so long, outside of tasks. Real machine: does nothing. For
  // programs whose own work between its calls matters; of what tasks do, weft::charge tells. Who: the thread that made
  // the runtime, outside of tasks.
  void charge(double nanoseconds) noexcept;

  [[nodiscard]] unsigned workers() const noexcept;
  // "host", or the name that the machine file has.
  [[nodiscard]] const char* machine() const noexcept;
  [[nodiscard]] const char* policy() const noexcept;
  // Which rules are not as usual, as options::rules says it; "": none.
  [[nodiscard]] const char* rules() const noexcept;
  // The worker that creates tasks; -1: those who submit them do.
  [[nodiscard]] int creator() const noexcept;
  // The seed in force: the option's, the environment's or the default.
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  // Time on this runtime's machine, in nanoseconds: a steady clock, or virtual time since the runtime was made.
  [[nodiscard]] double now_ns() const noexcept;

  // Counts since the runtime was made. Who: the thread that made it, after wait().
  using counts = run_counts;
  [[nodiscard]] counts statistics() const noexcept;

  // The file that this runtime's trace goes to, an absolute path; nullptr if none is recorded.
  [[nodiscard]] const char* trace_path() const noexcept;
  // Writes what is recorded so far; tasks that have not ended by then stand there as "not run", so wait before. The end
  // of the runtime writes the file too, unless no task came after this, and can report errors on stderr only: call this
  // to learn of them.
  // Who: the thread that made the runtime, outside of tasks. Cost: about 1 us per task.
  // Errors: weft::error if the file cannot be written, a full disk for one - what was there before is still there
  // then - or if no trace is recorded.
  void write_trace();

 private:
  friend class graph;
  friend detail::engine_base& detail::engine_of(runtime& rt) noexcept;

  detail::engine_base* engine_;
  const char* policy_;
  const char* rules_;
  std::uint64_t seed_;
};

inline detail::engine_base& detail::engine_of(runtime& rt) noexcept { return *rt.engine_; }

// What options::machine accepts by name, and options::policy, the default first. A machine file that cannot be used is
// listed with the reason. Read once per process.
[[nodiscard]] choices machines() noexcept;
[[nodiscard]] choices policies() noexcept;

// Cores this process may use: scheduling affinity, limited by the cgroup CPU quota (v1 or v2), at least 1.
[[nodiscard]] unsigned usable_cpus() noexcept;
// How that number was found, in words: "2 cores in the affinity mask, no cgroup quota".
[[nodiscard]] const char* usable_cpus_reason();

// The number of the worker that the calling thread is at the moment, 0 to workers()-1; -1 if it is none. The main
// thread is worker 0 only inside tasks and waits.
[[nodiscard]] int worker_id() noexcept;

// Scratch memory of the calling worker, at least `bytes`, aligned to 64, kept for its next task (SuperGlue §4.6). Valid
// until the body returns or waits; contents are whatever the last user left. Who: task bodies.
// Errors: weft::error outside of a task; std::bad_alloc.
[[nodiscard]] void* workspace(std::size_t bytes);

// Virtual machine: adds the time to the running body. Real machine: does nothing. For bodies whose cost is known only
// while they run; it replaces the default cost of the body, and adds to a cost clause.
void charge(double nanoseconds) noexcept;

}  // namespace weft
