// Task records, recycled. Each worker keeps free records of its own, as pointers in magazines (detail::worker, so that
// the inline path reaches them): one that it takes from and puts into, and one at rest that is full or empty. Full
// magazines travel between workers through the depot here, so a worker that only creates and one that only finishes do
// not starve or hoard. Memory is kept until the pool dies; the most that was ever live is its bound.
// The pool also counts for the window: who asks for a record says how many of its class may be with workers, live or in
// their magazines. So the live tasks of the runtime are bounded without a counter that every submission would touch:
// the count moves with magazines.
// Nobody reads a free record: what it takes to get one back from another core is the reading of pointers, eight to a
// cache line, and the record's own lines come while its new owner writes to them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "base/prefetch.hpp"
#include "weft/detail/worker.hpp"

namespace weft::task {

using detail::magazine;
using detail::record;
using detail::worker;

static_assert(magazine::capacity == base::pool_batch_records);

class slabs {
 public:
  slabs() = default;
  ~slabs();
  slabs(const slabs&) = delete;
  slabs& operator=(const slabs&) = delete;

  // A magazine full of fresh records. Who: holder of the pool's lock. Errors: std::bad_alloc.
  [[nodiscard]] magazine* carve(std::uint8_t size_class);

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

// Magazines that no worker has. Each slab brings one and each holder of free records two per class. A full one needs 64
// records of its own, so there are never more of those than slabs, and whoever holds less than two finds an empty one.
// Who: holder of the pool's lock.
class depot {
 public:
  // So many more who keep free records. Errors: std::bad_alloc.
  void admit(unsigned holders) {
    constexpr std::size_t each = std::size_t{2} * detail::record_classes;
    make_room(holders * each);
    brought_.push_back(std::make_unique_for_overwrite<magazine[]>(holders * each));
    for (std::size_t i = 0; i < holders * each; ++i) empty_.push_back(&brought_.back()[i]);
  }
  // For a slab's magazine, which its first holder has. Errors: std::bad_alloc.
  void expect_one_more() { make_room(1); }

  [[nodiscard]] magazine* take_full(std::uint8_t size_class) noexcept { return take(full_[size_class]); }
  [[nodiscard]] magazine* take_empty() noexcept {
    WEFT_ASSERT(!empty_.empty());
    return take(empty_);
  }
  void put_full(std::uint8_t size_class, magazine* m) noexcept { put(full_[size_class], m); }
  void put_empty(magazine* m) noexcept { put(empty_, m); }

 private:
  using stack = std::vector<magazine*>;
  [[nodiscard]] static magazine* take(stack& s) noexcept {
    if (s.empty()) return nullptr;
    magazine* const m = s.back();
    s.pop_back();
    return m;
  }
  static void put(stack& s, magazine* m) noexcept {
    WEFT_ASSERT(m != nullptr && s.size() < s.capacity());
    s.push_back(m);
  }
  // That no put() ever has to allocate.
  void make_room(std::size_t more) {
    all_ += more;
    const auto grow = [this](stack& s) {
      if (s.capacity() < all_) s.reserve(2 * all_);
    };
    grow(empty_);
    for (stack& s : full_) grow(s);
  }

  std::vector<std::unique_ptr<magazine[]>> brought_;
  std::size_t all_ = 0;
  stack empty_;
  stack full_[detail::record_classes];
};

template <class M> class pool {
 public:
  static constexpr std::size_t no_limit = ~std::size_t{0};

  explicit pool(unsigned workers) : in_magazines_{workers * std::size_t{2} * base::pool_batch_records} {
    depot_.admit(workers);
  }

  // Returns a record of the class from w's magazines, or a full one from the depot. nullptr: `live_max` records of the
  // class may be live, beside those that rest in magazines. Who: w's owner. Errors: std::bad_alloc. Cost: a lock per 64
  // records.
  [[nodiscard]] record* allocate(worker& w, std::uint8_t size_class, std::size_t live_max) {
    if (w.free_count[size_class] == 0 && !refill(w, size_class, live_max)) return nullptr;
    return w.free[size_class]->slot[--w.free_count[size_class]];
  }

  [[nodiscard]] record* allocate_large(std::size_t bytes) {
    base::locked<M> guard(lock_);
    record* r = slabs_.allocate_large(bytes);
    M::fresh(r, bytes);
    return r;
  }
  void free_large(record* r) noexcept {
    becomes_free(*r);
    base::locked<M> guard(lock_);
    slabs_.free_large(r);
  }

  // Who: w's owner. A worker keeps at most two magazines per class; the rest goes where others find it.
  // Returns whether a magazine went there.
  [[gnu::always_inline]] bool recycle(worker& w, record* r) noexcept {
    const std::uint8_t c = r->size_class;
    becomes_free(*r);
    const bool has_room = w.free[c] != nullptr && w.free_count[c] != magazine::capacity;
    const bool gave = has_room ? false : make_room(w, c);
    w.free[c]->slot[w.free_count[c]++] = r;
    return gave;
  }

  // For who takes records that come back from other cores: one that it takes soon is asked for. Returns whether
  // foresee_magazine() is due. Who: w's owner, when it has taken a record.
  [[nodiscard, gnu::always_inline]] bool foresee(worker& w, std::uint8_t size_class) noexcept {
    static_assert(ahead < magazine::capacity / 2);
    if (size_class == detail::record_classes) return false;
    const std::uint32_t n = w.free_count[size_class];
    if (n < ahead && !w.rest_is_full[size_class]) return false;
    const record* const r =
        n < ahead ? w.rest[size_class]->slot[n + magazine::capacity - ahead] : w.free[size_class]->slot[n - ahead];
    base::will_write(r);
    base::will_write(base::next_line(r));
    return n % (magazine::capacity / 2) == 0;
  }
  // The magazine after this one, too. Never more than live_max records, and none that are new.
  [[gnu::noinline]] void foresee_magazine(worker& w, std::uint8_t c, std::size_t live_max) noexcept {
    if (w.free_count[c] != magazine::capacity / 2 || w.rest_is_full[c]) return;
    magazine* m = nullptr;
    {
      base::locked<M> guard(lock_);
      const std::size_t out = detail::peek(out_[c]);
      if (!fits(out, live_max)) return;
      m = depot_.take_full(c);
      if (m == nullptr) return;
      if (w.rest[c] != nullptr) depot_.put_empty(w.rest[c]);
      detail::poke(out_[c], out + base::pool_batch_records);
    }
    for (std::uint32_t i = 0; i < magazine::capacity; i += 8) base::will_write(&m->slot[i]);
    w.rest[c] = m;
    w.rest_is_full[c] = true;
  }

  // One more thread than the runtime has workers keeps free records. Errors: std::bad_alloc.
  void admit_holder() {
    base::locked<M> guard(lock_);
    depot_.admit(1);
    detail::poke(in_magazines_, detail::peek(in_magazines_) + std::size_t{2} * base::pool_batch_records);
  }

  [[nodiscard]] slabs& all() noexcept { return slabs_; }

  // Whether allocate() would find a record for somebody whose magazines are empty. A look: it may have changed since.
  // Who: anyone. Order: what the caller ordered before, a magazine that was given back is seen (make_room() is locked).
  [[nodiscard]] bool has_room(std::uint8_t size_class, std::size_t live_max) noexcept {
    return fits(detail::peek(out_[size_class]), live_max);
  }

 private:
  [[gnu::always_inline]] static void becomes_free(record& r) noexcept {
    using enum detail::record_state;
    transition(r, {filling, running, draining}, free);
  }

  static constexpr std::uint32_t ahead = 16;  // records: as many lines as a core has on their way at once

  [[nodiscard]] bool fits(std::size_t out, std::size_t live_max) const noexcept {
    return live_max == no_limit || out + base::pool_batch_records <= live_max + detail::peek(in_magazines_);
  }

  // w has no free record at hand. Returns whether it has now.
  [[gnu::noinline]] bool refill(worker& w, std::uint8_t c, std::size_t live_max) {
    WEFT_ASSERT(w.free_count[c] == 0);
    if (w.rest_is_full[c]) {
      std::swap(w.free[c], w.rest[c]);
      w.rest_is_full[c] = false;
    } else {
      magazine* const m = exchange_for_full(w.free[c], c, live_max);
      if (m == nullptr) return false;
      w.free[c] = m;
    }
    w.free_count[c] = magazine::capacity;
    return true;
  }
  // `empty`: nullptr, or the caller's. Returns nullptr, and then that is still its own, if the window is full.
  [[nodiscard]] magazine* exchange_for_full(magazine* empty, std::uint8_t c, std::size_t live_max) {
    magazine* m = nullptr;
    {
      base::locked<M> guard(lock_);
      const std::size_t out = detail::peek(out_[c]);
      if (!fits(out, live_max)) return nullptr;
      m = depot_.take_full(c);
      const bool is_new = m == nullptr;
      if (is_new) {
        depot_.expect_one_more();
        m = slabs_.carve(c);
        const record* const first = m->slot[magazine::capacity - 1];
        M::fresh(first, magazine::capacity * detail::record_bytes[c] + sizeof *m);
      }
      if (empty != nullptr) depot_.put_empty(empty);
      detail::poke(out_[c], out + base::pool_batch_records);
      if (is_new) return m;
    }
    M::touch(m, sizeof *m, false);
    return m;
  }

  // w's magazine is full, or it has none. Returns whether one went to the depot.
  [[gnu::noinline]] bool make_room(worker& w, std::uint8_t c) noexcept {
    const bool gives = w.free[c] != nullptr && w.rest_is_full[c];
    if (gives) M::touch(w.rest[c], sizeof(magazine), true);  // filled in here, so it comes to its next holder from here
    magazine* empty = gives ? nullptr : std::exchange(w.rest[c], nullptr);
    if (empty == nullptr) {
      base::locked<M> guard(lock_);
      if (gives) {
        depot_.put_full(c, w.rest[c]);
        WEFT_ASSERT(detail::peek(out_[c]) >= base::pool_batch_records);
        detail::poke(out_[c], detail::peek(out_[c]) - base::pool_batch_records);
      }
      empty = depot_.take_empty();
    }
    w.rest[c] = w.free[c];
    w.rest_is_full[c] = w.rest[c] != nullptr;
    w.free[c] = empty;
    w.free_count[c] = 0;
    return gives;
  }

  detail::cell<std::size_t> in_magazines_;  // records that may rest with workers, of each class; written under lock_
  detail::cell<std::uint8_t> lock_;
  detail::cell<std::size_t> out_[detail::record_classes] = {};  // records not in the depot; written under lock_
  depot depot_;
  slabs slabs_;
};

}  // namespace weft::task
