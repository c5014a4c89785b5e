// A worker as the scheduler sees it: the public part (detail::worker, reached by the inline path) and what only the
// scheduler needs. Everything here belongs to the worker's own thread, except the inbox and the cells.
// A thread that is no worker of the runtime is given one without a deque while it calls (guests.hpp), so that there is
// one path for all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "access/reduction.hpp"
#include "base/assert.hpp"
#include "base/random.hpp"
#include "machine/fiber.hpp"
#include "sched/balance/decisions.hpp"
#include "sched/balance/tempo.hpp"
#include "sched/queues/inbox.hpp"
#include "sched/workers/groups.hpp"
#include "trace/recorder.hpp"
#include "trace/strand.hpp"
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

inline void count_one(detail::cell<std::uint64_t>& counter) noexcept {
  detail::poke(counter, detail::peek(counter) + 1);
}

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
    pace.told = &decided;
  }
  sched::role role = sched::role::ordinary;
  bool looks_apart = false;   // not as others do: the creator, and a worker that is expected
  bool own_deferred = false;  // the own deque may hold tasks although the search began with it empty
  sched::pace pace;
  const void* thread = nullptr;     // identity of the thread that it is; of worker 0 the engine knows it
  fiber* running = nullptr;         // the stack this worker is on
  fiber* home = nullptr;            // the stack its thread began on; of worker 0 the program's
  fiber* put_aside = nullptr;       // a stack that nobody has been on, for want of another (stacks.hpp)
  std::vector<fiber*> idle;         // stacks of worker loops that gave way to a resumed body
  std::vector<source<M>*> sources;  // where to look for work, in this order
  inbox<M> box;
  inbox<M> team_box;                         // of members of teams that this worker is to be
  detail::record* throttled_head = nullptr;  // submitters that found the window full, oldest first
  detail::record* throttled_tail = nullptr;
  detail::cell<bool> throttled_here;   // whether there are any: for those who free records
  detail::cell<std::uint32_t> let_go;  // what its thread blocks on at a full window
  access::closers spare_closers;       // registrar.hpp
  struct free_scratch {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, free_scratch> scratch;  // workspace()
  std::size_t scratch_bytes = 0;
  base::random rng{0};
  trace::recorder* trace = nullptr;   // nullptr: nothing is recorded
  trace::strand* strand = nullptr;    // of the stack it is on, if that forks and is recorded
  std::uint64_t requested_ps = 0;     // when the task that is being created here was handed over. Only for the trace
  std::uint16_t requested_by = 0;     // and by whom, as an event says it
  bool creates_request = false;       // such a task is being created here at the moment
  std::uint16_t robbed_last = no_id;  // who had a task when this worker stole last
  struct end_of_deque {
    std::uint16_t id = no_id;
    std::uint32_t bottom = 0;
    const detail::branch* newest = nullptr;  // of those that are kept
  };
  end_of_deque watched;  // whose this worker looks at again before it pulls
  struct end_of_main {
    std::uint64_t created = 0;
    std::uint32_t bottom = 0;
    bool looked = false;
  };
  end_of_main main_seen;            // where the main thread was when this worker had searched for a while
  unsigned sent_away = 0;           // by thieves that were at its victims: how often since it last took a task
  unsigned victim_next = 0;         // whom it looks at next, in the policy's order
  unsigned stacks_expected = 0;     // expected.hpp: that wait for one thing and that only this worker goes on with
  const waiter* expects = nullptr;  // the program's, if it is one of them
  bool found_own = false;           // what the last look found is its own member of a team
  bool passes_box_over = false;     // for one look: a body that yielded and goes on here alone stands there
  bool looks_at_all = false;        // for one look: at every worker, and not only those whose turn it is
  std::uint64_t seen_moves = 0;     // stealing.hpp: what others had done when this worker last looked
  std::uint64_t seen_submitted = 0;
  unsigned taken = 0;                    // by thefts since it became willing, a few at most
  unsigned aside_next = 0;               // admission.hpp
  std::vector<std::uint16_t> gathered;   // hosting.hpp: for whom,
  std::vector<detail::record*> members;  // and what; teams.hpp, too
  detail::cell<bool> gives_way;          // to the main thread, which may take what is here
  // Written by this worker alone; who looks for a stall reads them, too.
  detail::cell<bool> reluctant{true};  // does not steal tiny tasks whose owners are at work on them
  detail::cell<bool> guarded;          // for one look: another searches, who sees to some of what is left
  // Written by this worker alone, read by statistics at any time: hence cells.
  detail::cell<std::uint64_t> forks;      // and loops begun, where a trace is recorded
  detail::cell<std::uint64_t> pipelines;  // the same
  detail::cell<std::uint64_t> elsewhere;  // branches of others that ran here
  detail::cell<std::uint64_t> called;     // of tasks, those that were calls where they were submitted
  detail::cell<std::uint64_t> steals;
  detail::cell<std::uint64_t> sleeps;
  detail::cell<std::uint64_t> suspends;
  detail::cell<std::uint64_t> pushed;
  detail::cell<std::uint64_t> refused;
  worker* next_guest = nullptr;              // guests.hpp
  party last_party;                          // teams.hpp: the members of the team that it gathered last,
  detail::team_state* keeps_team = nullptr;  // team_pool.hpp: and what they shared
  decisions decided;

  // Bodies that it runs in a row. What follows on one of the creator's is for others.
  [[nodiscard]] unsigned usual_ticks() const noexcept { return role == sched::role::creator ? 1 : ticks_between_looks; }
  // A rule has decided something for this worker. Who: its thread.
  void decides(by r) noexcept { decided.count(r); }
  [[nodiscard]] bool is_special() const noexcept { return role != sched::role::ordinary; }
  // This worker is on that stack from here on, or will be after the jump that follows.
  void moves_to(fiber& f) noexcept {
    running = &f;
    where = &f.where;
    f.where.on = this;
  }
  // On the stack of the thread that made the runtime, in a body's wait or not: the main thread comes back as itself.
  [[nodiscard]] bool on_program_stack() const noexcept { return id == 0 && running == home; }
};

}  // namespace weft::sched
