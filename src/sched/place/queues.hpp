// The sources that are queues: what placement.hpp writes, these read. In the order in which an ordinary worker asks:
// urgent tasks, its own deque (newest first, and on the hot path before any source is asked), its inbox, the queue of
// its memory node, or the pile there, the central queue.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/prefetch.hpp"
#include "place/tree.hpp"
#include "sched/idle/attention.hpp"
#include "sched/place/placement.hpp"
#include "sched/queues/deque.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

template <class M> class urgent_source final : public source<M> {
 public:
  urgent_source(placement<M>& placement, attention<M>& attention)
      : source<M>("the queue of urgent tasks", {.shared = true, .at_hand = true}), placement_(placement),
        attention_(attention) {}

  // What w has kept for itself must not wait for the body of the urgent task.
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    if (!attention_.called_now()) return nullptr;
    detail::record* r = placement_.urgent().pop();
    if (r == nullptr) return nullptr;
    attention_.remove_urgent();
    if (deque<M>::has_private(w)) placement_.keep_within_reach(w);
    w.look.left_own();
    return r;
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override { return !placement_.urgent().empty(); }

 private:
  placement<M>& placement_;
  attention<M>& attention_;
};

// The own deque once more: a search begins with it empty, but requests that are created during the search put tasks
// there, and a pause or an urgent task may have passed it over.
template <class M> class own_source final : public source<M> {
 public:
  explicit own_source(placement<M>& placement) : source<M>("the own deque", {.at_hand = true}), placement_(placement) {}

  [[nodiscard]] detail::record* take(worker<M>& w) override {
    if (!w.look.has_own()) return nullptr;
    WEFT_ASSERT(w.role != role::guest);
    detail::record* r = deque<M>::pop(w, w.pace.coarse);
    if (r != nullptr)
      placement_.keep_within_reach(w);
    else
      w.look.nothing_own();
    return r;
  }
  [[nodiscard]] bool visible(worker<M>& w) noexcept override { return deque<M>::stealable(w); }

 private:
  placement<M>& placement_;
};

// For one worker alone: pinned tasks, and its main thread that waited.
template <class M> class box_source final : public source<M> {
 public:
  box_source() : source<M>("the inbox", {.now_and_then = true, .serves_one = true, .at_hand = true}) {}
  [[nodiscard]] detail::record* take(worker<M>& w) override { return w.look.passes_box_over() ? nullptr : w.box.pop(); }
  [[nodiscard]] bool visible(worker<M>& w) noexcept override { return !w.box.empty(); }
};

// Members of teams: before all else, because others wait for them. Those of a main thread that is away are for whoever
// comes first. While the box is not empty its worker looks here before each body (tick_limit).
template <class M> class team_source final : public source<M> {
 public:
  explicit team_source(placement<M>& placement, crew<M>& all)
      : source<M>("the members of teams", {.now_and_then = true, .serves_one = true, .at_hand = true}),
        placement_(placement), crew_(all) {}
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    detail::record* r = pop(w);
    if (r == nullptr) return visible_of_main(w) ? crew_.main().team_box.pop() : nullptr;
    w.look.found_member();
    if (w.team_box.empty()) {
      M::store(w.tick_limit, w.usual_ticks(), base::seq_cst);
      if (!w.team_box.empty()) M::store(w.tick_limit, 0u, base::relaxed);
    }
    if (deque<M>::has_private(w)) placement_.keep_within_reach(w);
    w.look.left_own();
    return r;
  }
  [[nodiscard]] bool visible(worker<M>& w) noexcept override { return !w.team_box.empty() || visible_of_main(w); }

 private:
  // A member comes from another core line after line, each of which names the next. They are asked for at once: the
  // word that was lowered for it, and the record of the team's task, which has the closure and is counted down.
  [[nodiscard]] detail::record* pop(worker<M>& w) noexcept {
    if (w.team_box.empty()) return nullptr;
    base::will_write(&w.tick_limit);
    detail::record* const r = w.team_box.pop();
    if (r == nullptr || r->parent == nullptr) return r;
    base::will_write(r->parent);
    base::will_read(base::next_line(r->parent));
    return r;
  }
  [[nodiscard]] bool visible_of_main(const worker<M>& w) noexcept {
    return w.id != 0 && w.role != role::creator && !crew_.main().team_box.empty() && crew_.main_is_away();
  }

  placement<M>& placement_;
  crew<M>& crew_;
};

template <class M> class central_source final : public source<M> {
 public:
  explicit central_source(placement<M>& placement)
      : source<M>("the central queue", {.shared = true, .now_and_then = true, .at_hand = true}), placement_(placement) {
  }
  [[nodiscard]] detail::record* take(worker<M>&) override { return placement_.central().pop(); }
  [[nodiscard]] bool visible(worker<M>&) noexcept override { return !placement_.central().empty(); }

 private:
  placement<M>& placement_;
};

// What deques had no room for: several at once, since whoever makes so many makes more.
template <class M> class overflow_source final : public source<M> {
 public:
  explicit overflow_source(placement<M>& placement)
      : source<M>("what deques had no room for", {.shared = true, .now_and_then = true, .at_hand = true}),
        placement_(placement) {}
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    if (placement_.overflow().empty()) return nullptr;
    WEFT_ASSERT(w.role != role::guest);
    detail::record* const first = placement_.overflow().pop_some(std::min(deque<M>::room(w) + 1, base::steal_max));
    if (first == nullptr) return nullptr;
    detail::record* next = first->waiting.next;
    if (next == nullptr) return first;
    while (detail::record* const r = next) {
      next = r->waiting.next;
      placement_.bring(w, r);
    }
    placement_.keep_within_reach(w);
    return first;
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override { return !placement_.overflow().empty(); }

 private:
  placement<M>& placement_;
};

// The queues of memory nodes: the own one first, then those of others, because a node whose workers are all busy must
// not keep its tasks from workers that have nothing to do.
template <class M> class node_source final : public source<M> {
 public:
  explicit node_source(placement<M>& placement)
      : source<M>("the queues of memory nodes", {.shared = true, .now_and_then = true, .at_hand = true}),
        placement_(placement) {}
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    if (!placement_.looks_near()) return nullptr;
    auto& nodes = placement_.nodes();
    const unsigned mine = placement_.node_of(w);
    WEFT_ASSERT(nodes.empty() || mine < nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (detail::record* r = nodes[(mine + i) % nodes.size()].pop()) return r;
    return nullptr;
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override {
    if (!placement_.looks_near()) return false;
    for (auto& queue : placement_.nodes())
      if (!queue.empty()) return true;
    return false;
  }

 private:
  placement<M>& placement_;
};

// The piles of memory nodes: from the own one the newest; else from the others, beginning with any, as many of the
// oldest as there are workers here, who find the rest on their own pile.
template <class M> class pile_source final : public source<M> {
 public:
  explicit pile_source(placement<M>& placement)
      : source<M>("the piles of memory nodes", {.shared = true, .now_and_then = true, .at_hand = true}),
        placement_(placement) {}
  // Who: the thread that makes the runtime, before any worker runs.
  void open(const place::tree& places) {
    at_node_.assign(places.nodes(), 0);
    for (unsigned id = 0; id < places.workers(); ++id) ++at_node_[places.node_of(id)];
  }
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    auto& piles = placement_.piles();
    const auto count = static_cast<unsigned>(piles.size());
    if (count == 0) return nullptr;
    const unsigned mine = placement_.node_of(w);
    WEFT_ASSERT(mine < count && count == at_node_.size());
    if (detail::record* r = piles[mine].pop()) return r;
    const unsigned from = w.rng.below(count);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned other = (from + i) % count;
      if (other == mine) continue;
      detail::record* const r = piles[other].take_oldest(at_node_[mine]);
      if (r == nullptr) continue;
      count_one(w.counted.steals);
      if (r->waiting.next != nullptr) placement_.restock(w, r->waiting.next);
      return r;
    }
    return nullptr;
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override {
    for (auto& pile : placement_.piles())
      if (!pile.empty()) return true;
    return false;
  }

 private:
  placement<M>& placement_;
  std::vector<std::uint32_t> at_node_;  // workers
};

}  // namespace weft::sched
