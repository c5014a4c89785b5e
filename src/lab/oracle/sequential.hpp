// The two sequential programs that thread-level speculation could start from (Swarm §3), and what of them overlaps at
// best. The queue of the first is a binary heap; its instructions are part of the program.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace weft::ordered_run {

// A loop that takes the next body from a queue. Its rounds overlap from the last use of the queue in each.
class queue_program {
 public:
  static constexpr std::uint64_t take_level_instructions = 6;  // compare two children, move one up
  static constexpr std::uint64_t put_instructions = 12;        // most stay near the leaves

  // The next round takes its body: returns when it has it, if `waiting` are in the queue.
  [[nodiscard]] std::uint64_t take(std::size_t waiting) noexcept {
    const std::uint64_t cost = take_level_instructions * static_cast<std::uint64_t>(std::bit_width(waiting));
    spent_ += cost;
    return free_ += cost;
  }
  // Who: the round that has taken last. Returns when it goes on.
  [[nodiscard]] std::uint64_t put(std::uint64_t now) noexcept {
    WEFT_ASSERT(now >= free_);  // it has the queue
    spent_ += put_instructions;
    return free_ = now + put_instructions;
  }
  [[nodiscard]] std::uint64_t spent() const noexcept { return spent_; }

 private:
  std::uint64_t free_ = 0;   // when the queue is as the next round needs it
  std::uint64_t spent_ = 0;  // instructions on it
};

// A loop over roots: each calls what it creates, so that a round is a root with all that follows from it. As a body
// waits for whole bodies, a round waits for whole rounds: for those that stored what it reads.
class loop_program {
 public:
  // The next body belongs to this root.
  void enter(std::uint64_t root, bool is_root) {
    if (is_root) {
      end_round();
      is_open_ = true;
    } else if (root != root_) {
      is_program_ = false;
    }
    root_ = root;
  }
  // Of the body that has been entered, as of what it stores.
  [[nodiscard]] std::uint64_t round() const noexcept { return ended_.size() + 1; }
  // It reads what this round has stored.
  void reads_from(std::uint64_t round) noexcept {
    WEFT_ASSERT(round <= ended_.size() + 1);  // none that is still to come
    if (round != 0 && round <= ended_.size()) begins_ = std::max(begins_, ended_[round - 1]);
  }
  void ran(std::uint64_t instructions) noexcept { instructions_ += instructions; }
  // No round of another run begins before this.
  void run_ended() {
    end_round();
    WEFT_ASSERT(longest_ >= earliest_ && !is_open_);
    begins_ = earliest_ = longest_;
  }
  // When the last round ends. Who: after run_ended().
  [[nodiscard]] std::uint64_t longest() const noexcept { return longest_; }
  [[nodiscard]] bool is_program() const noexcept { return is_program_; }

 private:
  void end_round() {
    if (!is_open_) return;
    WEFT_ASSERT(begins_ >= earliest_);
    ended_.push_back(begins_ + instructions_);
    longest_ = std::max(longest_, ended_.back());
    begins_ = earliest_;
    instructions_ = 0;
    is_open_ = false;
  }

  std::vector<std::uint64_t> ended_;  // when each round has
  std::uint64_t root_ = 0;
  std::uint64_t begins_ = 0;        // the round that is open
  std::uint64_t instructions_ = 0;  // of it
  std::uint64_t earliest_ = 0;
  std::uint64_t longest_ = 0;
  bool is_open_ = false;
  bool is_program_ = true;
};

}  // namespace weft::ordered_run
