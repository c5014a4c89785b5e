// How often each rule has decided, on one worker: a count for each row of rules.hpp. What counts as once is what its
// row says it does, not that it was asked.
// Who: the worker's thread; statistics read at any time, hence cells.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "sched/balance/rules.hpp"
#include "weft/detail/cell.hpp"

namespace weft::sched {

class decisions {
 public:
  void count(by r) noexcept {
    detail::cell<std::uint64_t>& c = counts_[static_cast<std::size_t>(r)];
    detail::poke(c, detail::peek(c) + 1);
  }
  void add_to(std::uint64_t (&sums)[rules::count]) const noexcept {
    for (std::size_t i = 0; i < rules::count; ++i) sums[i] += detail::peek(counts_[i]);
  }

 private:
  std::array<detail::cell<std::uint64_t>, rules::count> counts_{};
};

}  // namespace weft::sched
