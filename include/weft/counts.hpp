// What a runtime counts about itself.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>

#include "weft/rule.hpp"

namespace weft {

// What a run took on a modelled machine whose file has an [energy] section; nothing and `modelled` false on others.
struct joules {
  bool modelled = false;
  double running = 0;    // of cores in bodies and in the scheduler
  double searching = 0;  // of cores that look or wait for something without sleeping
  double asleep = 0;
  double local = 0;   // of the data of bodies that came from the own memory node,
  double remote = 0;  // and from others
  [[nodiscard]] constexpr double total() const noexcept { return running + searching + asleep + local + remote; }
};

// Counts since the runtime was made.
struct run_counts {
  std::uint64_t tasks;     // tasks taken to run, those skipped after a failure included
  std::uint64_t steals;    // tasks taken from another worker
  std::uint64_t sleeps;    // times a worker went to sleep
  std::uint64_t suspends;  // waits that set a task or the main thread aside
  // Of modelled machines; 0 on real ones.
  std::uint64_t transfers;      // cache lines of the scheduler's own that moved between cores
  std::uint64_t line_waits_ns;  // time that cores spent behind others who wanted the same line
  std::uint64_t events;         // turns the machine gave to a core
  // Data of handles with a size: what bodies found in caches, in their own memory node, and in others.
  std::uint64_t cached_bytes;
  std::uint64_t local_bytes;
  std::uint64_t remote_bytes;
  std::uint64_t bandwidth_wait_ns;   // by which shared bandwidth made bodies longer, all together
  std::uint64_t shared_bytes;        // of cached_bytes, those in caches of several cores,
  std::uint64_t modified_bytes;      // and those in another core's cache, which had written them
  std::uint64_t written_back_bytes;  // what bodies had written and went back to memory
  std::uint64_t units_wait_ns;       // by which siblings that compute made bodies longer, all together
  std::uint64_t calls;               // of the tasks, those with hints that were called where they were submitted
  std::uint64_t pushed;              // of the tasks, those that a policy has pushed to another worker,
  std::uint64_t refused;             // and those that it would have: the other had no room
  joules energy{};
  std::uint64_t decided[detail::rule_count] = {};  // how often each rule did, in the order of scheduler_rules()
};

}  // namespace weft
