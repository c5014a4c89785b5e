// Versions of a datum. A handle counts finished accesses; a task may start when the count has reached the version it
// was given at registration (SuperGlue §3.1, Listings 3-5). No task-to-task edges exist, so submission costs two
// integers per access and release costs O(waiters), not O(graph). One cache line; the protocol over it is written and
// argued in src/access/version.md.
#pragma once
#include <cstddef>
#include <cstdint>

#include "weft/detail/cell.hpp"

namespace weft::detail {

struct record;
struct engine_base;
struct handle_state;

// How large the data is that a handle stands for, 0 if nobody has said. One table for the process, because few handles
// have a size and none has room for it. Who: any thread.
void set_bytes(handle_state& h, std::uint64_t bytes) noexcept;
[[nodiscard]] std::uint64_t bytes_of(const handle_state& h) noexcept;

inline constexpr unsigned alarm_bits = 8;
inline constexpr std::uint64_t alarm_max = (std::uint64_t{1} << alarm_bits) - 1;

struct alignas(64) handle_state {
  cell<std::uint64_t> word{alarm_max};  // the current version, above the alarm: how many accesses may finish before
                                        // one has to look at the wait list
  std::uint64_t registered;             // accesses registered so far; guarded by lock
  record* waiters_head;                 // ordered by required version, then by arrival; guarded by lock
  record* waiters_tail;
  std::uint64_t group_start;  // version the accesses of the last group require; guarded by lock
  const char* name;           // static storage; nullptr: unnamed
  engine_base* engine;        // the runtime that uses this handle; nullptr before the first access
  std::uint32_t id : 31;      // order of creation in the process: the lock order, and never an address
  std::uint32_t sized : 1;    // bytes_of() knows it; set before the handle is used
  cell<std::uint8_t> lock;
  std::uint8_t group_kind;  // access kind of the last group; guarded by lock
  bool exclusive_taken;     // some add runs; guarded by lock
  cell<bool> poisoned;      // a task that should have written this failed

  handle_state() noexcept;  // draws the id
  handle_state(const handle_state&) = delete;
  handle_state& operator=(const handle_state&) = delete;
  ~handle_state() {
    drain();
    if (sized) [[unlikely]]
      set_bytes(*this, 0);
  }
  [[nodiscard]] bool idle() noexcept;  // whether all registered accesses are done; false while someone registers one
  void drain() noexcept;               // returns when no submitted task uses the handle; at once if none does
};
static_assert(sizeof(handle_state) == 64);

}  // namespace weft::detail
