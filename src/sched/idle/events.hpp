// The events of a runtime that are outstanding, and who waits for what nobody has submitted yet: what a report can
// name, and what must keep a stall from being declared while somebody outside may still act (stall.hpp).
//
// Everything about events is done under one lock of the process (base/process_lock.hpp). Under it no step lets another
// core of a modelled machine in; bind() also wakes threads there. Who ends an event takes
// from it, under the lock, the task and the waits that it concerns (event_end), and does not touch it again: the event
// may be gone as soon as somebody can learn that it is over. What follows - the task has one child less, the waits go
// on - is the engine's (settle). Until that is done the event counts as outstanding, and its runtime does not end while
// one is being settled, because who fulfils an event need not know of the runtime.
//
// An event is a child of its task: one bit of `pending`, beside one for the body. So the body may wait for its children
// while the event is outstanding; who brings the children to 0 looks at the body's bit to know whether it waits.
#pragma once
#include <cstdint>
#include <exception>
#include <string>

#include "base/process_lock.hpp"
#include "sched/workers/worker.hpp"
#include "weft/detail/event_state.hpp"

namespace weft::detail {

// A stack or a thread waits for an event, or for a version ahead of what is submitted. Lives where it waits.
struct event_wait {
  sched::waiter self;
  event_state* event = nullptr;  // nullptr: a version of `handle`
  handle_state* handle = nullptr;
  std::uint64_t version = 0;
  const record* body = nullptr;               // nullptr: no task
  std::exception_ptr failure;                 // of the event
  event_wait* next = nullptr;                 // of the same event
  void (*wake_alone)(event_wait&) = nullptr;  // of a thread that no runtime knows, while the event is nobody's
  event_wait* before = nullptr;               // of the same runtime
  event_wait* after = nullptr;
};

// Whom the end of an event concerns: nobody else can reach either any more.
struct event_end {
  record* task = nullptr;
  event_wait* waits = nullptr;
  std::uint32_t count = 0;  // outstanding until settled
  std::exception_ptr failure;
};

}  // namespace weft::detail

namespace weft::sched {

using detail::event_end;
using detail::event_state;
using detail::event_wait;

// Hears that all workers sleep while events are outstanding: if nothing moves for long, that is to be said.
struct event_watch {
  // Whether somebody outside may still fulfil one. Who: the worker that fell asleep last.
  [[nodiscard]] virtual bool events_may_come() = 0;

 protected:
  ~event_watch() = default;
};

// "event 'e'", for messages.
[[nodiscard]] std::string name_of(const event_state& s);
// The threads that waited from `first` on look again. Who: whoever took them from their event.
void wake_all_alone(event_wait* first) noexcept;

// What somebody outside does only if he is asked: a library of messages goes on when it is called, and events are
// fulfilled by that. Asked by workers that have no work (polls.hpp), one at a time.
class poll_seat {
 public:
  using look = bool (*)(void* with);

  // From now on, or never again (nullptr): when this returns nobody is in what was asked before. Who: any thread, but
  // not from what is asked.
  void set(look what, void* with);
  // Asks, unless somebody does already. Returns whether anything has come by it. Cost: a load if there is nobody.
  [[nodiscard]] bool ask();

 private:
  // Held while asking; who is not alone goes on without. No lock of the process's: a modelled machine may go to another
  // core meanwhile, on the same thread. Order: acquire, with the release of who had it; so what one look wrote the next
  // one sees, and set() returns behind the last look.
  detail::cell<bool> taken_;
  detail::cell<bool> any_;  // a hint; what counts is read while it is taken
  look what_ = nullptr;
  void* with_ = nullptr;
};

// One per runtime.
class event_board {
 public:
  static constexpr std::uint64_t at_no_time = ~std::uint64_t{0};

  event_board() = default;
  std::size_t timed = 0;  // events that come at a time; written by those timers
  poll_seat outside;
  bool hears = false;  // a modelled machine: other nodes may send it what ends events
  event_board(const event_board&) = delete;
  event_board& operator=(const event_board&) = delete;

  // s belongs to this runtime from now on. Errors: weft::error if it belongs to another.
  void bind(detail::engine_base& engine, event_state& s);
  // Lists x, which then has to wait. False: the event is over, and x has its failure.
  [[nodiscard]] bool list(event_wait& x);
  // Takes x out, if it is still there. Who: who waits in x for a version; who ends a stall.
  bool delist(event_wait& x) noexcept;
  // The event of r, if there is one that is outstanding, is over: r has failed without it.
  [[nodiscard]] event_end abandon(const detail::record& r, const std::exception_ptr& why) noexcept;
  // s has come at its time.
  [[nodiscard]] event_end end(event_state& s) noexcept;
  // It will not come at a time.
  void forget_time(event_state& s) noexcept;
  // --- of events that may be nobody's; a runtime that has one is there until a call of it that began here ends

  // Lists x, of a thread that no runtime knows. False: the event is over, or some runtime's.
  [[nodiscard]] static bool list_alone(event_wait& x) noexcept;
  struct owned_end {
    detail::engine_base* engine = nullptr;  // to settle it, within a call that began here; nullptr: it is nobody's
    event_end what;
  };
  // s is over, by the program. why: what it failed with, or null. Errors: weft::error if it was over, unless abandoned.
  [[nodiscard]] static owned_end end_by_program(event_state& s, const std::exception_ptr& why);
  [[nodiscard]] static detail::engine_base* engine_of(event_state& s) noexcept;
  // The same, and a call of that runtime begins.
  [[nodiscard]] static detail::engine_base* begin_call_of(event_state& s) noexcept;
  // Whom the end of s would concern.
  enum class kept : std::uint8_t { by_nobody, by_waits, by_task };
  [[nodiscard]] static kept kept_by(event_state& s) noexcept;
  [[nodiscard]] static std::exception_ptr failure_of(event_state& s) noexcept;
  // The runtime ends after a stall: its events are nobody's.
  void abandon_all() noexcept;
  // n events or waits are settled. Order: seq_cst, so that the caller's next look at who waits for the end of
  // everything is ordered after what it did before (quiescence.hpp).
  void settled(std::uint32_t n) noexcept;
  [[nodiscard]] std::uint32_t outstanding() noexcept;
  // Whether an event comes at a time.
  [[nodiscard]] bool any_timed() noexcept { return timed != 0; }
  // Grows with each event that ends. Who: a modelled machine.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

  // Between the two the runtime does not end. begin: under the lock of events, so that the runtime is there.
  void begin_call() noexcept;
  void end_call() noexcept;
  [[nodiscard]] bool calls_under_way() noexcept;

  // For reports. " for event 'e'" if the body of r waits in here, else "".
  [[nodiscard]] std::string awaited_by(const detail::record* r);
  // "event 'e'" that r completes with.
  [[nodiscard]] std::string event_of(const detail::record& r);
  // A line for each, at most eight: tasks that have not ended for want of an event, and waits.
  [[nodiscard]] std::string lines();

 private:
  friend void detail::tie(detail::engine_base&, event_state&, detail::record&);
  friend void detail::untie(event_state&) noexcept;
  friend struct event_table;
  event_state* ties_ = nullptr;  // oldest first; guarded by the lock of events, as what follows
  event_state* ties_last_ = nullptr;
  event_wait* waits_ = nullptr;
  event_wait* waits_last_ = nullptr;
  detail::cell<std::uint32_t> outstanding_;
  std::uint64_t steps_ = 0;
  detail::cell<std::uint32_t> calls_;
};

}  // namespace weft::sched
