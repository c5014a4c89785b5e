// From the recorders' ids of tasks to their numbers in the trace, 4 bytes for each. Recorders draw ids by blocks, so a
// table of blocks finds them, wherever the counter of ids was.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/recorder.hpp"

namespace weft::trace {

class id_numbers {
 public:
  // Room for one that was not there; its number is 0. Errors: std::bad_alloc.
  [[nodiscard]] std::uint32_t& of(std::uint32_t id) {
    const auto [at, added] = blocks_.try_emplace(id / id_block, numbers_.size());
    if (added) numbers_.resize(numbers_.size() + id_block, 0);
    return numbers_[at->second + id % id_block];
  }
  // 0 for what is not there.
  [[nodiscard]] std::uint32_t find(std::uint32_t id) const noexcept {
    if (id / id_block != last_block_ || last_ == none) {
      const auto found = blocks_.find(id / id_block);
      if (found == blocks_.end()) return 0;
      last_block_ = id / id_block;
      last_ = found->second;
    }
    return numbers_[last_ + id % id_block];
  }
  // Puts f(number) in the place of each number that is not 0.
  template <class F> void change(F f) {
    for (std::uint32_t& number : numbers_)
      if (number != 0) number = f(number);
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  std::unordered_map<std::uint32_t, std::size_t> blocks_;  // where each begins
  std::vector<std::uint32_t> numbers_;
  mutable std::uint32_t last_block_ = 0;  // found last
  mutable std::size_t last_ = none;
};

}  // namespace weft::trace
