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

// Three lines of a cache: a stream that is far ahead of who pops has one for each push.
struct stream_buffer {
  handle_state handle;  // first: an access names the buffer by it
  std::uint64_t begin;  // elements [begin, end)
  std::uint64_t end;
  std::uint64_t base;         // version before the first push
  cell<std::byte*> data;      // nullptr: not yet, or no more
  stream_buffer* next;        // the one behind it; guarded by the stream's lock, and fixed once it is not nullptr
  stream_buffer* older;       // in a list of those that are not used
  buffer_chunk* chunk;        // that it is one of
  cell<std::uint32_t> users;  // stretches that are not over, and shares of the stream (stream.hpp); see orphan_bit
  bool early;                 // made by a task that pops
  bool in_place;              // its elements are in `small` for all of its life, and need nothing but that place
  alignas(64) std::byte small[64];  // where few elements lie

  // In users: the stream is gone, after a stall, and the last stretch takes the buffer with it.
  static constexpr std::uint32_t orphan_bit = std::uint32_t{1} << 31;
};
static_assert(sizeof(stream_buffer) == 192);

inline constexpr std::size_t stretches_max = 16;  // of one task
// none: an array has fewer streams than there is room for.
enum class stretch_kind : std::uint8_t { none, push, pop, peek, reuse };
inline constexpr unsigned stretch_size_bits = 58;
inline constexpr std::uint64_t too_many_elements = (std::uint64_t{1} << stretch_size_bits) - 1;  // or more

// One clause of one task, as its record keeps it. Filled in by match(). Small, because a record is as large as what is
// in it: with 32 bytes a task that pops and pushes is of the second class of sizes.
struct stretch {
  stream_buffer* first = nullptr;  // nullptr: it has no elements, or is over
  std::uint64_t from = 0;          // its first element
  std::byte* data = nullptr;       // of its elements, in a row: while the body runs, or from the beginning on
  std::uint64_t size : stretch_size_bits = 0;  // elements that the body sees
  stretch_kind kind : 3 = stretch_kind::none;
  bool takes_all : 1 = false;  // of what it sees: no later task sees any of it
  bool several : 1 = false;    // it lies in several buffers, from `first` on
  bool gathered : 1 = false;   // and in a row only for this body
};
static_assert(sizeof(stretch) == 32);

// The same while it is matched: who calls says kind, size and takes_all.
struct matching {
  stream_state* stream = nullptr;  // nullptr: kind is none
  std::uint64_t takes = 0;         // of the elements that the body sees, how many are then taken
  stretch x{};
  access only{};              // its access, if it takes one
  std::uint32_t entries = 0;  // accesses that it takes: one a buffer, and one more for an amount
  bool is_plain = true;       // they are those of a plain task
};

// Gives the stretches of a task their elements, all at one moment: tasks that are submitted at the same time by several
// threads are in one order on all streams that they share. Returns how many accesses they take.
// engine: nullptr: the one that used the stream last. Who: any thread. Errors: std::bad_alloc, weft::error for more
// elements than a task may name; nothing has changed then.
[[nodiscard]] std::size_t match(matching* m, std::size_t count, engine_base* engine);
[[nodiscard]] std::size_t match_one(matching& m, engine_base* engine);  // the same for one
// The task comes to nothing. If others have named elements behind these, these never come.
void unmatch(stretch* s, std::size_t count) noexcept;
// Writes the accesses of a stretch from `a` on. Returns where the next one's begin.
access* note_stretch(const stretch& s, access* a) noexcept;

// The body is about to run, on this thread: memory for what it pushes is taken here and now (OpenStream §3.2). Nothing
// for those whose data are there. Errors: std::bad_alloc; what moving or copying elements throws.
void open_stretches(stretch* s, std::size_t count);
// It has returned. Nothing but for pushes that are gathered.
void fill_stretches(stretch* s, std::size_t count);
// The task is over, or was skipped: buffers that nobody needs any more are given back.
void close_stretches(stretch* s, std::size_t count) noexcept;

}  // namespace weft::detail
