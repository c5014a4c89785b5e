// A trace file in memory: what the commands that look back at a run (report, export) and those that replay one start
// from. Every reference between rows is resolved and checked here, once, so that nobody above needs to ask again
// whether a parent, a worker or a handle exists: a reference is an index into one of the vectors, or `none`.
// Lives beside the tool and not in src/: a program that records its run must not carry the code that reads it.
//
// Only tables are read, never the views of the file: a file may come from anywhere, and a view is a program.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "weft/counts.hpp"

namespace weft::tool::trace {

using index = std::uint32_t;
inline constexpr index none = UINT32_MAX;
inline constexpr std::int64_t no_time = -1;     // times are nanoseconds since the runtime was made, so never negative
inline constexpr std::int64_t no_version = -1;  // of an access that orders nothing (a resource)

enum class outcome : std::uint8_t { done, failed, skipped, not_run };
[[nodiscard]] const char* text(outcome o) noexcept;

enum class wait_reason : std::uint8_t { children, all, handle, window, event, join, barrier, spawn };
inline constexpr std::size_t wait_reasons = 8;
[[nodiscard]] const char* text(wait_reason w) noexcept;

enum class booty : std::uint8_t { task, stack, branch };
[[nodiscard]] const char* text(booty b) noexcept;

// Of hints: there are none, or the data lie on several memory nodes and none is better.
inline constexpr std::int32_t unhinted = -2, spans_nodes = -1;

struct task {
  std::int64_t id;
  index parent;     // in tasks; none: submitted outside of tasks
  index name;       // in names; none: it was given no name
  index submitter;  // in workers; none: a thread that is no worker
  index worker;     // in workers, where it started; none: it did not run
  std::int64_t submitted_ns;
  std::int64_t started_ns, finished_ns;  // no_time: it did not run
  outcome result;
  // Clauses; files of format 1 do not have them, and then they are as here.
  bool priority = false;
  bool subtasks = false;
  std::int32_t pin = -1;  // worker; -1: none
  // What the main program computed between its submission or wait before and this submission; -1: somebody else
  // submitted it, or nobody knows (files before format 3).
  std::int64_t own_ns = -1;
  // Files before format 4 do not have these.
  std::int32_t near = unhinted;  // or spans_nodes, or the memory node that its hints want
  std::int8_t at_near = -1;      // 1: it began at that node, 0: at another; -1: it wanted none, or did not run
  bool is_call = false;          // in the body that submitted it
  // Files before format 5 do not have this.
  std::int32_t rank = -1;  // as a member of its parent, a team; -1: it is none

  [[nodiscard]] bool ran() const noexcept { return started_ns != no_time; }
};

// A stack that was set aside.
struct wait {
  index task;  // none: the main thread
  wait_reason why;
  index handle;  // none unless the wait is for a handle
  index from_worker, to_worker;
  std::int64_t from_ns, to_ns;
  std::int64_t own_ns = -1;  // as of a task
};

// A wait that found nothing to wait for.
struct passed_wait {
  index task;  // none: the main thread
  wait_reason why;
  index handle;  // none unless the wait is for a handle
  std::int64_t time_ns;
  std::int64_t own_ns = -1;  // as of a task
};

// Of a kind of access: SuperGlue's three flags (weft::access_type).
struct kind_flags {
  bool readonly, commutative, exclusive;
  bool known;  // false for types of the user's own in files of format 1
};
// Of the kinds that Weft has.
[[nodiscard]] kind_flags standard_flags(std::string_view kind);

struct access {
  index task, handle;
  index kind;  // in kinds
  std::int64_t position;
  std::int64_t version, next_version;  // no_version together: a resource
  std::int64_t units = 0;              // of a resource, that the task uses
};

struct steal {
  std::int64_t time_ns;
  index thief, victim;  // in workers
  index task;           // none if the record of the task was lost, or it is no task that begins
  booty what = booty::task;
};

// By what the width of a team was chosen: its clause or the policy; or learned, for the shortest time from entry to
// last exit, or for the least time of all members.
enum class aim : std::uint8_t { fixed, time, cost };
[[nodiscard]] const char* text(aim a) noexcept;

// A task of several members that has been through without an exception.
struct team {
  index task;
  std::int64_t width;
  trace::aim aim;
  std::int64_t entered_ns, left_ns;
  std::int64_t busy_ns;  // the sum over its members, what they waited for each other included
};

struct sleep {
  index worker;
  std::int64_t from_ns, to_ns;
};

struct worker {
  std::int64_t id;
  index place;       // none: the file does not say
  std::int64_t cpu;  // -1: not bound, or modelled
};

struct place {
  std::int64_t id;
  index parent;  // none: the root
  std::string kind, name;
};

struct handle {
  std::int64_t id;
  std::string name;         // may be empty
  std::int64_t bytes = -1;  // of its data; -1: not said
  std::int64_t units = 0;   // of a resource; 0: it is none, or the file is of format 1
};

struct counter {
  index task;
  index name;  // in counter_names
  std::int64_t value;
};

// The bytes that the clauses of a task name, by where they lay when it ran; of unknown places neither.
struct data_of_task {
  index task;
  std::int64_t local_bytes, remote_bytes;  // on the memory node of its worker, on others
};

// A run of an ordered section: what it called, and what became of that.
struct section {
  std::string executor;
  std::int64_t began_ns, ended_ns;  // on a chip that is modelled beside, ended_ns is its own time after began_ns
  std::int64_t committed;           // calls of bodies that counted
  std::int64_t started;             // calls, whatever became of them
  std::int64_t again;               // of these, of bodies that had been called before
  std::int64_t in_order;            // of those that counted, calls that did not run ahead
  std::int64_t serial_ns;           // what bodies would have taken one after the other; -1: nobody knows
  // Files before format 10 do not have these.
  std::int64_t section = 0;   // runs of one section have the same; 0: nobody knows
  std::int64_t window = 0;    // as asked for; 0: it adapts
  bool always_ahead = false;  // bodies run ahead also where that does not pay
  index begins = none;        // the task in which it begins
  index first = 0, last = 0;  // [first, last) in bodies
  std::uint32_t words = 0;    // that its bodies touch: 1 to words
  index roots = 0;            // calls that no body made: numbers 0 to before roots
  bool is_known = false;      // all that happened is here, so it can be run once more
};

// A body of a section, as it happened in the end.
struct body {
  index section;
  std::uint32_t number;  // how manieth call of the run it was to be created, from 0
  std::uint64_t timestamp;
  std::uint32_t calls;  // that it made: numbers from `child` on, if the section is known
  std::uint32_t child = 0;
  index task, worker;  // where it ran
  std::int64_t from_ns, to_ns;
  std::int64_t own_ps;        // of that, without what the section took
  std::int32_t runs;          // how often it was called; 0: once, in order
  bool serializes;            // it asked to be the first of those that had not happened
  index first = 0, last = 0;  // [first, last) in touches
};

// A word that a body read before it wrote there, or wrote. Values have numbers, which say which are the same; 0: it did
// not.
struct touch {
  std::uint32_t word;
  std::uint32_t reads, writes;
  std::int64_t before_ps;  // that it had computed before it read
};

// What a body that forks did: from its first fork on; of a branch that ran elsewhere; of the main program's forks; of a
// pass of a pipeline that did more than compute.
enum class strand_of : std::uint8_t { body, branch, program, pass };
struct strand {
  index task;  // in tasks, whose body it is, or in which it was forked; none: the main program
  strand_of of;
  std::int64_t began_ns;
  std::int64_t own_ns;        // of the main program: what it computed before; -1: nobody knows
  index first = 0, last = 0;  // [first, last) in steps
  bool is_taken = false;      // a branch, or a pass: the fork or the pass it is of is known
  bool is_whole = true;       // if not, steps are missing, and none are here
};

// Forks and loops lie in each other as they did: fork, first body, join, second body, over; or fork, first body, taken,
// over. Of a loop: loop, some iterations, look, some more, ..., looped.
enum class step_kind : std::uint8_t {
  fork,
  join,   // the first body is over, and the second begins
  taken,  // the first is over, and the second ran elsewhere: strand `which`, or -1: nobody knows
  over,
  loop,  // of `which` iterations
  look,  // `which` are left
  looped,
  end,
  submits,  // task `which`, or none
  waits_children,
  waits_all,
  waits_handle,  // `which`, or none
  pipeline,      // `which`, or -1: nobody knows
};
struct strand_step {
  step_kind kind;
  std::int64_t own_ps;  // computing since the step before
  std::int64_t which;
};

// Of a branch that ran elsewhere, or of the main program while it forks: on a worker without a break.
struct stay {
  index task;  // of the strand
  index worker;
  std::int64_t from_ns, to_ns;
  bool is_program = false;
};

// Items that go through stages.
struct pipeline {
  index task;              // whose body called it
  std::string stages;      // of each: s, it is serial, or p
  std::int64_t in_flight;  // items, at most; 0: no limit was asked for
  std::int64_t began_ns;
  index first = 0, last = 0;  // [first, last) in passes
  bool is_known = false;      // a step of a strand says where it was called
};

// An item in a stage, or several in all stages, one after the other.
struct pass {
  static constexpr std::int32_t all_stages = -1;
  std::int64_t item, items;
  std::int32_t stage;
  index task;  // that carried it
  index worker;
  std::int64_t from_ns, to_ns;
  std::int64_t ps;  // how long it took
  index strand;     // none: it only computed
};

// A rule of the scheduler, and how often it decided something.
struct rule {
  std::string name;
  std::int64_t value = 0;
  bool is_off = false;
  std::int64_t decided = 0;
};

struct file {
  std::string path;
  std::map<std::string, std::string, std::less<>> meta;
  std::vector<std::string> names;  // of tasks
  std::vector<std::string> kinds;  // of accesses: "read", "write", ...
  std::vector<kind_flags> flags;   // of each kind
  std::vector<std::string> counter_names;
  std::vector<place> places;          // by id
  std::vector<worker> workers;        // by id
  std::vector<handle> handles;        // by id
  std::vector<task> tasks;            // by id; no task is its own ancestor
  std::vector<wait> waits;            // by task (the main thread's last), then time
  std::vector<passed_wait> passed;    // by task (the main thread's last), then time; none in files of format 1
  std::vector<access> accesses;       // by task, then position
  std::vector<steal> steals;          // by time
  std::vector<sleep> sleeps;          // by worker, then time
  std::vector<counter> counters;      // by task
  std::vector<team> teams;            // by task; none in files before format 5
  std::vector<data_of_task> located;  // by task; none in files before format 6, and of machines with one memory node
  std::vector<section> sections;      // by time; none in files before format 7
  std::vector<strand> strands;        // by id; none in files before format 8
  std::vector<strand_step> steps;     // of strands
  std::vector<stay> stays;
  std::vector<pipeline> pipelines;  // by id; none in files before format 9
  std::vector<pass> passes;         // of pipelines, then by item and stage
  std::vector<index> helps;         // of each task, the pipeline whose items it carries and nothing else, or none; may
                                    // be empty: none do
  std::vector<body> bodies;         // by section, then as they happened; none in files before format 10
  std::vector<touch> touches;       // of bodies
  std::vector<index> numbered;      // of a known section's bodies, from its `first` on, by number
  std::vector<index> crews;         // of each task, the section whose bodies it runs and nothing else, or none; may be
                                    // empty
  // Of each task, and behind them of the main program, what its own stack computed in its strands, in nanoseconds.
  // Empty: what these say. Of a replay, where other stacks may have run the branches.
  std::vector<double> own_in_strands;
  std::int64_t format = 0;
  std::int64_t duration_ns = 0;  // of the run, from meta
  std::int64_t lost = 0;         // records that were overwritten before they reached the file, from meta
  joules energy{};               // of a modelled machine, from meta
  std::vector<rule> rules;       // by how often they decided; none in files before format 11
  std::int64_t dropped = 0;      // rows left out here because they speak of a record that was lost

  // The value of a key of meta, or "".
  [[nodiscard]] std::string about(std::string_view key) const;
  // What to call a task or a handle before people: its name, or "task 17", "handle 4".
  [[nodiscard]] std::string task_name(index t) const;
  [[nodiscard]] std::string handle_name(index h) const;
};

// The counters of a task.
[[nodiscard]] std::span<const counter> counters_of(const file& f, index t);

// Reads all of it. Cost: about 60 bytes a task and 40 an access; time is linear but for sorting what is not in order.
// Errors: weft::error that names the file, what is wrong and what to do: the file cannot be opened, is no SQLite
// database, no trace, of a newer version, incomplete, damaged, or contradicts itself (a reference that leads nowhere, a
// time before the start or after 52 days, an end before its begin, a worker in two bodies at once). Where records were
// lost (`lost` > 0), references that lead nowhere are expected: they become none, or the row is dropped and counted.
// `tell` is called with the share that is read, some hundred times.
[[nodiscard]] file load(const std::string& path, const std::function<void(double)>& tell = {});
// The same of a trace that was written, by the name of its file.
[[nodiscard]] file load_database(const std::string& path, const std::function<void(double)>& tell);

// A task's uninterrupted stay on a worker.
struct segment {
  index task;  // none: the main thread
  index worker;
  std::int64_t from_ns, to_ns;
  bool first, last;  // of its task
};

// All pieces of all tasks, and of the main thread if `with_main`, by worker, then time. Two pieces of one worker never
// overlap. Errors: weft::error if they would, and no record was lost that could explain it; otherwise the earlier piece
// ends where the later begins.
[[nodiscard]] std::vector<segment> segments(const file& f, bool with_main);

// One version of one handle: the accesses that bring it about, and those that wait for it. Each task of `before`
// precedes each of `after` (SuperGlue, section 3.1), so this is the dependency graph without its edges, of which there
// may be |before| * |after|.
struct version_step {
  index handle;
  std::int64_t version;
  std::uint32_t before_first, before_last;  // [first, last) in version_steps::before
  std::uint32_t after_first, after_last;    // the same, in version_steps::after
};

// Those of the first `tasks` tasks. Linear in the accesses, after sorting them.
struct version_steps {
  std::vector<index> before, after;  // in file::accesses
  std::vector<version_step> steps;   // by handle, then version; before or after of a step may be empty, never both

  explicit version_steps(const file& f, std::size_t tasks = SIZE_MAX);
};

}  // namespace weft::tool::trace
