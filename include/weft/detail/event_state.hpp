// What an event is to the runtime: whether it is over, the task that is done only then, and who waits. Events are as
// frequent as input and output are, so one lock for the process guards them all (src/sched/idle/events.cpp). That also
// settles the question of lives: an event may be gone as soon as it was fulfilled, a task as soon as its event was.
#pragma once
#include <exception>

#include "weft/detail/cell.hpp"

namespace weft::detail {

struct engine_base;
struct event_wait;
struct record;

struct event_state {
  const char* name = nullptr;     // static storage; nullptr: unnamed
  engine_base* engine = nullptr;  // the runtime that it was first used with, until it is over
  record* task = nullptr;         // not done before the event is over
  event_wait* waits = nullptr;    // of a runtime: oldest first
  event_state* before = nullptr;  // among those of that runtime that tasks complete with
  event_state* after = nullptr;
  std::exception_ptr failure;
  cell<bool> over;         // written under the lock
  bool timed = false;      // a modelled machine fulfils it at a time
  bool used = false;       // a task completes, or completed, with it
  bool abandoned = false;  // over because its task failed or its runtime ended: to fulfil it is no mistake
};

// r, which is filled in and not entered yet, is done only when s is over. Errors: weft::error, and then r is unchanged.
void tie(engine_base& engine, event_state& s, record& r);
// Takes that back, because r was refused.
void untie(event_state& s) noexcept;

}  // namespace weft::detail
