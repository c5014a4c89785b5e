// How many tasks may be ahead of the oldest. It is halved when more than a fifth of the runs were in vain lately (a
// rule, which says how many), and doubled when less than half of that were; never below the number of workers.
// Who: whoever holds the section's lock.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sched/balance/rules.hpp"

namespace weft::speculative {

class speculation_window {
 public:
  // For each worker: enough to go on beside a body that takes as many times longer than others, and what they keep
  // still fits a cache.
  static constexpr std::size_t tasks_of_worker = 64;

  // `fixed`: it stays so; 0: it adapts.
  speculation_window(std::size_t workers, std::size_t fixed, const sched::rules& r = sched::rules::usual()) noexcept
      : least_(fixed != 0 ? fixed : std::max<std::size_t>(workers, 2)),
        most_(fixed != 0 ? fixed : least_ * tasks_of_worker), tasks_(std::min(4 * least_, most_)),
        in_vain_max_(r[sched::by::in_vain]) {}

  [[nodiscard]] std::size_t tasks() const noexcept { return tasks_; }
  // Returns whether fewer may be from now on.
  bool ran(bool in_vain) noexcept {
    ++runs_;
    in_vain_ += in_vain ? 1 : 0;
    if (runs_ < std::max<std::size_t>(runs_min, tasks_)) return false;
    const std::size_t before = tasks_;
    if (in_vain_ * 100 > runs_ * in_vain_max_)
      tasks_ = std::max(tasks_ / 2, least_);
    else if (in_vain_ * 200 < runs_ * in_vain_max_)
      tasks_ = std::min(tasks_ * 2, most_);
    runs_ = in_vain_ = 0;
    return tasks_ < before;
  }

 private:
  static constexpr std::size_t runs_min = 32;
  std::size_t least_, most_, tasks_;
  std::uint64_t in_vain_max_;  // percent
  std::size_t runs_ = 0, in_vain_ = 0;
};

}  // namespace weft::speculative
