// What a recorder writes down: one fixed size for everything, so that a ring is an array and adding to it is a store.
// Times are the machine's picoseconds, ids those of session::recorder; collect.hpp turns both into what users see.
#pragma once
#include <cstdint>

namespace weft::trace {

enum class event_kind : std::uint8_t {
  submitted,  // time, task, other: parent (0: top level), position: name, worker: see below, value: the pin,
              // detail: clause_flags
  access,     // task, other: handle, value: version required or units, position, detail: kind_code(), worker: the flags
              // of its kind; time: of a resource, the units that were free just then,
              // of others, how large the data is
  ran,        // time: start, value: end, task, worker: where it started, detail: outcome, position: 1 if the start is
              // the end of the task before
  waited,   // time: from, value: to, task (0: the main thread), other: handle, worker: where it was set aside, detail:
            // why
  passed,   // time, task, other, detail: as waited, but there was nothing to wait for
  stolen,   // time, task (0: a stack that waited), worker: the victim
  slept,    // time: from, value: to
  counted,  // task, value, detail: number of the counter
};

// What the clauses of a task come to, beside accesses, name and pin.
inline constexpr std::uint8_t clause_priority = 1;
inline constexpr std::uint8_t clause_subtasks = 2;

enum class outcome : std::uint8_t { done, failed, skipped };
enum class why : std::uint8_t { children, all, handle, window, event };

// Who submitted, in a submitted event's `worker`: the recorder's worker, a thread that is none, or else 1 + a number.
inline constexpr std::uint16_t by_recorder = 0, by_outside = 0xffff;

// Why a stack is set aside, and for which handle (0: none).
struct reason {
  trace::why why;
  std::uint32_t handle = 0;
};

struct event {
  std::uint64_t time = 0;
  std::uint64_t value = 0;
  std::uint32_t task = 0;
  std::uint32_t other = 0;
  std::uint32_t position = 0;
  std::uint16_t worker = 0;
  event_kind kind = event_kind::submitted;
  std::uint8_t detail = 0;
};
static_assert(sizeof(event) == 32);

}  // namespace weft::trace
