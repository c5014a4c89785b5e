// Whether running ahead pays, and for how long not to. A section alternates between two ways: `in order`, bodies one
// after the other on one worker and nothing logged, as the serial executor does; and `ahead`. Time in order tells what
// a body costs serially. Time ahead is held against that: what has happened meanwhile would have taken so long
// serially; if it took longer, the difference is lost. More than a small allowance ends it. Then bodies run in order,
// each time twice as long as the last, and for so long that what is lost in all, less what was gained, is a small part
// of that.
//
// Bodies differ, so what happened ahead is measured by the time of the bodies themselves, times what a body costs in
// order for each nanosecond that it takes ahead: learned at the beginning of each stretch, when the bodies are like
// those that ran in order just before.
// Who: one at a time.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "sched/balance/rules.hpp"

namespace weft::speculative {

class payoff {
 public:
  // `possible`: there are workers to run ahead; `bound`: the loss is to be bounded, else it is always ahead.
  payoff(bool possible, bool bound, const sched::rules& r = sched::rules::usual()) noexcept
      : possible_(possible && r.is_on(sched::by::ahead)), bound_(bound),
        stretch_ns_(static_cast<double>(r[sched::by::ahead])) {}

  // What a run begins with.
  [[nodiscard]] bool begins_in_order() const noexcept { return bound_; }

  // In order: whether it has lasted for as long as it is to.
  [[nodiscard]] bool enough_in_order(std::uint64_t tasks, double ns) const noexcept {
    return possible_ && tasks >= tasks_min && ns >= in_order_ns_;
  }
  void was_in_order(std::uint64_t tasks, double ns) noexcept {
    if (tasks == 0) return;
    WEFT_ASSERT(ns >= 0);
    serial_ns_ += ns;
    total_ns_ += ns;
    if (tasks >= tasks_min || task_ns_ == 0) task_ns_ = ns / static_cast<double>(tasks);
  }

  void begin_ahead(double now) noexcept {
    period_began_ = now;
    happened_ = 0;
    bodies_ns_ = 0;
    scale_ = 0;
  }
  // A task that ran ahead has happened; its last run took so long.
  void happened(double body_ns) noexcept {
    WEFT_ASSERT(body_ns >= 0);  // nor is it no number: the mean would stay that
    ++happened_;
    // A body that takes many times as long as others has most likely lost its core meanwhile, and that is worth
    // nothing. If bodies do take longer now, the mean follows soon.
    const double counted = mean_ns_ == 0 ? body_ns : std::min(body_ns, body_times_max * mean_ns_);
    mean_ns_ += (counted - mean_ns_) / (mean_ns_ == 0 ? 1 : 16);
    bodies_ns_ += counted;
  }
  // Ahead, now and then: whether to go on.
  [[nodiscard]] bool go_on(double now) noexcept {
    if (!bound_) return true;
    const double took = now - period_began_;
    const double loss = took - worth();
    if (loss > allowance_ns()) return false;
    if (took < period_ns || happened_ < tasks_min) return true;
    if (loss > 0 && losing_) return false;  // a little, and for two periods
    losing_ = loss > 0;
    if (!losing_) in_order_ns_ = stretch_ns_;
    close(now);
    return true;
  }
  // It has ended, and nothing runs ahead any more.
  void end_ahead(double now) noexcept {
    close(now);
    in_order_ns_ = std::max(2 * in_order_ns_, (total_ns_ - serial_ns_) / loss_part);
    losing_ = false;
  }

  // What the run so far would have taken serially, by this reckoning; and what it took.
  [[nodiscard]] double serial_ns() const noexcept { return serial_ns_; }
  [[nodiscard]] double total_ns() const noexcept { return total_ns_; }

 private:
  static constexpr std::uint64_t tasks_min = 8;
  static constexpr double period_ns = 2'000'000;
  static constexpr double allowance_min_ns = 60'000;
  static constexpr double body_times_max = 8;
  static constexpr double loss_part = 0.04;  // what is lost in all, of the time in order that follows

  [[nodiscard]] double allowance_ns() const noexcept { return std::max(allowance_min_ns, 0.01 * total_ns_); }
  [[nodiscard]] double worth() noexcept {
    if (happened_ == 0) return 0;
    if (task_ns_ == 0) return bodies_ns_;  // nothing has run in order yet
    if (scale_ == 0 && happened_ >= 2 * tasks_min && bodies_ns_ > 0)
      scale_ = std::clamp(task_ns_ * static_cast<double>(happened_) / bodies_ns_, 0.1, 2.0);
    return scale_ == 0 ? task_ns_ * static_cast<double>(happened_) : scale_ * bodies_ns_;
  }
  void close(double now) noexcept {
    serial_ns_ += worth();
    total_ns_ += now - period_began_;
    period_began_ = now;
    happened_ = 0;
    bodies_ns_ = 0;
  }

  bool possible_;
  bool bound_;
  bool losing_ = false;
  double task_ns_ = 0;  // in order, lately
  double stretch_ns_;
  double in_order_ns_ = stretch_ns_;
  double serial_ns_ = 0, total_ns_ = 0;
  double period_began_ = 0;
  std::uint64_t happened_ = 0;
  double bodies_ns_ = 0;
  double scale_ = 0;
  double mean_ns_ = 0;  // of bodies that ran ahead, lately
};

}  // namespace weft::speculative
