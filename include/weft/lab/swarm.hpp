// The machine that the executor "swarm" of ordered sections models: the chip of the Swarm paper (MICRO 2015, Table 3),
// with each of its numbers and idealizations open:
//
//   weft::swarm_options chip{.cores = 16, .gvt_period = 50};
//   weft::ordered q(rt, {.executor = "swarm", .swarm = &chip});
//   ...
//   q.run();
//   weft::statistics_of(q).cycles
//
// Without options it is what WEFT_SWARM says ("cores=16,gvt_period=50"), or 64 cores as in the paper. The model's own
// page is src/lab/swarm/swarm.md. Its numbers depend on the program, the options and where data lie within their
// pages of 4 KiB, and on nothing else: align what should give the same numbers in another process.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <span>
#include <string_view>

#include "weft/lab/executors.hpp"

namespace weft {

class ordered;

// Times are in cycles, sizes in units that the name says. Sizes of queues and caches are for each core, so that larger
// chips have more of them, as in the paper's Fig. 11.
struct swarm_options {
  std::uint32_t cores = 64;  // at most 256; a chip has cores / tile_cores tiles, at least one
  std::uint32_t tile_cores = 4;
  // 0: a chip without Swarm. One of its cores runs the bodies in order, and keeps those that wait in a list, a queue or
  // a heap in memory: the serial program, on the same caches.
  std::uint32_t task_units = 1;
  std::uint32_t task_queue = 64;    // entries; 0: unbounded
  std::uint32_t commit_queue = 16;  // entries; 0: unbounded
  std::uint32_t gvt_period = 200;
  std::uint32_t bloom_bits = 2048;  // of a read or write set
  std::uint32_t bloom_ways = 8;
  std::uint32_t precise = 0;          // 1: sets without false positives
  std::uint32_t canary_per_line = 0;  // 1: a canary virtual time for each line of an L2, not for each set
  std::uint32_t children = 8;         // that a task tracks; more are created by helpers
  // The timestamp of helpers. 0: that of the body whose children they create, and 0 for those of roots, as a program's
  // own would have. 1: the least of what they create, which a program would have to know.
  std::uint32_t helpers_foresee = 1;
  std::uint32_t registers = 3;         // arguments that fit a task descriptor; more go to memory
  std::uint32_t task_instruction = 5;  // enqueue, dequeue, finish
  std::uint32_t l1_kib = 16;
  std::uint32_t l1_ways = 8;
  std::uint32_t l1_latency = 2;
  // 1: L1s are written through, as in the paper (§4; docs/decisions/0045). Then each store comes to the L2 and is
  // checked there as all that does, and undo logs take room in it. 0: who has a line to itself stores to it unseen, and
  // undo logs are free.
  std::uint32_t l1_written_through = 0;
  std::uint32_t l2_kib = 64;  // for each core of a tile
  std::uint32_t l2_ways = 8;
  std::uint32_t l2_latency = 7;
  std::uint32_t l3_kib = 256;  // for each core of the chip
  std::uint32_t l3_ways = 16;
  std::uint32_t l3_latency = 9;
  std::uint32_t hop_latency = 3;
  std::uint32_t memory_latency = 120;
  std::uint32_t instant_memory = 0;  // 1: memory, messages and checks take no time, whatever is said of them (Table 5)
  std::uint32_t tile_check = 5;      // of the sets of a tile
  std::uint32_t compare = 1;         // of each virtual time that such a check has to look at
  std::uint32_t rollback = 1;        // of a word
  std::uint32_t allocation = 30;     // of memory by a task
  std::uint32_t spill_percent = 75;  // of a task queue that must be full for tasks to be spilled
  std::uint32_t spill_tasks = 15;    // at a time
  // That a splitter brings back at a time; what is left waits for the earliest of it. The paper does not say (§4.7).
  std::uint32_t splitter_tasks = 1;
  // 1: where a task queue has nothing to spill, the latest that have finished are aborted for an earlier task that is
  // in memory: the paper's rule for commit queues (§4.7, docs/decisions/0058). 0: that one waits until it is the first
  // of all.
  std::uint32_t finished_give_way = 1;
  std::uint32_t nack_backoff = 20;  // added to the wait at each further try to enqueue
  std::uint32_t seed = 1;           // of the tiles that tasks are sent to
  // Each tile over time (samples_of): every so many cycles from a cycle on, so many times. 0: never.
  std::uint32_t sample_period = 0;
  std::uint32_t sample_from = 0;
  std::uint32_t sample_count = 200;
  std::uint32_t audit = 0;  // 1: each access that a filter let pass is checked against exact sets (slow)
};

// The options of a text: name=value, separated by commas. Errors: weft::error naming what is wrong.
[[nodiscard]] swarm_options swarm_options_from(std::string_view text);

// What happened on the chip in all runs of a section.
struct swarm_statistics {
  std::uint64_t cycles = 0;
  std::uint64_t cores = 0;
  std::uint64_t tiles = 0;
  struct {  // of cores; together they are cores * cycles
    std::uint64_t committed = 0;
    std::uint64_t aborted = 0;
    std::uint64_t spill = 0;
    std::uint64_t stall = 0;  // queues full, serialize()
    std::uint64_t empty = 0;  // nothing to do
  } core_cycles;
  struct {
    std::uint64_t committed = 0;
    std::uint64_t helpers = 0;   // that created children for others, beside those committed
    std::uint64_t started = 0;   // bodies and helpers
    std::uint64_t bodies = 0;    // of these, bodies
    std::uint64_t again = 0;     // of these, bodies that had been started before
    std::uint64_t enqueued = 0;  // descriptors sent to a tile
    std::uint64_t nacks = 0;
    std::uint64_t overflowed = 0;  // put to memory, because nothing else went
    std::uint64_t spilled = 0;     // put to memory by coalescers
    std::uint64_t coalescers = 0;
    std::uint64_t splitters = 0;
    std::uint64_t task_queue_max = 0;    // entries of one tile
    std::uint64_t commit_queue_max = 0;  // entries of one tile
    std::uint64_t under_way_max = 0;     // that had no entry yet, or not again
  } tasks;
  struct {                               // why executions were aborted; each is counted once
    std::uint64_t read_after_write = 0;  // had read what an earlier one then wrote
    std::uint64_t write_after_read = 0;
    std::uint64_t write_after_write = 0;
    std::uint64_t false_positive = 0;  // of a Bloom filter
    std::uint64_t child = 0;           // of an aborted one
    std::uint64_t data = 0;            // of an aborted one
    std::uint64_t resources = 0;       // an entry of a queue or a core was needed by an earlier one
    std::uint64_t error = 0;           // behind a body that threw
    [[nodiscard]] std::uint64_t all() const noexcept {
      return read_after_write + write_after_read + write_after_write + false_positive + child + data + resources +
             error;
    }
  } aborts;
  struct {
    std::uint64_t accesses = 0;  // of lines by bodies
    std::uint64_t l1 = 0;        // that hit, and needed no check
    std::uint64_t tile = 0;      // that needed a check of their own tile only
    std::uint64_t global = 0;    // that went to the directory
    std::uint64_t bloom = 0;     // checks of the sets of a tile, rollbacks included
    std::uint64_t compared = 0;  // virtual times in those
  } checks;
  struct {  // bytes sent from tile to tile
    std::uint64_t memory = 0;
    std::uint64_t enqueue = 0;
    std::uint64_t abort = 0;
    std::uint64_t gvt = 0;
  } traffic;
  std::uint64_t gvt_updates = 0;
  // Entries times cycles, of all tiles; an average is that by cycles.
  std::uint64_t task_queue_cycles = 0;
  std::uint64_t commit_queue_cycles = 0;
  [[nodiscard]] double task_queue_average() const noexcept { return average(task_queue_cycles); }
  [[nodiscard]] double commit_queue_average() const noexcept { return average(commit_queue_cycles); }
  friend bool operator==(const swarm_statistics& a, const swarm_statistics& b) noexcept {
    return __builtin_memcmp(&a, &b, sizeof a) == 0;  // counters only: no bytes between them
  }

 private:
  [[nodiscard]] double average(std::uint64_t sum) const noexcept {
    return cycles == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(cycles);
  }
};

// A tile at a moment: what its queues hold, and what has happened there since the sample before.
struct swarm_sample {
  std::uint64_t cycle = 0;
  std::uint32_t tile = 0;
  std::uint32_t task_queue = 0, commit_queue = 0;  // entries in use
  std::uint32_t commits = 0, aborts = 0;
  struct {  // of its cores; a task's count when it ends or waits, also those of one that is aborted later
    std::uint64_t task = 0;
    std::uint64_t spill = 0;
    std::uint64_t stall = 0;
    std::uint64_t empty = 0;
  } core_cycles;
};

// Errors of both: weft::error if the section has another executor.
[[nodiscard]] const swarm_statistics& statistics_of(ordered& section);
[[nodiscard]] std::span<const swarm_sample> samples_of(ordered& section);  // by cycle, then tile

}  // namespace weft
