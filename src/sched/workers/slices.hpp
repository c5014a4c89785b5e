// What a worker keeps for one noun each. That noun alone writes its slice, as the table in tests/tidy_rows.py has it;
// others may read it. Which belongs to whom is said once, here, in the comment above.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/fiber.hpp"
#include "sched/balance/decisions.hpp"
#include "sched/workers/groups.hpp"
#include "trace/recorder.hpp"
#include "trace/strand.hpp"
#include "weft/detail/branch.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {
struct team_state;
}
namespace weft::sched {

struct waiter;

// Counters that the worker alone writes, and statistics read at any time: hence cells.
inline void count_some(detail::cell<std::uint64_t>& counter, std::uint64_t n) noexcept {
  detail::poke(counter, detail::peek(counter) + n);
}
inline void count_one(detail::cell<std::uint64_t>& counter) noexcept { count_some(counter, 1); }

// The worker's own (begins_on, moves_to) and admit/stacks.hpp.
struct stacks_slice {
  machine::fiber* running = nullptr;    // the stack this worker is on
  machine::fiber* home = nullptr;       // the stack its thread began on; of worker 0 the program's
  machine::fiber* put_aside = nullptr;  // a stack that nobody has been on, for want of another
  std::vector<machine::fiber*> idle;    // stacks of worker loops that gave way to a resumed body
};

// admit/admission.hpp: submitters that found the window full.
struct throttled_slice {
  detail::record* head = nullptr;  // the oldest of those whose stacks were set aside here
  detail::record* tail = nullptr;
  detail::cell<bool> here;             // whether there are any: for those who free records
  detail::cell<std::uint32_t> let_go;  // what its thread blocks on at a full window
  unsigned aside_next = 0;             // whose old end it looks at next
};

// place/stealing.hpp.
struct thief_slice {
  static constexpr std::uint16_t nobody = detail::worker::no_id;
  std::uint16_t robbed_last = nobody;  // who had a task when this worker stole last
  unsigned sent_away = 0;              // by thieves that were at its victims: how often since it last took a task
  unsigned victim_next = 0;            // whom it looks at next, in the policy's order
  unsigned taken = 0;                  // tasks since it became willing, a few at most
  std::uint64_t seen_moves = 0;        // what others had done when this worker last looked
  std::uint64_t seen_submitted = 0;
  unsigned in_vain = 0;  // rests in a row for an idle main thread that made nothing of them
  unsigned passes = 0;   // looks until it rests for one again
  struct end_of_deque {
    std::uint16_t id = nobody;
    std::uint32_t bottom = 0;
    const detail::branch* newest = nullptr;  // of those that are kept
  };
  end_of_deque watched;  // whose this worker looks at again before it pulls
  struct end_of_main {
    std::uint64_t created = 0;
    std::uint32_t bottom = 0;
    bool looked = false;
  };
  end_of_main main_seen;               // where the main thread was when this worker had searched for a while
  detail::cell<bool> gives_way;        // to the main thread, which may take what is here
  detail::cell<bool> reluctant{true};  // does not steal tiny tasks whose owners are at work on them
};

// idle/expected.hpp: stacks that wait for one thing, and that only this worker goes on with.
struct expects_slice {
  bool looks_apart = false;  // not as others do: this worker is expected, or creates
  unsigned stacks = 0;
  const waiter* program = nullptr;  // the program's, if it is one of them
};

// The room teams: hosting.hpp for whom it gathers, team_pool.hpp what it keeps, teams.hpp the rest.
struct teams_slice {
  std::vector<std::uint16_t> gathered;
  std::vector<detail::record*> members;  // and hosting.hpp's seats: each has them only while it gathers
  party last;                            // whom it gathered last
  detail::team_state* keeps = nullptr;   // and what they shared
};

// replay/recording.hpp, strands.hpp, passes.hpp: where a trace is recorded.
struct trace_slice {
  trace::recorder* book = nullptr;  // nullptr: nothing is recorded
  trace::strand* strand = nullptr;  // of the stack it is on, if that forks and is recorded
  std::uint64_t requested_ps = 0;   // when the task that is being created here was handed over
  std::uint16_t requested_by = 0;   // and by whom, as an event says it
  bool creates_request = false;     // such a task is being created here at the moment
};

// What a worker's time goes into (idle/worker_time.hpp).
enum class spends : std::uint8_t {
  busy,       // in bodies, and in the scheduler between them
  searching,  // looks for work
  asleep,     // in the kernel: it has found none, or waits for room
  outside,    // the main thread alone: in the program's own code
};
inline constexpr std::size_t spends_count = 4;

// idle/worker_time.hpp.
struct time_slice {
  detail::cell<std::uint64_t> sum_ps[spends_count];                         // of what is over
  detail::cell<std::uint64_t> since_ps;                                     // what goes on has begun
  detail::cell<std::uint8_t> now{static_cast<std::uint8_t>(spends::busy)};  // one of those
};

// replay/listeners.hpp.
struct hearing_slice {
  bool inside = false;  // its thread is in a callback
};

// By count_one() and count_some() alone, each in the one place where that happens.
struct counted_slice {
  detail::cell<std::uint64_t> forks;      // and loops begun, where a trace is recorded
  detail::cell<std::uint64_t> pipelines;  // the same
  detail::cell<std::uint64_t> elsewhere;  // branches of others that ran here
  detail::cell<std::uint64_t> called;     // of tasks, those that were calls where they were submitted
  detail::cell<std::uint64_t> steals;
  detail::cell<std::uint64_t> sleeps;
  detail::cell<std::uint64_t> suspends;
  detail::cell<std::uint64_t> pushed;
  detail::cell<std::uint64_t> refused;
  decisions decided;  // by rules
};

}  // namespace weft::sched
