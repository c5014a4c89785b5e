// Read and write sets without false positives: for each line the tasks that have accessed it. They are what Bloom
// filters approximate ("perfect conflict detection" in Fig. 17), and what an audit compares with.
#pragma once
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "lab/swarm/task.hpp"

namespace weft::swarm {

class exact_sets {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] std::uint32_t insert(line l, task* who, bool wrote) {
    if (l >= first_.size()) first_.resize(l + 1 + l / 2, none);
    std::uint32_t i = free_;
    if (i == none) {
      i = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({});
    } else {
      free_ = nodes_[i].next;
    }
    nodes_[i] = {who, l, first_[l], none, wrote};
    if (first_[l] != none) nodes_[first_[l]].previous = i;
    first_[l] = i;
    return i;
  }
  void erase(std::uint32_t i) {
    node& n = nodes_[i];
    WEFT_ASSERT(n.who != nullptr && (n.previous != none ? nodes_[n.previous].next : first_[n.where]) == i);
    WEFT_ASSERT(n.next == none || nodes_[n.next].previous == i);
    (n.previous != none ? nodes_[n.previous].next : first_[n.where]) = n.next;
    if (n.next != none) nodes_[n.next].previous = n.previous;
    n.who = nullptr;
    n.next = free_;
    free_ = i;
  }
  // Calls f(task, wrote) for each access of the line that is still speculative.
  template <class F> void of(line l, F&& f) const {
    if (l >= first_.size()) return;
    for (std::uint32_t i = first_[l]; i != none; i = nodes_[i].next) f(nodes_[i].who, nodes_[i].wrote);
  }

 private:
  struct node {
    task* who = nullptr;
    line where = 0;
    std::uint32_t next = none, previous = none;
    bool wrote = false;
  };
  std::vector<node> nodes_;
  std::vector<std::uint32_t> first_;  // by line
  std::uint32_t free_ = none;
};

}  // namespace weft::swarm
