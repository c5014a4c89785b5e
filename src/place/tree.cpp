#include "place/tree.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/assert.hpp"

namespace weft::place {

tree::tree(std::vector<core> cores, unsigned workers, std::vector<std::vector<unsigned>> apart, memory_facts facts)
    : apart_(std::move(apart)), facts_(std::move(facts)), near_(workers) {
  WEFT_ASSERT(!cores.empty() && workers > 0);
  for (unsigned w = 0; w < workers; ++w) seat_.push_back(cores[w % cores.size()]);
  for (const core& c : seat_) nodes_ = std::max(nodes_, c.node + 1);
  for (unsigned w = 0; w < workers; ++w) {
    std::vector<std::uint16_t>& near = near_[w];
    for (unsigned step = 1; step < workers; ++step) near.push_back(static_cast<std::uint16_t>((w + step) % workers));
    std::stable_sort(near.begin(), near.end(),
                     [&](std::uint16_t a, std::uint16_t b) { return distance(w, a) < distance(w, b); });
  }
  find_leaves();
  find_servers(std::max<std::size_t>(nodes_, apart_.size()));
}

void tree::find_leaves() {
  std::map<std::pair<unsigned, unsigned>, unsigned> number;  // of a cache of a node
  for (std::size_t w = 0; w < seat_.size(); ++w) {
    const auto leaf = number.try_emplace({seat_[w].node, seat_[w].cache}, number.size()).first->second;
    leaf_.push_back(leaf);
    leaf_workers_.resize(number.size());
    leaf_workers_[leaf].push_back(static_cast<std::uint16_t>(w));
  }
}

void tree::find_servers(std::size_t memory_nodes) {
  std::vector<bool> has_workers(memory_nodes);
  for (const core& c : seat_) has_workers[c.node] = true;
  for (unsigned node = 0; node < memory_nodes; ++node) {
    unsigned best = seat_.front().node;
    for (unsigned other = 0; other < memory_nodes; ++other)
      if (has_workers[other] && apart(node, other) < apart(node, best)) best = other;
    served_by_.push_back(best);
  }
}

unsigned tree::apart(unsigned node, unsigned other) const noexcept {
  if (node == other) return 0;
  return apart_.empty() ? 1 : apart_[node][other];
}

std::uint64_t tree::cost(const std::vector<std::uint64_t>& by_class, unsigned node, unsigned memory) const noexcept {
  const unsigned at = apart(node, memory);
  return by_class.empty() ? at : by_class[std::min<std::size_t>(at, by_class.size() - 1)];
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
