// Where a ready task goes: step 3 of a task's life, one function. It is the only caller of the policy's ready() and the
// only writer of the queues of ready tasks, so a mechanism that wants a task elsewhere changes an answer here or in a
// policy, and nothing else. It is asked for every task that becomes ready, those included that then run at once on the
// worker that made them ready (follows()).
//
//   what the task's clauses fix comes first (a pinned task goes to its worker, an urgent one to the queue that all look
//   at first); then what the policy answers; a guest has no deque, so "own" is the central queue for it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/plain.hpp"
#include "place/tree.hpp"
#include "sched/balance/tempo.hpp"
#include "sched/idle/attention.hpp"
#include "sched/idle/overflow.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/place/collecting.hpp"
#include "sched/place/team_boxes.hpp"
#include "sched/policies/policy.hpp"
#include "sched/queues/boxes.hpp"
#include "sched/queues/deque.hpp"
#include "sched/queues/inbox.hpp"
#include "sched/queues/leaves.hpp"
#include "sched/queues/pile.hpp"
#include "sched/replay/listeners.hpp"
#include "sched/replay/ordering.hpp"
#include "sched/workers/crew.hpp"

namespace weft::sched {

template <class M> class placement {
 public:
  using deque = sched::deque<M>;

  placement(M& machine, sleep<M>& sleep, crew<M>& all, attention<M>& attention, ordering<M>& order, tempo<M>& tempo)
      : machine_(machine), sleep_(sleep), crew_(all), attention_(attention), ordering_(order), tempo_(tempo) {}

  // Who: the thread that makes the runtime, before any worker runs.
  void open(policy& asked, const place::tree& places) {
    WEFT_ASSERT(policy_ == nullptr && nodes_.empty());
    policy_ = &asked;
    own_only_.raw = asked.always_own_deque() && !ordering_.chooses() ? 1 : 0;
    looks_near_.raw = !asked.awaits_hints();
    if (asked.uses_nodes()) nodes_ = std::vector<inbox<M>>(places.nodes());
    if (asked.uses_piles()) piles_ = std::vector<pile<M>>(places.nodes());
    if (asked.pushes()) pushed_.open(places.workers(), asked.pushes_to_far_end());
    if (asked.levels() != search_levels::flat) leaves_.open(places);
    stays_ = asked.levels() == search_levels::near_only || asked.levels() == search_levels::upwards;
    places_ = &places;
  }
  // The same: each task that is ready is told them.
  void tells(listeners<M>& all) noexcept { listeners_ = all.any() ? &all : nullptr; }
  // r is about to be ready, by what w does. Who: w's thread, once for each time that r is.
  [[gnu::always_inline]] void tell_ready(worker<M>& w, const detail::record& r) noexcept {
    if (listeners_ != nullptr) [[unlikely]]
      listeners_->ready(w, r);
  }
  // Whether workers take nothing from other nodes.
  [[nodiscard]] bool stays() const noexcept { return stays_; }
  // Whether each task stays where it became ready, so that the inline path may push without asking.
  [[nodiscard]] bool own_only() const noexcept { return detail::is_set(own_only_); }
  // Whether the levels that a policy names are looked at: not before the first hint, under one that awaits hints.
  [[nodiscard]] bool looks_near() noexcept {
    return M::unseen::load(looks_near_, base::seq_cst);  // in the last look before sleep, too: behind hints_begin()
  }
  // The first task with hints is on its way. Who: its submitter. On a modelled machine it takes no time.
  void hints_begin() noexcept {
    detail::poke(own_only_, std::uint8_t{0});
    base::shared(looks_near_).store(true, base::seq_cst);
  }

  // r, a task or a waiter, is ready. Who: w's thread, at its end of the deque. r may be gone when this returns.
  // Order: what goes to a queue that others read is published by a seq_cst read-modify-write, then somebody is woken.
  void place(worker<M>& w, detail::record* r) {
    using enum detail::record_state;
    const bool is_asked = !ordering_.chooses() && r->kind != detail::record_kind::external;
    const destination d = is_asked ? destination_of(w, *r) : destination::own();  // by the phase that it comes from
    if (r->state != ready) tell_ready(w, *r);
    transition(*r, {ready, blocked, filling}, ready);
    if (is_asked) return put(w, r, d);
    ordering_.chooses() ? ordering_.add(w, r) : M::signal(waiter::of(r).signal);
  }

  // The same for a plain task, which no clause sends anywhere: most of them. Cost: a push.
  [[gnu::always_inline]] void place_plain(worker<M>& w, detail::record* r) {
    if (!own_only()) [[unlikely]]
      return place(w, r);
    WEFT_ASSERT(w.role != role::guest);
    tell_ready(w, *r);
    transition(*r, detail::record_state::filling, detail::record_state::ready);
    push_own(w, r);
  }

  // Whether x, which is ready, is to run next on w rather than wait in a queue: it would go to w's own deque. A plain
  // task may go anywhere.
  [[nodiscard, gnu::always_inline]] bool follows(worker<M>& w, const detail::record& x) {
    if (!own_only()) return asks_to_follow(w, x);
    return x.plain || (detail::is_task(x) && !x.urgent && (x.pin == detail::record::unpinned || x.pin == w.id));
  }

  // r, which was to follow on w, waits after all, because w looks elsewhere first. It goes back to w's deque, or, if
  // only w may run it, where no thief finds it. Who: w's thread.
  void put_off(worker<M>& w, detail::record* r) {
    if (own_only() && r->pin == detail::record::unpinned) return push_own(w, r);
    put(w, r, destination_of(w, *r));
  }

  // r, in state ready, goes to the new end of w's deque; thieves are the caller's to think of. Who: w's thread.
  [[gnu::always_inline]] static void keep(worker<M>& w, detail::record* r) { deque::push(w, r); }
  // The same for a worker that looks for work, and has come by more than it runs next.
  [[gnu::always_inline]] static void bring(worker<M>& w, detail::record* r) {
    deque::push_in_loop(w, r);
    w.look.left_own();
  }
  // r, a body that yields, goes on where all look last. Where only w may go on with it, the next look passes it over.
  void yields(worker<M>& w, detail::record* r) {
    transition(*r, detail::record_state::filling, detail::record_state::ready);
    if (r->pin != detail::record::unpinned) {
      w.box.push(r);
      w.look.pass_box_over();
      return;
    }
    central_.push(r);
    sleep_.notify(machine_);
  }

  [[gnu::always_inline]] void push_own(worker<M>& w, detail::record* r) {
    deque::push(w, r);
    if (deque::starved(w))
      give_soon(w);
    else if ((detail::peek(w.deque.bottom) & hand_out_mask_) == 0) [[unlikely]]
      hand_out(w);
  }
  // w has submitted a task that waits. What it has collected may be what that task waits for.
  [[gnu::always_inline]] void submitted_waiting(worker<M>& w) noexcept {
    if (deque::starved(w) && deque::has_private(w)) [[unlikely]]
      give_soon(w);
  }
  // Thieves starve. The main thread between its calls takes nothing back, so there is nothing to keep for it.
  void share(worker<M>& w) noexcept {
    WEFT_ASSERT(w.where != nullptr);
    const bool only_pushes = w.where->on == nullptr;
    deque::offer_half(w);
    if (only_pushes ? deque::expose(w) : deque::share(w)) notify_mates(w);
  }
  // What was pushed to w comes into its deque, but for the oldest, which is returned; nullptr if there was nothing.
  // Who: w's thread.
  [[nodiscard]] detail::record* take_in(worker<M>& w) {
    detail::record* const first = pushed_.pop(w.id);
    if (first == nullptr) return nullptr;
    for (std::uint32_t room = std::min(base::pushed_max, deque::room(w)); room != 0; --room) {
      detail::record* const r = pushed_.pop(w.id);
      if (r == nullptr) break;
      put(w, r, destination::own());
      w.look.left_own();
    }
    if (w.look.has_own()) keep_within_reach(w);
    return first;
  }
  // Puts all that is private within reach of thieves.
  void expose(worker<M>& w) noexcept {
    if (deque::expose(w)) notify_mates(w);
  }
  // Before a body: what is private now stays out of reach until the body ends, so long bodies leave nothing private.
  [[gnu::always_inline]] void keep_within_reach(worker<M>& w) noexcept {
    if (!w.pace.coarse) {
      if (deque::starved(w) && deque::has_private(w)) share(w);
    } else if (crew_.workers() > 1) {
      expose(w);
    }
  }

  // The members of a team, in state ready, as team_boxes::put() takes them. Returns whether w runs members[0] at once,
  // because nothing stands before it; if not, it is queued like the others. Workers that sleep are told to `asleep`,
  // which has room for them: each must be woken by team_boxes::call_up(). Who: w's thread.
  [[nodiscard]] bool gather(worker<M>& w, std::span<const std::uint16_t> ids, std::span<detail::record* const> members,
                            std::vector<base::plain<std::uint16_t>>& asleep) {
    for (const detail::record* m : members) tell_ready(w, *m);
    if (ordering_.chooses()) {
      for (detail::record* m : members) ordering_.add(w, m);
      return false;
    }
    return team_boxes_.put(w, ids, members, asleep);
  }
  // r, a member that was set aside in a barrier, goes on: where it was, before anything else there. Not at the reserve,
  // which may be away by then; nor, if it is pinned to the main thread's worker, where others look while that is away.
  void call_back(worker<M>& w, std::uint16_t id, detail::record* r) {
    const bool only_on_main = r->pin == 0 && waiter::of(r).stack != crew_.main().stacks.home;
    if (id >= crew_.workers() || only_on_main) return place(w, r);
    transition(*r, detail::record_state::filling, detail::record_state::ready);
    if (ordering_.chooses()) return ordering_.add(w, r);
    team_boxes_.put(id, r);
  }
  // The main thread begins to wait.
  void main_waits() noexcept { collecting_.begins_anew(); }
  [[nodiscard]] sched::team_boxes<M>& team_boxes() noexcept { return team_boxes_; }

  // The queues, for the sources that read them.
  [[nodiscard]] inbox<M>& central() noexcept { return central_; }
  [[nodiscard]] inbox<M>& urgent() noexcept { return urgent_; }
  [[nodiscard]] sched::overflow<M>& overflow() noexcept { return overflow_; }
  // Used only where the policy looks near to far.
  [[nodiscard]] sched::leaves<M>& leaves() noexcept { return leaves_; }
  // By number of memory node; empty unless the policy uses them.
  [[nodiscard]] std::vector<inbox<M>>& nodes() noexcept { return nodes_; }
  // The same of the piles.
  [[nodiscard]] std::vector<pile<M>>& piles() noexcept { return piles_; }
  // w has taken r and what is linked to it, the oldest first, from another node's pile: they go to that of its own.
  void restock(worker<M>& w, detail::record* r) {
    for (detail::record* next = nullptr; r != nullptr; r = next) {
      next = r->waiting.next;  // r may be gone once it is there
      put(w, r, destination::pile(static_cast<std::uint16_t>(node_of(w))));
    }
  }
  // What was pushed to each worker; of size 0 unless the policy pushes.
  [[nodiscard]] boxes<M>& pushed() noexcept { return pushed_; }
  [[nodiscard]] unsigned node_of(const worker<M>& w) const noexcept {
    WEFT_ASSERT(places_ != nullptr);
    return places_->node_of(seat_of(w));
  }
  // The worker that a policy is told of: the reserve has no place of its own, and takes the first one's.
  [[nodiscard]] unsigned seat_of(const worker<M>& w) const noexcept { return w.id < crew_.workers() ? w.id : 0u; }

 private:
  [[gnu::noinline]] void give_soon(worker<M>& w) noexcept {
    if (w.where->on != nullptr || !collecting_.keeps(w)) share(w);
  }
  // w has made many tasks, and thieves do not starve: a few that nobody has taken may be left of what was shared, while
  // those who look elsewhere would take more at a time. Tiny tasks are better run here.
  [[gnu::noinline]] void hand_out(worker<M>& w) noexcept {
    if (hand_out_mask_ == ~0u || crew_.workers() == 1 || tempo_.tiny()) return;
    w.decides(by::hand_out);
    share(w);
  }
  [[nodiscard]] bool uses_leaves() noexcept { return leaves_.are_used() && looks_near(); }
  [[nodiscard]] destination destination_of(worker<M>& w, const detail::record& r) {
    if (r.kind == detail::record_kind::branch) return destination::own();  // near what its stack holds
    const bool is_guest = w.role == role::guest;
    const destination wish = own_only() || !detail::is_task(r)
                                 ? destination::own()
                                 : policy_->ready(is_guest ? policy::nobody : seat_of(w), r, w.rng);
    if (r.pin != detail::record::unpinned) return destination::worker(r.pin);
    if (r.urgent) return destination::urgent();
    return is_guest && wish.where == destination::queue::own ? destination::central() : wish;
  }

  // Not own_only_: the policy is asked, also for what could follow. Its answer is final: place() would ask again.
  [[nodiscard]] bool asks_to_follow(worker<M>& w, const detail::record& x) {
    WEFT_ASSERT(!own_only());
    if (ordering_.chooses() || !detail::is_task(x)) return false;
    const destination d = destination_of(w, x);
    return d.where == destination::queue::own || (d.where == destination::queue::worker && d.number == w.id);
  }

  void put(worker<M>& w, detail::record* r, destination d) {
    switch (d.where) {
    case destination::queue::own:
      push_own(w, r);
      if (uses_leaves() && w.id < crew_.workers()) leaves_.pushed(w.id, deque::size(w));
      return;
    case destination::queue::central: central_.push(r); break;
    case destination::queue::urgent:
      attention_.add_urgent();
      urgent_.push(r);
      break;
    case destination::queue::worker:
      WEFT_ASSERT(d.number < crew_.seats());
      if (d.bounded) return push(w, r, d.number);
      crew_[d.number].box.push(r);  // r may be gone from here on
      if (d.number != w.id) sleep_.notify(machine_, d.number);
      return;
    case destination::queue::node:
      WEFT_ASSERT(d.number < nodes_.size());
      nodes_[d.number].push(r);
      if (stays_) return notify_at(d.number);
      break;
    case destination::queue::pile:
      WEFT_ASSERT(d.number < piles_.size());
      piles_[d.number].push(r);
      break;
    }
    sleep_.notify(machine_);
  }

  // To that worker, if it has room and runs what others may run, too. It is told to look before its next body, or
  // woken; else somebody is who searches, because its body may be long.
  void push(worker<M>& w, detail::record* r, std::uint16_t to) {
    WEFT_ASSERT(to < pushed_.size());
    const bool goes = (to != w.id || pushed_.are_far_ends()) && !crew_[to].is_special();
    if (!goes || !pushed_.push(to, r)) {
      if (goes) count_one(w.counted.refused);
      return put(w, r, w.role == role::guest ? destination::central() : destination::own());
    }
    count_one(w.counted.pushed);
    if (!pushed_.are_far_ends()) M::store(crew_[to].tick_limit, 0u, base::relaxed);
    if (sleep_.is_asleep(to) && !(to == 0 && crew_.main_is_away())) return sleep_.notify(machine_, to);
    sleep_.notify(machine_);
  }

  // There is something in w's deque, so thieves are not to pass over its leaf, also if they found nothing there while
  // it was private. Where workers keep to their node a sleeper or a searcher elsewhere is no help, so all sleepers of
  // the node are told.
  void notify_mates(worker<M>& w) noexcept {
    if (uses_leaves() && w.id < crew_.workers()) leaves_.found_task(places_->leaf_of(w.id));
    if (stays_) [[unlikely]]
      return notify_at(node_of(w));
    sleep_.notify(machine_);
  }
  void notify_at(unsigned node) noexcept {
    for (unsigned id = 0; id < crew_.workers(); ++id)
      if (places_->node_of(id) == node) sleep_.notify(machine_, id);
  }

  M& machine_;
  sleep<M>& sleep_;
  crew<M>& crew_;
  attention<M>& attention_;
  ordering<M>& ordering_;
  tempo<M>& tempo_;
  policy* policy_ = nullptr;
  const place::tree* places_ = nullptr;
  detail::cell<std::uint8_t> own_only_{1};
  detail::cell<bool> looks_near_{true};
  bool stays_ = false;
  // Of the end of a deque: where that is 0 its owner shares. All ones: it does not.
  std::uint32_t hand_out_mask_ = static_cast<std::uint32_t>(crew_.rules()[by::hand_out] - 1);
  inbox<M> central_;  // the root place's
  inbox<M> urgent_;
  sched::overflow<M> overflow_{machine_, sleep_};  // what the deques had no room for
  sched::team_boxes<M> team_boxes_{machine_, sleep_, crew_};
  std::vector<inbox<M>> nodes_;
  std::vector<pile<M>> piles_;
  boxes<M> pushed_;
  sched::leaves<M> leaves_;
  sched::collecting<M> collecting_{machine_, sleep_, crew_};
  listeners<M>* listeners_ = nullptr;  // nullptr: nobody listens
};

}  // namespace weft::sched
