// What a policy has pushed to a worker (destination::pushed) waits in a box of its own, of bounded length, until its
// worker takes it in: all of it before its next body, into its deque, where it is like any other task. A worker whose
// body is long takes nothing in, so those at its memory node who have nothing to do take from its box what they would
// take from its deque; those at other nodes only when they have searched in vain and are about to sleep, because what
// was pushed has its data there.
//
// Or a policy says that the box is the far end of the worker's queue (policy::pushes_to_far_end). Then its worker takes
// one whenever its deque is empty, and whoever robs asks for boxes first, in the order that the policy names.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "place/tree.hpp"
#include "sched/place/placement.hpp"
#include "sched/policies/policy.hpp"
#include "sched/queues/deque.hpp"
#include "sched/replay/recording.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

// The own box. While it is not empty its worker looks here before each body (tick_limit), as at members of teams.
template <class M> class pushed_source final : public source<M> {
 public:
  explicit pushed_source(placement<M>& placement)
      : source<M>("what was pushed to it", {.now_and_then = true, .at_hand = true}), placement_(placement) {}

  [[nodiscard]] detail::record* take(worker<M>& w) override {
    if (w.id >= placement_.pushed().size()) return nullptr;  // to the reserve nobody pushes
    if (placement_.pushed().are_far_ends()) return deque<M>::size(w) == 0 ? placement_.pushed().pop(w.id) : nullptr;
    detail::record* const r = placement_.take_in(w);
    if (detail::peek(w.tick_limit) != 0) return r;
    M::store(w.tick_limit, ticks_between_looks, base::seq_cst);
    if (!w.team_box.empty() || visible(w)) M::store(w.tick_limit, 0u, base::relaxed);
    return r;
  }
  [[nodiscard]] bool visible(worker<M>& w) noexcept override {
    return w.id < placement_.pushed().size() && !placement_.pushed().empty(w.id);
  }

 private:
  placement<M>& placement_;
};

// The boxes of others.
template <class M> class pushed_elsewhere final : public source<M> {
 public:
  pushed_elsewhere(crew<M>& all, placement<M>& placement, recording<M>& recording)
      : source<M>("what was pushed to others", {}), crew_(all), placement_(placement), recording_(recording) {}
  // Who: the thread that makes the runtime.
  void open(const place::tree& places, policy& asked) noexcept {
    WEFT_ASSERT(places_ == nullptr);
    places_ = &places;
    if (asked.pushes_to_far_end()) policy_ = &asked;
  }

  // The oldest of the first box that has something, nearest first.
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    WEFT_ASSERT(places_ != nullptr);
    if (w.id >= places_->workers()) {  // the reserve
      for (unsigned id = 0; id < places_->workers(); ++id)
        if (detail::record* r = take_from(w, id)) return r;
      return nullptr;
    }
    if (policy_ != nullptr) return take_by_policy(w);
    for (const std::uint16_t id : places_->neighbours(w.id)) {
      if (!w.look.is_everywhere() && places_->node_of(id) != places_->node_of(w.id)) return nullptr;
      if (detail::record* r = take_from(w, id)) return r;
    }
    return nullptr;
  }
  [[nodiscard]] bool visible(worker<M>& w) noexcept override {
    for (unsigned id = 0; id < placement_.pushed().size(); ++id)
      if (id != w.id && !placement_.pushed().empty(id)) return true;
    return false;
  }

 private:
  [[nodiscard]] detail::record* take_by_policy(worker<M>& w) {
    for (unsigned i = 0; i + 1 < places_->workers(); ++i)
      if (detail::record* r = take_from(w, policy_->victim(w.id, i, w.rng))) return r;
    return nullptr;
  }
  [[nodiscard]] detail::record* take_from(worker<M>& w, unsigned id) {
    WEFT_ASSERT(id != w.id);
    detail::record* const r = placement_.pushed().pop(id);
    if (r == nullptr) return nullptr;
    WEFT_ASSERT(r->state == detail::record_state::ready);
    M::took_from(id);
    count_one(w.counted.steals);
    recording_.stolen(w, crew_[id], *r);
    return r;
  }

  const place::tree* places_ = nullptr;
  policy* policy_ = nullptr;  // that says in which order; nullptr: the nearest first
  crew<M>& crew_;
  placement<M>& placement_;
  recording<M>& recording_;
};

}  // namespace weft::sched
