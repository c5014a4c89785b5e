// Calls that are not admitted. Those whose parent has happened are numbered as a serial run numbers them; they are
// never taken back and may be many, so they are kept as a serial executor keeps them: a heap of keys, and the calls in
// slots. The others are tasks already, children of admitted ones, and any of them may be taken back. Who: whoever holds
// the section's lock, or, while bodies run in order, the one that runs them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "ordered/commit_order.hpp"

namespace weft::speculative {

// Tasks that are nobody's. They are kept until the section ends, and their memory with them.
class task_pool {
 public:
  [[nodiscard]] task& take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<task>());
      free_.push_back(all_.back().get());
    }
    task& t = *free_.back();
    free_.pop_back();
    WEFT_ASSERT(t.now == phase::free && t.heap_index == in_no_heap);
    return t;
  }
  void give(task& t) {
    WEFT_ASSERT(t.heap_index == in_no_heap && t.now != phase::free);
    WEFT_ASSERT(t.next == nullptr && t.previous == nullptr);  // not admitted
    WEFT_ASSERT(t.children.empty() && t.waiters.empty());     // they would be those of whoever it is next
    WEFT_ASSERT(t.last_run().size() == 0 && t.allocated.empty() && t.released.empty());
    ++t.generation;
    t.now = phase::free;
    t.number = unborn;
    t.parent = nullptr;
    t.runs = 0;
    t.dead = t.wants_first = t.published = false;
    free_.push_back(&t);
  }

 private:
  std::vector<std::unique_ptr<task>> all_;
  std::vector<task*> free_;
};

class pending_calls {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty() && unborn_.empty(); }

  // How many calls have a number.
  [[nodiscard]] std::uint64_t numbered() const noexcept { return numbers_; }
  // The number of the next call that a serial run would create.
  [[nodiscard]] std::uint64_t next_number() noexcept { return numbers_++; }
  void create(const detail::ordered_call& call) { push(call, next_number()); }
  void push(const detail::ordered_call& call, std::uint64_t number) {
    WEFT_ASSERT(number < numbers_);  // it was drawn
    std::uint32_t slot;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(calls_.size());
      calls_.push_back(call);
    } else {
      slot = free_.back();
      free_.pop_back();
      calls_[slot] = call;
    }
    heap_.push_back({call.timestamp, number, slot});
    std::push_heap(heap_.begin(), heap_.end(), is_later());
    WEFT_DEBUG_ASSERT(heap_.size() + free_.size() == calls_.size());  // each slot has one call, or none
  }
  void push_unborn(task& t) {
    WEFT_ASSERT(t.number == unborn && t.parent != nullptr);  // else it has no place in the order
    t.now = phase::pending;
    unborn_.push(t);
  }
  void take_back(task& t) noexcept { unborn_.remove(t); }

  // Whether some call comes before t.
  [[nodiscard]] bool any_before(const task& t) const noexcept {
    if (!heap_.empty()) {
      const entry& e = heap_.front();
      if (e.timestamp != t.call.timestamp ? e.timestamp < t.call.timestamp : e.number < t.number) return true;
    }
    return !unborn_.empty() && before(*unborn_.first(), t);
  }
  // Takes the first, as a task. Who: where there is one.
  [[nodiscard]] task& take_first(task_pool& pool) {
    task* const u = unborn_.first();
    if (u != nullptr && (heap_.empty() || u->call.timestamp < heap_.front().timestamp)) {
      unborn_.remove(*u);
      WEFT_ASSERT(u->now == phase::pending && u->number == unborn);
      return *u;
    }
    WEFT_ASSERT(!heap_.empty());
    task& t = pool.take();
    t.now = phase::pending;
    t.number = heap_.front().number;
    take_first_numbered(t.call);
    return t;
  }
  // The same as a call, where all are numbered; and the number that this will have.
  [[nodiscard]] std::uint64_t first_number() const noexcept { return heap_.front().number; }
  [[nodiscard]] bool none_numbered() const noexcept { return heap_.empty(); }
  void take_first_numbered(detail::ordered_call& call) {
    WEFT_ASSERT(!heap_.empty());
    std::pop_heap(heap_.begin(), heap_.end(), is_later());
    const std::uint32_t slot = heap_.back().slot;
    heap_.pop_back();
    WEFT_DEBUG_ASSERT(slot < calls_.size() && calls_.size() == heap_.size() + free_.size() + 1);
    call = calls_[slot];
    free_.push_back(slot);
  }
  // All calls are dropped.
  void clear(task_pool& pool) {
    heap_.clear();
    calls_.clear();
    free_.clear();
    while (!unborn_.empty()) {
      task& t = *unborn_.first();
      unborn_.remove(t);
      pool.give(t);
    }
  }

 private:
  struct entry {
    std::uint64_t timestamp;
    std::uint64_t number;
    std::uint32_t slot;
  };
  struct is_later {  // no function: its address would keep the compiler from putting it into the heap's loops
    [[nodiscard]] bool operator()(const entry& a, const entry& b) const noexcept {
      return a.timestamp != b.timestamp ? a.timestamp > b.timestamp : a.number > b.number;
    }
  };

  std::vector<entry> heap_;
  std::vector<detail::ordered_call> calls_;
  std::vector<std::uint32_t> free_;
  task_heap unborn_;
  std::uint64_t numbers_ = 0;
};

}  // namespace weft::speculative
