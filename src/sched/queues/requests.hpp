// Tasks that were handed over to be created (creation.hpp) and are not yet. What the main thread submits outside of
// tasks goes through a ring that only it writes to: a pointer stored, an index published, no read-modify-write and no
// barrier. Everybody else's goes through an inbox. They come out one at a time, each behind all that was handed over
// before it in the sense of happens-before, whoever did so. Protocol: requests.md.
//
// A modelled machine has no ring: one inbox for all is what it has always been timed with.
#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "base/prefetch.hpp"
#include "sched/queues/inbox.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

template <class M, std::uint32_t Capacity = base::requests_max> class requests {
 public:
  static constexpr std::uint32_t capacity = Capacity;

  // Who: the thread that makes the runtime, before any request. No ring where the machine has no barrier on all
  // threads.
  void open() {
    WEFT_ASSERT(ring_ == nullptr && others_.none());
    if (M::offers_barrier()) ring_ = std::make_unique<ring>();
  }
  [[nodiscard]] bool has_ring() const noexcept { return ring_ != nullptr; }

  // --- handing over. Whoever looks for requests in vain and then relies on being told must look by any_for_sure().

  // The main thread's. Returns whether there was room; if not, r is still the caller's. Who: the thread that made the
  // runtime, outside of tasks. Order: release; what the caller reads after, it reads after only where a barrier comes.
  [[nodiscard, gnu::always_inline]] bool put(detail::record* r) noexcept {
    WEFT_DEBUG_ASSERT(has_ring() && r->state == detail::record_state::requested);
    ring& q = *ring_;
    const std::uint32_t tail = M::load(q.tail, base::relaxed);
    if (tail - q.head_seen == capacity) [[unlikely]] {
      q.head_seen = M::load(q.head, base::acquire);  // who reads a slot does so before it raises head
      if (tail - q.head_seen == capacity) return false;
    }
    if (tail % a_line == 0) base::will_write(&q.slots[(tail + 2 * a_line) % capacity]);
    M::store(q.slots[tail % capacity], r, base::relaxed);
    M::store(q.tail, tail + 1, base::release);  // publishes slot and record; pairs with pop()
    asm volatile("" : : : "memory");
    return true;
  }

  // Anybody else's. Order: seq_cst, as the inbox says.
  void push(detail::record* r) noexcept {
    if (has_ring()) r->request.behind = M::load(ring_->tail, base::relaxed);
    others_.push(r);
  }

  // --- creating. Who: one at a time, under a lock of the caller's.

  // The next to be created, or nullptr. Where it came from the ring, has_created() is due after that is done.
  [[nodiscard]] detail::record* pop() noexcept {
    if (!has_ring()) return others_.pop();
    ring& q = *ring_;
    WEFT_ASSERT(q.taken == detail::peek(q.head));
    for (;;) {
      detail::record* const held = detail::peek(q.held);
      detail::record* const other = held != nullptr ? held : others_.pop();
      const bool is_next = other != nullptr && static_cast<std::int32_t>(other->request.behind - q.taken) <= 0;
      if (is_next == (held != nullptr)) detail::poke(q.held, is_next ? nullptr : other);
      if (is_next) return other;
      if (detail::peek(q.tail_seen) != q.taken) break;
      if (look_at_tail(q) == q.taken) {
        WEFT_ASSERT(other == nullptr);  // its submitter saw more of the ring, so this thread does now
        return nullptr;
      }
      // Once more: who is before anything that was seen of the ring now is seen after that.
    }
    detail::record* r = M::load(q.slots[q.taken++ % capacity], base::relaxed);
    WEFT_ASSERT(r != nullptr && detail::peek(q.tail_seen) - q.taken < capacity);
    return r;
  }
  // What pop() returned is created. Returns whether it was the ring's.
  bool has_created() noexcept {
    if (!has_ring() || ring_->taken == detail::peek(ring_->head)) return false;
    M::store(ring_->head, ring_->taken, base::release);  // the slot is free; pairs with put() and is_created()
    return true;
  }

  // --- looking. Who: anybody.

  // Cost: one load while nobody but the main thread submits, and where the ring is known to have more, no line that the
  // main thread writes to.
  [[nodiscard]] bool empty() noexcept {
    if (!has_ring()) return others_.empty();
    const std::uint32_t head = M::load(ring_->head, base::acquire);
    if (M::load(ring_->tail_seen, base::relaxed) != head) return false;
    return others_.empty() && M::load(ring_->held, base::relaxed) == nullptr &&
           M::load(ring_->tail, base::acquire) == head;
  }
  // The same for who has said that it sleeps, or that it cannot be relied on, and will not look again: what is not seen
  // here, its submitter tells after having read that. Cost: a barrier on all threads, if there is nothing at first.
  [[nodiscard]] bool any_for_sure() noexcept {
    if (!empty()) return true;
    if (!has_ring()) return false;
    return !M::barrier_everywhere() || !empty();  // refused, though not at the beginning: rather look on than sleep
  }
  // Takes no modelled time.
  [[nodiscard]] bool none() noexcept { return others_.none() && (!has_ring() || empty()); }

  // So much is handed over by now.
  struct mark {
    std::uint32_t others;  // in the inbox, or taken from it and not created
    std::uint32_t tail;
  };
  [[nodiscard]] mark so_far() noexcept {
    const std::uint32_t others = others_.size();
    if (!has_ring()) return {others, 0};
    return {others + 1, M::load(ring_->tail, base::acquire)};  // one may be held
  }
  // Whether the ring's up to m are created.
  [[nodiscard]] bool is_created(const mark& m) noexcept {
    return !has_ring() || static_cast<std::int32_t>(M::load(ring_->head, base::acquire) - m.tail) >= 0;
  }
  // Grows, modulo 2^32, with each of the ring's that is created.
  [[nodiscard]] std::uint32_t created_of_ring() const noexcept { return has_ring() ? detail::peek(ring_->head) : 0; }

 private:
  struct ring {
    // The main thread's line.
    alignas(64) detail::cell<std::uint32_t> tail;  // so many were put in
    std::uint32_t head_seen = 0;                   // head was so far
    // The line of those who create.
    alignas(64) detail::cell<std::uint32_t> head;  // so many are created
    detail::cell<std::uint32_t> tail_seen;         // tail was so far; written by who creates
    detail::cell<detail::record*> held;            // taken from the inbox, behind some of the ring; written likewise
    std::uint32_t taken = 0;                       // head, or one more while that is being created
    alignas(64) std::array<detail::cell<detail::record*>, capacity> slots;
  };
  static constexpr std::uint32_t a_line = 64 / sizeof(detail::record*);
  static_assert((capacity & (capacity - 1)) == 0);

  // One look for all that has come meanwhile: each brings the main thread's line here.
  [[nodiscard]] static std::uint32_t look_at_tail(ring& q) noexcept {
    const std::uint32_t tail = M::load(q.tail, base::acquire);
    M::store(q.tail_seen, tail, base::relaxed);
    return tail;
  }

  inbox<M> others_;
  std::unique_ptr<ring> ring_;
};

}  // namespace weft::sched
