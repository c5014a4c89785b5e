#include "access/dependences.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::access {

void dependences::enter(const bucket& b) noexcept {
  std::size_t at = b.id;
  while (by_handle_[at & mask_].handle != nullptr) ++at;
  by_handle_[at & mask_] = b;
}

std::uint32_t dependences::new_slot(handle_state& h) {
  slots_.emplace_back();
  const auto number = static_cast<std::uint32_t>(slots_.size()) - 1;
  slots_[number].handle = &h;
  if (2 * slots_.size() > by_handle_.size()) {
    const std::vector<bucket> all = std::exchange(by_handle_, std::vector<bucket>(2 * by_handle_.size()));
    mask_ = by_handle_.size() - 1;
    for (const bucket& b : all)
      if (b.handle != nullptr) enter(b);
  }
  enter({&h, h.id, number});
  return number;
}

inline void dependences::wait_for(std::uint32_t p, std::uint32_t self) {
  WEFT_DEBUG_ASSERT(p + 1 < self);
  if (std::exchange(marks_[p].waited_for, self) != self) predecessors_.push_back(p);
}

inline void dependences::wait_for(const group_members& all) {
  if (all.size == 0) return;
  const std::uint32_t self = tasks() + 1;
  wait_for(all.newest, self);
  for (std::uint32_t at = all.older; at != none; at = links_[at].older) wait_for(links_[at].task, self);
}

std::uint32_t dependences::join(std::uint32_t i) {
  WEFT_ASSERT(predecessors_.size() == first_.back() && slots_[i].last.size > many);
  wait_for(slots_[i].last);
  const std::uint32_t number = add();
  slots_[i].last = {number, none, 1};
  return number;
}

std::uint64_t dependences::access(std::uint32_t i, std::uint8_t group) {
  WEFT_ASSERT(group != 0);
  slot& s = slots_[i];
  if (s.group != group || !may_be_many(group)) {
    s.mixed = s.mixed || (s.group != 0 && s.group != group);
    // Versions know adds as one group, whatever their order.
    if (s.group != group || (group & detail::kind_commutative) == 0) s.group_start = s.accesses;
    s.group = group;
    s.before = std::exchange(s.last, {});
  }
  wait_for(s.before);
  s.reduces = s.reduces || group == detail::kind_reduce;
  if (s.last.size != 0) {
    links_.push_back({s.last.newest, s.last.older});
    s.last.older = static_cast<std::uint32_t>(links_.size()) - 1;
  }
  s.last.newest = tasks();
  ++s.last.size;
  ++s.accesses;
  return s.group_start;
}

// An edge from p is implied by one from q if p is a predecessor of q. Looked for where both are few: a long list is not
// worth it, and nobody counts on its being short.
void dependences::reduce() {
  constexpr std::size_t few = 16;
  const std::uint32_t self = tasks() + 1;
  const std::size_t first = first_.back();
  const std::size_t all = predecessors_.size() - first;
  if (all < 2 || all > few) return;
  for (std::size_t i = first; i < predecessors_.size(); ++i) {
    const std::uint32_t q = predecessors_[i];
    if (static_cast<std::size_t>(end(q) - begin(q)) <= few)
      for (const std::uint32_t* p = begin(q); p != end(q); ++p) marks_[*p].implied = self;
  }
  const auto kept = std::remove_if(predecessors_.begin() + static_cast<std::ptrdiff_t>(first), predecessors_.end(),
                                   [&](std::uint32_t p) { return marks_[p].implied == self; });
  predecessors_.erase(kept, predecessors_.end());
  WEFT_ASSERT(predecessors_.size() > first);  // the last of them is before no other
}

std::uint32_t dependences::add() {
  const std::uint32_t number = tasks();
  reduce();
  first_.push_back(predecessors_.size());
  marks_.emplace_back();
  return number;
}

}  // namespace weft::access
