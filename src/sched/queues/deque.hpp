// The work-stealing deque: a private part that only its owner touches, without fences, and a shared part that thieves
// and owner change by read-modify-writes of one word. Protocol, races and proof sketch: deque.md.
//
//   index:   top ........ split ........ bottom
//            | shared      | private     |
//   thieves take at top    owner pushes and takes at bottom
//
// Everything about the shared part is in the word (top, size). The owner moves tasks between the parts in halves: it
// shares only when the shared part has run empty (worker::starved), so a busy owner pays one load per push and pop.
// A thief takes several tasks by one exchange. The word never has a value twice: what would bring back an earlier one,
// the owner's taking back, goes once round the ring instead, which changes top and no task's slot.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "base/prefetch.hpp"
#include "sched/queues/kept.hpp"
#include "sched/queues/shared_part.hpp"
#include "sched/queues/theft.hpp"
#include "weft/detail/worker.hpp"

namespace weft::sched {

using detail::ring;

// The operations over one worker's deque; those of thieves: theft.hpp. Stateless; the state is in detail::worker.
template <class M> class deque : public theft<M> {
 public:
  // Who: the owner, once, before any thief exists. `thieves`: whether anyone else may ever steal here. `overflow`: has
  // what does not fit; nullptr: the caller sees to it that all fits.
  static void open(detail::worker& w, bool thieves, deque_size size = {}, detail::deque_overflow* overflow = nullptr) {
    WEFT_ASSERT(std::has_single_bit(size.first) && std::has_single_bit(size.most) && size.first <= size.most);
    WEFT_ASSERT(size.most >= 2 && size.most <= base::deque_capacity_max);
    const std::uint32_t slots = size.first;
    w.slots_max = size.most;
    w.overflow = overflow;
    ring* const first = make_ring(slots, nullptr);
    if (first == nullptr) throw std::bad_alloc();
    use(w, first);
    detail::poke(w.deque.bottom, 0u);
    detail::poke(w.deque.split, 0u);
    w.deque.limit = slots;
    M::store(w.shared, std::uint64_t{0}, base::relaxed);
    if (thieves) theft<M>::starve(w);
  }

  // Who: the owner, when no thief is left.
  static void close(detail::worker& w) noexcept {
    for (ring* r = detail::peek(w.shared_ring); r != nullptr;) {
      ring* outgrown = r->outgrown;
      ::operator delete(r, std::align_val_t{64});
      r = outgrown;
    }
  }

  // Makes r the newest task. Who: the owner.
  [[gnu::always_inline]] static void push(detail::worker& w, record* r) {
    offer_kept(w);
    push_in_loop(w, r);
  }
  // The same for an owner that is in no body.
  [[gnu::always_inline]] static void push_in_loop(detail::worker& w, record* r) {
    WEFT_DEBUG_ASSERT(!kept<M>::any(w));
    detail::deque_owner& d = w.deque;
    const std::uint32_t at = detail::peek(d.bottom);
    if (at == d.limit) make_room(w);
    M::store(d.slots[at & d.mask], r, base::relaxed);
    detail::poke_release(d.bottom, at + 1);  // publishes the slot; pairs with pull(), as give()'s addition does
    then();
  }

  // Takes the newest task. Who: the owner. Cost: two loads if the private part has one, else a compare-exchange, which
  // also takes back half of what is shared, or with `only_one` nothing more.
  [[nodiscard, gnu::always_inline]] static record* pop(detail::worker& w, bool only_one = false) noexcept {
    WEFT_DEBUG_ASSERT(!kept<M>::any(w));
    detail::deque_owner& d = w.deque;
    const std::uint32_t end = detail::peek(d.bottom);
    if (!reaches_beyond(end, d.split)) return reclaim(w, only_one);
    then();
    detail::poke(d.bottom, end - 1);
    then();
    if (!reaches_beyond(end, d.split)) [[unlikely]]
      return contested(w, only_one);
    // A record has left the nearest cache since it was written, or comes from another core's. The second after this one
    // can be on its way meanwhile; a slot that is no task's any more names none that it would be wrong to ask for.
    base::will_read(detail::peek(d.slots[(end - 3) & d.mask]));
    return M::load(d.slots[(end - 1) & d.mask], base::relaxed);
  }

  // The branches that w keeps become its newest tasks; the body they are of is w.current. Who: the owner, before it
  // does anything else with its deque.
  [[gnu::always_inline]] static void offer_kept(detail::worker& w) {
    if (kept<M>::any(w)) [[unlikely]]
      offer_kept(w, [](std::uint32_t n) { return n; });
  }
  // The same for the older half of them, as a thief starves.
  static void offer_half(detail::worker& w) noexcept {
    if (kept<M>::any(w)) offer_kept(w, [](std::uint32_t n) { return (n + 1) / 2; });
  }
  // Whether b is the newest that w keeps, also after thieves have looked; then it is the caller's, and has what a
  // branch in a deque has. Who: the owner.
  [[nodiscard]] static bool take_kept(detail::worker& w, detail::branch& b) noexcept {
    const at_end here(w);
    if (kept<M>::mend(w) != &b) return false;
    detail::poke(w.kept, detail::peek(b.older));
    make_ready(b, w.current);
    return true;
  }

  // Who: the owner; for others a guess.
  [[nodiscard]] static bool has_private(const detail::worker& w) noexcept {
    return reaches_beyond(detail::peek(w.deque.bottom), w.deque.split);
  }

  // How many tasks w has. Who: the owner.
  [[nodiscard]] static std::uint32_t size(detail::worker& w) noexcept {
    const std::uint32_t shared = shared_part::of(M::load(w.shared, base::relaxed)).size;
    return detail::peek(w.deque.bottom) - detail::peek(w.deque.split) + shared;
  }

  // Whether thieves found nothing here since the last share().
  [[nodiscard]] static bool starved(detail::worker& w) noexcept { return M::load(w.starved, base::relaxed) != 0; }

  // Gives thieves the older half of the private part. Who: the owner, when starved().
  // Returns whether tasks were shared; the caller then sees to it that somebody is awake.
  // Order: seq_cst addition, so that the caller's later look at the sleepers is ordered after it (sleep.md).
  static bool share(detail::worker& w) noexcept {
    return give(w, [](std::uint32_t n) { return (n + 1) / 2; });
  }

  // Puts all private tasks within reach of thieves, whether they starve or not. For owners whose bodies are long: what
  // is private stays so for all of the next one. Who: the owner. Order and result as share().
  static bool expose(detail::worker& w) noexcept {
    return give(w, [](std::uint32_t n) { return n; });
  }

  // How many tasks the owner may push that cannot fail. Who: the owner.
  [[nodiscard]] static std::uint32_t room(detail::worker& w) noexcept {
    detail::deque_owner& d = w.deque;
    const std::uint32_t bottom = detail::peek(d.bottom);
    if (d.limit - bottom < base::steal_max) {
      const at_end here(w);
      d.limit = top_of(w) + d.mask + 1;
    }
    return d.limit - bottom;
  }

  // The steps of an owner at its end, or of a thief in its place (pull.hpp).
  // Whether there is something between split and `end`. A thief that pulls may have split beyond bottom for a moment.
  [[nodiscard]] static bool reaches_beyond(std::uint32_t end, const detail::cell<std::uint32_t>& split) noexcept {
    return static_cast<std::int32_t>(end - detail::peek(split)) > 0;
  }
  // Before the addition: a thief that empties the shared part after it has seen this store and sets the flag again.
  static void publish(detail::worker& w, std::uint32_t split, std::uint32_t n) noexcept {
    M::unseen::store(w.asked, std::uint8_t{0}, base::relaxed);
    M::store(w.starved, std::uint8_t{0}, base::relaxed);
    const shared_part s = shared_part::of(M::fetch_add(w.shared, std::uint64_t{n}, base::seq_cst));
    WEFT_ASSERT(static_cast<std::uint32_t>(s.top) + s.size == split && s.size + n <= shared_part::size_max);
  }
  // The m oldest of the n kept from `newest` on come into w's deque, which has room. Who: the owner at its end, or a
  // thief in its place.
  static void put_kept(detail::worker& w, detail::branch* newest, std::uint32_t n, std::uint32_t m) noexcept {
    detail::deque_owner& d = w.deque;
    const std::uint32_t begin = detail::peek(d.bottom);
    kept<M>::take_oldest(newest, n, m, w.current, [&](std::uint32_t i, detail::branch* b) {
      M::store(d.slots[(begin + i) & d.mask], static_cast<record*>(b), base::relaxed);
    });
    detail::poke_release(d.bottom, begin + m);
  }

 private:
  // Between two steps of the owner: see detail::then(). A machine that tries orders of steps does so there.
  static void then() noexcept {
    detail::then();
    M::between_steps();
  }

  // The owner at its end, for more than to move bottom: no thief pulls meanwhile, and if one does it waits. The flags
  // are no events of a modelled machine: what one core does between two of those no other sees half done.
  class at_end {
   public:
    explicit at_end(detail::worker& w) noexcept : worker_(w) {
      WEFT_ASSERT(detail::peek(w.inside) == 0);
      detail::poke(w.inside, std::uint8_t{1});
      then();
      for (unsigned spins = 0; detail::peek_acquire(w.pulled) != 0;) M::relax(++spins);
    }
    ~at_end() {
      detail::poke_release(worker_.inside, std::uint8_t{0});
      then();
    }
    at_end(const at_end&) = delete;
    at_end& operator=(const at_end&) = delete;

   private:
    detail::worker& worker_;
  };

  // The owner's index of the oldest task. Who: the owner at its end.
  [[nodiscard]] static std::uint32_t top_of(detail::worker& w) noexcept {
    return detail::peek(w.deque.split) - shared_part::of(M::load(w.shared, base::acquire)).size;
  }

  // Shares the how_many(n) oldest of n private tasks.
  template <class HowMany> static bool give(detail::worker& w, HowMany how_many) noexcept {
    const at_end here(w);
    detail::deque_owner& d = w.deque;
    const std::uint32_t split = detail::peek(d.split);
    const std::uint32_t n = how_many(detail::peek(d.bottom) - split);
    if (n == 0) return false;
    publish(w, split, n);
    detail::poke(d.split, split + n);
    return true;
  }
  // The owner has taken the newest task from under a thief that pulls, and puts it back: whoever of the two gives in,
  // it is seen when the thief is done.
  [[nodiscard, gnu::noinline]] static record* contested(detail::worker& w, bool only_one) noexcept {
    detail::poke(w.deque.bottom, detail::peek(w.deque.bottom) + 1);
    return reclaim(w, only_one);
  }

  // The private part is empty: takes back the newer half of the shared part. So that no thief that has read slots
  // before takes the word for the same when those tasks are shared anew, or others in their slots, all indices go up by
  // the ring's size. The task at top stays: if it is the only one, it is taken as a thief does.
  [[nodiscard, gnu::noinline]] static record* reclaim(detail::worker& w, bool only_one) noexcept {
    const at_end here(w);
    detail::deque_owner& d = w.deque;
    const std::uint32_t end = detail::peek(d.bottom);
    if (reaches_beyond(end, d.split)) {  // a thief had begun to pull, and has given in
      detail::poke(d.bottom, end - 1);
      return M::load(d.slots[(end - 1) & d.mask], base::relaxed);
    }
    const std::uint32_t lap = d.mask + 1;
    std::uint64_t word = M::load(w.shared, base::relaxed);  // as in overflow(): at_end has what is there
    for (;;) {
      const shared_part s = shared_part::of(word);
      if (s.size == 0) return nullptr;
      if (s.size == 1) {
        record* last = M::load(d.slots[s.top & d.mask], base::relaxed);
        if (!M::compare_exchange(w.shared, word, s.without_oldest(1).word(), base::relaxed)) continue;
        theft<M>::starve(w);
        return last;
      }
      const std::uint32_t back = only_one ? 1 : s.size / 2;
      if (!M::compare_exchange(w.shared, word, shared_part{s.top + lap, s.size - back}.word(), base::relaxed)) continue;
      detail::poke(d.split, end + lap - back);
      d.limit += lap;
      detail::poke(d.bottom, end + lap - 1);
      return M::load(d.slots[(end + lap - 1) & d.mask], base::relaxed);
    }
  }

  template <class HowMany> [[gnu::noinline]] static void offer_kept(detail::worker& w, HowMany how_many) {
    const at_end here(w);
    detail::branch* const newest = kept<M>::mend(w);
    const std::uint32_t n = kept<M>::size(newest);
    if (n == 0) return;
    const std::uint32_t m = detail::peek(w.hooked) != 0 ? n : how_many(n);  // a hooked worker keeps none
    for (std::uint32_t moved = 0; moved != m;) {
      if (w.deque.limit == detail::peek(w.deque.bottom)) enlarge(w);
      const std::uint32_t part = std::min(m - moved, w.deque.limit - detail::peek(w.deque.bottom));
      put_kept(w, newest, n - moved, part);
      moved += part;
    }
    if (m == n) detail::poke<detail::branch*>(w.kept, nullptr);
  }
  // bottom has met the limit.
  [[gnu::noinline]] static void make_room(detail::worker& w) noexcept {
    const at_end here(w);
    enlarge(w);
  }
  // Learns how far thieves have come; if that leaves no room doubles the ring, and where that may not grow or there is
  // no memory, gives the older half away. Who: the owner at its end.
  static void enlarge(detail::worker& w) noexcept {
    detail::deque_owner& d = w.deque;
    const std::uint32_t bottom = detail::peek(d.bottom);
    const std::uint32_t capacity = d.mask + 1;
    const std::uint32_t top = top_of(w);
    if (bottom - top == capacity) {
      ring* const bigger =
          capacity < w.slots_max ? make_ring(2 * capacity, M::load(w.shared_ring, base::relaxed)) : nullptr;
      if (bigger == nullptr) return overflow(w);
      for (std::uint32_t i = top; i != bottom; ++i)
        M::store(bigger->slots()[i & bigger->mask], M::load(d.slots[i & d.mask], base::relaxed), base::relaxed);
      use(w, bigger);
    }
    d.limit = top + d.mask + 1;
  }
  // The ring is full and stays as it is: the older half leaves it, by the step of a thief. Who: the owner at its end.
  static void overflow(detail::worker& w) noexcept {
    detail::deque_owner& d = w.deque;
    const std::uint32_t half = (d.mask + 1) / 2;
    std::uint64_t word = M::load(w.shared, base::relaxed);
    if (const std::uint32_t shared = shared_part::of(word).size; shared < half) {
      const std::uint32_t split = detail::peek(d.split);
      const std::uint32_t more = std::min(half - shared, detail::peek(d.bottom) - split);  // thieves may be at work
      publish(w, split, more);
      detail::poke(d.split, split + more);
      word = M::load(w.shared, base::relaxed);
    }
    shared_part s = shared_part::of(word);
    std::uint32_t n = std::min(s.size, half);
    while (n != 0 && !M::compare_exchange(w.shared, word, s.without_oldest(n).word(), base::relaxed)) {
      s = shared_part::of(word);
      n = std::min(s.size, half);
    }
    d.limit = top_of(w) + d.mask + 1;
    if (n == 0) return;  // thieves have had all that was shared
    if (n == s.size) theft<M>::starve(w);
    const auto at = [&](std::uint32_t i) { return M::load(d.slots[(s.top + i) & d.mask], base::relaxed); };
    record* const oldest = at(0);
    record* newest = oldest;
    for (std::uint32_t i = 1; i < n; ++i) newest = newest->waiting.next = at(i);
    WEFT_ASSERT(w.overflow != nullptr);
    w.overflow->take_over(oldest, newest, n);
  }

  // nullptr: there is no memory.
  [[nodiscard]] static ring* make_ring(std::uint32_t capacity, ring* outgrown) noexcept {
    void* memory =
        ::operator new(sizeof(ring) + capacity * sizeof(detail::cell<record*>), std::align_val_t{64}, std::nothrow);
    if (memory == nullptr) return nullptr;
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
