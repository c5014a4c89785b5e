// The chip: what its mechanisms share. Each mechanism is a file of functions on it, named like it: cores (who runs),
// conflicts, aborts, enqueues, spills, commits, bodies. One host thread runs all cores, each on a fiber of its own.
// Time: a core has its own, which runs ahead of the chip's while it does what no other can see, and waits for it before
// it does what others can (sync in cores.hpp).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "lab/swarm/allocator.hpp"
#include "lab/swarm/exact_sets.hpp"
#include "lab/swarm/lines.hpp"
#include "lab/swarm/memory.hpp"
#include "lab/swarm/mesh.hpp"
#include "lab/swarm/samples.hpp"
#include "lab/swarm/signature.hpp"
#include "lab/swarm/task.hpp"
#include "lab/swarm/tile.hpp"
#include "lab/swarm/wheel.hpp"
#include "machine/fiber.hpp"
#include "weft/lab/swarm.hpp"
#include "weft/ordered.hpp"

namespace weft::swarm {

struct chip;
struct thread_team;  // threads.cpp

// Thrown through a body whose execution has been aborted. It is no std::exception, so that bodies seldom catch it; one
// that does gets it again from whatever it asks next.
struct aborted_execution {};

struct core {
  enum class waits : std::uint8_t { no, idle, commit_entry, refused_child, certain, a_store };

  std::unique_ptr<machine::fiber> stack;
  chip* of = nullptr;
  std::uint32_t number = 0;
  std::uint32_t tile = 0;
  cycle time = 0;
  cycle counted = 0;             // its cycles until then have been counted
  std::uint32_t generation = 0;  // a wake-up of another one is out of date
  waits waiting = waits::no;
  bool killed = false;  // its task has been aborted under it
  task* runs = nullptr;
  std::optional<std::uint64_t> holds;  // the lowest timestamp of what a coalescer has taken out of the queue
  virtual_time last;                   // of what it runs, or ran before
  detail::ordered_call call;  // what it runs: the task's record may be somebody else's before an aborted body has left
  ordered_context* context = nullptr;
  // Lines that the current execution has in its sets already: a line is recent_lines[line % size], if stamped with it.
  struct recent_line {
    line where = 0;
    std::uint32_t execution = 0;
    bool wrote = false;
  };
  std::array<recent_line, 128> recent;
  std::uint32_t execution = 0;
};

struct event {
  enum class kind : std::uint32_t {
    wake,
    arrive,
    come_back,
    look,
    apply,
    sample
  };  // look, apply: of the global virtual time
  kind what;
  std::uint32_t generation;
  void* who;
};

struct chip {
  explicit chip(const swarm_options& given);

  const swarm_options options;
  swarm_statistics statistics;
  wheel<event> events;
  lines all_lines;
  mesh net;
  memory caches;
  allocator heap;
  h3 hash;
  exact_sets exact;
  bool keeps_exact;  // they decide, or an audit needs them
  std::vector<tile> tiles;
  std::vector<std::unique_ptr<core>> cores;
  samples over_time;
  task_pool tasks;
  task* waiting = nullptr;  // those that travel or return
  base::random draw;
  std::uint64_t age = 0;
  virtual_time gvt, gvt_seen;
  virtual_time committed_last;               // of the task that has committed last
  std::uint64_t stuck_periods = 0;           // all cores have waited, and the global virtual time stood still
  std::vector<tile::entry> ready_to_commit;  // kept for its memory
  cycle occupied_since = 0;
  bool ending = false;
  std::exception_ptr error;  // of the body that ends the run
  machine::fiber* main = nullptr;
  void (*loop)(chip& c, core& me) = nullptr;  // what each core runs
  thread_team* threads = nullptr;             // of run_chip_threads
  core* running = nullptr;                    // nullptr: the main fiber
  void (*committed)(void* whom, const detail::ordered_call& call, virtual_time at) = nullptr;  // for tests
  void* committed_whom = nullptr;

  [[nodiscard]] tile& tile_of(const core& c) noexcept { return tiles[c.tile]; }
  [[nodiscard]] core& core_of(const tile& t, unsigned i) noexcept { return *cores[t.first_core + i]; }

  // Queues as they were until now, for their averages. Who: before each change.
  void count_occupancy() noexcept {
    WEFT_ASSERT(events.now() >= occupied_since);
    const cycle passed = events.now() - occupied_since;
    statistics.task_queue_cycles += task_entries * passed;
    statistics.commit_queue_cycles += commit_entries * passed;
    occupied_since = events.now();
  }
  void take_task_entry(tile& t) noexcept {
    // swarm.md, "Full queues": one beyond its size, for whoever has the entry that does not exist
    WEFT_ASSERT(!t.task_queue_full() || (t.emergency != nullptr && t.task_used == t.task_entries));
    count_occupancy();
    ++task_entries;
    if (++t.task_used > statistics.tasks.task_queue_max) statistics.tasks.task_queue_max = t.task_used;
  }
  void leave_task_entry(tile& t) noexcept {
    count_occupancy();
    WEFT_ASSERT(t.task_used != 0 && t.task_used <= task_entries);
    --task_entries;
    --t.task_used;
  }
  void take_commit_entry(tile& where, task& t) {
    count_occupancy();
    ++commit_entries;
    where.enter_commit_queue(t);
    if (where.finished.size() > statistics.tasks.commit_queue_max)
      statistics.tasks.commit_queue_max = where.finished.size();
  }
  void leave_commit_entry(tile& where, task& t) {
    count_occupancy();
    --commit_entries;
    where.leave_commit_queue(t);
  }
  void start_waiting(task& t) noexcept {
    WEFT_ASSERT(t.is == task::phase::travelling || t.is == task::phase::returning);
    WEFT_ASSERT(waiting != &t && (waiting == nullptr || waiting->previous_waiting == nullptr));
    t.previous_waiting = nullptr;
    t.next_waiting = waiting;
    if (waiting != nullptr) waiting->previous_waiting = &t;
    waiting = &t;
    statistics.tasks.under_way_max = std::max(statistics.tasks.under_way_max, ++under_way);
  }
  void stop_waiting(task& t) noexcept {
    WEFT_ASSERT((t.previous_waiting != nullptr ? t.previous_waiting->next_waiting : waiting) == &t);
    WEFT_ASSERT(t.next_waiting == nullptr || t.next_waiting->previous_waiting == &t);
    (t.previous_waiting != nullptr ? t.previous_waiting->next_waiting : waiting) = t.next_waiting;
    if (t.next_waiting != nullptr) t.next_waiting->previous_waiting = t.previous_waiting;
    --under_way;
  }
  void forget_waiting() noexcept {
    waiting = nullptr;
    under_way = 0;
  }

 private:
  std::uint64_t task_entries = 0, commit_entries = 0, under_way = 0;
};

}  // namespace weft::swarm
