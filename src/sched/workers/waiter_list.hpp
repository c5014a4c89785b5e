// Waiters in the order in which they came, linked by one of their own links: a wait that begins needs no memory, which
// could fail when what it waits for uses the frame of who waits. Who: holder of whatever lock guards the list.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <waiter* waiter::*Next> class waiter_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] waiter* first() const noexcept { return first_; }
  [[nodiscard]] static waiter* after(const waiter& x) noexcept { return x.*Next; }

  void push(waiter& x) noexcept {
    WEFT_ASSERT(x.*Next == nullptr && last_ != &x);
    (first_ == nullptr ? first_ : last_->*Next) = &x;
    last_ = &x;
    ++size_;
  }
  // The oldest, which is no longer looked at; nullptr: none is left.
  [[nodiscard]] waiter* pop() noexcept {
    waiter* const x = first_;
    if (x != nullptr) unlink(nullptr, *x);
    return x;
  }
  // Returns whether x was listed.
  bool erase(waiter& x) noexcept {
    waiter* before = nullptr;
    for (waiter* at = first_; at != nullptr; before = at, at = at->*Next) {
      if (at != &x) continue;
      unlink(before, x);
      return true;
    }
    return false;
  }

 private:
  void unlink(waiter* before, waiter& x) noexcept {
    (before == nullptr ? first_ : before->*Next) = x.*Next;
    if (last_ == &x) last_ = before;
    x.*Next = nullptr;
    --size_;
  }

  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace weft::sched
