// A stream without its type (weft/stream.hpp): which elements are pushed and popped by whom, and where they lie.
//
// The elements of a stream are numbered from 0. What a task pushes or pops of them is its *stretch*. They lie in
// *buffers*, each with consecutive elements and a handle of its own, hidden from the program: to push is to write that
// handle, to pop is to read it, and so a stream orders tasks by versions like any other data. A buffer is made by
// whoever names its elements first: with those of one push; or, early, with those that a task is to pop before anybody
// pushes them, and then its version counts elements, of several pushes perhaps.
#pragma once
#include <cstddef>
#include <cstdint>

#include "weft/detail/handle_state.hpp"
#include "weft/detail/record.hpp"

namespace weft::detail {

struct stream_state;
struct buffer_chunk;
struct engine_base;

// What is to be done with elements; nullptr: nothing, bytes are copied.
struct element_type {
  std::size_t bytes;
  std::size_t alignment;
  void (*construct)(void* at, std::size_t n);
  void (*destroy)(void* at, std::size_t n) noexcept;
  void (*move)(void* to, void* from, std::size_t n);
  void (*copy)(void* to, const void* from, std::size_t n);
  bool copies;  // whether the type can be copied
};

struct stream_buffer {
  handle_state handle;   // first: an access names the buffer by it
  stream_state* stream;  // for reports
  const element_type* type;
  std::uint64_t begin;  // elements [begin, end)
  std::uint64_t end;
  std::uint64_t base;         // version before the first push
  bool early;                 // made by a task that pops
  cell<std::uint64_t> lost;   // of its version: was matched for tasks that were not submitted after all
  cell<std::uint32_t> users;  // stretches that are not over, and 1 while elements may still be named; see orphan_bit
  cell<std::byte*> data;      // nullptr: not yet, or no more
  stream_buffer* next;        // the one behind it; guarded by the stream's lock, and fixed once it is not nullptr
  stream_buffer* older;       // in the stream's list of those that are over
  buffer_chunk* chunk;        // that it is one of
  alignas(64) std::byte small[64];  // where few elements lie

  // In users: the stream is gone, after a stall, and the last stretch takes the buffer with it.
  static constexpr std::uint32_t orphan_bit = std::uint32_t{1} << 31;
};

inline constexpr std::size_t stretches_max = 16;  // of one task
enum class stretch_kind : std::uint8_t { push, pop, peek, reuse };

// One clause of one task. Filled in by match(); `data` is there while the body runs.
struct stretch {
  stream_state* stream = nullptr;  // nullptr: none, for an array has fewer streams than there is room for
  stretch_kind kind = stretch_kind::push;
  std::uint32_t buffers = 0;  // in which it lies, from `first` on
  std::uint32_t entries = 0;  // accesses that it takes: one a buffer, and one more for an amount
  std::uint64_t from = 0;     // its first element
  std::uint64_t size = 0;     // elements that the body sees
  std::uint64_t takes = 0;    // of those, how many are then taken
  stream_buffer* first = nullptr;
  std::byte* data = nullptr;  // of the elements, in a row
  bool gathered = false;      // they lie in several buffers, and in a row only for this body
  bool is_plain = true;       // its accesses are those of a plain task
};

// Gives the stretches of a task their elements, all at one moment: tasks that are submitted at the same time by several
// threads are in one order on all streams that they share. Returns how many accesses they take.
// Who: any thread. Errors: std::bad_alloc, weft::error for more elements than a task may name; nothing has changed
// then.
[[nodiscard]] std::size_t match(stretch* s, std::size_t count, engine_base* engine);
// The task comes to nothing. If others have named elements behind these, these never come.
void unmatch(stretch* s, std::size_t count) noexcept;
// Writes the accesses of a stretch from `a` on. Returns where the next one's begin.
access* note_stretch(const stretch& s, access* a) noexcept;

// The body is about to run, on this thread: memory for what it pushes is taken here and now (OpenStream §3.2).
// Errors: std::bad_alloc; what moving or copying elements throws.
void open_stretches(stretch* s, std::size_t count);
// It has returned.
void fill_stretches(stretch* s, std::size_t count);
// The task is over, or was skipped: buffers that nobody needs any more are given back.
void close_stretches(stretch* s, std::size_t count) noexcept;

}  // namespace weft::detail
