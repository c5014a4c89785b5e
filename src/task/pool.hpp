// Task records, recycled. Each worker keeps free lists of its own (in detail::worker, so that the inline path reaches
// them); full batches travel between workers through the shared lists here, so a worker that only creates and one that
// only finishes do not starve or hoard. Memory is kept until the pool dies; the most that was ever live is its bound.
// The pool also counts for the window: who asks for a record says how many of its class may be with workers, live or in
// their free lists. So the live tasks of the runtime are bounded without a counter that every submission would touch:
// the count moves with batches.
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
  slabs() = default;
  ~slabs();
  slabs(const slabs&) = delete;
  slabs& operator=(const slabs&) = delete;

  // A chain of fresh records. Who: holder of the pool's lock. Errors: std::bad_alloc.
  [[nodiscard]] chain carve(std::uint8_t size_class);

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
};

template <class M> class pool {
 public:
  static constexpr std::size_t no_limit = ~std::size_t{0};

  explicit pool(unsigned workers) noexcept : in_free_lists_{workers * std::size_t{2} * base::pool_batch_records} {}

  // Refills w's list of the class and returns one record. nullptr: `live_max` records of the class may be live, beside
  // those that rest in free lists. Who: w's owner. Errors: std::bad_alloc. Cost: a lock per 64 records.
  [[nodiscard]] record* allocate(worker& w, std::uint8_t size_class, std::size_t live_max) {
    if (w.free[size_class] == nullptr) {
      const chain c = take(size_class, live_max);
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
    detail::poke(in_free_lists_, detail::peek(in_free_lists_) + std::size_t{2} * base::pool_batch_records);
  }

  [[nodiscard]] slabs& all() noexcept { return slabs_; }

  // Whether allocate() would find a record for somebody whose list is empty. A look: it may have changed since.
  // Who: anyone. Order: what the caller ordered before, a batch that was given back is seen (give_batch() is locked).
  [[nodiscard]] bool has_room(std::uint8_t size_class, std::size_t live_max) noexcept {
    return fits(detail::peek(out_[size_class]), live_max);
  }

 private:
  [[nodiscard]] bool fits(std::size_t out, std::size_t live_max) const noexcept {
    return live_max == no_limit || out + base::pool_batch_records <= live_max + detail::peek(in_free_lists_);
  }
  [[nodiscard]] chain take(std::uint8_t size_class, std::size_t live_max) {
    base::locked<M> guard(lock_);
    const std::size_t out = detail::peek(out_[size_class]);
    if (!fits(out, live_max)) return {};
    if (record* head = batches_[size_class]) {
      batches_[size_class] = head->prev;
      detail::poke(out_[size_class], out + base::pool_batch_records);
      return {head, base::pool_batch_records};
    }
    const chain c = slabs_.carve(size_class);
    detail::poke(out_[size_class], out + base::pool_batch_records);
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
    WEFT_ASSERT(detail::peek(out_[c]) >= base::pool_batch_records);
    detail::poke(out_[c], detail::peek(out_[c]) - base::pool_batch_records);
  }

  detail::cell<std::size_t> in_free_lists_;  // records that may rest there, of each class; written under lock_
  detail::cell<std::uint8_t> lock_;
  detail::cell<std::size_t> out_[detail::record_classes] = {};  // records not in batches_; written under lock_
  record* batches_[detail::record_classes] = {};
  slabs slabs_;
};

}  // namespace weft::task
