// The work-stealing deque: a private part that only its owner touches, without fences, and a shared part that thieves
// and owner change by compare-exchange on one word. Protocol, races and proof sketch: deque.md.
//
//   index:   top ........ split ........ bottom
//            | shared      | private     |
//   thieves take at top    owner pushes and takes at bottom
//
// Everything about the shared part is in the word (top, split). The owner moves tasks between the parts in halves: it
// shares only when the shared part has run empty (worker::starved), so a busy owner pays one load per push and pop.
#pragma once
#include <cstdint>
#include <new>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "weft/detail/worker.hpp"

namespace weft::sched {

using detail::record;
using detail::ring;

struct shared_part {
  std::uint32_t top;
  std::uint32_t split;

  [[nodiscard]] static shared_part of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
  [[nodiscard]] std::uint64_t word() const noexcept { return std::uint64_t{top} << 32 | split; }
  [[nodiscard]] std::uint32_t size() const noexcept { return split - top; }
};

enum class steal_result : std::uint8_t { taken, empty, lost };

// The operations over one worker's deque. Stateless; the state is in detail::worker.
template <class M> class deque {
 public:
  // Who: the owner, once, before any thief exists. `thieves`: whether anyone else may ever steal here. `slots`: to
  // begin with, a power of two.
  static void open(detail::worker& w, bool thieves, std::uint32_t slots = base::deque_capacity_first) {
    use(w, make_ring(slots, nullptr));
    w.deque.bottom = w.deque.split = 0;
    w.deque.limit = slots;
    M::store(w.shared, std::uint64_t{0}, base::release);
    M::store(w.starved, static_cast<std::uint8_t>(thieves ? 1 : 0), base::release);
  }

  // Who: the owner, when no thief is left.
  static void close(detail::worker& w) noexcept {
    for (ring* r = M::load(w.shared_ring, base::relaxed); r != nullptr;) {
      ring* outgrown = r->outgrown;
      ::operator delete(r, std::align_val_t{64});
      r = outgrown;
    }
  }

  // Makes r the newest task. Who: the owner. Errors: std::bad_alloc when it must grow and cannot.
  [[gnu::always_inline]] static void push(detail::worker& w, record* r) {
    detail::deque_owner& d = w.deque;
    if (d.bottom == d.limit) make_room(w);
    M::store(d.slots[d.bottom & d.mask], r, base::relaxed);  // published by share()'s exchange
    ++d.bottom;
  }

  // Takes the newest task. Who: the owner. Cost: two loads if the private part has one, else a compare-exchange, which
  // also takes back half of what is shared, or with `only_one` nothing more.
  [[nodiscard, gnu::always_inline]] static record* pop(detail::worker& w, bool only_one = false) noexcept {
    detail::deque_owner& d = w.deque;
    if (d.bottom == d.split) return reclaim(w, only_one);
    --d.bottom;
    return M::load(d.slots[d.bottom & d.mask], base::relaxed);
  }

  // Who: the owner.
  [[nodiscard]] static bool has_private(const detail::worker& w) noexcept { return w.deque.bottom != w.deque.split; }

  // Whether thieves found nothing here since the last share().
  [[nodiscard]] static bool starved(detail::worker& w) noexcept { return M::load(w.starved, base::relaxed) != 0; }

  // Gives thieves the older half of the private part if the shared part is empty. Who: the owner, when starved().
  // Gives whether tasks were shared; the caller then sees to it that somebody is awake.
  // Order: seq_cst exchange, so that the caller's later look at the sleepers is ordered after it (sleep.md).
  static bool share(detail::worker& w) noexcept {
    detail::deque_owner& d = w.deque;
    const std::uint32_t n = d.bottom - d.split;
    if (n == 0) return false;
    // Cleared before the word is read: a thief that empties the shared part after that read sets it again.
    static_cast<void>(M::exchange(w.starved, std::uint8_t{0}, base::acq_rel));
    const shared_part s = shared_part::of(M::load(w.shared, base::acquire));
    WEFT_ASSERT(s.split == d.split);
    if (s.size() != 0) return false;  // a late flag: there is something to steal
    d.split += (n + 1) / 2;
    // Nobody else changes the word of an empty shared part.
    static_cast<void>(M::exchange(w.shared, shared_part{s.top, d.split}.word(), base::seq_cst));
    return true;
  }

  // Puts all private tasks within reach of thieves, whether they starve or not. For owners whose bodies are long: what
  // is private stays so for all of the next one. Who: the owner. Order and result as share().
  static bool expose(detail::worker& w) noexcept {
    detail::deque_owner& d = w.deque;
    if (d.bottom == d.split) return false;
    static_cast<void>(M::exchange(w.starved, std::uint8_t{0}, base::acq_rel));
    std::uint64_t word = M::load(w.shared, base::acquire);
    while (
        !M::compare_exchange(w.shared, word, shared_part{shared_part::of(word).top, d.bottom}.word(), base::seq_cst)) {
    }
    d.split = d.bottom;
    return true;
  }

  // Takes the oldest shared task. Who: any thief. Order: acquire on success, pairs with share(). Cost: two loads, one
  // compare-exchange. Errors: empty; lost to another thief or the owner (retrying is fair).
  static steal_result steal(detail::worker& victim, record*& out) noexcept {
    std::uint64_t word = M::load(victim.shared, base::seq_cst);
    const shared_part s = shared_part::of(word);
    if (s.size() == 0) return steal_result::empty;
    ring* r = M::load(victim.shared_ring, base::acquire);
    // May be stale, but then top has moved and the exchange fails: while top stands, its slot does not change.
    record* found = M::load(r->slots()[s.top & r->mask], base::relaxed);
    if (!M::compare_exchange(victim.shared, word, shared_part{s.top + 1, s.split}.word(), base::acq_rel))
      return steal_result::lost;
    if (s.size() == 1) M::store(victim.starved, std::uint8_t{1}, base::release);  // pairs with share()'s exchange
    out = found;
    return steal_result::taken;
  }

  // Whether a thief would find something. Order: seq_cst, for the last look before sleeping (sleep.md).
  [[nodiscard]] static bool stealable(detail::worker& victim) noexcept {
    return shared_part::of(M::load(victim.shared, base::seq_cst)).size() != 0;
  }

 private:
  // The private part is empty: takes back the newer half of the shared part, but never the task at top, whose slot must
  // keep its content while top stands; if that is the only one, takes it as a thief does.
  [[nodiscard, gnu::noinline]] static record* reclaim(detail::worker& w, bool only_one) noexcept {
    detail::deque_owner& d = w.deque;
    std::uint64_t word = M::load(w.shared, base::acquire);
    for (;;) {
      const shared_part s = shared_part::of(word);
      if (s.size() == 0) return nullptr;
      if (s.size() == 1) {
        record* last = M::load(d.slots[s.top & d.mask], base::relaxed);
        if (!M::compare_exchange(w.shared, word, shared_part{s.top + 1, s.split}.word(), base::acq_rel)) continue;
        M::store(w.starved, std::uint8_t{1}, base::release);
        return last;
      }
      const std::uint32_t split = s.split - (only_one ? 1 : s.size() / 2);
      if (!M::compare_exchange(w.shared, word, shared_part{s.top, split}.word(), base::acq_rel)) continue;
      d.split = split;
      --d.bottom;
      return M::load(d.slots[d.bottom & d.mask], base::relaxed);
    }
  }

  // bottom has met the limit: learns how far thieves have come, and doubles the ring if that is not enough.
  [[gnu::noinline]] static void make_room(detail::worker& w) {
    detail::deque_owner& d = w.deque;
    const std::uint32_t capacity = d.mask + 1;
    const std::uint32_t top = shared_part::of(M::load(w.shared, base::acquire)).top;
    if (d.bottom - top == capacity) {
      WEFT_ASSERT(capacity < base::deque_capacity_max);
      ring* bigger = make_ring(2 * capacity, M::load(w.shared_ring, base::relaxed));
      for (std::uint32_t i = top; i != d.bottom; ++i)
        M::store(bigger->slots()[i & bigger->mask], M::load(d.slots[i & d.mask], base::relaxed), base::relaxed);
      use(w, bigger);
    }
    d.limit = top + d.mask + 1;
  }

  [[nodiscard]] static ring* make_ring(std::uint32_t capacity, ring* outgrown) {
    void* memory = ::operator new(sizeof(ring) + capacity * sizeof(detail::cell<record*>), std::align_val_t{64});
    M::fresh(memory, sizeof(ring) + capacity * sizeof(detail::cell<record*>));
    ring* r = new (memory) ring{outgrown, capacity - 1};
    for (std::uint32_t i = 0; i < capacity; ++i) new (r->slots() + i) detail::cell<record*>;
    return r;
  }

  static void use(detail::worker& w, ring* r) noexcept {
    w.deque.slots = r->slots();
    w.deque.mask = r->mask;
    M::store(w.shared_ring, r, base::release);  // publishes the copied slots; pairs with steal()
  }
};

}  // namespace weft::sched
