// Calls to the system and to the memory that fail on command: the k-th of a kind, or all from the k-th on. This program
// defines the functions itself, so the library's calls come here whether it is an archive or shared.
#pragma once
#include <string_view>

namespace faults {

// What can fail. `memory` is operator new in all its forms; `malloc` is what others call: hwloc, SQLite, C and its
// threads.
enum class call { memory, malloc, map, protect, thread, futex, barrier, open, write, sync, rename, count };
inline constexpr std::string_view call_names[] = {"memory",  "malloc", "map",   "protect", "thread", "futex",
                                                  "barrier", "open",   "write", "sync",    "rename"};
static_assert(sizeof call_names / sizeof *call_names == static_cast<std::size_t>(call::count));

struct plan {
  call which = call::count;  // none
  long k = 0;                // from 1
  bool from_on = false;
};

// From now on calls are counted, and fail as planned. Who: one thread, while no other runs.
void arm(const plan& p) noexcept;
void disarm() noexcept;
// Calls of a kind since arm().
[[nodiscard]] long counted(call which) noexcept;
// Blocks of operator new that are not deleted.
[[nodiscard]] long live_blocks() noexcept;

}  // namespace faults
