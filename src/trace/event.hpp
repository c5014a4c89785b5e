// What a recorder writes down: one fixed size for everything, so that a ring is an array and adding to it is a store.
// Times are the machine's picoseconds, ids those of session::recorder; collect.hpp turns both into what users see.
#pragma once
#include <bit>
#include <cstdint>

namespace weft::trace {

enum class event_kind : std::uint8_t {
  nothing,    // there is no event
  submitted,  // time, task, other: parent (0: top level), position: name, worker: see below, value:
              // wishes_and_time(), the main program's own time before it, detail: clause_flags
  access,     // task, other: handle, value: version required or units, position, detail: kind_code(), worker: the flags
              // of its kind; time: of a resource, the units that were free just then,
              // of others, how large the data is
  ran,        // time: start, value: end, task, worker: where it started, detail: outcome, position: 1 if the start is
              // the end of the task before
  waited,   // time: from, value: to, task (0: the main thread), other: handle, worker: where it was set aside, detail:
            // why, position: packed_time() of the main program's own time before it
  passed,   // time, task, other, detail, position: as waited, but there was nothing to wait for
  stolen,   // time, task (0: none that begins), worker: the victim, detail: booty
  slept,    // time: from, value: to
  counted,  // task, value, detail: number of the counter
  team,     // time: the first member's entry, value: the last one's exit, task, other: packed_time() of what all
            // members spent in it, position: how many they were, detail: aim
  member,   // task, position: its rank
  strand,  // time: its begin, task (0: the main program), other: its number, value: steps, detail: strand_of, position:
           // packed_time() of what the main program computed before
  step,    // of a strand: time: computing before it, value: which, task, other: the strand, position, detail: step_kind
  stay,    // of a strand on a worker: time: from, value: to, task, other: the strand
  pipeline,  // time: its begin, task, other: its number, value: bit s if stage s is serial, position: the limit of
             // items in flight, 0: none was asked for, detail: stages
  helper,    // task: carries items of pipeline `other`, and does nothing else
  pass,      // time: from, value: to, task, other: pipeline, position: item, worker: its upper half, detail: stage
  more,      // of the pass just before: value: items, other: its strand, 0: it has none
  crew,     // task: runs bodies of run `other` of an ordered section, and does nothing else, detail: 1, it is the first
  call,     // a body of a section has happened. time: from, value: to, since the runtime was made, task: where, other:
            // the run, position: its number, worker: where, detail: how often it was called; 0: in order
  called,   // of the call just before. time: its timestamp, value: own time, other: how many calls it made, position,
            // detail: 1, it serialized
  loaded,   // by that call, from a word that it had not written. time: the address, value: what was there, worker: of
            // which bytes, position: packed_time() of what it had computed before, other: the call's number
  stored,   // the same; value: what is there now
  located,  // task, time: bytes of its data on the memory node of its worker, value: on others
};

// What the clauses of a task come to, beside accesses, name and pin.
inline constexpr std::uint8_t clause_priority = 1;
inline constexpr std::uint8_t clause_subtasks = 2;
// Beside them: the task was not queued but called in the body that submitted it.
inline constexpr std::uint8_t is_call = 4;

// Steps of a strand (strand.hpp). which, of fork and taken: the strand of the second body if that ran elsewhere; of
// loop and look: iterations that are left; of over and looped: how long it took; of submits: the task; of waits: the
// handle.
enum class step_kind : std::uint8_t {
  fork,    // the first body begins
  join,    // it is over, and the second begins
  taken,   // it is over, and the second ran elsewhere
  over,    // the second is over, and so is the fork
  loop,    // iterations that may be divided begin
  look,    // some of them are done
  looped,  // all are
  end,
  submits,
  waits_children,
  waits_all,
  waits_handle,
  pipeline,  // which: its number
};

// What a strand is of: a task's body from its first fork on; a branch that ran elsewhere; forks of the main program; a
// pass of a pipeline that did more than compute.
enum class strand_of : std::uint8_t { body, branch, program, pass };

// What a thief has taken: a task that begins, a stack that goes on, the second half of a fork.
enum class booty : std::uint8_t { task, stack, branch };

// By what the width of a team was chosen: its clause or the policy; or what was learned, for the shortest time or for
// the least time of all members.
enum class aim : std::uint8_t { fixed, time, cost };

enum class outcome : std::uint8_t { done, failed, skipped };
enum class why : std::uint8_t { children, all, handle, window, event, join, barrier, spawn };

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

// A length of time in half a field: exact to a ten-millionth, which is what a clock is worth. None is a negative one.
inline constexpr std::uint64_t no_time = ~std::uint64_t{0};
[[nodiscard]] inline std::uint32_t packed_time(std::uint64_t ps) noexcept {
  return std::bit_cast<std::uint32_t>(ps == no_time ? -1.0f : static_cast<float>(ps));
}
[[nodiscard]] inline std::int64_t unpacked_ns(std::uint32_t packed) noexcept {  // -1: none
  const float ps = std::bit_cast<float>(packed);
  return ps < 0 ? -1 : static_cast<std::int64_t>(ps / 1000);
}
// A pin and what hints want (record::near), and beside them such a length.
[[nodiscard]] inline std::uint64_t wishes_and_time(std::uint16_t pin, std::uint8_t near, std::uint64_t ps) noexcept {
  return std::uint64_t{packed_time(ps)} << 32 | std::uint64_t{near} << 16 | pin;
}

}  // namespace weft::trace
