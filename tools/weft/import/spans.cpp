// See spans.hpp.
#include "spans.hpp"

#include <algorithm>
#include <tuple>

#include "tools/weft/output.hpp"

namespace weft::tool::foreign {

void spans::settle(graph& into) {
  std::vector<index> order(all_.size());
  for (index i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [this](index i) { return std::tuple(all_[i].begin, -all_[i].end); });
  outer_.resize(tracks_.size());
  std::vector<index> last(tracks_.size(), none), worker(tracks_.size(), none);
  index workers = 0;
  std::uint64_t inner = 0;
  for (const index i : order) {
    span& s = all_[i];
    index& outer = last[s.track];
    if (outer != none && s.begin < all_[outer].end && s.end <= all_[outer].end + rounding_ns) {
      s.task = all_[outer].task;
      ++inner;
      continue;
    }
    if (outer != none && s.begin + rounding_ns < all_[outer].end)
      into.from().fail_at(s.place, "the span '" + printable(s.name, name_width_max) + "' begins in '" +
                                       printable(all_[outer].name, name_width_max) + "' (" +
                                       into.from().place_text(all_[outer].place) +
                                       ") and ends after it, on one thread");
    s.task = into.add(s.name + " #" + std::to_string(s.place), s.name, s.end - s.begin, s.place);
    if (worker[s.track] == none) worker[s.track] = workers++;
    into.tasks[s.task].begin = s.begin;
    into.tasks[s.task].worker = worker[s.track];
    outer_[s.track].push_back({s.begin, s.end, s.task});
    outer = i;
  }
  into.note(inner, "spans lie in others of their thread, and are taken for parts of these");
}

index spans::at(index track, ns time) const {
  const auto& all = outer_[track];
  auto found = std::ranges::upper_bound(all, time, {}, &piece::begin);
  if (found == all.begin()) return none;
  --found;
  return time <= found->end ? found->task : none;
}

index spans::from(index track, ns time) const {
  const auto& all = outer_[track];
  const auto found = std::ranges::lower_bound(all, time, {}, &piece::begin);
  return found == all.end() ? none : found->task;
}

bool one_after_the_other(const graph& g, index before, index after) noexcept {
  return g.tasks[before].begin + g.tasks[before].duration <= g.tasks[after].begin + clocks_ns;
}

}  // namespace weft::tool::foreign
