// The lists of sources: where a worker that has no work looks for some, and in which order. Here stand the sources that
// are queues, one of each for all workers; others are nouns of their own, and the engine hands them in. A policy
// decides about the part of the list that is between the worker and the machine (weft/policy.hpp, search_levels).
#pragma once
#include <vector>

#include "base/assert.hpp"
#include "place/tree.hpp"
#include "sched/admit/creation.hpp"
#include "sched/place/context.hpp"
#include "sched/place/hierarchy.hpp"
#include "sched/place/place_room.hpp"
#include "sched/place/pushed.hpp"
#include "sched/place/queues.hpp"
#include "sched/policies/policy.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

// Those who wait for everything to be done: whoever finds nothing else to do lets them go.
template <class M> class over_source final : public source<M> {
 public:
  explicit over_source(context<M>& context)
      : source<M>("waits that are over", {.shared = true, .serves_one = true}), context_(context) {}
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    quiescence<M>& all = context_.quiescence;
    // To ask whether all is done takes a look at as many lines as there are workers; so first a hint, but for who is
    // about to sleep.
    if (!all.is_awaited() || (!w.look.is_everywhere() && context_.sleep.somebody_is_busy())) return nullptr;
    if (!all.is_up_to_caller() || !all.reached()) return nullptr;
    if (!all.is_up_to_caller()) return nullptr;
    context_.readiness.quiescent(w);
    return context_.ordering.chooses() ? context_.ordering.take(w) : w.box.pop();
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override { return context_.quiescence.is_over_at_last(); }

 private:
  context<M>& context_;
};

template <class M> class sources {
 public:
  // Lives: both, for as long as this.
  sources(context<M>& c, place_room<M>& place)
      : crew_(c.crew), stealing_(place.stealing), own_(place.own), urgent_(c.placement, c.attention),
        pushed_here_(c.placement), pushed_elsewhere_(c.crew, c.placement, c.recording), members_(c.placement, c.crew),
        nodes_(c.placement), piles_(c.placement), central_(c.placement), overflow_(c.placement), home_(c.placement),
        leaf_mates_(mates_source<M>::level::leaf, c.crew, c.placement, place.stealing),
        node_mates_(mates_source<M>::level::node, c.crew, c.placement, place.stealing),
        left_behind_(c.crew, place.stealing), over_(c) {}

  // Who: the thread that makes the runtime; once, before list().
  void open(const place::tree& places, policy& asked) {
    WEFT_ASSERT(policy_ == nullptr);
    policy_ = &asked;
    pushed_elsewhere_.open(places, asked);
    piles_.open(places);
    for (mates_source<M>* mates : {&leaf_mates_, &node_mates_})
      mates->open(places, asked.elastic() == elasticity::node);
  }

  // What stands in the lists beside the queues.
  struct others {
    source<M>* timed;     // first of all: alarms; nullptr: there are none
    source<M>* in_order;  // has every task, in place of all queues; nullptr: tasks are in queues
    creation<M>& made_by_others;
    source<M>& room;               // what waits for room in the window
    source<M>* outside = nullptr;  // behind alarms: what is polled; nullptr: nothing is
  };
  // The list of w. Who: the same thread. Errors: std::bad_alloc.
  void list(worker<M>& w, const others& beside) {
    WEFT_ASSERT(policy_ != nullptr && w.sources.empty());
    std::vector<source<M>*>& s = w.sources;
    creation<M>& made = beside.made_by_others;
    if (beside.timed != nullptr) s.push_back(beside.timed);
    if (beside.outside != nullptr) s.push_back(beside.outside);
    if (beside.in_order != nullptr) {
      s.push_back(beside.in_order);
    } else if (w.role == role::creator) {
      s.insert(s.end(), {&made.all_requests(), &members_, &box_});
    } else {
      s.insert(s.end(), {&members_, &urgent_, &box_});
      if (policy_->pushes()) s.push_back(&pushed_here_);
      if (made.on()) s.insert(s.end(), {&made.made(), &made});
      s.insert(s.end(), {&own_, &overflow_});
      list_levels(w.is_special() ? search_levels::flat : policy_->levels(), s);
    }
    s.insert(s.end(), {&beside.room, &over_});
  }

 private:
  // From the worker to the machine. The reserve takes the place of workers that block, wherever they are.
  void list_levels(search_levels levels, std::vector<source<M>*>& s) {
    switch (levels) {
    case search_levels::flat: break;
    case search_levels::near_to_far:
    case search_levels::near_only:
      s.push_back(&leaf_mates_);
      if (policy_->uses_nodes()) s.push_back(&home_);
      s.insert(s.end(), {&node_mates_, &central_});
      break;
    case search_levels::upwards:
      if (policy_->uses_nodes()) s.push_back(&home_);
      s.insert(s.end(), {&central_, &leaf_mates_});
      break;
    }
    const bool looks_far = levels == search_levels::flat || levels == search_levels::near_to_far;
    if (looks_far && policy_->uses_nodes()) s.push_back(&nodes_);
    if (policy_->uses_piles()) s.push_back(&piles_);  // at every level: else what lies there is nobody's
    if (!looks_far) {
      if (crew_.has_reserve()) s.push_back(&left_behind_);
      return;
    }
    if (levels == search_levels::flat) s.push_back(&central_);
    if (policy_->pushes_to_far_end()) s.push_back(&pushed_elsewhere_);
    s.push_back(&stealing_);
    if (policy_->pushes() && !policy_->pushes_to_far_end()) s.push_back(&pushed_elsewhere_);
  }

  crew<M>& crew_;
  stealing<M>& stealing_;
  const policy* policy_ = nullptr;
  own_source<M>& own_;
  urgent_source<M> urgent_;
  box_source<M> box_;
  pushed_source<M> pushed_here_;
  pushed_elsewhere<M> pushed_elsewhere_;
  team_source<M> members_;
  node_source<M> nodes_;
  pile_source<M> piles_;
  central_source<M> central_;
  overflow_source<M> overflow_;
  home_source<M> home_;
  mates_source<M> leaf_mates_;
  mates_source<M> node_mates_;
  reserve_source<M> left_behind_;
  over_source<M> over_;
};

}  // namespace weft::sched
