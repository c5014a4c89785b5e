// Memory for a fiber's stack: address space that costs memory only where it is touched, with a guard page below.
// A process may have only some 65 thousand mappings (vm.max_map_count). A guard page that is a protection of its own
// makes two mappings of each stack, so waits nested 33 thousand deep would end the program. Where the kernel can mark a
// guard inside a mapping (Linux 6.13), all stacks together are a few mappings. Elsewhere the first `protected_max`
// stacks are guarded by protection, and those beyond them not at all: depth is worth more there than a guard that
// thousands of equal stacks already have.
#pragma once
#include <cstddef>

namespace weft::machine {

class stack {
 public:
  static constexpr std::size_t protected_max = 16'384;  // half of what the mappings allow; the rest is the program's

  stack() noexcept = default;  // none
  // Of at least `bytes`, rounded up to pages. Errors: std::bad_alloc if the system refuses.
  explicit stack(std::size_t bytes);
  ~stack();
  stack(const stack&) = delete;
  stack& operator=(const stack&) = delete;

  [[nodiscard]] bool exists() const noexcept { return mapping_ != nullptr; }
  [[nodiscard]] std::byte* bottom() const noexcept { return mapping_ + guard_; }  // lowest usable byte
  [[nodiscard]] std::byte* top() const noexcept { return mapping_ + mapped_; }    // one beyond the highest
  [[nodiscard]] std::size_t bytes() const noexcept { return mapped_ - guard_; }

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t guard_ = 0;
  bool protected_ = false;
};

}  // namespace weft::machine
