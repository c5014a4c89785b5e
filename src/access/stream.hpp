// Streams (weft/stream.hpp, OpenStream §2.1): which elements a task gets, and in which buffers they lie.
//
// Matching. A stream counts elements pushed and popped; the next push and the next pop get what comes next. Each
// element that somebody has named is in one buffer. Where a push names elements first they get a buffer, and the push
// is registered on its handle at once, so that whoever pops needs no more than a plain read, registered whenever that
// task is. Where a pop names them first the buffer is early: all of its elements count as registered, the pop waits for
// the version at which all are there, and whoever pushes into it adds as many as it brings. So a task that pushes has
// its place in the order of versions before it is registered, and two threads that submit cannot come in between.
//
// Lives. `users` of a buffer counts the stretches on it, and 1 while more may come, which is until its last element is
// popped. Who brings it to 0 gives the memory back. The handle goes on: when all accesses are done the buffer is used
// again, for later elements. Nobody else names it, so that is seen by looking, under the stream's lock.
// Lock: of the stream, for a few instructions each buffer; a task that names several streams takes them by address.
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
  std::uint64_t pushed = 0;  // elements
  std::uint64_t popped = 0;
  std::uint64_t end = 0;            // of the last buffer
  stream_buffer* oldest = nullptr;  // that has elements which are not popped, or the newest
  stream_buffer* newest = nullptr;
  stream_buffer* writes = nullptr;   // where the next push begins; nullptr: at `end`
  stream_buffer* retired = nullptr;  // all elements popped, oldest first, linked by next
  stream_buffer* retired_last = nullptr;
  buffer_chunk* chunk = nullptr;    // where buffers come from
  stream_buffer* failed = nullptr;  // poisoned, and over; linked by older
};

}  // namespace weft::detail

namespace weft::access {

// "elements 3 to 5 of stream 'x'", for reports. Who: any thread.
[[nodiscard]] std::string describe_elements(const detail::stream_state& s, std::uint64_t from, std::uint64_t end);

}  // namespace weft::access
