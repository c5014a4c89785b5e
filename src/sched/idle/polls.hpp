// Whoever has no work asks outside (weft/poll.hpp): not a queue, but what is found there fulfils events, and these put
// tasks into queues. On a modelled machine nobody is outside but the other nodes of a modelled cluster.
// No worker stays awake for this: visible() says no. Who wants to be asked while all sleep, or are in long bodies,
// brings a thread for that.
#pragma once
#include "sched/idle/events.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

template <class M> class polls final : public source<M> {
 public:
  explicit polls(poll_seat& seat)
      : source<M>("what is outside", {.shared = true, .while_paused = true, .now_and_then = true, .serves_one = true}),
        seat_(seat) {}

  // Never a record: what has become ready stands in a queue. Errors: what the one asked throws ends the program, which
  // has no other place for it.
  [[nodiscard]] detail::record* take(worker<M>& w) noexcept override {
    if (seat_.ask()) w.look.left_own();
    return nullptr;
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override { return false; }

 private:
  poll_seat& seat_;
};

}  // namespace weft::sched
