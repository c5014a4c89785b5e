// The idle tasks of a tile, by timestamp, and of equal ones by age (Swarm §4.2, order queue): a heap in which each task
// knows its place, so that any can be taken out. Task has key(), which orders, and a member heap_place.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace weft::swarm {

template <class Task> class order_queue {
 public:
  using key = std::pair<std::uint64_t, std::uint64_t>;
  struct entry {
    key first;  // beside the task, which is somewhere else
    Task* who;
  };

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  [[nodiscard]] Task* first() const noexcept { return heap_.empty() ? nullptr : heap_.front().who; }
  [[nodiscard]] std::span<const entry> all() const noexcept { return heap_; }

  void push(Task* t) {
    heap_.push_back({});
    rise(heap_.size() - 1, {t->key(), t});
  }
  Task* pop() {
    WEFT_ASSERT(!heap_.empty());
    Task* const t = heap_.front().who;
    erase(t);
    return t;
  }
  void erase(Task* t) {
    const std::size_t at = t->heap_place;
    WEFT_ASSERT(at < heap_.size() && heap_[at].who == t);
    WEFT_DEBUG_ASSERT(heap_[at].first == t->key());  // a key that changes meanwhile is in the wrong place
    const entry last = heap_.back();
    heap_.pop_back();
    if (last.who == t) return;
    if (at != 0 && last.first < heap_[(at - 1) / 2].first)
      rise(at, last);
    else
      sink(at, last);
  }
  void clear() noexcept { heap_.clear(); }

 private:
  void place(std::size_t at, const entry& e) noexcept {
    heap_[at] = e;
    e.who->heap_place = static_cast<std::uint32_t>(at);
  }
  void rise(std::size_t at, const entry& e) noexcept {
    while (at != 0 && e.first < heap_[(at - 1) / 2].first) {
      place(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    place(at, e);
  }
  void sink(std::size_t at, const entry& e) noexcept {
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1].first < heap_[child].first) ++child;
      if (!(heap_[child].first < e.first)) break;
      place(at, heap_[child]);
      at = child;
    }
    place(at, e);
  }

  std::vector<entry> heap_;
};

}  // namespace weft::swarm
