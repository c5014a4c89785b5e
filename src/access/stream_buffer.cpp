#include "access/stream_buffer.hpp"

#include <cstring>
#include <mutex>
#include <new>

#include "weft/detail/worker.hpp"
#include "weft/node_memory.hpp"

namespace weft::detail {

namespace {
void construct(const element_type& t, std::byte* at, std::uint64_t n) {
  if (t.construct != nullptr) t.construct(at, n);
}
}  // namespace

std::byte* take_memory(const element_type& t, std::uint64_t n) {
  if (n > PTRDIFF_MAX / t.bytes) throw std::bad_alloc();
  auto* const at = static_cast<std::byte*>(take_here(n * t.bytes, t.alignment));
  try {
    construct(t, at, n);
  } catch (...) {
    give_back(at, n * t.bytes, t.alignment);
    throw;
  }
  return at;
}
void give_memory_back(const element_type& t, std::byte* at, std::uint64_t n) noexcept {
  if (t.destroy != nullptr) t.destroy(at, n);
  give_back(at, n * t.bytes, t.alignment);
}
bool is_small(const stream_buffer& b) noexcept {
  return (b.end - b.begin) * b.type->bytes <= sizeof b.small && b.type->alignment <= alignof(stream_buffer);
}
std::byte* take_memory(stream_buffer& b) {
  if (!is_small(b)) return take_memory(*b.type, b.end - b.begin);
  construct(*b.type, b.small, b.end - b.begin);
  return b.small;
}
void give_memory_back(stream_buffer& b, std::byte* at) noexcept {
  const element_type& t = *b.type;
  if (at != b.small) return give_memory_back(t, at, b.end - b.begin);
  if (t.destroy != nullptr) t.destroy(at, b.end - b.begin);
}

// Several may push into an early buffer: the first to come with memory has it.
std::byte* memory_of(stream_buffer& b) {
  const auto data = base::shared(b.data);
  std::byte* there = data.load(base::acquire);
  if (there != nullptr) return there;
  if (!b.early) {
    there = take_memory(b);
    poke(b.data, there);
  } else {
    std::byte* const mine = take_memory(*b.type, b.end - b.begin);
    if (!data.compare_exchange_strong(there, mine, base::acq_rel, base::acquire)) {
      give_memory_back(*b.type, mine, b.end - b.begin);
      return there;
    }
    there = mine;
  }
  if (worker* const w = self_out_of_line(); w != nullptr && b.handle.sized) w->engine->renew_data(b.handle);
  return there;
}

// Whoever pops at the same time misses it, too, and a small buffer has one place for all of them: so a lock, of the
// process, for what only happens behind a failure.
void make_up(stream_buffer& b) {
  static std::mutex guard;
  const std::lock_guard<std::mutex> here(guard);
  if (peek(b.data) != nullptr) return;
  std::byte* const there = take_memory(b);
  if (b.type->construct == nullptr) std::memset(there, 0, (b.end - b.begin) * b.type->bytes);
  base::shared(b.data).store(there, base::release);  // pairs with the load in has_memory()
}

void leave(stream_buffer& b) noexcept {
  const std::uint32_t left = base::shared(b.users).fetch_sub(1, base::acq_rel) - 1;
  if ((left & ~stream_buffer::orphan_bit) != 0) return;
  if (std::byte* const data = peek(b.data)) give_memory_back(b, data);
  poke(b.data, static_cast<std::byte*>(nullptr));
  if (left != 0) buffer_chunk::drop(b);
}

}  // namespace weft::detail
