// Streams (weft/stream.hpp, OpenStream §2.1): which elements a task gets, and in which buffers they lie.
//
// Matching. A stream counts elements pushed and popped; the next push and the next pop get what comes next. Each
// element that somebody has named is in one buffer. Where a push names elements first they get a buffer, and the push
// is registered on its handle at once, so that whoever pops needs no more than a plain read, registered whenever that
// task is. Where a pop names them first the buffer is early: all of its elements count as registered, the pop waits for
// the version at which all are there, and whoever pushes into it adds as many as it brings. So a task that pushes has
// its place in the order of versions before it is registered, and two threads that submit cannot come in between.
//
// Lives. `users` of a buffer counts the stretches on it, and 1 while more of its elements may be popped, and in an
// early one 1 more while they may be pushed; who takes the last of them has the stream's share from then on. Who brings
// it to 0 gives the memory back, and the buffer to the stream's list `left`, from where it is used again for later
// elements: the one that was left last first, for its lines are the nearest. The last to leave does so before its
// access is done, and a push may have been matched and not run, so whether all accesses are done is looked at then.
// Nobody else names it. A buffer that failed, or whose version will never come to what was registered, is not used
// again. Elements that need nothing but a place, and little of it, are in the buffer from the beginning on, as zeros.
//
// Lock: of the stream, for a few instructions each buffer; a task that names several streams takes them by address. The
// list `left` needs none: it is only added to one by one, and taken whole by the holder of the lock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/detail/stream_state.hpp"

namespace weft::detail {

struct buffer_chunk;

struct stream_state {
  const element_type& type;  // static storage
  const char* name;
  cell<std::uint8_t> lock{};      // guards what follows
  engine_base* engine = nullptr;  // of the runtime that used it last
  bool immediate = false;
  std::uint64_t in_place_max = 0;  // so few elements need nothing but a place in their buffer
  std::uint64_t pushed = 0;        // elements
  std::uint64_t popped = 0;
  std::uint64_t end = 0;            // of the last buffer
  stream_buffer* oldest = nullptr;  // that has elements which are not popped
  stream_buffer* newest = nullptr;  // the last, unless it is used again
  stream_buffer* writes = nullptr;  // where the next push begins; nullptr: at `end`
  stream_buffer* unused = nullptr;  // left by all, linked by older
  stream_buffer* late = nullptr;    // the same, when last seen with accesses that were not done; oldest first
  stream_buffer* late_last = nullptr;
  buffer_chunk* chunk = nullptr;            // where buffers come from; linked by older
  alignas(64) cell<stream_buffer*> left{};  // the same; who leaves adds to it, without the lock
};

}  // namespace weft::detail

namespace weft::access {

// "elements 3 to 5 of stream 'x'", for reports. Who: any thread.
[[nodiscard]] std::string describe_elements(const detail::stream_state& s, std::uint64_t from, std::uint64_t end);

}  // namespace weft::access
