#include "access/stream_buffer.hpp"

#include <cstring>
#include <new>

#include "base/process_lock.hpp"
#include "weft/detail/worker.hpp"
#include "weft/node_memory.hpp"

namespace weft::detail {

namespace {
void construct(const element_type& t, std::byte* at, std::uint64_t n) {
  if (t.construct != nullptr) t.construct(at, n);
}
}  // namespace

std::byte* take_memory(const element_type& t, std::uint64_t n) {
  WEFT_ASSERT(n <= elements_max(t));
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
std::byte* take_memory(stream_buffer& b) {
  if (!is_small(type_of(b), b.end - b.begin)) return take_memory(type_of(b), b.end - b.begin);
  construct(type_of(b), b.small, b.end - b.begin);
  return b.small;
}
void give_memory_back(stream_buffer& b, std::byte* at) noexcept {
  const element_type& t = type_of(b);
  if (at != b.small) return give_memory_back(t, at, b.end - b.begin);
  if (t.destroy != nullptr) t.destroy(at, b.end - b.begin);
}

namespace {
// What elements of a plain type are where no push has written them: in a buffer of several pushes, each may be skipped.
std::byte* take_cleared(stream_buffer& b) {
  const std::uint64_t n = b.end - b.begin;
  std::byte* const at = b.early ? take_memory(type_of(b), n) : take_memory(b);
  if (type_of(b).construct == nullptr) std::memset(at, 0, n * type_of(b).bytes);
  return at;
}
// Several may push into an early buffer: the first to come with memory has it.
bool lay(stream_buffer& b, std::byte* mine) {
  std::byte* there = nullptr;
  if (base::shared(b.data).compare_exchange_strong(there, mine, base::acq_rel, base::acquire)) return true;
  give_memory_back(type_of(b), mine, b.end - b.begin);
  return false;
}
}  // namespace

std::byte* memory_of(stream_buffer& b) {
  if (std::byte* const there = peek_acquire(b.data)) return there;
  if (!b.early) {
    poke(b.data, take_memory(b));
  } else if (!lay(b, take_cleared(b))) {
    return peek(b.data);
  }
  if (worker* const w = self_out_of_line(); w != nullptr && b.handle.sized) w->engine->renew_data(b.handle);
  return peek(b.data);
}

// Whoever pops at the same time misses it, too, and a small buffer has one place for all of them: so a lock, of the
// process, for what only happens behind a failure. Of an early buffer another push may run.
void make_up(stream_buffer& b) {
  static base::process_lock guard;
  const base::process_hold here(guard);
  if (!has_memory(b)) lay(b, take_cleared(b));
}

// Order: release, for whoever takes the list sees that the memory has gone. Of a stream that is gone: its buffers are
// nobody's else.
void left_by_all(stream_buffer& b, bool is_orphan) noexcept {
  if (!b.in_place) {
    if (std::byte* const data = peek(b.data)) give_memory_back(b, data);
    poke(b.data, static_cast<std::byte*>(nullptr));
  }
  if (is_orphan) return buffer_chunk::close(b.chunk);
  cell<stream_buffer*>& left = stream_of(b).left;
  b.older = peek(left);
  while (!base::shared(left).compare_exchange_weak(b.older, &b, base::release, base::relaxed)) {
  }
}

}  // namespace weft::detail
