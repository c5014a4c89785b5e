#include "access/dependences.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/limits.hpp"

namespace weft::access {

dependences::slot& dependences::slot_of(handle_state& h) {
  const auto [at, is_new] = by_handle_.try_emplace(&h, slots_.size());
  if (is_new) {
    slots_.emplace_back();
    slots_.back().handle = &h;
  }
  WEFT_ASSERT(slots_[at->second].handle == &h);
  return slots_[at->second];
}

bool dependences::must_apply_first(handle_state& h, std::uint8_t group) const {
  const auto at = by_handle_.find(&h);
  return at != by_handle_.end() && slots_[at->second].group == detail::kind_reduce && group != detail::kind_reduce;
}

bool dependences::needs_join(handle_state& h, std::uint8_t group) const {
  const auto at = by_handle_.find(&h);
  if (at == by_handle_.end()) return false;
  const slot& s = slots_[at->second];
  const bool more_may_come = (group & detail::kind_commutative) != 0 && (group & detail::kind_exclusive) == 0;
  return s.group != 0 && s.group != group && more_may_come && s.last.size() > many;
}

std::uint32_t dependences::join(handle_state& h) {
  WEFT_ASSERT(waits_for_.empty() && used_.empty());
  slot& s = slot_of(h);
  WEFT_ASSERT(s.last.size() > many);
  waits_for_ = s.last;
  const std::uint32_t number = add();
  s.last.assign(1, number);
  return number;
}

std::uint64_t dependences::access(handle_state& h, std::uint8_t group) {
  WEFT_ASSERT(group != 0);
  slot& s = slot_of(h);
  if (!joins(s, group)) {
    s.mixed = s.mixed || (s.group != 0 && s.group != group);
    // Versions know adds as one group, whatever their order.
    if (s.group != group || (group & detail::kind_commutative) == 0) s.group_start = s.accesses;
    s.group = group;
    s.before = std::move(s.last);
    s.last.clear();
  }
  waits_for_.insert(waits_for_.end(), s.before.begin(), s.before.end());
  s.reduces = s.reduces || group == detail::kind_reduce;
  used_.push_back(static_cast<std::size_t>(&s - slots_.data()));
  ++s.accesses;
  return s.group_start;
}

// An edge from p is implied by one from q if p is a predecessor of q. Looked for where both are few: a long list is not
// worth it, and nobody counts on its being short.
void dependences::reduce() {
  constexpr std::size_t few = 16;
  const std::uint32_t self = tasks() + 1;
  std::vector<std::uint32_t>& all = waits_for_;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() < 2 || all.size() > few) return;
  for (const std::uint32_t q : all)
    if (static_cast<std::size_t>(end(q) - begin(q)) <= few)
      for (const std::uint32_t* p = begin(q); p != end(q); ++p) seen_[*p] = self;
  std::erase_if(all, [&](std::uint32_t p) { return seen_[p] == self; });
  WEFT_ASSERT(!all.empty());  // the last of them is before no other
}

std::uint32_t dependences::add() {
  const std::uint32_t number = tasks();
  for (const std::size_t i : used_) slots_[i].last.push_back(number);
  used_.clear();
  reduce();
  WEFT_ASSERT(waits_for_.empty() || waits_for_.back() < number);
  predecessors_.insert(predecessors_.end(), waits_for_.begin(), waits_for_.end());
  first_.push_back(predecessors_.size());
  waits_for_.clear();
  seen_.push_back(0);
  return number;
}

}  // namespace weft::access
