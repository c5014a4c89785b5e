// The idle tasks of a tile, by timestamp, and of equal ones by age (Swarm §4.2, order queue): a heap in which each task
// knows its place, so that any can be taken out. Task has key(), which orders, and a member heap_place.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"

namespace weft::swarm {

template <class Task> class order_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  [[nodiscard]] Task* first() const noexcept { return heap_.empty() ? nullptr : heap_.front(); }
  [[nodiscard]] std::span<Task* const> all() const noexcept { return heap_; }

  void push(Task* t) {
    heap_.push_back(t);
    rise(heap_.size() - 1, t);
  }
  Task* pop() {
    Task* const t = heap_.front();
    erase(t);
    return t;
  }
  void erase(Task* t) {
    const std::size_t at = t->heap_place;
    WEFT_ASSERT(at < heap_.size() && heap_[at] == t);
    Task* const last = heap_.back();
    heap_.pop_back();
    if (last == t) return;
    rise(at, last);
    if (heap_[at] == last) sink(at, last);
  }
  void clear() noexcept { heap_.clear(); }

 private:
  void place(std::size_t at, Task* t) noexcept {
    heap_[at] = t;
    t->heap_place = static_cast<std::uint32_t>(at);
  }
  void rise(std::size_t at, Task* t) noexcept {
    while (at != 0 && t->key() < heap_[(at - 1) / 2]->key()) {
      place(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    place(at, t);
  }
  void sink(std::size_t at, Task* t) noexcept {
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1]->key() < heap_[child]->key()) ++child;
      if (!(heap_[child]->key() < t->key())) break;
      place(at, heap_[child]);
      at = child;
    }
    place(at, t);
  }

  std::vector<Task*> heap_;
};

}  // namespace weft::swarm
