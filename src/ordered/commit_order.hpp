// The order of a section's tasks, which is that of a serial run: by timestamp, and of equal ones the one that is
// created first. Of a task whose parent has happened the number of its creation is known. Of another it is not, but
// that of two such the one is first whose parent is, and of one parent's the first child.
//
// Admitted tasks stand in a list in that order, each with a label that grows along it, so that anybody can compare two
// without the section's lock (`precedes`). A new one gets a label between those beside it. If there is none left, all
// behind it move up, the last first: so at every moment the labels grow along the list.
//
// Who: whoever holds the section's lock.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "ordered/speculative_task.hpp"

namespace weft::speculative {

[[nodiscard]] inline bool before(const task& a, const task& b) noexcept {
  if (a.call.timestamp != b.call.timestamp) return a.call.timestamp < b.call.timestamp;
  if (a.number != unborn || b.number != unborn) return a.number < b.number;
  if (a.parent == b.parent) return a.child < b.child;
  return detail::peek(a.parent->label) < detail::peek(b.parent->label);
}

// The earliest of some tasks; any may be taken out. A task is in one such heap at most.
class task_heap {
 public:
  [[nodiscard]] bool empty() const noexcept { return tasks_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }
  [[nodiscard]] task* first() const noexcept { return tasks_.empty() ? nullptr : tasks_.front(); }
  void push(task& t) {
    WEFT_ASSERT(t.heap_index == in_no_heap);
    tasks_.push_back(&t);
    up(tasks_.size() - 1);
  }
  void remove(task& t) noexcept {
    const std::size_t hole = t.heap_index;
    WEFT_ASSERT(hole < tasks_.size() && tasks_[hole] == &t);
    t.heap_index = in_no_heap;
    task* const last = tasks_.back();
    tasks_.pop_back();
    if (last == &t) return;
    put(hole, last);
    up(hole);
    down(last->heap_index);
  }

 private:
  void put(std::size_t at, task* t) noexcept {
    tasks_[at] = t;
    t->heap_index = at;
  }
  void up(std::size_t at) noexcept {
    task* const t = tasks_[at];
    while (at > 0 && before(*t, *tasks_[(at - 1) / 2])) {
      put(at, tasks_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    put(at, t);
  }
  void down(std::size_t at) noexcept {
    task* const t = tasks_[at];
    for (;;) {
      std::size_t least = 2 * at + 1;
      if (least >= tasks_.size()) break;
      if (least + 1 < tasks_.size() && before(*tasks_[least + 1], *tasks_[least])) ++least;
      if (!before(*tasks_[least], *t)) break;
      put(at, tasks_[least]);
      at = least;
    }
    put(at, t);
  }

  std::vector<task*> tasks_;
};

class admitted_tasks {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] task* first() const noexcept { return detail::peek(first_); }
  [[nodiscard]] bool is_first(const task& t) const noexcept { return detail::peek(first_) == &t; }  // who: anybody
  [[nodiscard]] task* last() const noexcept { return last_; }
  // Without those that are dead: where these stand does not matter, and what their place depended on may be gone.
  [[nodiscard]] task* first_alive() const noexcept {
    task* t = first();
    while (t != nullptr && t->dead) t = t->next;
    return t;
  }
  [[nodiscard]] task* last_alive() const noexcept {
    task* t = last_;
    while (t != nullptr && t->dead) t = t->previous;
    return t;
  }

  void insert(task& t) noexcept {
    task* at = last_;
    WEFT_ASSERT(t.next == nullptr && t.previous == nullptr && first() != &t);  // it stands here once
    while (at != nullptr && (at->dead || before(t, *at))) at = at->previous;
    t.previous = at;
    t.next = at == nullptr ? first() : at->next;
    put_behind(t.previous, &t);
    (t.next == nullptr ? last_ : t.next->previous) = &t;
    ++size_;
    give_label(t);
  }
  void remove(task& t) noexcept {
    WEFT_ASSERT((t.previous == nullptr ? first() : t.previous->next) == &t);
    WEFT_ASSERT((t.next == nullptr ? last_ : t.next->previous) == &t);
    put_behind(t.previous, t.next);
    (t.next == nullptr ? last_ : t.next->previous) = t.previous;
    t.next = t.previous = nullptr;
    --size_;
    WEFT_ASSERT((size_ == 0) == (first() == nullptr) && (size_ == 0) == (last_ == nullptr));
  }
  // Whether labels can still grow. Where they cannot, the list has to run empty: 2^43 tasks from one time to the next.
  [[nodiscard]] bool has_room() const noexcept { return last_ == nullptr || detail::peek(last_->label) < label_limit; }

 private:
  static constexpr std::uint64_t step = std::uint64_t{1} << 20, shift = std::uint64_t{1} << 40;
  static constexpr std::uint64_t label_limit = std::uint64_t{1} << 63;

  void put_behind(task* previous, task* t) noexcept {
    if (previous == nullptr)
      detail::poke(first_, t);
    else
      previous->next = t;
  }
  void give_label(task& t) noexcept {
    const std::uint64_t low = t.previous == nullptr ? 0 : detail::peek(t.previous->label);
    WEFT_ASSERT(low < ~std::uint64_t{0} - shift);  // one that wraps would be the first of all to precedes()
    if (t.next == nullptr) return detail::poke(t.label, low + step);  // others hear of t by a lock
    if (detail::peek(t.next->label) - low < 2)
      for (task* moved = last_; moved != &t; moved = moved->previous) {
        WEFT_ASSERT(detail::peek(moved->label) < ~std::uint64_t{0} - shift);
        detail::poke_release(moved->label, detail::peek(moved->label) + shift);  // pairs with precedes()
      }
    detail::poke(t.label, low + std::min(step, (detail::peek(t.next->label) - low) / 2));
    WEFT_ASSERT(low < detail::peek(t.label) && detail::peek(t.label) < detail::peek(t.next->label));
  }

  detail::cell<task*> first_;
  task* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::speculative
