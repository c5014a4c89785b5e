#include "sched/balance/width_table.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace weft::sched {

width_table::choice width_table::choose(std::span<const option> options, aim a) {
  WEFT_ASSERT(!options.empty() && options.size() <= options_max);
  course& c = course_[static_cast<unsigned>(a)];
  ++c.runs;
  const option* chosen = first_trial(options, a);
  bool is_later_trial = false;
  if (chosen == nullptr) {
    const option* const best_one = best(options, a);
    if (best_one == nullptr) return {options[c.runs % options.size()], a};  // none of the first trials is back yet
    const std::uint64_t best_ps = at(*best_one, a).mean_ps;
    c.in_use = *best_one;
    chosen = later_trial(options, a, best_ps);
    is_later_trial = chosen != nullptr;
    if (chosen == nullptr) chosen = best_one;
  }
  const bool is_trial = *chosen != c.in_use;
  const bool counts = is_trial || !c.after_trial;
  c.after_trial = is_trial;
  estimate& e = at(*chosen, a);
  e.tried_at = c.runs;
  if (e.begun < runs_of_trial) ++e.begun;
  return {*chosen, a, counts, is_later_trial};
}

const width_table::option* width_table::first_trial(std::span<const option> options, aim a) {
  for (const option& o : options)
    if (at(o, a).begun < runs_of_trial) return &o;
  return nullptr;
}

const width_table::option* width_table::best(std::span<const option> options, aim a) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const option& o : options)
    if (at(o, a).is_known) least = std::min(least, at(o, a).mean_ps);
  const std::uint64_t as_good = least + least / (a == aim::cost ? 8 : 32);
  for (const option& o : options)
    if (at(o, a).is_known && at(o, a).mean_ps <= as_good) return &o;
  return nullptr;
}

// The one that has waited longest of those that have saved up for what a trial loses; the second run of a trial. What
// all save together is the part for trials of what the best takes.
const width_table::option* width_table::later_trial(std::span<const option> options, aim a, std::uint64_t best_ps) {
  course& c = course_[static_cast<unsigned>(a)];
  const option again = std::exchange(c.again, option{});
  if (!rules_->is_on(by::width_trials)) return nullptr;
  const option* oldest = nullptr;
  for (const option& o : options) {
    if (o == c.in_use) continue;
    if (o == again) return &o;
    estimate& e = at(o, a);
    const std::uint64_t otherwise = runs_of_trial * best_ps;
    const std::uint64_t loss = e.trial_ps > otherwise ? e.trial_ps - otherwise : 0;
    e.saved_ps = std::min(loss, e.saved_ps + best_ps / (*rules_)[by::width_trials] / (options.size() - 1));
    if (e.saved_ps == loss && (oldest == nullptr || e.tried_at < at(*oldest, a).tried_at)) oldest = &o;
  }
  if (oldest == nullptr || c.runs - c.trial_at < runs_between_trials) return nullptr;
  c.trial_at = c.runs;
  c.again = *oldest;
  at(*oldest, a).saved_ps = 0;
  return oldest;
}

void width_table::measured(const choice& chosen, std::uint64_t elapsed_ps, std::uint64_t busy_ps) {
  const option o = chosen.of;
  WEFT_ASSERT(o.width != 0);
  if (!chosen.counts) return;
  const auto hear = [&](aim of, std::uint64_t ps) {
    course& c = course_[static_cast<unsigned>(of)];
    estimate& e = at(o, of);
    const std::uint64_t now = std::max<std::uint64_t>(ps, 1);
    if (o == c.in_use) {
      if (e.add(now)) forget_others(o, of);
    } else if (e.add_trial(now) && c.in_use.width != 0 && e.mean_ps < at(c.in_use, of).mean_ps) {
      forget_others(o, of);
    }
  };
  // Where other tasks wait the members of a team come late, which says nothing about the time without them.
  if (chosen.goal == aim::time) hear(aim::time, elapsed_ps);
  hear(aim::cost, busy_ps);
}

bool width_table::estimate::add(std::uint64_t ps) noexcept {
  const std::uint64_t before = mean_ps;
  const auto is_off = [&](std::uint64_t t) { return t > before + before / 8 ? 1 : t + before / 8 < before ? -1 : 0; };
  if (is_off(ps) != 0 && is_off(ps) == is_off(last_ps))
    mean_ps = is_off(ps) > 0 ? std::min(ps, last_ps) : std::max(ps, last_ps);
  else
    mean_ps = before - before / 4 + std::min(ps, 2 * before) / 4;
  last_ps = ps;
  return mean_ps > before + before / 4 || mean_ps + before / 4 < before;
}

bool width_table::estimate::add_trial(std::uint64_t ps) noexcept {
  const std::uint64_t first_ps = std::exchange(half_ps, half_ps == 0 ? ps : 0);
  if (first_ps == 0) return false;
  const std::uint64_t before = std::exchange(mean_ps, std::min(first_ps, ps));
  last_ps = mean_ps;
  trial_ps = first_ps + ps;
  return std::exchange(is_known, true) && mean_ps + before / 4 < before;
}

// Each is tried once more. Its mean stays until then: it says what a trial may lose.
void width_table::forget_others(option in_use, aim a) noexcept {
  for (std::size_t i = 0; i < used_; ++i) {
    if (cells_[i].of == in_use) continue;
    estimate& e = cells_[i].by[static_cast<unsigned>(a)];
    e.is_known = false;
    e.begun = 0;
  }
}

std::uint64_t width_table::expected_ps(option o, aim a) const noexcept {
  for (std::size_t i = 0; i < used_; ++i)
    if (cells_[i].of == o) {
      const estimate& e = cells_[i].by[static_cast<unsigned>(a)];
      return e.is_known ? e.mean_ps : 0;
    }
  return 0;
}

width_table::cell& width_table::of(option o) {
  for (std::size_t i = 0; i < used_; ++i)
    if (cells_[i].of == o) return cells_[i];
  WEFT_ASSERT(used_ < cells_.size());
  cells_[used_].of = o;
  return cells_[used_++];
}

}  // namespace weft::sched
