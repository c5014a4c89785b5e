// The task record: what one submitted task occupies until it and its children are done. Records come from a pool of
// fixed sizes and are recycled, so a steady program allocates nothing per task.
// Layout: this header (one and an eighth cache lines), then the accesses in clause order, then the body (closure).
// A record is always in exactly one place, which its phase says (record_state.hpp).
#pragma once
#include <cstddef>
#include <cstdint>

#include "weft/detail/cell.hpp"
#include "weft/detail/record_state.hpp"

namespace weft::detail {

struct handle_state;
struct record;
struct cancel_scope;

inline constexpr std::uintptr_t handle_address_mask = (~std::uintptr_t{0} >> 8) & ~std::uintptr_t{63};

// One use of one handle by one task, and the version the handle must have reached (SuperGlue §3.1).
struct access {
  std::uintptr_t handle_and_kind;  // the handle's address; its six low bits carry the kind, its top byte the group
  std::uint64_t required;          // given at registration
};

enum class record_kind : std::uint8_t {
  task,      // has a body
  resume,    // stands for a suspended fiber: running it means switching to that fiber
  external,  // stands for a thread outside the runtime that sleeps until this is "run"
  place,     // stands in a handle's wait list for a task that reserves several (src/access/reservation.hpp)
  branch,    // the second half of a fork, on the stack of the body that forked (src/sched/join/branches.hpp)
  node,      // a task of a graph, whose record stays for the next run (src/sched/admit/graphs.hpp)
  scope,     // of a finish: the parent of what is submitted in it, on the stack of the body (src/sched/join/scopes.hpp)
  cancellable_scope,  // the same, of one with a cancellation (src/sched/fail/cancellation.hpp); the last
};

// What is asked of a record's body and closure. A plain task is asked once, to run; a body that may have to run again
// is called as often as that takes, and its closure destroyed when it is sure.
enum class errand : std::uint8_t {
  run,      // calls the body, then destroys the closure, also when the body throws
  call,     // calls the body
  destroy,  // destroys the closure
  skip,     // of a branch that is not to begin: counts what is not begun
};

// Some words serve one part of the task's life after the other. In each the fields of that part may be read and no
// others; who comes to the next part writes those it reads. What two parts have in common lies at the same place in
// both, and is kept.
struct request_fields {   // requested
  record* next;           // in a queue
  std::uint64_t made_ps;  // when, where that is recorded,
  std::uint32_t made_by;  // and by whom
  std::uint32_t behind;   // how many of the main thread's come before it (src/sched/queues/requests.hpp)
};
struct waiting_fields {    // filling, blocked, ready
  record* next;            // in a list or queue
  record* prev;            // in a handle's list
  std::uint32_t cursor;    // conditions already met: versions, then exclusive access (src/access/walk.hpp)
  std::uint32_t trace_id;  // the task's number in the trace, set only where one is recorded
};
struct running_fields {  // running, draining
  union {
    record* awaits_children;   // its body waits: who goes on when the children are done
    std::uint64_t ended_here;  // its body runs: how many children have ended on its own stack
  };
  record* waits_in;        // its body is set aside: the record of what it waits in
  std::uint32_t children;  // how many it has submitted
  std::uint32_t trace_id;  // as while it waited
};
static_assert(offsetof(request_fields, next) == offsetof(waiting_fields, next));
static_assert(offsetof(waiting_fields, trace_id) == offsetof(running_fields, trace_id));

struct record {
  // What a node of a graph needs when it runs again comes first: with what is before it, it is one cache line.
  union {
    void (*invoke)(record& self, errand what);
    cancel_scope* cancels;  // cancellable_scope: by what
  };
  std::uint16_t pin;  // worker that must run this, or unpinned
  record_kind kind;
  record_phase state;
  std::uint8_t size_class;
  std::uint8_t exclusives;  // commutative exclusive accesses: 0, 1, or 2 for several
  // One byte; each bit has one writer at a time: the submitter, then who lists the record, then the task itself.
  bool urgent : 1;           // priority above 0
  bool subtasks : 1;         // its accesses finish only when its children are done
  bool waits_exclusive : 1;  // listed on a handle for exclusive access, not only for its version
  bool has_children : 1;     // has submitted tasks
  bool internal : 1;         // the runtime's own: closes a group of reduces, or is the seat of a guest
  bool plain : 1;            // each access reads, writes or is concurrent, of one handle: needs nothing exclusively
  std::uint8_t denied : 2;   // how often it was told that a handle is free and may not have got all of its handles
  // One more, written by whoever runs the task.
  bool has_waited : 1;  // its body was set aside: how long it took says nothing
  bool is_call : 1;     // runs on the stack of its parent, whose body waits
  // And the memory node that its hints want (src/sched/policies/locality.hpp), written by the submitter before.
  std::uint8_t near : 6;
  const char* name;  // static storage; nullptr: unnamed
  union {
    request_fields request;
    waiting_fields waiting;
    running_fields running;
  };
  record* parent;               // the task that submitted this one, nullptr at top level
  cell<std::uint32_t> pending;  // body_share, or its children that are not wholly done (src/sched/workers/children.hpp)
  std::uint32_t access_count;
  std::uint64_t order;    // submission number: "first in program order" compares these
  std::uint64_t cost_ps;  // modelled duration of the body, 0: the machine's default; see the bits below

  static constexpr std::uint16_t unpinned = 0xffff;
  // In `near`: 0 no wish, else the memory node plus 1, or that the data span nodes (src/sched/policies/locality.hpp).
  static constexpr std::uint8_t near_spans = 63;
  static constexpr std::uint64_t charged_bit = std::uint64_t{1} << 63;  // in cost_ps: the body has called charge()
  static constexpr std::uint64_t cycles_bit = std::uint64_t{1} << 62;   // in cost_ps: it counts thousandths of cycles
  static constexpr std::uint64_t paid_bit = std::uint64_t{1} << 61;     // in cost_ps: the members of its team have paid
  // In `pending`, of a task that completes with an event: the event is not over; the body is not. So its body can wait
  // for its children without waiting for the event, and whoever brings the word to 0 ends the task.
  static constexpr std::uint32_t event_bit = std::uint32_t{1} << 31;
  static constexpr std::uint32_t body_bit = std::uint32_t{1} << 30;
  // In `pending` while the body runs and may submit: more than there can be children.
  static constexpr std::uint32_t body_share = std::uint32_t{1} << 28;
  static constexpr std::uint32_t renew_every = std::uint32_t{1} << 27;
  // On a core of so many cycles per nanosecond.
  [[nodiscard]] std::uint64_t declared_cost_ps(double ghz) const noexcept {
    const std::uint64_t amount = cost_ps & ~(charged_bit | cycles_bit | paid_bit);
    return (cost_ps & cycles_bit) == 0 ? amount : static_cast<std::uint64_t>(static_cast<double>(amount) / ghz + 0.5);
  }

  // From its registration to its end.
  [[nodiscard]] std::uint32_t& trace_id() noexcept { return waiting.trace_id; }
  [[nodiscard]] std::uint32_t trace_id() const noexcept { return waiting.trace_id; }
  [[nodiscard]] access* accesses() noexcept { return reinterpret_cast<access*>(this + 1); }
  [[nodiscard]] void* closure() noexcept { return accesses() + access_count; }
};
static_assert(sizeof(record) == 80 && sizeof(record) % alignof(std::max_align_t) == 0);

// r was in none of the phases `from`, or they do not come before `to`. Aborts, as a failed assertion does.
[[noreturn, gnu::cold]] void wrong_transition(const record& r, record_states from, record_state to, const char* file,
                                              int line) noexcept;

// r is new, or was free: its first phase. Nothing is read, because a free record may lie in another core's cache
// (src/task/pool.hpp). Who: whoever makes r, or has taken it.
[[gnu::always_inline]] inline void begin(record& r, record_state first) noexcept {
  if (!may_be_first().has(first)) [[unlikely]]
    wrong_transition(r, first, first, __builtin_FILE(), __builtin_LINE());
  r.state.is_ = first;
}
// r, which is in the phase `from`, or one of them, comes to `to`. Who: whoever has r. Cost: a load, a comparison, a
// store; what the table says of phases that are named at the call the compiler knows.
[[gnu::always_inline]] inline void transition(record& r, record_states from, record_state to,
                                              const char* file = __builtin_FILE(),
                                              int line = __builtin_LINE()) noexcept {
  if (!from.has(r.state) || !from.are_in(may_precede(to))) [[unlikely]]
    wrong_transition(r, from, to, file, line);
  r.state.is_ = to;
}

// The same in the inline path of an owner, which is counted in instructions.
[[gnu::always_inline]] inline void transition_inline(record& r, record_state from, record_state to) noexcept {
#ifdef NDEBUG
  if (!record_states(from).are_in(may_precede(to))) wrong_transition(r, from, to, __builtin_FILE(), __builtin_LINE());
  r.state.is_ = to;
#else
  transition(r, from, to);
#endif
}

[[nodiscard]] inline bool is_scope(const record& r) noexcept { return r.kind >= record_kind::scope; }
[[nodiscard]] inline bool is_task(const record& r) noexcept {
  return r.kind == record_kind::task || r.kind == record_kind::node;
}
// The record of the body that r belongs to: of a scope the one around it. nullptr: the main thread.
[[nodiscard]] inline record* body_around(record* r) noexcept {
  while (r != nullptr && is_scope(*r)) r = r->parent;
  return r;
}

// Size classes, whole cache lines: no access and 32 bytes of captures; three accesses and 64; and so on.
inline constexpr std::size_t record_bytes[] = {128, 192, 320, 640};
inline constexpr std::uint8_t record_classes = 4;                // a larger task gets an allocation of its own
inline constexpr std::uint8_t kept_record = record_classes + 1;  // a graph's, which is not given back
inline constexpr std::size_t task_bytes_max = std::size_t{1} << 20;

[[nodiscard]] constexpr std::uint8_t record_class(std::size_t bytes) noexcept {
  std::uint8_t c = 0;
  while (c < record_classes && record_bytes[c] < bytes) ++c;
  return c;
}

}  // namespace weft::detail
