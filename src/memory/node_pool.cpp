#include "memory/node_pool.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "base/assert.hpp"

namespace weft::memory {

namespace {

// Chunks that a node takes from the system at once: an eighth of what it has. Else the ranges of address space, of
// which a process may have 65,530, would bound its memory where nodes take turns.
constexpr unsigned grown_chunks_max = 64;

void change(detail::cell<std::uint64_t>& c, std::int64_t by) noexcept {
  WEFT_ASSERT(by >= 0 || detail::peek(c) >= static_cast<std::uint64_t>(-by));
  detail::poke(c, detail::peek(c) + static_cast<std::uint64_t>(by));
}

}  // namespace

node_pool::~node_pool() {
  trim();
  for (chunk_list& l : with_free_)
    while (l.first() != nullptr) {
      chunk* const c = l.first();
      l.remove(*c);
      end(c);
    }
  while (full_.first() != nullptr) {
    chunk* const c = full_.first();
    full_.remove(*c);
    end(c);
  }
}

unsigned node_pool::take(unsigned size_class, std::byte** blocks, unsigned n) {
  WEFT_ASSERT(size_class < size_classes && n != 0);
  for (;;) {
    {
      guard g(lock_);
      const unsigned got = take_here(size_class, blocks, n);
      if (got != 0) {
        sweep(g);
        return got;
      }
    }
    grow();  // others may take what comes; then once more
  }
}

// Under the lock. Returns 0 if there is nothing.
unsigned node_pool::take_here(unsigned size_class, std::byte** blocks, unsigned n) {
  unsigned got = 0;
  for (; got != n && strays_[size_class] != nullptr; ++got) {
    std::byte* const b = blocks[got] = strays_[size_class];
    strays_[size_class] = map_.find(b)->place_of(b)->next;
  }
  while (got != n) {
    chunk* c = with_free_[size_class].first();
    if (c == nullptr && got != 0) break;  // what one chunk has is enough
    if (c == nullptr) c = with_free(size_class);
    if (c == nullptr) break;
    while (got != n && c->has_free()) blocks[got++] = c->take();
    if (!c->has_free()) {
      with_free_[size_class].remove(*c);
      full_.push(*c);
    }
  }
  return got;
}

// Cuts a whole chunk. nullptr: there is none. Errors: std::bad_alloc, nothing changed.
chunk* node_pool::with_free(unsigned size_class) {
  chunk* const c = whole_.first();
  if (c == nullptr) return nullptr;
  c->cut(size_class);
  whole_.remove(*c);
  change(whole_bytes_, -static_cast<std::int64_t>(chunk_bytes));
  with_free_[size_class].push(*c);
  return c;
}

void node_pool::give_back(unsigned size_class, std::byte* const* blocks, unsigned n) noexcept {
  guard g(lock_);
  for (unsigned i = 0; i < n; ++i) {
    chunk* const c = map_.find(blocks[i]);
    WEFT_ASSERT(c != nullptr && c->size_class() == size_class);
    if (c->node() != node_) {
      c->place_of(blocks[i])->next = strays_[size_class];
      strays_[size_class] = blocks[i];
      continue;
    }
    const bool was_full = !c->has_free();
    c->put(blocks[i]);
    if (c->is_whole()) {
      (was_full ? full_ : with_free_[size_class]).remove(*c);
      put_whole(*c);
    } else if (was_full) {
      full_.remove(*c);
      with_free_[size_class].push(*c);
    }
  }
  sweep(g);
}

chunk* node_pool::take_one(std::uint64_t bytes) {
  bytes = round_up(bytes, source_unit_bytes);
  auto* const begin = static_cast<std::byte*>(source_.take(bytes, node_));
  if (begin == nullptr) throw std::bad_alloc();
  std::unique_ptr<chunk> c;
  try {
    c = std::make_unique<chunk>(begin, bytes, node_, source_.tells());
    c->take_as_one();
    map_.prepare(begin);
  } catch (...) {
    source_.give_back(begin, bytes);
    throw;
  }
  map_.put(begin, c.get());
  const guard g(lock_);
  full_.push(*c);
  change(held_, static_cast<std::int64_t>(bytes));
  return c.release();
}

void node_pool::give_back_one(chunk* c) noexcept {
  WEFT_ASSERT(c->size_class() == chunk::direct && c->node() == node_);
  {
    const guard g(lock_);
    full_.remove(*c);
    change(held_, -static_cast<std::int64_t>(c->bytes()));
  }
  end(c);
}

std::byte* node_pool::forget_stray(unsigned size_class) noexcept {
  std::byte* b = nullptr;
  {
    const guard g(lock_);
    b = strays_[size_class];
    if (b == nullptr) return nullptr;
    strays_[size_class] = map_.find(b)->place_of(b)->next;
  }
  source_.forget(b, bytes_of(size_class));
  detail::poke(map_.find(b)->place_of(b)->node_and_1, 0u);
  return b;
}

// At least one chunk, where the system has one.
void node_pool::grow() {
  const std::uint64_t eighth = held() / chunk_bytes / 8;
  const auto many = static_cast<unsigned>(std::clamp<std::uint64_t>(eighth, 1, grown_chunks_max));
  if (!add(many) && (many == 1 || !add(1))) throw std::bad_alloc();
}

// Returns whether the system gave so many. Errors: std::bad_alloc, and then nothing was taken.
bool node_pool::add(unsigned chunks) {
  auto* const begin = static_cast<std::byte*>(source_.take(chunks * chunk_bytes, node_));
  if (begin == nullptr) return false;
  std::unique_ptr<chunk> made[grown_chunks_max];
  try {
    for (unsigned i = 0; i < chunks; ++i) {
      std::byte* const at = begin + i * chunk_bytes;
      made[i] = std::make_unique<chunk>(at, chunk_bytes, node_, source_.tells());
      map_.prepare(at);
    }
  } catch (...) {
    source_.give_back(begin, chunks * chunk_bytes);
    throw;
  }
  const guard g(lock_);
  change(held_, static_cast<std::int64_t>(chunks * chunk_bytes));
  for (unsigned i = chunks; i-- > 0;) {
    chunk* const c = made[i].release();
    map_.put(c->begin(), c);
    put_whole(*c);
  }
  return true;
}

void node_pool::put_whole(chunk& c) noexcept {
  c.whole_since = std::chrono::steady_clock::now();
  whole_.push(c);
  change(whole_bytes_, static_cast<std::int64_t>(chunk_bytes));
}

// Under the lock. A chain of whole chunks, which are no longer here.
chunk* node_pool::take_overdue(std::uint64_t whole_bytes_max, bool by_time) noexcept {
  chunk* chain = nullptr;
  if (whole_.last() == nullptr) return chain;
  const auto now = by_time ? std::chrono::steady_clock::now() : chunk::time{};
  const auto patience = std::chrono::milliseconds(rule_.whole_ms_max);
  for (chunk* c = whole_.last(); c != nullptr; c = whole_.last()) {
    if (whole() <= whole_bytes_max && !(by_time && now - c->whole_since >= patience)) break;
    whole_.remove(*c);
    change(whole_bytes_, -static_cast<std::int64_t>(chunk_bytes));
    change(held_, -static_cast<std::int64_t>(chunk_bytes));
    c->next = chain;
    chain = c;
  }
  return chain;
}

// Leaves the lock.
void node_pool::sweep(guard& g) noexcept {
  chunk* const overdue = take_overdue(rule_.whole_bytes_max, true);
  g.unlock();
  end(overdue);
}

void node_pool::trim() noexcept {
  guard g(lock_);
  chunk* const all = take_overdue(0, false);
  g.unlock();
  end(all);
}

// Gives each chunk of a chain back to the system. Nobody else knows of them.
void node_pool::end(chunk* chain) noexcept {
  while (chain != nullptr) {
    chunk* const c = chain;
    chain = c->next;
    map_.put(c->begin(), nullptr);
    source_.give_back(c->begin(), c->bytes());
    delete c;
  }
}

}  // namespace weft::memory
