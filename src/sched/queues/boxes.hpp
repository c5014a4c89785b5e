// The boxes that tasks are pushed to (destination::pushed), one for each worker. They are short, and refuse what they
// have no room for. Or each is the far end of its worker's queue, behind what is in its deque, and has room for all.
// Those have the count on another line than the lock, as SuperGlue's lists have: who looks whether there is something
// leaves the lock's line to who holds it.
#pragma once
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/queues/inbox.hpp"
#include "weft/detail/record.hpp"

namespace weft::sched {

template <class M> class boxes {
 public:
  // Who: the thread that makes the runtime, before any worker runs. Errors: std::bad_alloc.
  void open(unsigned workers, bool far_ends) {
    WEFT_ASSERT(size() == 0 && workers != 0);
    if (far_ends)
      ends_ = std::vector<inbox<M, 64>>(workers);
    else
      short_ = std::vector<inbox<M>>(workers);
  }
  // 0: nobody pushes.
  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(short_.size() + ends_.size()); }
  [[nodiscard]] bool are_far_ends() const noexcept { return !ends_.empty(); }

  // Returns whether there was room; r may be gone then. Who: anyone. Order: as inbox::push().
  [[nodiscard]] bool push(unsigned to, detail::record* r) noexcept {
    WEFT_ASSERT(to < size());
    if (!are_far_ends()) return short_[to].push_if_room(r, base::pushed_max);
    ends_[to].push(r);
    return true;
  }
  // The oldest, or nullptr. Who: anyone. Cost: a load while empty.
  [[nodiscard]] detail::record* pop(unsigned of) noexcept {
    WEFT_ASSERT(of < size());
    return are_far_ends() ? ends_[of].pop() : short_[of].pop();
  }
  [[nodiscard]] bool empty(unsigned of) noexcept {
    WEFT_ASSERT(of < size());
    return are_far_ends() ? ends_[of].empty() : short_[of].empty();
  }

 private:
  std::vector<inbox<M>> short_;
  std::vector<inbox<M, 64>> ends_;
};

}  // namespace weft::sched
