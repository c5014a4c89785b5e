// What a worker must notice before it takes its next task: that urgent tasks stand in their queue, and that the runtime
// is paused. One word, so that a worker pays one load per task while there is neither.
// Invariant: the number in the word is at least that of the tasks in the urgent queue, because it grows before a push
// and shrinks after a pop. So an urgent task is never overlooked by who reads 0.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft::sched {

template <class M> class attention {
 public:
  // Whether there is anything to notice. Order: relaxed; whoever is about to sleep asks again, with paused() and the
  // queue itself. Cost: one load.
  [[nodiscard]] bool called() noexcept { return M::load(word_, base::relaxed) != 0; }
  // The same for a search, whose look must not be older than what it was woken for. Order: seq_cst.
  [[nodiscard]] bool called_now() noexcept { return M::load(word_, base::seq_cst) != 0; }
  // Order: seq_cst, so that a worker that took what was submitted after pause() sees the pause.
  [[nodiscard]] bool paused() noexcept { return (M::load(word_, base::seq_cst) & paused_bit) != 0; }

  void pause() noexcept { static_cast<void>(M::fetch_or(word_, paused_bit, base::seq_cst)); }
  // The caller wakes who sleeps.
  void start() noexcept { static_cast<void>(M::fetch_and(word_, ~paused_bit, base::seq_cst)); }

  // Who: before it pushes an urgent task; after it has popped one.
  void add_urgent() noexcept { static_cast<void>(M::fetch_add(word_, 1u, base::seq_cst)); }
  void remove_urgent() noexcept {
    const std::uint32_t before = M::fetch_sub(word_, 1u, base::seq_cst);
    WEFT_ASSERT((before & ~paused_bit) != 0);
  }

  // For called() by the inline path.
  [[nodiscard]] const detail::cell<std::uint32_t>& word() const noexcept { return word_; }

 private:
  static constexpr std::uint32_t paused_bit = std::uint32_t{1} << 31;
  alignas(64) detail::cell<std::uint32_t> word_;
};

}  // namespace weft::sched
