#include "sched/workers/groups.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::sched {

void groups::open(const place::tree& places) {
  WEFT_ASSERT(places_ == nullptr && places.workers() != 0);
  places_ = &places;
  widest_ = places.workers();
  at_leaf_.resize(places.leaves());
  at_node_.resize(places.nodes());
  for (unsigned id = 0; id < places.workers(); ++id) {
    const auto worker = static_cast<std::uint16_t>(id);
    at_leaf_[places.leaf_of(id)].push_back(worker);
    at_node_[places.node_of(id)].push_back(worker);
    all_.push_back(worker);
  }
}

void groups::leave_out(unsigned worker) {
  WEFT_ASSERT(left_out_ == nobody && worker < places_->workers() && widest_ > 1);
  left_out_ = worker;
  --widest_;
  const auto strike = [worker](list& from) { std::erase(from, static_cast<std::uint16_t>(worker)); };
  strike(at_leaf_[places_->leaf_of(worker)]);
  strike(at_node_[places_->node_of(worker)]);
  strike(all_);
}

void groups::around(unsigned worker, unsigned width, unsigned absent, list& members) const {
  WEFT_ASSERT(worker < places_->workers() && width != 0 && width <= widest_);
  members.clear();
  if (worker == left_out_) {  // it is in no block
    take_nearest(worker, width, absent, members);
    std::sort(members.begin() + 1, members.end());
    WEFT_ASSERT(members.size() == width);
    return;
  }
  const list& leaf = at_leaf_[places_->leaf_of(worker)];
  const list& node = at_node_[places_->node_of(worker)];
  take_block(leaf.size() >= width ? leaf : node.size() >= width ? node : all_, worker, width, members);
  const bool has_absent = std::find(members.begin(), members.end(), absent) != members.end();
  if (has_absent && absent != worker && width < widest_) take_nearest(worker, width, absent, members);
  std::rotate(members.begin(), std::find(members.begin(), members.end(), static_cast<std::uint16_t>(worker)),
              members.end());
  std::sort(members.begin() + 1, members.end());
  WEFT_ASSERT(members.size() == width && members.front() == worker);
}

void groups::take_block(const list& from, unsigned worker, unsigned width, list& members) const {
  const auto at = static_cast<std::size_t>(
      std::lower_bound(from.begin(), from.end(), static_cast<std::uint16_t>(worker)) - from.begin());
  const std::size_t begin = std::min(at / width * width, from.size() - width);
  WEFT_ASSERT(from[at] == worker && begin <= at && at < begin + width);
  members.assign(from.begin() + static_cast<std::ptrdiff_t>(begin),
                 from.begin() + static_cast<std::ptrdiff_t>(begin + width));
}

void groups::take_nearest(unsigned worker, unsigned width, unsigned absent, list& members) const {
  members.assign(1, static_cast<std::uint16_t>(worker));
  for (const std::uint16_t other : places_->neighbours(worker))
    if (members.size() < width && other != absent && other != left_out_) members.push_back(other);
}

}  // namespace weft::sched
