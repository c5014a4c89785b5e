// What a worker must notice before it takes its next task: that urgent tasks stand in their queue, and that the runtime
// is paused. One word, so that a worker pays one load per task while there is neither. And what concerns only bodies
// and the inline path, which calls children unseen: that scopes are cancelled (cancellation.hpp). Invariant: the number
// in the word is at least that of the tasks in the urgent queue, because it grows before a push and shrinks after a
// pop. So an urgent task is never overlooked by who reads 0.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/lock.hpp"

namespace weft::sched {

template <class M> class attention {
 public:
  // Whether there is anything to notice. Order: relaxed; whoever is about to sleep asks again, with paused() and the
  // queue itself. Cost: one load.
  [[nodiscard]] bool called() noexcept { return (M::load(word_, base::relaxed) & ~cancelled_bit) != 0; }
  // The same for a search, whose look must not be older than what it was woken for. Order: seq_cst.
  [[nodiscard]] bool called_now() noexcept { return (M::load(word_, base::seq_cst) & ~cancelled_bit) != 0; }
  // Order: seq_cst, for the last look before falling asleep: pairs with start().
  [[nodiscard]] bool paused() noexcept { return (M::load(word_, base::seq_cst) & paused_bit) != 0; }

  // Order: relaxed; whoever takes what is submitted after this has it from who submits it.
  void pause() noexcept { static_cast<void>(M::fetch_or(word_, paused_bit, base::relaxed)); }
  // The caller wakes who sleeps.
  void start() noexcept { static_cast<void>(M::fetch_and(word_, ~paused_bit, base::seq_cst)); }

  // Who: before it pushes an urgent task; after it has popped one. Order of the latter: relaxed; behind the former by
  // the queue's lock, and nobody relies on being told of less.
  void add_urgent() noexcept { static_cast<void>(M::fetch_add(word_, 1u, base::seq_cst)); }
  void remove_urgent() noexcept {
    const std::uint32_t before = M::fetch_sub(word_, 1u, base::relaxed);
    WEFT_ASSERT((before & ~(paused_bit | cancelled_bit)) != 0);
  }

  // One scope more, or less, is cancelled. changes(): where that is the first, or the last; no other such call is under
  // way then. Who: any thread, one for each scope at a time. On a modelled machine it takes no time: no core of it need
  // be the caller.
  template <class Changes> void add_cancelled(Changes changes) noexcept {
    const typename M::section guard(lock_);
    if (cancelled_++ != 0) return;
    static_cast<void>(M::unseen::fetch_or(word_, cancelled_bit, base::release));
    changes();
  }
  template <class Changes> void remove_cancelled(Changes changes) noexcept {
    const typename M::section guard(lock_);
    WEFT_ASSERT(cancelled_ != 0);
    if (--cancelled_ != 0) return;
    static_cast<void>(M::unseen::fetch_and(word_, ~cancelled_bit, base::relaxed));
    changes();
  }

  // For the inline path, and for bodies that ask whether they are cancelled: 0, and nothing is.
  [[nodiscard]] const detail::cell<std::uint32_t>& word() const noexcept { return word_; }

 private:
  static constexpr std::uint32_t paused_bit = std::uint32_t{1} << 31;
  static constexpr std::uint32_t cancelled_bit = std::uint32_t{1} << 30;
  alignas(64) detail::cell<std::uint32_t> word_;
  alignas(64) detail::cell<std::uint8_t> lock_;
  std::uint32_t cancelled_ = 0;  // scopes
};

}  // namespace weft::sched
