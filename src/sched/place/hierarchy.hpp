// Looking for work near to far, for policies that follow hints (PufferFish §IV-C). In place of one sweep over all
// others a worker asks its own leaf, the queue of its memory node, the other leaves of the node, the queue of the
// machine, and only then other nodes. Each level is a source; which of them a worker has, and in which order, the
// policy says (policy::levels). A leaf where nobody has pushed is passed over (leaves.hpp).
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "place/tree.hpp"
#include "sched/place/placement.hpp"
#include "sched/place/stealing.hpp"
#include "sched/queues/deque.hpp"
#include "sched/queues/leaves.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

// The deques of those at the same leaf, or at the other leaves of the same node.
template <class M> class mates_source final : public source<M> {
 public:
  enum class level : std::uint8_t { leaf, node };

  mates_source(level which, crew<M>& all, placement<M>& placement, stealing<M>& stealing)
      : source<M>(which == level::leaf ? "the deques at the same cache" : "the deques at the same memory node", {}),
        level_(which), crew_(all), placement_(placement), stealing_(stealing) {}

  // tells_all: that nothing was found here makes tasks hinted for the whole node tasks again, and not only those of w's
  // leaf. Who: the thread that makes the runtime.
  void open(const place::tree& places, bool tells_all) noexcept {
    places_ = &places;
    tells_all_ = tells_all;
  }

  [[nodiscard]] detail::record* take(worker<M>& w) override {
    if (!placement_.looks_near() || w.id >= places_->workers()) return nullptr;  // the reserve robs everybody
    const unsigned mine = places_->leaf_of(w.id);
    if (level_ == level::leaf) {
      if (detail::record* r = take_at(w, mine)) return r;
      placement_.leaves().starves(mine);
      return nullptr;
    }
    for (unsigned step = 1; step < places_->leaves(); ++step) {
      const unsigned leaf = (mine + step) % places_->leaves();
      if (!is_near(w, leaf)) continue;
      if (detail::record* r = take_at(w, leaf)) return r;
      if (tells_all_) placement_.leaves().starves(leaf);
    }
    return nullptr;
  }

  // What is seen here makes its leaf busy again, in case a thief has called it idle at the moment of a push.
  [[nodiscard]] bool visible(worker<M>& w) noexcept override {
    if (!placement_.looks_near() || w.id >= places_->workers()) return false;
    for (unsigned leaf = 0; leaf < places_->leaves(); ++leaf) {
      if ((leaf == places_->leaf_of(w.id)) != (level_ == level::leaf) || !is_near(w, leaf)) continue;
      for (const std::uint16_t id : places_->at_leaf(leaf))
        if (id != w.id && deque<M>::stealable(crew_[id])) {
          placement_.leaves().found_task(leaf);
          return true;
        }
    }
    return false;
  }

 private:
  [[nodiscard]] bool is_near(const worker<M>& w, unsigned leaf) const noexcept {
    return places_->node_of(places_->at_leaf(leaf).front()) == places_->node_of(w.id);
  }
  [[nodiscard]] detail::record* take_at(worker<M>& w, unsigned leaf) {
    if (!placement_.leaves().busy(leaf)) return nullptr;
    const auto& mates = places_->at_leaf(leaf);
    const unsigned from = w.rng.below(static_cast<std::uint32_t>(mates.size()));
    for (unsigned i = 0; i < mates.size(); ++i) {
      worker<M>& victim = crew_[mates[(from + i) % mates.size()]];
      if (&victim == &w) continue;
      if (detail::record* r = stealing_.rob(w, victim)) return r;
    }
    placement_.leaves().found_empty(leaf);
    return nullptr;
  }

  level level_;
  bool tells_all_ = false;
  const place::tree* places_ = nullptr;
  crew<M>& crew_;
  placement<M>& placement_;
  stealing<M>& stealing_;
};

// The queue of the own memory node, and of nodes without workers that this one serves. Nobody else's.
template <class M> class home_source final : public source<M> {
 public:
  explicit home_source(placement<M>& placement)
      : source<M>("the queue of the own memory node", {.now_and_then = true, .at_hand = true}), placement_(placement) {}
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    return placement_.looks_near() ? queue(w).pop() : nullptr;
  }
  [[nodiscard]] bool visible(worker<M>& w) noexcept override { return placement_.looks_near() && !queue(w).empty(); }

 private:
  [[nodiscard]] inbox<M>& queue(const worker<M>& w) noexcept {
    WEFT_ASSERT(placement_.node_of(w) < placement_.nodes().size());
    return placement_.nodes()[placement_.node_of(w)];
  }
  placement<M>& placement_;
};

// What the reserve has pushed. It has no place, so at none of these levels anybody would find what it leaves when it
// goes away.
template <class M> class reserve_source final : public source<M> {
 public:
  reserve_source(crew<M>& all, stealing<M>& stealing)
      : source<M>("the deque of the reserve", {.shared = true}), crew_(all), stealing_(stealing) {}
  [[nodiscard]] detail::record* take(worker<M>& w) override { return stealing_.rob(w, crew_.reserve()); }
  [[nodiscard]] bool visible(worker<M>&) noexcept override { return deque<M>::stealable(crew_.reserve()); }

 private:
  crew<M>& crew_;
  stealing<M>& stealing_;
};

}  // namespace weft::sched
