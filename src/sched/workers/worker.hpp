// A worker as the scheduler sees it: the public part (detail::worker, reached by the inline path), and what its nouns
// keep for it. Everything here belongs to the worker's own thread, except the boxes and the cells.
// A thread that is no worker of the runtime is given one without a deque while it calls (guests.hpp), so that there is
// one path for all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "access/reduction.hpp"
#include "base/assert.hpp"
#include "base/random.hpp"
#include "machine/fiber.hpp"
#include "sched/balance/tempo.hpp"
#include "sched/queues/inbox.hpp"
#include "sched/workers/looking.hpp"
#include "sched/workers/slices.hpp"
#include "sched/workers/workspace.hpp"
#include "weft/detail/branch.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {
struct team_state;
}
namespace weft::sched {

using machine::fiber;

// This thread's worker, read anew: a call that may wait can return on another thread.
[[nodiscard]] inline detail::worker* current_worker() noexcept { return detail::self(); }
void set_current_worker(detail::worker* w) noexcept;

// Stands for a stack that waits: a suspended fiber, or a thread outside the runtime. Queued like a task; "running" it
// means entering the fiber or signalling the thread. Lives on the stack that waits. The access follows the record as it
// does in a task, so that a wait for a handle uses the same wait list.
struct waiter {
  detail::record r{};
  detail::access a{};
  fiber* stack = nullptr;
  detail::handle_state* awaited = nullptr;  // nullptr: no handle
  detail::cell<std::uint32_t> signal;
  bool is_ahead = false;                  // for a version that was not submitted when it began to wait
  bool stalled = false;                   // it was ended because nothing else could run
  detail::event_wait* outer = nullptr;    // not nullptr: it waits for an event
  detail::team_state* in_team = nullptr;  // not nullptr: it waits for others of that team,
  std::uint16_t came_from = 0;            // on that worker's seat
  detail::branch* joins = nullptr;        // not nullptr: it waits for that branch, which runs elsewhere
  detail::record* children_of = nullptr;  // not nullptr: it waits for the children of that record
  waiter* next_for_end = nullptr;         // quiescence.hpp
  waiter* next_outside = nullptr;         // guests.hpp

  waiter() noexcept { begin(r, detail::record_state::filling); }

  [[nodiscard]] static waiter& of(detail::record* r) noexcept {
    WEFT_ASSERT(r->kind == detail::record_kind::resume || r->kind == detail::record_kind::external);
    return *reinterpret_cast<waiter*>(r);
  }
};
static_assert(offsetof(waiter, a) == sizeof(detail::record));

template <class M> class source;

enum class role : std::uint8_t {
  ordinary,
  reserve,  // runs tasks in the place of workers that block; comes and goes (reserve.hpp)
  creator,  // creates what the others submit, and runs only what must run there (creation.hpp)
  guest,    // a thread from outside, for the time of a call: no deque, runs nothing
};

inline constexpr unsigned ticks_between_looks = 64;  // bodies a busy worker runs before it looks elsewhere

template <class M> struct worker : detail::worker {
  worker() noexcept {
    detail::poke(tick_limit, ticks_between_looks);
    is_watched = &pace.watched;
    pace.told = &counted.decided;
  }
  sched::role role = sched::role::ordinary;
  const void* thread = nullptr;  // identity of the thread that it is; of worker 0 the engine knows it
  base::random rng{0};
  sched::pace pace;
  looking look;
  std::vector<source<M>*> sources;  // where to look for work, in this order
  inbox<M> box;
  inbox<M> team_box;  // of members of teams that this worker is to be
  // Slices: what other nouns keep here. Each is written by the one that it names (tests/tidy_rows.py).
  stacks_slice stacks;
  throttled_slice throttled;
  thief_slice thief;
  expects_slice expects;
  teams_slice teams;
  trace_slice trace;
  counted_slice counted;
  access::closers spare_closers;  // registrar.hpp
  sched::workspace workspace;
  worker* next_guest = nullptr;  // guests.hpp
  time_slice time;
  hearing_slice hearing;

  // Bodies that it runs in a row. What follows on one of the creator's is for others.
  [[nodiscard]] unsigned usual_ticks() const noexcept { return role == sched::role::creator ? 1 : ticks_between_looks; }
  // A rule has decided something for this worker. Who: its thread.
  void decides(by r) noexcept { counted.decided.count(r); }
  [[nodiscard]] bool is_special() const noexcept { return role != sched::role::ordinary; }
  // Its thread, or of worker 0 the program, has begun on that stack.
  void begins_on(fiber& f) noexcept { stacks.running = stacks.home = &f; }
  // Its thread ends. Returns the stack that it leaves.
  [[nodiscard]] fiber* goes_home() noexcept { return std::exchange(stacks.running, stacks.home); }
  // This worker is on that stack from here on, or will be after the jump that follows.
  void moves_to(fiber& f) noexcept {
    stacks.running = &f;
    where = &f.where;
    f.where.on = this;
  }
  // On the stack of the thread that made the runtime, in a body's wait or not: the main thread comes back as itself.
  [[nodiscard]] bool on_program_stack() const noexcept { return id == 0 && stacks.running == stacks.home; }
};

}  // namespace weft::sched
