// A worker as the engine sees it: the public part (detail::worker, reached by the inline path) and what only the engine
// needs. Everything here belongs to the worker's own thread, except the inbox.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "base/random.hpp"
#include "machine/fiber.hpp"
#include "sched/inbox.hpp"
#include "trace/recorder.hpp"
#include "weft/detail/worker.hpp"

namespace weft::sched {

using machine::fiber;

// Stands for a stack that waits: a suspended fiber, or a thread outside the runtime. Queued like a task; "running" it
// means entering the fiber or signalling the thread. Lives on the stack that waits. The access follows the record as it
// does in a task, so that a wait for a handle uses the same wait list.
struct waiter {
  detail::record r{};
  detail::access a{};
  fiber* stack = nullptr;
  detail::handle_state* awaited = nullptr;  // nullptr: all tasks
  detail::cell<std::uint32_t> signal;
  bool stalled = false;  // it was ended because nothing else could run

  [[nodiscard]] static waiter& of(detail::record* r) noexcept { return *reinterpret_cast<waiter*>(r); }
};
static_assert(offsetof(waiter, a) == sizeof(detail::record));

inline void count_one(detail::cell<std::uint64_t>& counter) noexcept {
  detail::poke(counter, detail::peek(counter) + 1);
}

inline constexpr unsigned ticks_between_looks = 64;  // bodies a busy worker runs before it looks into its inboxes

template <class M> struct worker : detail::worker {
  static constexpr std::uint16_t no_id = 0xffff;
  bool is_reserve = false;    // engine_room.hpp
  bool creates_only = false;  // engine_create.hpp
  bool is_special = false;    // either
  unsigned tick_limit = ticks_between_looks;
  fiber* running = nullptr;  // the stack this worker is on
  fiber* home = nullptr;     // the stack its thread began on
  std::vector<fiber*> idle;  // stacks of worker loops that gave way to a resumed body
  inbox<M> box;
  detail::record* throttled_head = nullptr;  // submitters that found the window full, oldest first
  detail::record* throttled_tail = nullptr;
  detail::cell<bool> throttled_here;  // whether there are any: for those who free records
  struct free_scratch {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, free_scratch> scratch;  // workspace()
  std::size_t scratch_bytes = 0;
  base::random rng{0};
  trace::recorder* trace = nullptr;  // nullptr: nothing is recorded
  std::uint64_t body_end_ps = 0;     // when the last body ended, if nothing came in between; else 0. Only for the trace
  std::uint64_t requested_ps = 0;    // when the task that is being created here was handed over. Only for the trace
  std::uint16_t requested_by = 0;    // and by whom, as an event says it
  std::uint16_t robbed_last = no_id;  // who had a task when this worker stole last
  std::uint64_t seen_moves = 0;       // others_move()
  std::uint64_t seen_submitted = 0;   // give_way()
  bool reluctant = true;              // does not steal tiny tasks whose owners are at work on them
  bool passed_over = false;           // the own deque was, because of a pause: a searcher may have tasks there
  unsigned tick = 0;                  // bodies since the last look around
  bool coarse = true;                 // the bodies here are long: keep everything within reach of thieves
  bool timed = true;                  // the next body is, as all are while they are long
  bool watched = true;                // timed or traced
  unsigned short_bodies = 0;          // in a row, while coarse
  unsigned victim_next = 0;           // in the policy's order
  unsigned looks_aside = 0;           // look_aside()
  unsigned aside_next = 0;            // whom it asks first
  detail::cell<bool> gives_way;       // to the main thread, which may take what is here
  // Written by this worker alone, read by statistics() at any time: hence cells.
  detail::cell<std::uint64_t> tasks;
  detail::cell<std::uint64_t> steals;
  detail::cell<std::uint64_t> sleeps;
  detail::cell<std::uint64_t> suspends;
};

}  // namespace weft::sched
