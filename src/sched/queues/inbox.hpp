// A queue that any worker or thread may put a record in and whose readers take the oldest: the way to reach one worker
// (a pinned record, a waiting main thread) or all of them (tasks from outside threads, the central policy). Not on the
// path of ordinary tasks, so a spin lock over a list is enough, and its contention is what the machine says.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

// count_alignment: 64 where the count is on another line than the lock, so that who looks whether there is something
// does not take the lock's line from who holds it.
template <class M, std::size_t count_alignment = alignof(std::uint32_t)> class inbox {
 public:
  // Order: seq_cst on `waiting_`, so that the caller's later look at the sleepers is ordered after it (sleep.md).
  void push(detail::record* r) noexcept {
    base::locked<M> guard(lock_);
    push_held(r);
  }

  // The same if fewer than `most` wait; else returns false. Cost: one load where it is full, and no lock.
  [[nodiscard]] bool push_if_room(detail::record* r, std::uint32_t most) noexcept {
    if (size() >= most) return false;
    base::locked<M> guard(lock_);
    if (detail::peek(waiting_) >= most) return false;
    push_held(r);
    return true;
  }

  // For who puts something into several at once: takes the lock, several in a fixed order; push_held(); gives it back.
  void hold() noexcept { base::acquire_lock<M>(lock_); }
  void release() noexcept { base::release_lock<M>(lock_); }
  void push_held(detail::record* r) noexcept {
    WEFT_ASSERT(base::held(lock_));
    r->waiting.next = nullptr;
    WEFT_ASSERT((head_ == nullptr) == (detail::peek(waiting_) == 0));
    (head_ == nullptr ? head_ : tail_->waiting.next) = r;
    tail_ = r;
    static_cast<void>(M::fetch_add(waiting_, std::uint32_t{1}, base::seq_cst));
  }

  // n records linked by waiting.next, from `first` to `last`, oldest first.
  void push_all(detail::record* first, detail::record* last, std::uint32_t n) noexcept {
    WEFT_ASSERT(n != 0 && first != nullptr && last != nullptr);
    last->waiting.next = nullptr;
    base::locked<M> guard(lock_);
    WEFT_ASSERT((head_ == nullptr) == (detail::peek(waiting_) == 0));
    (head_ == nullptr ? head_ : tail_->waiting.next) = first;
    tail_ = last;
    static_cast<void>(M::fetch_add(waiting_, n, base::seq_cst));
  }

  // The oldest record, or nullptr. Order of what lowers the count, here and below: release, for none(). Nobody relies
  // on being told of what is taken. Cost: one load while empty.
  [[nodiscard]] detail::record* pop() noexcept {
    if (empty()) return nullptr;
    base::locked<M> guard(lock_);
    detail::record* r = head_;
    if (r == nullptr) return nullptr;
    WEFT_ASSERT(detail::peek(waiting_) != 0 && (r->waiting.next != nullptr || r == tail_));
    head_ = r->waiting.next;
    static_cast<void>(M::fetch_sub(waiting_, std::uint32_t{1}, base::release));
    return r;
  }

  // The oldest, at most `most` and at most half, but one at least if there is any. Returns them linked by
  // waiting.next, the oldest first. Cost: one load while empty.
  [[nodiscard]] detail::record* pop_some(std::uint32_t most) noexcept {
    WEFT_ASSERT(most != 0);
    if (empty()) return nullptr;
    base::locked<M> guard(lock_);
    const std::uint32_t here = detail::peek(waiting_);
    if (here == 0) return nullptr;
    const std::uint32_t n = here / 2 < most ? (here + 1) / 2 : most;
    detail::record* const first = head_;
    detail::record* last = first;
    for (std::uint32_t i = 1; i < n; ++i) last = last->waiting.next;
    head_ = last->waiting.next;
    WEFT_ASSERT((head_ == nullptr) == (here == n));
    last->waiting.next = nullptr;
    static_cast<void>(M::fetch_sub(waiting_, n, base::release));
    return first;
  }

  // As empty(), for whoever is no worker of this machine: takes no modelled time. Order: acquire; what was done before
  // the last was taken comes before.
  [[nodiscard]] bool none() noexcept { return base::shared(waiting_).load(base::acquire) == 0; }
  [[nodiscard]] bool empty() noexcept { return size() == 0; }
  [[nodiscard]] std::uint32_t size() noexcept { return M::load(waiting_, base::seq_cst); }

 private:
  alignas(64) detail::cell<std::uint8_t> lock_;
  alignas(count_alignment) detail::cell<std::uint32_t> waiting_;
  detail::record* head_ = nullptr;
  detail::record* tail_ = nullptr;
};

}  // namespace weft::sched
