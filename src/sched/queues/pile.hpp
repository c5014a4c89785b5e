// What waits at a memory node for workers that share one queue, as in Qthreads (Olivier et al.): they put on top and
// take from there, the newest first; who comes from another node takes from the other end, the oldest, and several at
// once. Two lists, one from each end, so that a record needs one link. Where the list that is asked is empty it gets
// half of the other, turned round. So each record is turned less than twice, as a mean over all. A spin lock over both:
// its contention is what a queue for several workers costs.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

template <class M> class pile {
 public:
  // Order: seq_cst on `waiting_`, as in an inbox: the caller's look at the sleepers comes after it (sleep.md).
  void push(detail::record* r) noexcept {
    base::locked<M> guard(lock_);
    put(top_, r);
    static_cast<void>(M::fetch_add(waiting_, std::uint32_t{1}, base::seq_cst));
  }
  // The newest, or nullptr. Order of what lowers the count, here and below: relaxed; nobody relies on being told of
  // what is taken. Cost: one load while empty.
  [[nodiscard]] detail::record* pop() noexcept {
    if (empty()) return nullptr;
    base::locked<M> guard(lock_);
    detail::record* const r = take(top_, bottom_);
    if (r != nullptr) static_cast<void>(M::fetch_sub(waiting_, std::uint32_t{1}, base::relaxed));
    return r;
  }
  // The oldest, at most `most` and at most half, but one at least if there is any. Returns them linked by `next`, the
  // oldest first. Cost: one load while empty.
  [[nodiscard]] detail::record* take_oldest(std::uint32_t most) noexcept {
    WEFT_ASSERT(most != 0);
    if (empty()) return nullptr;
    base::locked<M> guard(lock_);
    const std::uint32_t here = top_.size + bottom_.size;
    const std::uint32_t count = here / 2 < most ? (here + 1) / 2 : most;
    detail::record* first = nullptr;
    detail::record** end = &first;
    for (std::uint32_t i = 0; i < count; ++i) {
      *end = take(bottom_, top_);
      end = &(*end)->waiting.next;
    }
    *end = nullptr;
    if (count != 0) static_cast<void>(M::fetch_sub(waiting_, count, base::relaxed));
    return first;
  }

  [[nodiscard]] bool empty() noexcept { return size() == 0; }
  [[nodiscard]] std::uint32_t size() noexcept { return M::load(waiting_, base::seq_cst); }

 private:
  struct list {
    detail::record* first = nullptr;
    std::uint32_t size = 0;
  };

  static void put(list& to, detail::record* r) noexcept {
    r->waiting.next = to.first;
    to.first = r;
    ++to.size;
  }
  // The first of `from`, which gets its half of `other` before, if it is empty: the half at the end of that, turned
  // round.
  [[nodiscard]] static detail::record* take(list& from, list& other) noexcept {
    if (from.size == 0 && other.size != 0) {
      const std::uint32_t stay = other.size / 2;
      detail::record* r = other.first;
      detail::record* last_to_stay = nullptr;
      for (std::uint32_t i = 0; i < stay; ++i) {
        last_to_stay = r;
        r = r->waiting.next;
      }
      (last_to_stay != nullptr ? last_to_stay->waiting.next : other.first) = nullptr;
      other.size = stay;
      while (r != nullptr) {
        detail::record* const next = r->waiting.next;
        put(from, r);
        r = next;
      }
    }
    detail::record* const r = from.first;
    if (r == nullptr) return nullptr;
    from.first = r->waiting.next;
    WEFT_ASSERT(from.size != 0);
    --from.size;
    return r;
  }

  alignas(64) detail::cell<std::uint8_t> lock_;
  detail::cell<std::uint32_t> waiting_;
  list top_;     // the newest first
  list bottom_;  // the oldest first; all of it is older
};

}  // namespace weft::sched
