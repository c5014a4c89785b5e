// Tasks that a deque had no room for. A deque holds as many as its word can say are shared, so that whoever puts all it
// has within reach of others leaves nothing out of it; the owner of a full one gives its oldest here, as if a thief had
// them, and workers that have nothing of their own take some. What is here is visible to all (source.hpp): nobody need
// come back for it.
#pragma once
#include <cstdint>

#include "sched/idle/sleep.hpp"
#include "sched/queues/inbox.hpp"
#include "weft/detail/worker.hpp"

namespace weft::sched {

template <class M> class overflow final : public detail::deque_overflow {
 public:
  overflow(M& machine, sleep<M>& sleep) noexcept : machine_(machine), sleep_(sleep) {}

  // Order: visible by a seq_cst store and addition, then somebody is woken (sleep.md).
  void take_over(detail::record* oldest, detail::record* newest, std::uint32_t n) noexcept override {
    if (!M::unseen::load(is_used_, base::relaxed)) M::unseen::store(is_used_, true, base::seq_cst);
    queue_.push_all(oldest, newest, n);
    sleep_.notify(machine_);
  }
  // As inbox::pop_some().
  [[nodiscard]] detail::record* pop_some(std::uint32_t most) noexcept { return queue_.pop_some(most); }
  // Cost: as long as no deque was ever full, one load, which takes no time on a modelled machine.
  [[nodiscard]] bool empty() noexcept { return !M::unseen::load(is_used_, base::seq_cst) || queue_.empty(); }

 private:
  M& machine_;
  sleep<M>& sleep_;
  detail::cell<bool> is_used_;
  inbox<M> queue_;
};

}  // namespace weft::sched
