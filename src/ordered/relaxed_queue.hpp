// A priority queue for several that gives one of the earliest calls, not the earliest (a MultiQueue: Rihani, Sanders
// and Dementiev, SPAA 2015): two heaps for each worker. A call goes into a random one; who takes one looks at two
// random heaps and takes from the one whose first is earlier. So workers seldom meet.
//
// A heap's `first` is what a look may go by; it is changed under the heap's lock, and a look that is late costs a try.
// Order: relaxed, since the calls themselves are only seen under the lock.
// Who: any thread; `rng` is its own.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "base/lock.hpp"
#include "base/random.hpp"
#include "weft/detail/ordered.hpp"

namespace weft::ordered_run {

template <class M> class relaxed_queue {
 public:
  // With one worker one heap: its first is the earliest.
  explicit relaxed_queue(unsigned workers)
      : count_(workers == 1 ? 1 : 2 * workers), heaps_(std::make_unique<heap[]>(count_)) {
    M::fresh(heaps_.get(), count_ * sizeof(heap));
  }

  // Errors: std::bad_alloc, and then nothing has changed.
  void push(const detail::ordered_call& call, base::random& rng) {
    heap& h = heaps_[count_ == 1 ? 0 : rng.below(count_)];
    const base::locked<M> guard(h.lock);
    std::uint32_t slot;
    if (h.free.empty()) {
      make_room(h);
      slot = static_cast<std::uint32_t>(h.calls.size());
      h.calls.push_back(call);
    } else {
      slot = h.free.back();
      h.free.pop_back();
      h.calls[slot] = call;
    }
    h.entries.push_back({call.timestamp, h.pushed++, slot});
    std::push_heap(h.entries.begin(), h.entries.end());
    WEFT_ASSERT(h.entries.size() + h.free.size() == h.calls.size());  // each slot has one call, or none
    announce(h);
  }

  // Returns false if all were empty, one after the other.
  [[nodiscard]] bool take(detail::ordered_call& out, base::random& rng) {
    for (unsigned tries = 0; tries < 4; ++tries) {
      heap& a = heaps_[count_ == 1 ? 0 : rng.below(count_)];
      heap& b = heaps_[count_ == 1 ? 0 : rng.below(count_)];
      const std::uint64_t of_a = M::load(a.first, base::relaxed), of_b = M::load(b.first, base::relaxed);
      if (std::min(of_a, of_b) != nothing && take_from(of_b < of_a ? b : a, out)) return true;
    }
    const unsigned from = count_ == 1 ? 0 : rng.below(count_);
    for (unsigned i = 0; i < count_; ++i) {
      heap& h = heaps_[(from + i) % count_];
      if (M::load(h.first, base::relaxed) != nothing && take_from(h, out)) return true;
    }
    return false;
  }

  // Who: nobody else is here.
  [[nodiscard]] bool empty() const noexcept {
    for (unsigned i = 0; i < count_; ++i)
      if (!heaps_[i].entries.empty()) return false;
    return true;
  }
  // Who: nobody else is here.
  void clear() noexcept {
    for (unsigned i = 0; i < count_; ++i) {
      heap& h = heaps_[i];
      h.entries.clear();
      h.calls.clear();
      h.free.clear();
      detail::poke(h.first, nothing);
    }
  }

 private:
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};
  struct entry {
    std::uint64_t timestamp;
    std::uint64_t number;
    std::uint32_t slot;
    friend bool operator<(const entry& a, const entry& b) noexcept {
      return a.timestamp != b.timestamp ? a.timestamp > b.timestamp : a.number > b.number;
    }
  };
  struct alignas(64) heap {
    detail::cell<std::uint64_t> first{nothing};
    detail::cell<std::uint8_t> lock;
    std::uint64_t pushed = 0;
    std::vector<entry> entries;
    std::vector<detail::ordered_call> calls;
    std::vector<std::uint32_t> free;
  };

  // For one more call, in all three: so a take needs no memory.
  static void make_room(heap& h) {
    if (h.calls.size() != h.calls.capacity()) return;
    const std::size_t wanted = std::max<std::size_t>(16, 2 * h.calls.size());
    h.entries.reserve(wanted);
    h.free.reserve(wanted);
    h.calls.reserve(wanted);
  }

  [[nodiscard]] bool take_from(heap& h, detail::ordered_call& out) {
    const base::locked<M> guard(h.lock);
    if (h.entries.empty()) return false;
    std::pop_heap(h.entries.begin(), h.entries.end());
    const std::uint32_t slot = h.entries.back().slot;
    h.entries.pop_back();
    WEFT_ASSERT(slot < h.calls.size() && h.entries.size() + h.free.size() + 1 == h.calls.size());
    out = h.calls[slot];
    h.free.push_back(slot);
    announce(h);
    return true;
  }
  // A call at the last timestamp there is looks like the one before it.
  void announce(heap& h) noexcept {
    WEFT_ASSERT(base::held(h.lock));  // else a call that others do not see would be left behind
    const std::uint64_t first = h.entries.empty() ? nothing : std::min(h.entries.front().timestamp, nothing - 1);
    if (detail::peek(h.first) != first) M::store(h.first, first, base::relaxed);
  }

  unsigned count_;
  std::unique_ptr<heap[]> heaps_;
};

}  // namespace weft::ordered_run
