#include "sched/balance/joint_table.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::sched {

namespace {
constexpr std::uint32_t teams_least = 6, teams_most = 16;  // of a batch
constexpr std::uint32_t heard_most = 8, heard_of_trial_most = 3;
constexpr std::uint32_t batches_between_trials = 6;
constexpr double far_off = 0.5;
constexpr std::uint32_t deaf_first = 8, deaf_most = 1024;  // batches
constexpr double as_good = 1.0 + 1.0 / 32;
constexpr double near = 1.25;                      // to the best: one time does not say that it is not that
constexpr double far_worse = 2;                    // than the best
constexpr double own_put_off = 2, put_off = 1.25;  // as bad they are taken to be, measured by what is in use

std::uint32_t settling(std::uint32_t at_once) noexcept { return std::clamp(at_once, 1u, teams_most); }
std::uint32_t counting(std::uint32_t at_once) noexcept { return std::clamp(at_once, teams_least, teams_most); }
}  // namespace

joint_table::batch joint_table::open(unsigned widest, std::uint32_t at_once) {
  WEFT_ASSERT(widest != 0 && used_ == 0);
  all_[used_++].width = own;
  for (unsigned width = 1; width < widest && used_ + 1 < choices_max; width *= 2) all_[used_++].width = width;
  all_[used_++].width = widest;
  on_ = 1;
  is_settling_ = true;
  return {all_[on_].width, settling(at_once), true, all_[on_].width};
}

joint_table::batch joint_table::next(std::uint64_t took_ps, std::uint64_t worth, std::uint32_t at_once) {
  WEFT_ASSERT(used_ != 0);
  ++batches_;
  if (is_settling_ || worth == 0) {
    is_settling_ = false;
    return {all_[on_].width, counting(at_once), false, behind()};
  }
  hear(static_cast<double>(std::max<std::uint64_t>(took_ps, 1)) / static_cast<double>(worth));
  const std::size_t before = on_;
  on_ = pick();
  is_settling_ = on_ != before;
  return {all_[on_].width, is_settling_ ? settling(at_once) : counting(at_once), is_settling_, behind(),
          is_later_trial_};
}

void joint_table::hear(double took) {
  choice& c = all_[on_];
  const auto off = [&](double t) { return t > c.mean * (1 + far_off) ? 1 : t < c.mean * (1 - far_off) ? -1 : 0; };
  const double last = c.last;
  c.last = took;
  c.tried_at = batches_;
  c.is_put_off = false;
  if (!c.is_known) {
    c.mean = took;
    c.heard = 1;
    c.is_known = true;
  } else if (on_ == in_use_ && off(took) != 0 && off(took) == off(last)) {
    c.mean = (took + last) / 2;
    c.heard = 2;
    seems_changed();
  } else {
    c.heard = std::min(c.heard + 1, on_ == in_use_ ? heard_most : heard_of_trial_most);
    c.mean += (took - c.mean) / c.heard;
  }
}

void joint_table::seems_changed() noexcept {
  if (batches_ < deaf_until_) return;
  deaf_for_ = all_[in_use_].width == before_ ? std::min(2 * deaf_for_, deaf_most) : deaf_first;
  deaf_until_ = batches_ + deaf_for_;
  before_ = all_[in_use_].width;
  for (std::size_t i = 1; i < used_; ++i)
    if (i != in_use_) all_[i].is_known = all_[i].is_put_off = false;
}

// Of what is to come next: the next of the first trials, what is in use, or another trial.
std::size_t joint_table::pick() {
  is_later_trial_ = false;
  if (const std::size_t i = first_trial(); i != used_) return i;
  if (const std::size_t i = doubtful(); i != used_) return i;
  const bool was_trial = on_ != in_use_;
  in_use_ = best();
  if (was_trial) {
    trial_at_ = batches_;
    return in_use_;
  }
  const std::size_t later = later_trial();
  is_later_trial_ = later != in_use_;
  return later;
}

// The next in the order of widths that has not been tried. Those behind some that are worse than the best are put off.
std::size_t joint_table::first_trial() noexcept {
  double least = 0, last = 0;
  unsigned worse = 0;
  for (std::size_t i = 1; i < used_; ++i) {
    choice& c = all_[i];
    if (c.is_put_off) continue;
    if (!c.is_known) {
      if (worse < 2) return i;
      c.is_put_off = true;
      continue;
    }
    last = c.mean;
    if (least == 0 || last < least) least = last;
    worse = last > least * far_worse ? 2 : last > least * as_good ? worse + 1 : 0;
  }
  if (!all_[0].is_known) all_[0].is_put_off = true;
  return used_;
}

// One that may be the best, but has been heard too few times to say so.
std::size_t joint_table::doubtful() const noexcept {
  const double least = best_mean();
  const auto is_near = [&](const choice& c) { return c.is_known && c.heard < 2 && c.mean <= least * near; };
  if (is_near(all_[on_])) return on_;  // nothing needs to settle
  for (std::size_t i = 0; i < used_; ++i)
    if (is_near(all_[i])) return i;
  return used_;
}

double joint_table::best_mean() const noexcept {
  double least = 0;
  for (const choice& c : all_)
    if (c.is_known && (least == 0 || c.mean < least)) least = c.mean;
  return least;
}

// What is in use, unless another is better; then the narrowest of those that are nearly as good as the best.
std::size_t joint_table::best() const noexcept {
  const double least = best_mean();
  const auto is_best = [&](const choice& c) { return c.is_known && c.mean <= least * as_good; };
  if (is_best(all_[in_use_])) return in_use_;
  return static_cast<std::size_t>(std::find_if(all_.begin(), all_.end(), is_best) - all_.begin());
}

// What a trial of c may lose, with the batch that settles, in units of a batch of what is in use.
double joint_table::loss(const choice& c) const noexcept {
  const double now = all_[in_use_].mean;
  return 2 * std::max(0.0, c.is_put_off ? now * ((c.width == own ? own_put_off : put_off) - 1) : c.mean - now);
}

std::size_t joint_table::later_trial() noexcept {
  if (!rules_->is_on(by::joint_trials)) return in_use_;
  const auto part = static_cast<double>((*rules_)[by::joint_trials]);
  std::size_t oldest = in_use_;
  for (std::size_t i = 0; i < used_; ++i) {
    choice& c = all_[i];
    if (i == in_use_) continue;
    c.saved = std::min(loss(c), c.saved + all_[in_use_].mean / part / static_cast<double>(used_ - 1));
    if (c.saved == loss(c) && (oldest == in_use_ || c.tried_at < all_[oldest].tried_at)) oldest = i;
  }
  if (oldest == in_use_ || batches_ - trial_at_ < batches_between_trials) return in_use_;
  all_[oldest].saved = 0;
  return oldest;
}

// Those that begin while the last of a batch are on their way: not many of them on a trial.
std::uint32_t joint_table::behind() const noexcept { return all_[all_[in_use_].is_known ? in_use_ : on_].width; }

double joint_table::expected(std::uint32_t width) const noexcept {
  for (std::size_t i = 0; i < used_; ++i)
    if (all_[i].width == width && all_[i].is_known) return all_[i].mean;
  return 0;
}

}  // namespace weft::sched
