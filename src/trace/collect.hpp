// From what the recorders hold to the rows of a trace: tasks numbered 1 to n by the time of their submission, times in
// nanoseconds since the runtime was made, the version that follows each group of accesses, and what is known only in
// halves left out. No row depends on an address or on which of two equals came first in memory, so a virtual machine's
// trace is the same on every run.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/recorder.hpp"

namespace weft::trace {

// Of these and the next there are millions: each is no larger than the events it is made of.
struct task_row {
  std::uint64_t submitted_ns = 0;
  std::uint64_t started_ns = 0;
  std::uint64_t finished_ns = 0;
  std::int64_t own_ns = -1;  // what the main program computed before it submitted this; -1: others did, or nobody knows
  std::uint32_t parent = 0;  // 0: top level
  std::uint32_t name = 0;    // 0: unnamed
  std::int32_t rank = -1;    // of a member of its parent, which is a team; -1: it is none
  std::int16_t submitter = -1;  // worker; -1: a thread outside the runtime
  std::uint16_t worker = 0;
  std::uint16_t pin = detail::record::unpinned;
  std::uint8_t near = 0;  // what its hints want, as record::near
  bool priority = false;
  bool subtasks = false;
  bool is_call = false;  // where it was submitted
  bool ran = false;      // started_ns, finished_ns, worker and outcome are known
  trace::outcome outcome = trace::outcome::done;
};
static_assert(sizeof(task_row) <= 2 * sizeof(event));

struct access_row {
  std::uint32_t task;
  std::uint32_t position;
  std::uint32_t handle;
  std::uint8_t kind;  // kind_code()
  std::uint64_t version;
  std::uint64_t next_version;  // of a resource: meaningless
};
static_assert(sizeof(access_row) <= sizeof(event));

struct wait_row {
  std::uint32_t task;  // 0: the main thread
  trace::why why;
  std::uint32_t handle;  // 0: none
  unsigned from_worker;
  std::uint64_t from_ns;
  unsigned to_worker;
  std::uint64_t to_ns;
  std::int64_t own_ns = -1;  // as of a task
};

struct passed_row {
  std::uint32_t task;  // 0: the main thread
  trace::why why;
  std::uint32_t handle;  // 0: none
  unsigned worker;
  std::uint64_t time_ns;
  std::int64_t own_ns = -1;  // as of a task
};

struct handle_row {
  std::string name;         // "": unnamed
  std::uint64_t units = 0;  // of a resource; 0: it is none
  std::uint64_t bytes = 0;  // of its data; 0: nobody said
};

struct steal_row {
  std::uint64_t time_ns;
  unsigned thief;
  unsigned victim;
  std::uint32_t task;  // 0: none that begins
  booty what = booty::task;
};

struct sleep_row {
  unsigned worker;
  std::uint64_t from_ns;
  std::uint64_t to_ns;
};

struct count_row {
  std::uint32_t task;
  unsigned counter;  // its number in the list
  std::uint64_t value;
};

struct team_row {
  std::uint32_t task;
  unsigned width;
  trace::aim aim;
  std::uint64_t entered_ns;
  std::uint64_t left_ns;
  std::uint64_t busy_ns;
};

struct located_row {
  std::uint32_t task;
  std::uint64_t local_bytes;
  std::uint64_t remote_bytes;
};

// What a body that forks did (strand.hpp).
struct strand_row {
  std::uint32_t id;    // the recorders'; its number is where it stands, from 1
  std::uint32_t task;  // 0: the main program
  strand_of of;
  std::uint64_t began_ns;
  std::int64_t own_ns;  // as of a task
};

struct step_row {
  std::uint32_t strand;
  std::uint32_t position;
  step_kind kind;
  std::uint64_t own_ps;
  std::uint64_t which;  // strand, task or handle: 0: none, or it is not known
};

struct stay_row {
  std::uint32_t strand;
  unsigned worker;
  std::uint64_t from_ns;
  std::uint64_t to_ns;
};

// A pipeline, by the body that called it.
struct pipeline_row {
  std::uint32_t id;  // the recorders'; its number is where it stands, from 1
  std::uint32_t task;
  std::uint64_t began_ns;
  std::uint64_t serial;  // bit s: of stage s
  unsigned stages;
  std::uint32_t in_flight;  // 0: no limit was asked for
};

// Carries items of that pipeline, and does nothing else.
struct helper_row {
  std::uint32_t task;
  std::uint32_t pipeline;
};

struct pass_row {
  std::uint32_t pipeline;
  std::uint32_t task;
  std::uint64_t item;  // the first
  std::uint32_t items = 1;
  std::uint32_t strand = 0;  // 0: it only computed
  std::uint64_t from_ns;
  std::uint64_t to_ns;
  std::uint64_t took_ps;
  std::uint16_t worker;  // where it ended
  std::uint8_t stage;    // 255: all, one after the other
};

// A run of an ordered section, as weft::ordered_counts has it.
struct section_row {
  std::uint32_t id = 0;       // the recorders', by which its bodies are known; its number is where it stands, from 1
  std::uint32_t section = 0;  // runs of one section have the same, until they have its number among sections, from 1
  std::uint64_t window = 0;   // as asked for
  bool always_ahead = false;
  std::string executor;
  std::uint64_t began_ns = 0;
  std::uint64_t ended_ns = 0;  // of a chip that is modelled beside: its own time after began_ns
  std::uint64_t committed = 0;
  std::uint64_t started = 0;
  std::uint64_t again = 0;
  std::uint64_t in_order = 0;
  std::int64_t serial_ns = -1;  // -1: nobody knows
};

// Runs bodies of that run of a section, and does nothing else.
struct crew_row {
  std::uint32_t task;
  std::uint32_t section;
  bool is_first;
};

// A body that has happened. By section, timestamp and number they are in the order of the serial run.
struct body_row {
  std::uint64_t timestamp;
  std::uint64_t from_ns;
  std::uint64_t to_ns;
  std::uint64_t own_ps;
  std::uint32_t section;
  std::uint32_t number;  // how manieth call it was to be created
  std::uint32_t calls;   // that it made
  std::uint32_t task;
  std::uint32_t first, last;  // of its touches
  std::uint16_t worker;
  std::uint8_t runs;  // 0: in order
  bool serializes;
};
static_assert(sizeof(body_row) <= 2 * sizeof(event));

// What a body did with bytes that bodies of the section always touch together. Values have numbers, from 1; 0: it did
// not.
struct touch_row {
  std::uint32_t word;
  std::uint32_t reads, writes;
  float before_ps;  // that it had computed before it read
};

struct contents {
  std::vector<std::string> names{std::string()};        // by number, from 1
  std::map<std::uint32_t, handle_row> handles;          // by id
  std::map<std::uint8_t, std::uint8_t> kinds;           // of accesses that occur, by kind_code(): their flags
  std::vector<task_row> tasks{task_row{}};              // by number, from 1
  std::vector<access_row> accesses;                     // by task and position
  std::vector<wait_row> waits;                          // by task and time
  std::vector<passed_row> passed;                       // by task and time
  std::vector<steal_row> steals;                        // by time
  std::vector<sleep_row> sleeps;                        // by worker and time
  std::vector<count_row> counts;                        // by task and counter
  std::vector<team_row> teams;                          // by task
  std::vector<located_row> located;                     // by task
  std::vector<section_row> sections;                    // by time
  std::vector<crew_row> crews;                          // by task
  std::vector<body_row> bodies;                         // by section, timestamp and number
  std::vector<touch_row> touches;                       // of bodies
  std::vector<strand_row> strands{strand_row{}};        // by number, from 1, in the order in which they began
  std::vector<step_row> steps;                          // by strand and position
  std::vector<stay_row> stays;                          // by strand and time
  std::vector<pipeline_row> pipelines{pipeline_row{}};  // by number, from 1, in the order in which they began
  std::vector<helper_row> helpers;                      // by task
  std::vector<pass_row> passes;                         // by pipeline, item and stage
  std::uint64_t lost = 0;
};

// recorders[i] is worker i's, the last one is for threads outside the runtime. start_ps: when the runtime was made.
// Who: anyone; events that are added meanwhile may or may not be in it. Errors: std::bad_alloc.
[[nodiscard]] contents collect(const std::vector<recorder*>& recorders, std::uint64_t start_ps,
                               std::vector<section_row> sections = {});

// Fills next_version. `accesses` as in contents.
void complete_versions(std::vector<access_row>& accesses);

}  // namespace weft::trace
