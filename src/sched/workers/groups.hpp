// Which workers sit close together: the members that a team gets around the worker that took it (TAO §3.2). Of the
// places around that worker - its shared cache, its memory node, the machine - the smallest that has enough workers
// gives them, in blocks: workers 0 to n-1 of it, n to 2n-1, and so on, so that teams of one width do not overlap, and
// one worker's teams have the same members each time. Who may be left out - a main thread that is away - is replaced by
// the nearest that may not.
#pragma once
#include <cstdint>
#include <vector>

#include "place/tree.hpp"

namespace weft::sched {

class groups {
 public:
  // Who: the thread that makes the runtime, before any worker runs.
  void open(const place::tree& places);
  // One worker, which does something else: no member but of teams that it takes itself, because a clause says so.
  void leave_out(unsigned worker);

  // The most members that there can be.
  [[nodiscard]] unsigned widest() const noexcept { return widest_; }
  // How many members a team around `worker` may have at its leaf, and at its memory node; 0: none.
  struct sizes {
    unsigned leaf, node;
  };
  [[nodiscard]] sizes sizes_around(unsigned worker) const noexcept {
    return {static_cast<unsigned>(at_leaf_[places_->leaf_of(worker)].size()),
            static_cast<unsigned>(at_node_[places_->node_of(worker)].size())};
  }
  // Gives the members of a team of `width` around `worker`, which comes first; the others in their order. Without
  // `absent`, unless there are too few. Who: anyone. Errors: std::bad_alloc, where `members` has no room.
  void around(unsigned worker, unsigned width, unsigned absent, std::vector<std::uint16_t>& members) const;

  static constexpr unsigned nobody = ~0u;

 private:
  using list = std::vector<std::uint16_t>;
  void take_block(const list& from, unsigned worker, unsigned width, list& members) const;
  void take_nearest(unsigned worker, unsigned width, unsigned absent, list& members) const;

  const place::tree* places_ = nullptr;
  unsigned widest_ = 0;
  unsigned left_out_ = nobody;
  std::vector<list> at_leaf_, at_node_;
  list all_;
};

// The members that a worker's last team had: as a rule the next one has them, too.
class party {
 public:
  // As groups::around(). What it returns is true until the next call. Who: the worker whose this is. Errors:
  // std::bad_alloc, and then it remembers none.
  [[nodiscard]] const std::vector<std::uint16_t>& around(const groups& who, unsigned worker, unsigned width,
                                                         unsigned absent) {
    if (worker == worker_ && width == members_.size() && absent == absent_) return members_;
    worker_ = groups::nobody;
    who.around(worker, width, absent, members_);
    worker_ = worker;
    absent_ = absent;
    return members_;
  }

 private:
  std::vector<std::uint16_t> members_;
  unsigned worker_ = groups::nobody, absent_ = groups::nobody;
};

}  // namespace weft::sched
