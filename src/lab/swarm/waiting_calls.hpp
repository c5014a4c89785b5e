// What a serial program keeps of calls that wait, and what that costs it. The roots are a list of the program: if it is
// not in order it is sorted first. What bodies create comes to a queue: a first-in-first-out one as long as nothing
// comes that is earlier than what is there, as in a breadth-first search; from then on a binary heap. An entry is a
// timestamp and a word of what the call is about, as in a program that is written for it.
//
// Costs are told to `Core`: instructions(n), and touch(entry, write) for an entry of the queue, touch_root(entry,
// write) for one of the list.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "weft/detail/ordered.hpp"

namespace weft::swarm {

template <class Core> class waiting_calls {
 public:
  static constexpr std::uint64_t take_level_instructions = 6;  // compare two children, move one up
  static constexpr std::uint64_t put_level_instructions = 4;   // compare with what is above, move that down
  static constexpr std::uint64_t sort_instructions = 5;        // of each entry at each level: compare, move, count
  static constexpr std::uint64_t loop_instructions = 3;        // of each round, and of an end of a list

  explicit waiting_calls(Core& core) : core_(core) {}

  void begin(std::vector<detail::ordered_call> roots) {
    WEFT_ASSERT(entries_.size() == first_ && next_root_ == roots_.size());
    entries_.clear();
    first_ = next_root_ = 0;
    is_heap_ = false;
    roots_ = std::move(roots);
    const auto earlier = [](const auto& a, const auto& b) { return a.timestamp < b.timestamp; };
    if (std::is_sorted(roots_.begin(), roots_.end(), earlier)) return;
    sort_costs(0, roots_.size());
    std::stable_sort(roots_.begin(), roots_.end(), earlier);  // equal ones stay in order of creation
  }
  [[nodiscard]] bool empty() const noexcept { return next_root_ == roots_.size() && first_ == entries_.size(); }
  void put(const detail::ordered_call& call) {
    core_.instructions(loop_instructions);
    const entry e{call.timestamp, created_++, call};
    if (!is_heap_ && first_ != entries_.size() && call.timestamp < entries_.back().call.timestamp) become_heap();
    entries_.push_back(e);
    core_.touch(place(entries_.size() - 1), true);
    if (is_heap_) rise(entries_.size() - 1);
  }
  // Of two with one timestamp a root comes first: it was created before.
  [[nodiscard]] detail::ordered_call take() {
    WEFT_ASSERT(!empty());
    core_.instructions(loop_instructions);
    const bool queued = first_ != entries_.size();
    if (next_root_ != roots_.size() && (!queued || roots_[next_root_].timestamp <= entries_[first_].timestamp)) {
      core_.touch_root(next_root_, false);
      return roots_[next_root_++];
    }
    const detail::ordered_call call = entries_[first_].call;
    core_.touch(place(first_), false);
    if (is_heap_)
      drop_first();
    else if (++first_ == entries_.size() || first_ >= entries_.size() / 2 + keep_min)
      forget_taken();
    return call;
  }
  void clear() {
    entries_.clear();
    roots_.clear();
    first_ = next_root_ = 0;
  }

 private:
  struct entry {
    std::uint64_t timestamp;
    std::uint64_t number;
    detail::ordered_call call;
    [[nodiscard]] bool before(const entry& other) const noexcept {
      return timestamp != other.timestamp ? timestamp < other.timestamp : number < other.number;
    }
  };
  static constexpr std::size_t sort_by_hand = 16;  // entries: such parts are put in order within two lines
  static constexpr std::size_t keep_min = 1024;

  // A first-in-first-out queue walks through its memory, as a ring does.
  [[nodiscard]] std::uint64_t place(std::size_t i) const noexcept { return is_heap_ ? i : walked_ + i; }
  void forget_taken() {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
    walked_ += std::exchange(first_, 0);
  }

  void become_heap() {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(std::exchange(first_, 0)));
    is_heap_ = true;  // what is in order is a heap
  }
  void rise(std::size_t i) {
    while (i != 0) {
      const std::size_t above = (i - 1) / 2;
      core_.instructions(put_level_instructions);
      core_.touch(above, false);
      if (!entries_[i].before(entries_[above])) return;
      core_.touch(i, true);
      std::swap(entries_[i], entries_[above]);
      i = above;
    }
    core_.touch(0, true);
  }
  void drop_first() {
    entries_.front() = entries_.back();
    entries_.pop_back();
    const std::size_t n = entries_.size();
    for (std::size_t i = 0; 2 * i + 1 < n;) {
      core_.instructions(take_level_instructions);
      std::size_t least = 2 * i + 1;
      core_.touch(least, false);
      if (least + 1 < n) {
        core_.touch(least + 1, false);
        if (entries_[least + 1].before(entries_[least])) ++least;
      }
      core_.touch(i, true);
      if (!entries_[least].before(entries_[i])) return;
      std::swap(entries_[i], entries_[least]);
      i = least;
    }
  }
  // What a quicksort with pivots in the middle takes: each level goes through all that it has.
  void sort_costs(std::size_t from, std::size_t to) {
    core_.instructions(sort_instructions * (to - from));
    for (std::size_t i = from; i < to; ++i) core_.touch_root(i, true);
    if (to - from <= sort_by_hand) return;
    const std::size_t middle = from + (to - from) / 2;
    sort_costs(from, middle);
    sort_costs(middle, to);
  }

  Core& core_;
  std::vector<detail::ordered_call> roots_;
  std::size_t next_root_ = 0;
  std::vector<entry> entries_;
  std::size_t first_ = 0;  // of a first-in-first-out queue
  std::uint64_t walked_ = 0;
  std::uint64_t created_ = 0;
  bool is_heap_ = false;
};

}  // namespace weft::swarm
