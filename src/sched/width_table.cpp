#include "sched/width_table.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace weft::sched {

namespace {
constexpr double unit = 1 << 20;  // what is taken for one unit of work, so that it is a number that rounds well
}

width_table::choice width_table::choose(std::span<const option> options, aim a, std::uint32_t at_once) {
  WEFT_ASSERT(!options.empty() && options.size() <= options_max && at_once != 0);
  at_once = a == aim::cost ? 1 : std::min(at_once, at_once_max);
  const auto bounded = static_cast<std::uint8_t>(at_once);
  course& c = course_[static_cast<unsigned>(a)];
  ++c.runs;
  const option* chosen = next_of_trial(options, c);
  if (chosen == nullptr) {
    chosen = first_trial(options, a);
    const option* const best_one = best(options, a);
    if (best_one != nullptr) c.in_use = *best_one;
    if (chosen == nullptr && best_one != nullptr) chosen = later_trial(options, a, at(*best_one, a).mean_ps, at_once);
    if (chosen != nullptr) {
      open_trial(*chosen, a, at_once);
      --c.left;
    } else if (best_one == nullptr) {
      return {options[c.runs % options.size()], a, false, bounded};  // none of the first trials is back yet
    } else {
      const bool settled = c.settling == 0 || c.settling-- == 0;
      return {*best_one, a, settled, bounded};
    }
  }
  c.settling = at_once;
  return {*chosen, a, c.left < c.wanted, bounded};
}

// The width on trial, if its trial goes on and this team may have it; else the trial is shorter by one.
const width_table::option* width_table::next_of_trial(std::span<const option> options, course& c) {
  if (c.left == 0) return nullptr;
  --c.left;
  const auto found = std::find(options.begin(), options.end(), c.on_trial);
  return found != options.end() ? &*found : nullptr;
}

void width_table::open_trial(option o, aim a, std::uint32_t at_once) {
  course& c = course_[static_cast<unsigned>(a)];
  c.on_trial = o;
  c.trial_at = c.runs;
  c.wanted = at_once > 1 ? std::max(at_once, runs_together) : runs_alone;
  c.left = c.wanted + (at_once > 1 ? at_once : 0);
  estimate& e = at(o, a);
  e.begin_trial(c.wanted);
  e.tried_at = c.runs;
}

const width_table::option* width_table::first_trial(std::span<const option> options, aim a) {
  std::uint64_t least = ~std::uint64_t{0}, last = 0;
  for (const option& o : options) {
    const estimate& e = at(o, a);
    if (e.is_known) {
      least = std::min(least, e.mean_ps);
      last = e.mean_ps;
    }
    if (e.is_begun) continue;
    if (last <= least || last / too_dear <= least) return &o;
    put_off(o, a, last);
  }
  return nullptr;
}

// As dear as the last that was tried, as far as is known: it waits until that has been saved.
void width_table::put_off(option o, aim a, std::uint64_t ps) {
  estimate& e = at(o, a);
  e.begin_trial(runs_alone);
  e.mean_ps = e.trial_ps = ps;
  e.is_known = true;
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

// The one that has waited longest of those that have saved up for what a trial loses. What all save together is the
// part for trials of what the best takes.
const width_table::option* width_table::later_trial(std::span<const option> options, aim a, std::uint64_t best_ps,
                                                    std::uint32_t at_once) {
  course& c = course_[static_cast<unsigned>(a)];
  const std::uint64_t runs = at_once > 1 ? at_once + std::max(at_once, runs_together) : runs_alone;
  const option* oldest = nullptr;
  for (const option& o : options) {
    if (o == c.in_use) continue;
    estimate& e = at(o, a);
    const std::uint64_t loss = e.trial_ps > best_ps ? runs * (e.trial_ps - best_ps) : 0;
    e.saved_ps = std::min(loss, e.saved_ps + best_ps / part_for_trials / (options.size() - 1));
    if (e.saved_ps == loss && (oldest == nullptr || e.tried_at < at(*oldest, a).tried_at)) oldest = &o;
  }
  if (oldest == nullptr || c.runs - c.trial_at < runs_between_trials * at_once) return nullptr;
  at(*oldest, a).saved_ps = 0;
  return oldest;
}

void width_table::measured(const choice& chosen, std::uint64_t elapsed_ps, std::uint64_t busy_ps, std::uint64_t worth) {
  const option o = chosen.of;
  WEFT_ASSERT(o.width != 0);
  if (!chosen.counts) return;
  const auto hear = [&](aim of, std::uint64_t ps) {
    course& c = course_[static_cast<unsigned>(of)];
    estimate& e = at(o, of);
    const bool is_used = o == c.in_use;
    const bool is_alone = chosen.at_once == 1 || of == aim::cost;
    const std::uint64_t took = e.gather(ps, worth, is_alone ? 1 : is_used ? chosen.at_once : e.wanted);
    if (took == 0) return;
    if (is_used) {
      if (e.add(took, is_alone)) seems_changed(o, of, is_alone ? 1 : chosen.at_once);
    } else if (e.add_trial(took) && c.in_use.width != 0 && e.mean_ps < at(c.in_use, of).mean_ps) {
      seems_changed(o, of, is_alone ? 1 : chosen.at_once);
    }
  };
  // Where other tasks wait the members of a team come late, which says nothing about the time elsewhere.
  if (chosen.goal == aim::time) hear(aim::time, elapsed_ps);
  hear(aim::cost, busy_ps);
}

void width_table::estimate::begin_trial(std::uint32_t runs) noexcept {
  is_begun = true;
  sum_ps = worth = come = 0;
  wanted = runs;
}

// Some may never come: who measures does not wait for the table's lock, and a team may fail. So of many three in four
// are enough.
std::uint64_t width_table::estimate::gather(std::uint64_t ps, std::uint64_t of_worth, std::uint32_t runs) noexcept {
  sum_ps += ps;
  worth += of_worth;
  if (++come < runs - runs / 4) return 0;
  const double each = static_cast<double>(sum_ps) / (worth != 0 ? static_cast<double>(worth) / unit : come);
  sum_ps = worth = come = 0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(each));
}

bool width_table::estimate::add(std::uint64_t ps, bool is_alone) noexcept {
  const std::uint64_t before = mean_ps, far = before / (is_alone ? 8 : 2);
  const auto is_off = [&](std::uint64_t t) { return t > before + far ? 1 : t + far < before ? -1 : 0; };
  const bool is_believed = is_off(ps) != 0 && is_off(ps) == is_off(last_ps);
  if (is_believed) {
    mean_ps = is_off(ps) > 0 ? std::min(ps, last_ps) : std::max(ps, last_ps);
    heard = 1;
    if (is_alone) trial_ps = 0;  // if it is now no more in use it is tried again soon: it may have been a pause
  } else {
    heard = is_alone ? 4 : std::min(heard + 1, heard_most);
    mean_ps = before - before / heard + (is_alone ? std::min(ps, 2 * before) : ps) / heard;
  }
  last_ps = ps;
  return (is_alone || is_believed) && (mean_ps > before + before / 4 || mean_ps + before / 4 < before);
}

bool width_table::estimate::add_trial(std::uint64_t ps) noexcept {
  const std::uint64_t before = mean_ps;
  const bool was_known = std::exchange(is_known, true);
  if (wanted > runs_alone) {
    heard = was_known ? std::min(heard + 1, heard_most) : 1;
    mean_ps = before - before / heard + ps / heard;
    trial_ps = ps;
  } else {
    const std::uint64_t first_ps = std::exchange(half_ps, half_ps == 0 ? ps : 0);
    if (first_ps == 0) {
      is_known = was_known;
      return false;
    }
    mean_ps = std::min(first_ps, ps);
    trial_ps = first_ps / 2 + ps / 2;
  }
  last_ps = mean_ps;
  return was_known && mean_ps + before / 4 < before;
}

// Each other is tried once more, unless that came to nothing lately. Its mean stays until then, to say what a trial may
// lose.
void width_table::seems_changed(option in_use, aim a, std::uint32_t at_once) noexcept {
  course& c = course_[static_cast<unsigned>(a)];
  if (c.runs < c.deaf_until) return;
  c.deaf_for = c.in_use == c.before ? std::min(2 * c.deaf_for, deaf_most) : deaf_first * at_once;
  c.deaf_until = c.runs + c.deaf_for;
  c.before = c.in_use;
  for (std::size_t i = 0; i < used_; ++i) {
    estimate& e = cells_[i].by[static_cast<unsigned>(a)];
    if (cells_[i].of == in_use) continue;
    e.is_known = false;
    e.is_begun = false;
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
