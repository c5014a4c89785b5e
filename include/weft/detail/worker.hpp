// The worker as the inline owner path sees it: who I am, where free records are, and the private end of my deque. The
// thieves' side and everything that needs an order lives in src/sched.
// `hooked` is the one branch of the fast path: set on virtual machines, wherever each spawn must be seen, and while a
// scope is cancelled.
#pragma once
#include <cstddef>
#include <cstdint>

#include "weft/detail/event_state.hpp"
#include "weft/detail/record.hpp"

namespace weft {
class team_context;
}
namespace weft::sched {
class event_board;
}

namespace weft::detail {

struct worker;
struct branch;
enum class not_begun : std::uint8_t;
struct scope;
struct light_scope;
struct event_end;
struct near_clause;
struct team_clause;
struct team_state;
struct unit_order;
struct guest_call;
struct graph_state;
struct pipeline_gates;
struct pass_book;

// Of each stack that bodies run on: the worker that is on it. A wait may take a body to another worker, and its stack
// goes with it; so whoever keeps a reference to this need not ask the thread who it is. weft::here is this.
struct place_of_body {
  worker* on = nullptr;  // nullptr: the program's stack, outside of weft's calls
  // Below this address on the stack a waiting body calls no further children. All: the program's stack.
  std::uintptr_t calls_end = ~std::uintptr_t{0};
};

// The out-of-line half. One per machine (src/sched/engine/engine.hpp); called at events, never per instruction.
struct engine_base {
  // Gives a record with room for `bytes`. Who: any thread. Blocks or helps while the window of live tasks is full.
  virtual record* allocate(std::size_t bytes) = 0;
  // Gives an unused record back. Who: the thread that allocated it, before enter().
  virtual void discard(record* r) noexcept = 0;
  // Registers the accesses and lets the task go. Who: any thread. Errors: throws weft::error, the record is discarded.
  virtual void enter(record* r) = 0;
  // The slow half of push(): grows the deque.
  virtual void push_slow(worker& w, record* r) = 0;
  // For forks: enter_forks and leave_forks around those of the main thread, outside of tasks; share when thieves
  // starve; the others are the slow halves in detail/branch.hpp.
  virtual void enter_forks(worker& w) = 0;
  virtual void leave_forks(worker& w) noexcept = 0;
  virtual not_begun fork(worker& w, branch& b) = 0;
  virtual void share(worker& w) noexcept = 0;
  virtual bool join(worker& w, branch& b) = 0;
  virtual void drop(worker& w, branch& b) noexcept = 0;
  // The slow halves in detail/scope.hpp.
  virtual void open_scope(worker& w, scope& s) = 0;
  virtual void close_scope(worker& w, scope& s) = 0;
  virtual void end_call(worker& w, record& r, bool threw) noexcept = 0;
  // A part of the body on w has thrown e, which cancels the scope it is in if that can be.
  virtual void failed(worker& w, const std::exception_ptr& e) noexcept = 0;
  // A cancelled scope of this runtime is open; and not any more. Who: any thread.
  virtual void cancelled(bool is_open) noexcept = 0;
  // For weft::team. run_team: r, whose body begins, gets its members, each of which calls `body`; returns when the
  // caller is no more needed for it, and r's closure is, or will be, destroyed. The others: weft/team.hpp.
  virtual void run_team(record& r, const team_clause& wish, void (*body)(record&, team_context&)) = 0;
  [[nodiscard]] virtual bool team_barrier(team_state& t) = 0;
  [[nodiscard]] virtual std::uint64_t team_take(team_state& t, std::uint64_t count, std::uint64_t least, bool guided,
                                                std::uint64_t& taken) = 0;
  [[nodiscard]] virtual std::uint32_t team_unit(team_state& t, const unit_order& order, std::uint32_t done) = 0;
  virtual void team_guest(team_state* t, guest_call& c) = 0;  // weft/guest.hpp; nullptr: alone
  // For weft::graph. run_graph: the body of r, a run of g, has begun; its nodes begin. heal: the program has been told
  // of what failed in runs of g; what g names may be used again.
  virtual void run_graph(record& r, graph_state& g) = 0;
  virtual void heal(graph_state& g) = 0;
  // For streams: the datum behind h is other memory from now on. Who: a body that is to write it first.
  virtual void renew_data(handle_state& h) = 0;
  // h is no tasks' yet that this knows, and where it lies may be another each time. Who: whoever is to make it known.
  virtual void is_new(handle_state& h) noexcept = 0;
  // For weft::pipeline.
  [[nodiscard]] virtual pipeline_gates& pipelines() noexcept = 0;
  [[nodiscard]] virtual pass_book* passes() noexcept = 0;  // nullptr: no trace is recorded
  // What hints want, as record::near keeps it.
  [[nodiscard]] virtual std::uint8_t near(const near_clause* hints, std::size_t count) noexcept = 0;
  virtual void wait_all() = 0;
  virtual void wait_handle(handle_state& h) = 0;
  // For `version` of h, which may be one that nobody has submitted an access for.
  virtual void wait_version(handle_state& h, std::uint64_t version) = 0;
  // What poisons h, or null. Who: a task that writes h, or has waited for it.
  [[nodiscard]] virtual std::exception_ptr failure_of(handle_state& h) noexcept = 0;
  virtual void pause(bool on) = 0;
  // For weft::event (src/sched/idle/events.hpp). wait: returns when s is over. settle: s is, and concerns this one.
  virtual void wait_event(event_state& s) = 0;
  virtual void settle(const event_end& of) = 0;
  virtual void settle_after(event_state& s, std::uint64_t ps) = 0;
  virtual void fail_with_children(record& r, const std::exception_ptr& why) = 0;
  [[nodiscard]] virtual sched::event_board& events() noexcept = 0;
  virtual void yield() = 0;
  // For weft::reduction, whose buffers are typed: shared words are touched by the machine only. Who: running tasks.
  // `c` belongs to the reduction around h. Order: acquire, release.
  virtual void* exchange(handle_state& h, cell<void*>& c, void* value) = 0;
  [[nodiscard]] virtual bool try_exclusive(handle_state& h) = 0;
  virtual void release_exclusive(handle_state& h) = 0;
  // Returns when no submitted task uses h, or none of those left can ever run. Who: h's destructor.
  virtual void drain(handle_state& h) noexcept = 0;
  // For traces. A loop on w, which is hooked, has so many iterations left, all of them or fewer; and it is over.
  virtual void look_in_loop(worker& w, std::uint64_t left, bool begins) = 0;
  virtual void loop_over(worker& w) = 0;

 protected:
  ~engine_base() = default;
};

// The deque's storage; grows by doubling. A thief may still read an outgrown ring, so it is kept until the end.
struct ring {
  ring* outgrown;
  std::uint32_t mask;  // capacity - 1
  [[nodiscard]] cell<record*>* slots() noexcept { return reinterpret_cast<cell<record*>*>(this + 1); }
};

// Owner's end of the deque (src/sched/queues/deque.md). Only the owner touches these. Thieves read the slots; one
// that pulls reads bottom and moves split.
struct deque_owner {
  cell<record*>* slots = nullptr;
  std::uint32_t mask = 0;
  std::uint32_t limit = 0;     // push is certain to have room while bottom != limit
  cell<std::uint32_t> bottom;  // next free index; the tasks in [split, bottom) are private
  cell<std::uint32_t> split;   // where the shared part ends
};

// Where tasks go that a full deque has no room for (src/sched/idle/overflow.hpp).
struct deque_overflow {
  // n records, linked by waiting.next, oldest first. Who: an owner at its end. They may be gone when this returns.
  virtual void take_over(record* oldest, record* newest, std::uint32_t n) noexcept = 0;

 protected:
  ~deque_overflow() = default;
};

// Between two steps of an owner that a thief may not see the other way round: it issues a barrier on all threads
// between its own (src/sched/queues/deque.md, "A thief acts for the owner"), so only the compiler must keep them apart.
inline void then() noexcept { asm volatile("" : : : "memory"); }

// Free records (src/task/pool.hpp). As pointers and not a list through the records: a record that ran elsewhere lies in
// that core's cache, and a list would wait for it to come before the next one is known.
struct alignas(64) magazine {
  static constexpr std::uint32_t capacity = 64;
  record* slot[capacity];
};

// Why worker::hooked is set.
inline constexpr std::uint8_t hooked_always = 1;
inline constexpr std::uint8_t hooked_alone = 8;      // beside that one: no other thread runs meanwhile
inline constexpr std::uint8_t hooked_cancelled = 2;  // a scope of the runtime is cancelled: set by whoever cancels
inline constexpr std::uint8_t hooked_hinted = 4;     // a task has had hints: set by its submitter

struct alignas(64) worker {
  engine_base* engine = nullptr;
  std::uint16_t id = 0;
  cell<std::uint16_t> shown_id;  // what worker_id() says: id, but for the reserve (src/sched/admit/reserve.hpp)
  std::uint32_t free_count[record_classes] = {};
  magazine* free[record_classes] = {};  // its first free_count slots
  magazine* rest[record_classes] = {};  // another one, full or empty; the pool's own
  bool rest_is_full[record_classes] = {};
  record* current = nullptr;       // the task whose body runs here
  place_of_body* where = nullptr;  // of the stack it is on
  deque_owner deque;
  // The newest of the branches that the body here keeps (src/sched/join/branches.md). While there is one the owner
  // comes to its deque only by putting all of them there before.
  cell<branch*> kept;
  cell<std::uint8_t> inside;     // the owner changes its end of the deque, and more than bottom
  cell<std::uint8_t> pulled;     // a thief does
  cell<bool> away;               // the main thread is in the program's own code
  cell<std::uint64_t> created;   // top-level tasks submitted here; written by the owner, read at quiescence checks
  cell<std::uint64_t> finished;  // top-level tasks wholly done here
  engine_base* creates_for = nullptr;  // engine, unless another worker creates what is submitted here
  // Whether a child may simply be called: as long as it looks elsewhere now and then, and nobody calls for attention.
  unsigned tick = 0;                 // bodies since the last look elsewhere
  cell<unsigned> tick_limit;         // lowered where somebody waits for the reserve
  const bool* is_watched = nullptr;  // whether the next body is timed or recorded
  const cell<std::uint32_t>* attention = nullptr;
  cell<std::uint64_t> tasks;    // begun here; written by this worker alone
  cell<const char*> body_name;  // of the task that began last
  // How often the worker's stack was set aside, from a number of its own on, so that no two workers have one. Written
  // by this worker alone.
  cell<std::uint64_t> moves;
  static constexpr unsigned moves_bits = 48;  // beside the worker's number
  // The innermost scope that the body here is in, if that has no record (light_scope.hpp).
  light_scope* light = nullptr;
  // Set by the thief that took the last shared task: the owner looks at `starved` after every push and pop, and at
  // `asked` at every fork. On their own line, so that a busy owner keeps it in its first-level cache. `asked` is as
  // `starved`, but where the owner has turned thieves down (src/sched/place/short_forks.hpp).
  alignas(64) cell<std::uint8_t> asked;
  cell<std::uint8_t> hooked{hooked_always};  // right behind, so that a fork looks at both at once
  cell<std::uint8_t> starved;
  cell<std::uint8_t> claimed;  // a thief looks at what is kept, or a scope is cancelled: joins come to the slow half
  cell<bool> turns_down;       // thieves that ask for branches get none; written by the owner
  // top in the high half, split in the low half: the tasks in [top, split) may be stolen.
  alignas(64) cell<std::uint64_t> shared;
  cell<ring*> shared_ring;
  // From whom this worker has had several tasks at once, last. Written by it alone; thieves read it, as a hint.
  static constexpr std::uint16_t no_id = 0xffff;
  cell<std::uint16_t> supplier{no_id};
  std::uint32_t slots_max = 0;         // the ring grows no further; the owner's, as the next
  deque_overflow* overflow = nullptr;  // and gives its oldest there
  // A thief is at the shared part, and others go elsewhere. On its own line, so that they keep the word from nobody.
  alignas(64) cell<std::uint8_t> robbed;
  cell<const branch*> looked_through;  // the newest that was kept when a thief claimed the list and left nothing in it
};

static_assert(offsetof(worker, hooked) == offsetof(worker, asked) + 1 && offsetof(worker, asked) % 2 == 0);

// The innermost scope on w, which has no record, gets one (light_scope.hpp). Who: the body there.
void open_light(worker& w);
// As runtime::wait.
void wait_all(engine_base& e);

// The worker this thread is, or nullptr. Only self() below and src/runtime touch it; its plain name in the object file
// is for self().
extern thread_local constinit worker* this_worker asm("weft_this_worker");
[[nodiscard]] worker* self_out_of_line() noexcept;

// Read anew at every call: a task that waits may continue on another thread, within one function of the program.
// Compilers take the address of a thread_local for constant within a function - clang keeps the thread's base in a
// register over a call that waits - so here the variable is read without an address that could be kept, in the
// initial-exec model, and where that is not known how, by a call.
[[nodiscard]] inline worker* self() noexcept {
#if defined(__x86_64__) && defined(__LP64__)
  worker* w;
  asm volatile("movq weft_this_worker@GOTTPOFF(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(w) : : "memory");
  return w;
#else
  return self_out_of_line();
#endif
}

}  // namespace weft::detail
