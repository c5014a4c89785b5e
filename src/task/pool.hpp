// Task records, recycled. Each worker keeps free lists of its own (in detail::worker, so that the inline path reaches
// them); full batches travel between workers through the shared lists here, so a worker that only creates and one that
// only finishes do not starve or hoard. Memory is kept until the pool dies; the most that was ever live is its bound.
// The pool also is the window: it makes at most `window` records of a class beyond those that rest in free lists, and
// so bounds the live tasks of the runtime without a counter that every submission would have to touch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "weft/detail/worker.hpp"

namespace weft::task {

using detail::record;
using detail::worker;

// A chain of free records of one class, linked by next; `batches` are linked through the first record's prev.
struct chain {
  record* head = nullptr;
  std::uint32_t count = 0;
};

class slabs {
 public:
  // Room for `window_tasks` live records beside the free lists of `workers` workers.
  slabs(std::size_t window_tasks, unsigned workers) noexcept
      : limit_(window_tasks + workers * std::size_t{2} * base::pool_batch_records) {}
  ~slabs();
  slabs(const slabs&) = delete;
  slabs& operator=(const slabs&) = delete;

  // A chain of fresh records, or an empty one once the limit is met and `beyond` is false.
  // Who: holder of the pool's lock. Errors: std::bad_alloc.
  [[nodiscard]] chain carve(std::uint8_t size_class, bool beyond);

  // One more thread keeps free lists. Who: holder of the pool's lock.
  void admit_holder() noexcept { limit_ += std::size_t{2} * base::pool_batch_records; }

  // All records there are, for the report of a program that cannot go on. Who: nobody else runs.
  template <class Visit> void for_each(Visit visit) {
    for (const slab& s : all_)
      for (std::uint32_t i = 0; i < base::pool_batch_records; ++i)
        visit(*reinterpret_cast<record*>(s.bytes + i * detail::record_bytes[s.size_class]));
    for (large* l = large_; l != nullptr; l = l->next) visit(*l->content());
  }

  // Records above the largest class, one allocation each. Who: holder of the pool's lock. Errors: std::bad_alloc.
  [[nodiscard]] record* allocate_large(std::size_t bytes);
  void free_large(record* r) noexcept;

 private:
  struct slab {
    std::byte* bytes;
    std::uint8_t size_class;
  };
  struct alignas(64) large {  // stands before its record, so that for_each finds that one too
    large* next;
    large* previous;
    [[nodiscard]] record* content() noexcept { return reinterpret_cast<record*>(this + 1); }
  };
  std::vector<slab> all_;
  large* large_ = nullptr;
  std::size_t carved_[detail::record_classes] = {};
  std::size_t limit_;  // records per class
};

template <class M> class pool {
 public:
  pool(std::size_t window_tasks, unsigned workers) noexcept : slabs_(window_tasks, workers) {}

  // Refills w's list of the class and gives one record. nullptr: the window is full.
  // Who: w's owner. Errors: std::bad_alloc. Cost: a lock per 64 records.
  [[nodiscard]] record* allocate(worker& w, std::uint8_t size_class, bool beyond_window) {
    if (w.free[size_class] == nullptr) {
      const chain c = take(size_class, beyond_window);
      if (c.head == nullptr) return nullptr;
      w.free[size_class] = c.head;
      w.free_count[size_class] = c.count;
    }
    record* r = w.free[size_class];
    w.free[size_class] = r->next;
    --w.free_count[size_class];
    return r;
  }

  [[nodiscard]] record* allocate_large(std::size_t bytes) {
    base::locked<M> guard(lock_);
    record* r = slabs_.allocate_large(bytes);
    M::fresh(r, bytes);
    return r;
  }
  void free_large(record* r) noexcept {
    base::locked<M> guard(lock_);
    slabs_.free_large(r);
  }

  // Who: w's owner. A worker keeps at most two batches per class; the rest goes where others find it.
  // Returns whether a batch went there.
  [[gnu::always_inline]] bool recycle(worker& w, record* r) noexcept {
    WEFT_ASSERT(r->state != detail::record_state::free);
    const std::uint8_t c = r->size_class;
    r->state = detail::record_state::free;
    r->next = w.free[c];
    w.free[c] = r;
    if (++w.free_count[c] < 2 * base::pool_batch_records) return false;
    give_batch(w, c);
    return true;
  }

  // One more thread than the runtime has workers keeps free lists.
  void admit_holder() noexcept {
    base::locked<M> guard(lock_);
    slabs_.admit_holder();
  }

  [[nodiscard]] slabs& all() noexcept { return slabs_; }

 private:
  [[nodiscard]] chain take(std::uint8_t size_class, bool beyond_window) {
    base::locked<M> guard(lock_);
    if (record* head = batches_[size_class]) {
      batches_[size_class] = head->prev;
      return {head, base::pool_batch_records};
    }
    const chain c = slabs_.carve(size_class, beyond_window);
    M::fresh(c.head, c.count * detail::record_bytes[size_class]);
    return c;
  }

  [[gnu::noinline]] void give_batch(worker& w, std::uint8_t c) noexcept {
    record* head = w.free[c];
    record* last = head;
    for (std::uint32_t i = 1; i < base::pool_batch_records; ++i) last = last->next;
    w.free[c] = last->next;
    w.free_count[c] -= base::pool_batch_records;
    last->next = nullptr;
    base::locked<M> guard(lock_);
    head->prev = batches_[c];
    batches_[c] = head;
  }

  detail::cell<std::uint8_t> lock_;
  record* batches_[detail::record_classes] = {};
  slabs slabs_;
};

}  // namespace weft::task
