// Mean and 90th percentile of whole numbers, exactly, in the room of those that differ.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "weft/lab/oracle.hpp"

namespace weft::ordered_run {

class spread {
 public:
  spread() : small_(4096, 0) {}
  void add(std::uint64_t value) {
    sum_ += value;
    ++count_;
    if (value < small_.size())
      ++small_[value];
    else
      ++large_[value];
  }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] oracle_spread get() const;

 private:
  std::vector<std::uint64_t> small_;              // how often each
  std::map<std::uint64_t, std::uint64_t> large_;  // what is greater
  std::uint64_t sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace weft::ordered_run
