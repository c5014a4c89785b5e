// The two sequential programs that thread-level speculation could start from (Swarm §3), and what of them overlaps at
// best. The queue of the first is a binary heap; its instructions are part of the program.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

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
    spent_ += put_instructions;
    return free_ = now + put_instructions;
  }
  [[nodiscard]] std::uint64_t spent() const noexcept { return spent_; }

 private:
  std::uint64_t free_ = 0;   // when the queue is as the next round needs it
  std::uint64_t spent_ = 0;  // instructions on it
};

// A loop over roots: each calls what it creates, so that its bodies are one after the other.
class loop_program {
 public:
  // Returns when the next body may begin, which belongs to this root; the first of a root is not held up.
  [[nodiscard]] std::uint64_t next(std::uint64_t root, bool is_root, std::uint64_t first) noexcept {
    if (is_root)
      ended_ = first;
    else if (root != root_)
      is_program_ = false;
    root_ = root;
    return ended_;
  }
  void ended(std::uint64_t when) noexcept { ended_ = when; }
  [[nodiscard]] bool is_program() const noexcept { return is_program_; }

 private:
  std::uint64_t root_ = 0;
  std::uint64_t ended_ = 0;
  bool is_program_ = true;
};

}  // namespace weft::ordered_run
