#include "machine/virtual/turns.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::machine {

turns::turns(const setup& s)
    : random_(s.seed), disturbed_(s.disturbed), by_priority_(s.by_priority),
      quiet_(s.disturbed.stall == 0 && s.disturbed.late_wake == 0 && s.disturbed.lost_steal == 0) {
  if (!by_priority_) return;
  const auto range = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(s.length, 1, 0xffff'ffffu));
  for (unsigned i = 0; i < s.depth; ++i) moments_.push_back(random_.below(range));
  std::sort(moments_.begin(), moments_.end());
}

void turns::open(unsigned cores) {
  held_.assign(cores, 0);
  priority_.assign(cores, 0);
  if (!by_priority_) return;
  for (std::uint64_t& p : priority_) p = random_.next() | std::uint64_t{1} << 63;
}

std::size_t turns::choose() {
  for (++turn_; moments_met_ < moments_.size() && moments_[moments_met_] < turn_; ++moments_met_)
    priority_[ids_[first()]] = --last_;
  std::size_t chosen = first();
  if (one_in(disturbed_.stall)) {
    hold(ids_[chosen]);
    chosen = first();
  }
  for (const unsigned id : ids_)
    if (held_[id] != 0) --held_[id];
  return chosen;
}

// Among those who do not stand still, if there are any.
std::size_t turns::first() {
  const auto moves = [this](unsigned id) { return held_[id] == 0; };
  const auto moving = static_cast<std::uint32_t>(std::count_if(ids_.begin(), ids_.end(), moves));
  const bool any = moving == 0;
  std::uint32_t skip = by_priority_ ? 0 : random_.below(any ? static_cast<std::uint32_t>(ids_.size()) : moving);
  std::size_t best = ids_.size();
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (!any && !moves(ids_[i])) continue;
    if (!by_priority_ && skip-- == 0) return i;
    if (by_priority_ && (best == ids_.size() || priority_[ids_[i]] > priority_[ids_[best]])) best = i;
  }
  WEFT_ASSERT(best < ids_.size());
  return best;
}

}  // namespace weft::machine
