// What happens to tasks, told to the program or to a tool while it happens: a table of functions that a runtime calls.
//
//   weft::listener l{.data = &mine,
//                    .begins = [](void* data, const weft::heard& at, const weft::heard_task& t) noexcept { ... }};
//   weft::add_listener(l);           // every runtime made from here on tells it
//   weft::runtime rt;
//
// A trace is written down at the same places. Where nobody listens, and no trace is recorded, a task pays one test of a
// pointer for this.
//
// Who calls the functions: whichever thread it happens on, several at once, also with locks of the runtime held. So a
// function may use its own data, atomics, and locks that nobody holds while he calls a runtime. It may not throw: the
// types say so, and what is thrown all the same ends the program, by std::terminate. It may not submit, wait, fulfil
// events, or call its runtime otherwise. To submit, and to wait for all while some are not done, ends the program with
// a line on stderr; other calls may wait for ever, for what their own thread holds. It may take its time; the task then
// takes it, too. Of one task the order is: submitted, ready, begins, waits and goes_on as often as it waits, ends.
// Branches of forks, iterations of loops and ordered bodies are no tasks, and nothing is told of them (guide, page 66).
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>

namespace weft {

// When and where something happens.
struct heard {
  // A steady clock, or the time of the modelled machine: as runtime::now_ns() counts, from another start.
  std::uint64_t ns;
  unsigned runtime;  // counted from 1 in the process, among those that somebody listens to
  int worker;        // 0 to workers()-1; -1: a thread that is none; workers(): the reserve, in the place of one
};

struct heard_task {
  std::uint32_t id;  // of the runtime's tasks that are not done no two have the same; 0: none, the main program
  const char* name;  // nullptr: it has none
};

// An access that a task declares.
struct heard_access {
  enum class kind : std::uint8_t { read, write, add, concurrent, reduce, resource, other };
  std::uint32_t handle;  // its number
  kind how;
  std::uint64_t version;  // that the handle must have before the task may run; of a resource, units
};

enum class heard_end : std::uint8_t { done, failed, skipped };  // returned, threw, was not called

// For what somebody waits: children, all tasks, a handle, room for what it submits, an event, the second half of a
// fork, a team's barrier, a child that runs first.
enum class heard_wait : std::uint8_t { children, all, handle, window, event, join, barrier, spawn };

struct listener {
  void* data = nullptr;  // what each function gets
  // A task is submitted and registered, by a body, `parent`, or none. Its accesses are valid during the call.
  void (*submitted)(void* data, const heard& at, const heard_task& task, std::uint32_t parent,
                    const heard_access* accesses, std::size_t count) noexcept = nullptr;
  // All that it waited for has come, and it may run.
  void (*ready)(void* data, const heard& at, const heard_task& task) noexcept = nullptr;
  // Its body is called, and has returned.
  void (*begins)(void* data, const heard& at, const heard_task& task) noexcept = nullptr;
  void (*ends)(void* data, const heard& at, const heard_task& task, heard_end how) noexcept = nullptr;
  // A worker has taken it from another one's deque. A stack that goes on, or a branch: task 0.
  void (*stolen)(void* data, const heard& at, const heard_task& task, unsigned victim) noexcept = nullptr;
  // A worker goes to sleep in the kernel, and is awake again.
  void (*sleeps)(void* data, const heard& at) noexcept = nullptr;
  void (*wakes)(void* data, const heard& at) noexcept = nullptr;
  // A body, or the main program, waits; and goes on, perhaps on another worker.
  void (*waits)(void* data, const heard& at, const heard_task& task) noexcept = nullptr;
  void (*goes_on)(void* data, const heard& at, const heard_task& task, heard_wait why) noexcept = nullptr;
};

// Every runtime that is made from here on tells l, which is copied. Who: any thread. Returns what drop_listener()
// takes. Errors: weft::error if no function is in it.
unsigned add_listener(const listener& l);
// Runtimes that are made from here on do not tell it. Those that do go on, so its data must outlive them. Who: any
// thread. Errors: weft::error if there is none of that number.
void drop_listener(unsigned number);

}  // namespace weft
