#include "place/tree.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace weft::place {

tree::tree(std::vector<core> cores, unsigned workers, std::vector<std::vector<unsigned>> apart)
    : apart_(std::move(apart)), near_(workers) {
  WEFT_ASSERT(!cores.empty() && workers > 0);
  for (unsigned w = 0; w < workers; ++w) seat_.push_back(cores[w % cores.size()]);
  for (const core& c : seat_) nodes_ = std::max(nodes_, c.node + 1);
  for (unsigned w = 0; w < workers; ++w) {
    std::vector<std::uint16_t>& near = near_[w];
    for (unsigned step = 1; step < workers; ++step) near.push_back(static_cast<std::uint16_t>((w + step) % workers));
    std::stable_sort(near.begin(), near.end(),
                     [&](std::uint16_t a, std::uint16_t b) { return distance(w, a) < distance(w, b); });
  }
}

unsigned tree::distance(unsigned a, unsigned b) const noexcept {
  const core& x = seat_[a];
  const core& y = seat_[b];
  if (x.node != y.node) return apart_.empty() ? 3 : 2 + apart_[x.node][y.node];
  if (x.cache != y.cache) return 2;
  return x.cpu != y.cpu ? 1 : 0;
}

std::vector<core> starting_at(std::vector<core> cores, unsigned cpu) {
  const auto here = std::find_if(cores.begin(), cores.end(), [cpu](const core& c) { return c.cpu == cpu; });
  if (here != cores.end()) std::rotate(cores.begin(), here, cores.end());
  return cores;
}

}  // namespace weft::place
