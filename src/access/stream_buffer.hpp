// The buffers of streams, one by one: their memory, who uses them, where they come from (stream.hpp).
#pragma once
#include <algorithm>
#include <cstdint>

#include "access/stream.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "weft/detail/stream_state.hpp"

namespace weft::detail {

// Buffers are made some at a time; the last one that ends takes all of them with it. What they have in common, and what
// few of them need, stands beside them.
struct buffer_chunk {
  static constexpr std::uint32_t size = 32;
  stream_buffer all[size]{};
  cell<std::uint64_t> lost[size]{};  // of each one's version: was matched for tasks that were not submitted after all
  stream_state* stream;              // dangles when that is gone
  const element_type* type;
  buffer_chunk* older;  // of the same stream
  std::uint32_t used = 0;
  cell<std::uint32_t> alive{1};  // and 1 while there is a stream

  // One that was not used before. Who: holder of the stream's lock. Errors: std::bad_alloc.
  [[nodiscard]] static stream_buffer* next(buffer_chunk*& current, stream_state& s, const element_type& t) {
    if (current == nullptr || current->used == size)
      current = new buffer_chunk{.stream = &s, .type = &t, .older = current};
    stream_buffer& b = current->all[current->used++];
    base::shared(current->alive).fetch_add(1, base::relaxed);
    b.chunk = current;
    return &b;
  }
  static void close(buffer_chunk* c) noexcept {
    if (base::shared(c->alive).fetch_sub(1, base::acq_rel) == 1) delete c;
  }
};
[[nodiscard]] inline stream_state& stream_of(const stream_buffer& b) noexcept { return *b.chunk->stream; }
[[nodiscard]] inline const element_type& type_of(const stream_buffer& b) noexcept { return *b.chunk->type; }
[[nodiscard]] inline cell<std::uint64_t>& lost_of(const stream_buffer& b) noexcept {
  return b.chunk->lost[&b - b.chunk->all];
}

// How many of a type a process can have room for: with more, sizes in bytes would begin again at 0.
[[nodiscard]] inline std::uint64_t elements_max(const element_type& t) noexcept {
  return base::array_bytes_max / t.bytes;
}
// Memory for n elements, made. Errors: std::bad_alloc; what making them throws.
[[nodiscard]] std::byte* take_memory(const element_type& t, std::uint64_t n);
void give_memory_back(const element_type& t, std::byte* at, std::uint64_t n) noexcept;
// The same for the elements of b; few lie in b itself.
[[nodiscard]] std::byte* take_memory(stream_buffer& b);
void give_memory_back(stream_buffer& b, std::byte* at) noexcept;
[[nodiscard]] inline bool is_small(const element_type& t, std::uint64_t n) noexcept {
  return n <= sizeof stream_buffer::small && n * t.bytes <= sizeof stream_buffer::small &&
         t.alignment <= alignof(stream_buffer);
}
// Whether so few of a type need nothing but a place. Data of 64 bytes are a region on modelled machines, whose home is
// where it is first written, so they are laid when that happens.
inline constexpr std::uint64_t region_from = 64;
[[nodiscard]] inline bool needs_only_a_place(const element_type& t, std::uint64_t n) noexcept {
  return t.construct == nullptr && t.destroy == nullptr && is_small(t, n) && n * t.bytes < region_from;
}
// That of b, taken if there is none yet. Who: a stretch on b that pushes.
[[nodiscard]] std::byte* memory_of(stream_buffer& b);
// Elements whose push was skipped, and whose failure was told by a wait, are healed as data of handles are: they are
// there, made by default. Who: a stretch on b that pops or peeks. Errors: std::bad_alloc; what making them throws.
[[nodiscard]] inline bool has_memory(const stream_buffer& b) noexcept { return peek_acquire(b.data) != nullptr; }
void make_up(stream_buffer& b);
// The last stretch on b is over, and no more come.
void left_by_all(stream_buffer& b, bool is_orphan) noexcept;
// Those of s that were left since this was asked last, linked by older, or nullptr. Who: holder of the stream's lock.
// Order: acquire, pairs with left_by_all(): memory of who left has gone.
[[nodiscard]] inline stream_buffer* take_left(stream_state& s) noexcept {
  return peek(s.left) == nullptr ? nullptr : base::shared(s.left).exchange(nullptr, base::acquire);
}
// A stretch on b is over, or no more come. Order: the last to leave sees what the others did.
inline void leave(stream_buffer& b) noexcept {
  const std::uint32_t users = base::shared(b.users).fetch_sub(1, base::acq_rel) - 1;
  if ((users & ~stream_buffer::orphan_bit) == 0) left_by_all(b, users != 0);
}

// Whether x may do with its elements what it likes, because nobody else sees them any more.
[[nodiscard]] inline bool owns(const stretch& x) noexcept {
  return x.kind == stretch_kind::reuse ||
         (x.kind == stretch_kind::pop && x.takes_all && x.several && !type_of(*x.first).copies);
}

// Calls what(buffer, first element, how many) for each buffer in which x lies.
template <class What> void for_pieces(const stretch& x, What what) {
  const std::uint64_t end = x.from + x.size;
  std::uint64_t at = x.from;
  for (stream_buffer* b = x.first; b != nullptr;) {
    WEFT_ASSERT(b->begin <= at && at < b->end);
    stream_buffer& here = *b;
    const std::uint64_t until = std::min(end, here.end);
    b = until < end ? here.next : nullptr;  // what() may be the last that is done with it
    what(here, at, until - at);
    at = until;
  }
}

}  // namespace weft::detail
