// What is to happen on the chip, and when: a ring of lists, one for each of the next cycles, and a heap for what is
// further away. Events of one cycle come in the order they were put in, so a run is one order of events and no other.
// Cost: a few nanoseconds, since what a core waits for is mostly some ten cycles away.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <queue>
#include <vector>

#include "base/assert.hpp"
#include "lab/swarm/virtual_time.hpp"

namespace weft::swarm {

template <class Event> class wheel {
 public:
  struct entry {
    cycle time;
    Event what;
  };

  [[nodiscard]] cycle now() const noexcept { return now_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return near_ + far_.size(); }

  void push(cycle time, const Event& what) {
    WEFT_ASSERT(time >= now_);
    if (time - now_ < slots)
      put(time, what);
    else
      far_.push({time, far_number_++, what});
  }

  // The time of the first event; the end of all time if there is none.
  [[nodiscard]] cycle next() const noexcept {
    if (near_ == 0) return far_.empty() ? UINT64_MAX : far_.top().time;
    const std::uint64_t from = now_ % slots;
    std::uint64_t word = from / 64;
    std::uint64_t bits = filled_[word] >> from % 64 << from % 64;
    while (bits == 0) bits = filled_[word = (word + 1) % words];
    const std::uint64_t slot = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
    return now_ + (slot - from) % slots;
  }

  [[nodiscard]] entry pop() {
    WEFT_ASSERT(size() != 0);
    advance(next());
    const std::uint64_t slot = now_ % slots;
    const std::uint32_t i = first_[slot];
    WEFT_ASSERT(i != none && near_ != 0);
    first_[slot] = nodes_[i].next;
    if (first_[slot] == none) filled_[slot / 64] &= ~(1ull << slot % 64);
    --near_;
    nodes_[i].next = free_;
    free_ = i;
    return {now_, nodes_[i].what};
  }

  // Moves to a time before which nothing is to happen.
  void advance(cycle to) {
    WEFT_DEBUG_ASSERT(to >= now_ && to <= next());
    now_ = to;
    while (!far_.empty() && far_.top().time - now_ < slots) {
      put(far_.top().time, far_.top().what);
      far_.pop();
    }
  }

  void clear() {  // the time stays
    first_.fill(none);
    filled_ = {};
    nodes_.clear();
    free_ = none;
    near_ = 0;
    far_ = {};
  }

  wheel() { clear(); }

 private:
  static constexpr std::uint64_t slots = 2048, words = slots / 64;
  static constexpr std::uint32_t none = UINT32_MAX;
  struct node {
    Event what;
    std::uint32_t next;
  };
  struct far_entry {
    cycle time;
    std::uint64_t number;
    Event what;
    friend bool operator<(const far_entry& a, const far_entry& b) noexcept {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };

  void put(cycle time, const Event& what) {
    std::uint32_t i = free_;
    if (i == none) {
      i = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({what, none});
    } else {
      free_ = nodes_[i].next;
      nodes_[i] = {what, none};
    }
    const std::uint64_t slot = time % slots;
    if (first_[slot] == none) {
      first_[slot] = i;
      filled_[slot / 64] |= 1ull << slot % 64;
    } else {
      nodes_[last_[slot]].next = i;
    }
    last_[slot] = i;
    ++near_;
  }

  cycle now_ = 0;
  std::uint64_t near_ = 0;
  std::array<std::uint32_t, slots> first_{};
  std::array<std::uint32_t, slots> last_{};
  std::array<std::uint64_t, words> filled_{};
  std::vector<node> nodes_;
  std::uint32_t free_ = none;
  std::priority_queue<far_entry> far_;
  std::uint64_t far_number_ = 0;
};

}  // namespace weft::swarm
