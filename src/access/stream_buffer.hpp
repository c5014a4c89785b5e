// The buffers of streams, one by one: their memory, who uses them, where they come from (stream.hpp).
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "weft/detail/stream_state.hpp"

namespace weft::detail {

// Buffers are made some at a time; the last one that ends takes all of them with it.
struct buffer_chunk {
  static constexpr std::uint32_t size = 32;
  stream_buffer all[size]{};
  std::uint32_t used = 0;
  cell<std::uint32_t> alive{1};  // and 1 while more may be used

  // One that was not used before. Who: holder of the stream's lock. Errors: std::bad_alloc.
  [[nodiscard]] static stream_buffer* next(buffer_chunk*& current) {
    if (current == nullptr || current->used == size) {
      auto* const fresh = new buffer_chunk;
      close(current);
      current = fresh;
    }
    stream_buffer& b = current->all[current->used++];
    base::shared(current->alive).fetch_add(1, base::relaxed);
    b.chunk = current;
    return &b;
  }
  static void close(buffer_chunk* c) noexcept {
    if (c != nullptr && base::shared(c->alive).fetch_sub(1, base::acq_rel) == 1) delete c;
  }
  static void drop(stream_buffer& b) noexcept { close(b.chunk); }
};

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
[[nodiscard]] bool is_small(const stream_buffer& b) noexcept;
// That of b, taken if there is none yet. Who: a stretch on b that pushes.
[[nodiscard]] std::byte* memory_of(stream_buffer& b);
// Elements whose push was skipped, and whose failure was told by a wait, are healed as data of handles are: they are
// there, made by default. Who: a stretch on b that pops or peeks. Errors: std::bad_alloc; what making them throws.
[[nodiscard]] inline bool has_memory(const stream_buffer& b) noexcept { return peek_acquire(b.data) != nullptr; }
void make_up(stream_buffer& b);
// A stretch on b is over, or no more come. Order: the last to leave sees what the others did.
void leave(stream_buffer& b) noexcept;

// Whether x may do with its elements what it likes, because nobody else sees them any more.
[[nodiscard]] inline bool owns(const stretch& x) noexcept {
  return x.kind == stretch_kind::reuse ||
         (x.kind == stretch_kind::pop && x.takes == x.size && x.buffers > 1 && !x.first->type->copies);
}

// Calls what(buffer, first element, how many) for each buffer in which x lies.
template <class What> void for_pieces(const stretch& x, What what) {
  const stream_buffer* b = x.first;
  std::uint64_t at = x.from;
  for (std::uint32_t i = 0; i < x.buffers; ++i) {
    WEFT_ASSERT(b != nullptr && b->begin <= at && at < b->end);
    stream_buffer* const here = const_cast<stream_buffer*>(b);
    if (i + 1 < x.buffers) b = b->next;
    const std::uint64_t n = std::min(x.from + x.size, here->end) - at;
    what(*here, at, n);
    at += n;
  }
}

}  // namespace weft::detail
