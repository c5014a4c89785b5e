#include "weak/order_of_all.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::weak {

clock order_of_all::ancestors(unsigned core, const clock& before) const {
  clock all{};
  if (count(core) != 0) all = at({core, count(core)}).ancestors;
  for (unsigned c = 0; c < cores_max; ++c)
    if (before.of[c] > all.of[c]) all.join(at({c, before.of[c]}).ancestors);
  return all;
}

std::uint64_t order_of_all::highest_before(unsigned core, const clock& before, const accesses& word) const {
  const clock all = ancestors(core, before);
  std::uint64_t highest = 0;
  for (unsigned c = 0; c < cores_max; ++c) {
    const auto& by = word[c];
    const auto beyond = std::upper_bound(by.begin(), by.end(), all.of[c],
                                         [](std::uint32_t index, const access& a) { return index < a.index; });
    if (beyond != by.begin()) highest = std::max(highest, std::prev(beyond)->key);
  }
  return highest;
}

// Of each other core the last event below and the first above are enough: its own order says the rest. So does the
// event before this one on its own core of what that has as an ancestor already.
void order_of_all::add(unsigned core, const clock& before, accesses& word, std::uint64_t key) {
  const name self{core, count(core) + 1};
  events_[core].push_back({count(core) != 0 ? at({core, count(core)}).ancestors : clock{}, {}});
  at(self).ancestors.of[core] = self.index;
  for (unsigned c = 0; c < cores_max; ++c)
    if (c != core && before.of[c] > at(self).ancestors.of[c]) leads({c, before.of[c]}, self);
  for (unsigned c = 0; c < cores_max; ++c) {
    if (c == core) continue;
    const auto& by = word[c];
    const auto from =
        std::lower_bound(by.begin(), by.end(), key, [](const access& a, std::uint64_t k) { return a.key < k; });
    if (from != by.begin() && std::prev(from)->index > at(self).ancestors.of[c])
      leads({c, std::prev(from)->index}, self);
  }
  for (unsigned c = 0; c < cores_max; ++c) {
    if (c == core) continue;
    const auto& by = word[c];
    const auto to =
        std::upper_bound(by.begin(), by.end(), key, [](std::uint64_t k, const access& a) { return k < a.key; });
    if (to != by.end()) leads(self, {c, to->index});
  }
  word[core].push_back({self.index, key});
}

void order_of_all::leads(name from, name to) {
  at(from).next.push_back(to);
  WEFT_ASSERT(at(from).ancestors.of[to.core] < to.index);  // or S would be a circle
  at(to).ancestors.join(at(from).ancestors);
  if (to.index != count(to.core) || !at(to).next.empty()) tell(to);
}

// All that come after it learn of its ancestors.
void order_of_all::tell(name from) {
  const auto follows = [this](const event& e, name to) {
    event& next = at(to);
    clock all = next.ancestors;
    all.join(e.ancestors);
    if (all.of == next.ancestors.of) return;
    next.ancestors = all;
    told_.push_back(to);
  };
  told_.assign(1, from);
  while (!told_.empty()) {
    const name n = told_.back();
    told_.pop_back();
    if (n.index < count(n.core)) follows(at(n), {n.core, n.index + 1});
    const std::vector<name> next = at(n).next;
    for (const name to : next) follows(at(n), to);
  }
}

}  // namespace weft::weak
