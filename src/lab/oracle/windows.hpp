// When the next body in order may begin, if only so many are in sight. There are two meanings of "so many", and the
// Swarm paper can be read in both ways (§2.2).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/assert.hpp"

namespace weft::ordered_run {

// The window begins behind the last body before which all have ended.
class prefix_window {
 public:
  explicit prefix_window(std::size_t tasks) : ended_(tasks, 0) {}
  [[nodiscard]] std::uint64_t opens() const noexcept { return ended_[next_]; }
  // Who: after opens(), for the same body.
  void ended(std::uint64_t when) noexcept {
    WEFT_ASSERT(when >= ended_[next_]);  // it began when the window opened, or later
    last_ = std::max(last_, when);
    ended_[next_] = last_;
    next_ = next_ + 1 == ended_.size() ? 0 : next_ + 1;
  }

 private:
  std::vector<std::uint64_t> ended_;  // of the last so many: when it and all before it have
  std::size_t next_ = 0;
  std::uint64_t last_ = 0;
};

// The window has so many places, each taken in order and left in any.
class places_window {
 public:
  explicit places_window(std::size_t tasks) : tasks_(tasks) {}
  [[nodiscard]] std::uint64_t opens() noexcept {
    if (running_.size() == tasks_) {
      last_ = std::max(last_, running_.top());
      running_.pop();
    }
    return last_;
  }
  // Who: after opens(), for the same body.
  void ended(std::uint64_t when) {
    WEFT_ASSERT(running_.size() < tasks_ && when >= last_);
    running_.push(when);
  }

 private:
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> running_;
  std::size_t tasks_;
  std::uint64_t last_ = 0;  // when the last place was taken
};

}  // namespace weft::ordered_run
