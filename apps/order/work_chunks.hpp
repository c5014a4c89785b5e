// A work list of threads on a modelled chip, for items in any order: the chunked first-in-first-out lists of the Galois
// runtime (Nguyen, Lenharth, Pingali, SOSP 2013). Each thread fills a chunk and empties another, which are its own and
// need no lock. Full chunks go to a list that few threads share, a tile's; who finds that empty takes the chunk it was
// filling, and then a chunk of others.
//
// End: a thread is idle from when it had nothing and saw all lists empty. An idle thread takes a chunk only after it
// has said that it is not. So when all are idle there is no chunk: whoever had put it there looked later than that, and
// found it, or found that somebody had taken it, who then was not idle.
// Sleep: who put a chunk looks for idle threads after that, who is idle looks for chunks after it has said so, and one
// of them sees the other.
#pragma once
#include <cstddef>
#include <cstdint>

#include "paged.hpp"
#include "weft/lab/chip_threads.hpp"

namespace weft::apps::order {

// What the threads share.
class alignas(page_bytes) work_chunks {
 public:
  static constexpr std::uint32_t chunk_items = 8;
  static constexpr std::uint32_t sharers_max = 4;  // threads of a list: the cores of a tile in the paper
  static constexpr std::uint64_t none = UINT64_MAX;

 private:
  friend class work_thread;
  static constexpr std::uint32_t lists_max = chip_threads_max / sharers_max;
  static constexpr std::size_t line_bytes = 64;

  struct chunk {
    chunk* next;
    std::uint64_t items[chunk_items];
  };
  struct list {
    chip_lock lock;
    alignas(line_bytes) chunk* first = nullptr;
    chunk* last = nullptr;  // if there is a first
  };
  struct alignas(line_bytes) word {
    std::uint64_t value = 0;
  };

  list lists_[lists_max];
  word idle_;    // threads
  word wakeup_;  // changes when an idle thread should look again
};

// A thread's part in it.
class work_thread {
 public:
  work_thread(chip_thread& t, work_chunks& all) noexcept
      : t_(t), all_(all), lists_((t.count() + work_chunks::sharers_max - 1) / work_chunks::sharers_max) {}

  void put(std::uint64_t item) {
    t_.work(item_instructions);
    if (filling_ == nullptr) filling_ = t_.allocate<chunk>();
    t_.store(filling_->items[filled_++], item);
    if (filled_ == work_chunks::chunk_items) publish();
  }
  // Returns none if there is no work, and all threads are told so.
  [[nodiscard]] std::uint64_t take() {
    t_.work(item_instructions);
    if (emptying_ == nullptr && !refill()) return work_chunks::none;
    const std::uint64_t item = t_.load(emptying_->items[emptied_++]);
    if (emptied_ == left_) {
      t_.release(emptying_);
      emptying_ = nullptr;
    }
    return item;
  }

 private:
  using chunk = work_chunks::chunk;
  using list = work_chunks::list;
  static constexpr std::uint64_t item_instructions = 4;  // is there a chunk, where in it, is that its end
  static constexpr std::uint64_t look_instructions = 3;  // a round of the loop over lists

  [[nodiscard]] list& own() noexcept { return all_.lists_[t_.rank() / work_chunks::sharers_max]; }

  void publish() {
    list& to = own();
    t_.store(filling_->next, nullptr);
    to.lock.lock(t_);
    if (t_.atomic_load(to.first) == nullptr)
      t_.atomic_store(to.first, filling_);
    else
      t_.store(t_.load(to.last)->next, filling_);
    t_.store(to.last, filling_);
    to.lock.unlock(t_);
    filling_ = nullptr;
    filled_ = 0;
    if (t_.atomic_load(all_.idle_.value) != 0) t_.fetch_add(all_.wakeup_.value, 1);
  }
  [[nodiscard]] bool take_from(list& from) {
    t_.work(look_instructions);
    if (t_.atomic_load(from.first) == nullptr) return false;
    from.lock.lock(t_);
    chunk* const taken = t_.atomic_load(from.first);
    if (taken != nullptr) t_.atomic_store(from.first, t_.load(taken->next));
    from.lock.unlock(t_);
    begin_to_empty(taken, work_chunks::chunk_items);
    return taken != nullptr;
  }
  void begin_to_empty(chunk* what, std::uint32_t items) noexcept {
    emptying_ = what;
    emptied_ = 0;
    left_ = items;
  }
  [[nodiscard]] bool refill() {
    if (take_from(own())) return true;
    if (filling_ != nullptr) {
      begin_to_empty(filling_, filled_);
      filling_ = nullptr;
      filled_ = 0;
      return true;
    }
    return steal() || wait_for_work();
  }
  [[nodiscard]] list& other(std::uint32_t i) noexcept {
    return all_.lists_[(t_.rank() / work_chunks::sharers_max + i) % lists_];
  }
  [[nodiscard]] bool steal() {
    for (std::uint32_t i = 0; i < lists_; ++i)
      if (take_from(other(i))) return true;
    return false;
  }
  [[nodiscard]] bool sees_work() {
    for (std::uint32_t i = 0; i < lists_; ++i) {
      t_.work(look_instructions);
      if (t_.atomic_load(other(i).first) != nullptr) return true;
    }
    return false;
  }
  [[nodiscard]] bool wait_for_work() {
    std::uint64_t& idle = all_.idle_.value;
    std::uint64_t& wakeup = all_.wakeup_.value;
    if (t_.fetch_add(idle, 1) + 1 == t_.count()) t_.fetch_add(wakeup, 1);
    for (;;) {
      const std::uint64_t seen = t_.atomic_load(wakeup);
      if (sees_work()) {
        t_.fetch_add(idle, std::uint64_t{0} - 1);
        if (steal()) return true;
        if (t_.fetch_add(idle, 1) + 1 == t_.count()) t_.fetch_add(wakeup, 1);
      } else {
        if (t_.atomic_load(idle) == t_.count()) return false;
        (void)t_.wait(wakeup, seen);
      }
    }
  }

  chip_thread& t_;
  work_chunks& all_;
  const std::uint32_t lists_;
  chunk* filling_ = nullptr;
  chunk* emptying_ = nullptr;  // has an item
  std::uint32_t filled_ = 0;
  std::uint32_t emptied_ = 0;
  std::uint32_t left_ = 0;  // items of `emptying_`, with those taken
};

}  // namespace weft::apps::order
