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
struct data_layout;

// What is known about the datum behind a handle. A name alone and a size alone stand in the handle itself; with both,
// or with a layout over several nodes, or an address, they stand in a block of their own, which the first that needs it
// allocates. The home, a memory node, always stands in the handle: placement asks for the home of each datum of each
// task. It was said, or it was found: where the data came to lie when they were first touched. No lock, no table.
inline constexpr std::uint64_t bytes_max = std::uint64_t{1} << 40;
inline constexpr std::uint16_t no_home = 0xffff;

// Who: one thread, before the first task names h. Without memory for the block the name is lost.
// bytes: at most bytes_max; 0: nobody knows. Forgets the layout.
void set_bytes(handle_state& h, std::uint64_t bytes) noexcept;
// The same, with a layout that has a meaning, or an address. Without memory for the block they are lost.
void set_layout(handle_state& h, std::uint64_t bytes, const data_layout& layout, const void* begin = nullptr) noexcept;
// Who: any thread that may use h; text: static storage, or nullptr.
void set_name(handle_state& h, const char* text) noexcept;
// Who: any thread; beside set_name(), set_home() of others one of two values is kept, and no other field is lost.
void set_home(handle_state& h, std::uint16_t node) noexcept;  // no_home: it is not known
// The data of a first touch are on that node now. Nothing where a home was said, or without a size. Who: as set_home().
void find_home(handle_state& h, std::uint16_t node) noexcept;
[[nodiscard]] bool is_home_found(const handle_state& h) noexcept;
[[nodiscard]] const void* address_of(const handle_state& h) noexcept;  // nullptr: nobody said it
[[nodiscard]] std::uint64_t bytes_of(const handle_state& h) noexcept;
[[nodiscard]] const char* name_in(const handle_state& h) noexcept;  // nullptr: unnamed
[[nodiscard]] std::uint16_t home_of(const handle_state& h) noexcept;
[[nodiscard]] data_layout layout_of(const handle_state& h) noexcept;  // as said: on its home, if it has no other layout
void forget_block(handle_state& h) noexcept;                          // it is being destroyed

inline constexpr unsigned alarm_bits = 8;
inline constexpr std::uint64_t alarm_max = (std::uint64_t{1} << alarm_bits) - 1;

struct alignas(64) handle_state {
  cell<std::uint64_t> word{alarm_max};  // the current version, above the alarm: how many accesses may finish before
                                        // one has to look at the wait list
  std::uint64_t registered;             // accesses registered so far; guarded by lock
  record* waiters_head;                 // ordered by required version, then by arrival; guarded by lock
  record* waiters_tail;
  std::uint64_t group_start;  // version the accesses of the last group require; guarded by lock
  cell<std::uint64_t> about;  // home, and name or size or a block with both: src/access/about.cpp
  engine_base* engine;        // the runtime that uses this handle; nullptr before the first access
  std::uint32_t id : 31;      // order of creation in the process, until it begins again: see comes_before()
  std::uint32_t sized : 1;    // about has a size; set before the handle is used
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
      forget_block(*this);
  }
  [[nodiscard]] bool idle() noexcept;  // whether all registered accesses are done; false while someone registers one
  void drain() noexcept;               // returns when no submitted task uses the handle; at once if none does
  static void await_registration() noexcept;  // returns when what this thread has submitted is registered
};
static_assert(sizeof(handle_state) == 64);

// The order in which handles are locked, and in which whatever is done for each of several is done: that of creation,
// so that it is the same in every run. Ids begin again after 2^31 handles; two that live and share one are in the order
// of their addresses.
[[nodiscard]] inline bool comes_before(const handle_state& a, const handle_state& b) noexcept {
  return a.id != b.id ? a.id < b.id : &a < &b;
}
// Whether h was made after `other`, or, which nobody can tell, 2^31 handles before one that was.
[[nodiscard]] bool is_made_since(const handle_state& h, const handle_state& other) noexcept;
// For tests: the id of the handle that is made next. Who: no other thread makes one.
void set_next_handle_id(std::uint32_t id) noexcept;

}  // namespace weft::detail
