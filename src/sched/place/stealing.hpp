// Taking tasks from other workers, the source of last resort. Whoever had something last time has more, as a rule, so
// it is asked before the policy is, or whom it had its own tasks from. With many workers most looks find nothing, and
// each is a line that may have to come from far away.
//
// Where bodies are so short that bringing one over costs more than running it here, a thief is reluctant: it keeps away
// while the others move, and looks again after each search. A task whose owner does not move - it is away in the
// program, or blocked - waits no longer than that, and then they are taken one after the other until others move.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/balance/tempo.hpp"
#include "sched/place/placement.hpp"
#include "sched/policies/policy.hpp"
#include "sched/queues/deque.hpp"
#include "sched/queues/pull.hpp"
#include "sched/replay/recording.hpp"
#include "sched/workers/crew.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

template <class M> class stealing final : public source<M> {
 public:
  using deque = sched::deque<M>;

  stealing(M& machine, sleep<M>& sleep, crew<M>& all, placement<M>& placement, tempo<M>& tempo, recording<M>& recording)
      : source<M>("the deques of others", {.shared = true}), machine_(machine), sleep_(sleep), crew_(all),
        placement_(placement), tempo_(tempo), recording_(recording) {}
  void open(policy& asked) noexcept {
    WEFT_ASSERT(policy_ == nullptr && crew_.is_open());
    policy_ = &asked;
  }

  // With many workers the partners come next, and of the others a few each time, but all of them where w looks at all.
  [[nodiscard]] detail::record* take(worker<M>& w) override {
    WEFT_ASSERT(policy_ != nullptr && w.role != role::guest);
    const bool is_reserve = w.role == role::reserve;
    const bool keeps_away = detail::peek(w.thief.reluctant) && !is_reserve && tempo_.tiny();
    if (keeps_away && w.id != 0) {
      w.decides(by::tiny);
      return nullptr;
    }
    if (w.thief.robbed_last != worker<M>::no_id && !keeps_away) {
      if (detail::record* r = rob(w, crew_[w.thief.robbed_last])) return r;
      w.thief.robbed_last = worker<M>::no_id;
    }
    const std::uint64_t sweep = crew_.rules()[by::sweep];
    const bool all =
        w.look.is_everywhere() || crew_.workers() <= sweep || keeps_away || is_reserve || !policy_->has_partners();
    if (!all && crew_.rules().is_on(by::partners))
      if (detail::record* r = rob_partners(w)) {
        w.decides(by::partners);
        return r;
      }
    if (!all) w.decides(by::sweep);
    // The reserve has no place of its own, so it robs in order of ids; and everybody robs it last.
    const unsigned seats = crew_.seats();
    if (all) w.thief.victim_next = 0;
    for (unsigned looks = all ? seats - 1 : static_cast<unsigned>(sweep); looks != 0; --looks) {
      const unsigned i = w.thief.victim_next;
      w.thief.victim_next = i + 2 < seats ? i + 1 : 0;
      const bool ruled = !is_reserve && i + 1 < crew_.workers();
      worker<M>& victim = crew_[ruled ? policy_->victim(w.id, i, w.rng) : is_reserve ? i : seats - 1];
      WEFT_ASSERT(&victim != &w);
      if (keeps_away && !M::load(victim.thief.gives_way, base::relaxed)) continue;
      if (detail::record* r = rob(w, victim)) return r;
    }
    return nullptr;
  }

  // What the main thread keeps where it turns thieves down counts as visible, too: somebody is to ask for it again. But
  // another may search, who sees to that, and to tiny tasks that w leaves to those who are at work on them.
  [[nodiscard]] bool visible(worker<M>& w) noexcept override {
    const bool guarded = w.look.is_guarded();
    if (!guarded && may_turn_down() && (turned_down() || keeps_more(crew_.main(), detail::peek(crew_.main().kept))))
      return true;
    if (guarded && leaves_them(w)) return false;
    for (const auto& victim : crew_)
      if (victim.get() != &w && deque::stealable(*victim)) return true;
    return false;
  }

  // The oldest task that victim has within reach, or nullptr. Of several that are taken w runs the oldest; the others
  // go where the next thief finds them, nearer to it than the victim was. Who has lost against another goes elsewhere.
  // Who: w's thread; victim may be w itself.
  [[nodiscard]] detail::record* rob(worker<M>& w, worker<M>& victim) {
    loot got;
    M::work(model::step::steal);
    // The creator hands out what all live on, to one thief at a time. So that one has half, whatever the policy takes
    // of a worker, and keeps nothing of it out of reach behind a body.
    const bool made = victim.role == role::creator;
    const auto how_many = [&](std::uint32_t available) {
      if (&victim == &w) return 1u;
      const std::uint32_t ruled = policy_->how_many(w.id, victim.id, available);
      return std::min(made ? std::max(ruled, (available + 1) / 2) : ruled, deque::room(w) + 1);
    };
    const bool insists = w.thief.sent_away >= crew_.rules()[by::one_thief];
    const steal_result result = deque::steal(victim, got, how_many, insists);
    if (result == steal_result::sent_away) {
      ++w.thief.sent_away;
      w.decides(by::one_thief);
    }
    if (result != steal_result::taken) return nullptr;
    w.thief.sent_away = 0;
    WEFT_ASSERT(got.count != 0 && got.tasks[0]->state == detail::record_state::ready);
    if (&victim != &w) {
      reconsiders(w, got.count);
      M::took_from(victim.id);
      if (victim.role != role::creator) w.thief.robbed_last = who_has_more(w, victim, got.count);
      count_some(w.counted.steals, got.count);
      for (std::uint32_t i = 0; i < got.count; ++i) recording_.stolen(w, victim, *got.tasks[i]);
    }
    if (got.count > 1) {
      if (&victim != &w) M::store(w.supplier, victim.id, base::relaxed);
      for (std::uint32_t i = 1; i < got.count; ++i) placement_.bring(w, got.tasks[i]);
      made ? placement_.expose(w) : placement_.keep_within_reach(w);
      if (w.pace.coarse && sleep_.spread(machine_, got.count - 1)) w.decides(by::wakes);
    }
    return got.tasks[0];
  }

  // Puts within reach what a worker has kept private whose body is long. That takes the owner's time, too, if it comes
  // back meanwhile; so it is pulled from only when its end of the deque has not moved for a search. Who: a worker that
  // has found nothing and is about to sleep. Returns whether it is to search once more. Protocol: deque.md, "A thief
  // acts for the owner".
  [[nodiscard]] bool pull(worker<M>& w) noexcept {
    const auto before = std::exchange(w.thief.watched, {});
    for (unsigned i = 1; i <= crew_.workers(); ++i) {  // the reserve has the number after the last
      worker<M>& owner = crew_[(w.id + i) % crew_.workers()];
      if (&owner == &w) continue;
      if (detail::peek(owner.away)) {
        if (crew_.are_many())
          w.decides(by::many);
        else if (pull_from_main(w))
          return true;
        continue;
      }
      const detail::branch* newest = detail::peek(owner.kept);
      if (!keeps_more(owner, newest) && !deque::has_private(owner)) continue;
      const std::uint32_t bottom = detail::peek(owner.deque.bottom);
      const bool again = before.id == owner.id;
      const bool stands = again && before.bottom == bottom && before.newest == newest;
      if (stands && sched::pull<M>::from(owner)) return true;
      newest = detail::peek(owner.kept);
      const bool has_kept = again && newest != nullptr && !(stands && before.newest == newest);  // and may fork no more
      if ((before.id == worker<M>::no_id || has_kept) && w.thief.watched.id == worker<M>::no_id)
        w.thief.watched = {owner.id, bottom, newest};
    }
    return w.thief.watched.id != worker<M>::no_id;
  }

  // A look of pull() may come before a store that its owner has behind it: what it keeps or pushes, and then looks at
  // `starved`. So whoever has announced sleep, and sees nobody search, looks once more behind a barrier on all threads.
  // Returns whether there is something for pull(). Protocol: deque.md, "Seen late".
  [[nodiscard]] bool overlooked(worker<M>& w) noexcept {
    if (!M::offers_barrier()) {
      if (may_turn_down()) static_cast<void>(M::barrier_everywhere());
      return false;
    }
    for (unsigned id = 0; id < crew_.workers(); ++id) {
      worker<M>& owner = crew_[id];
      if (&owner == &w || detail::peek(owner.away)) continue;
      if (keeps_more(owner, detail::peek(owner.kept))) return true;
      if (deque::has_private(owner) && deque::starved(owner) && !deque::stealable(owner)) return true;
    }
    return false;
  }

  // The same for the main thread, if it is away in the program. A look is not enough: what it pushes at this moment it
  // might never look after. Who: a worker that has announced sleep, if it may collect, since it keeps that while it
  // sees nobody asleep; else a worker that is about to, which spares the main thread waking it.
  [[nodiscard]] bool pull_from_main(worker<M>& w) noexcept {
    worker<M>& main = crew_.main();
    return &w != &main && detail::peek(main.away) && sched::pull<M>::from(main);
  }
  [[nodiscard]] bool pulls_late() const noexcept { return crew_.are_many(); }
  // w has searched in vain for a while: notes how far the main thread is.
  void watch_main(worker<M>& w) noexcept {
    worker<M>& main = crew_.main();
    w.thief.main_seen = {};
    if (!crew_.are_many() || &w == &main || !detail::peek(main.away) || tempo_.tiny()) return;
    w.thief.main_seen = {M::load(main.created, base::relaxed), detail::peek(main.deque.bottom), true};
  }
  // Whether the main thread has submitted since, and has kept nothing back from then: so it sees to its tasks itself,
  // and a pull would only take its time. Where thieves keep away from tiny tasks, nobody is to wait for more of them.
  [[nodiscard]] bool main_moves(worker<M>& w) noexcept {
    worker<M>& main = crew_.main();
    const auto before = std::exchange(w.thief.main_seen, {});
    if (!before.looked || !detail::peek(main.away) || M::load(main.created, base::relaxed) == before.created)
      return false;
    if (deque::reaches_beyond(before.bottom, main.deque.split)) return false;
    w.decides(by::main_moves);
    return true;
  }

  // Whether w leaves tiny tasks to the others, who were at work on them when it last asked. It may sleep beside those
  // while another searches, who asks again and again (sleep.md, "Guarded").
  [[nodiscard]] bool leaves_them(const worker<M>& w) noexcept {
    return detail::peek(w.thief.reluctant) && w.role == role::ordinary && w.id != 0 && tempo_.tiny();
  }
  // Whether the main thread turns thieves down, or might; then somebody is to search. Order: seq_cst, pairs with
  // short_forks: who has announced sleep sees it, or the main thread sees that.
  [[nodiscard]] bool may_turn_down() noexcept { return M::unseen::load(crew_.main().turns_down, base::seq_cst); }
  // A thief that has searched in vain asks again where thieves were turned down. Returns whether it did; then somebody
  // is to look, after another search, what came of it. Order: seq_cst (branches.md, "Turned down").
  [[nodiscard]] bool asks_again() noexcept {
    if (!turned_down()) return false;
    M::unseen::store(crew_.main().asked, std::uint8_t{1}, base::seq_cst);
    return true;
  }
  // Whether bodies are so short that who has nothing to do is not to get some.
  [[nodiscard]] bool leaves_tiny_ones() noexcept { return tempo_.tiny(); }

  // Whether bodies are long enough to be left to another worker for the sake of who would wait for their end.
  [[nodiscard]] bool worth_the_way() noexcept { return tempo_.worth_the_way(); }

  // w looks elsewhere now and then: with tiny bodies it asks anew whether others move, and lets the main thread be.
  // submitters_wait: at the window.
  void look_up(worker<M>& w, bool submitters_wait) {
    if (!tempo_.tiny()) return;
    if (!detail::peek(w.thief.reluctant)) detail::poke(w.thief.reluctant, others_move(w));
    give_way(w, submitters_wait);
  }

  // w has searched in vain and is about to sleep. Returns whether it goes on to search, because the others are at work
  // on tiny tasks and may stop at any time. If they have stopped it steals those, too.
  template <class BeginSearch> [[nodiscard]] bool insists(worker<M>& w, BeginSearch begin_search) {
    if (!tempo_.tiny()) return false;
    const bool reluctant = others_move(w);
    detail::poke(w.thief.reluctant, reluctant);
    return reluctant && begin_search();
  }

 private:
  // Whether thieves were turned down at forks of the main thread, and nobody has asked again.
  [[nodiscard]] bool turned_down() noexcept {
    return may_turn_down() && M::unseen::load(crew_.main().asked, base::seq_cst) == 0;
  }
  // Whether `newest`, which owner keeps, is not what a thief has looked at and left. What was taken stays in the list
  // until the owner comes back to it, and until then the list is claimed.
  [[nodiscard]] static bool keeps_more(worker<M>& owner, const detail::branch* newest) noexcept {
    return newest != nullptr &&
           (detail::peek(owner.claimed) == 0 || newest != M::unseen::load(owner.looked_through, base::relaxed));
  }
  // w has taken n tasks from another: where they are tiny because the others stood still, and after a few it asks anew.
  void reconsiders(worker<M>& w, std::uint32_t n) noexcept {
    if (detail::peek(w.thief.reluctant) || (w.thief.taken += n) < crew_.rules()[by::asks_anew]) return;
    w.thief.taken = 0;
    if (w.role != role::ordinary || w.id == 0 || !tempo_.tiny()) return;
    w.decides(by::asks_anew);
    detail::poke(w.thief.reluctant, others_move(w));
  }

  // Whom w, which has had n tasks of victim's, robs next. Where that was little, it is whom victim has its own from: so
  // whoever runs dry comes nearer to where the tasks are made, and each goes through few hands.
  [[nodiscard]] std::uint16_t who_has_more(worker<M>& w, worker<M>& victim, std::uint32_t n) noexcept {
    if (n >= crew_.rules()[by::supplier]) return victim.id;
    const std::uint16_t supplier = M::load(victim.supplier, base::relaxed);
    if (supplier == worker<M>::no_id || supplier == w.id) return victim.id;
    w.decides(by::supplier);
    return supplier;
  }
  // The workers whose number differs from w's in one bit, nearest first as numbers go. Tasks reach everybody over those
  // in a few steps, and a victim has few thieves, which would else be in each other's way on the one line that is its
  // word.
  [[nodiscard]] detail::record* rob_partners(worker<M>& w) {
    for (unsigned bit = 1; bit < crew_.workers(); bit *= 2)
      if (const unsigned partner = w.id ^ bit; partner < crew_.workers())
        if (detail::record* r = rob(w, crew_[partner])) return r;
    return nullptr;
  }

  // Whether any other worker has run or submitted a task since w last asked. Cost: their lines, so not for every task.
  [[nodiscard]] bool others_move(worker<M>& w) noexcept {
    std::uint64_t moves = 0;
    for (const auto& x : crew_)
      if (x.get() != &w) moves += M::load(x->tasks, base::relaxed) + M::load(x->created, base::relaxed);
    return std::exchange(w.thief.seen_moves, moves) != moves;
  }

  // The main thread submits, and w runs what it submits, tiny bodies: every handle and record goes from one to the
  // other, which costs both more than is done. So now and then w leaves the main thread alone for as long as a search
  // takes. What w has is within reach meanwhile, and a main thread that has begun to wait may have it (take()).
  // If they did much in that time they do best alone, so w runs one task and rests again, also while the reserve runs
  // what they have submitted: unless only w may have what it has, or its tasks come from tasks.
  void give_way(worker<M>& w, bool submitters_wait) {
    const std::uint64_t for_ps = crew_.rules().ps(by::give_way);
    const std::uint64_t submitted = M::load(crew_.main().created, base::relaxed);
    const bool submits = std::exchange(w.thief.seen_submitted, submitted) != submitted;
    const bool main_idles = !w.pace.runs_nested && main_waits_idle() && !passes(w);
    if (for_ps == 0 || w.id == 0 || w.role == role::reserve ||
        !(submits || main_idles || (submitters_wait && !w.pace.runs_nested)))
      return;
    const std::uint64_t before = moves_of_main();
    placement_.expose(w);
    if (main_idles) {
      if (!submits && !deque::stealable(w)) return;
      sleep_.notify(machine_, 0);
    }
    w.decides(by::give_way);
    M::store(w.thief.gives_way, true, base::relaxed);
    const std::uint64_t until = machine_.now_ps() + for_ps;
    for (unsigned spins = 1; machine_.now_ps() < until; ++spins) M::search_pause(spins, until);
    M::store(w.thief.gives_way, false, base::relaxed);
    w.thief.seen_submitted = M::load(crew_.main().created, base::relaxed);
    const std::uint64_t moves = moves_of_main() - before;
    if (main_idles) remembers(w, moves >= ticks_between_looks);
    const std::uint64_t moves_alone = crew_.rules()[by::rests_again];
    if (moves_alone != 0 && moves >= moves_alone && !w.pace.runs_nested && deque::stealable(w)) {
      w.decides(by::rests_again);
      w.tick = ticks_between_looks - 1;
    }
  }
  // w rests for an idle main thread in vain if that cannot run what w has, or next to nothing of it. Behind the first
  // such rest w passes over one look, behind the next over two, then four, up to 2^(in_vain_max - 1).
  [[nodiscard]] static bool passes(worker<M>& w) noexcept { return w.thief.passes != 0 && w.thief.passes-- != 0; }
  static void remembers(worker<M>& w, bool was_worth_it) noexcept {
    w.thief.in_vain = was_worth_it ? 0 : std::min(w.thief.in_vain + 1, in_vain_max);
    w.thief.passes = was_worth_it ? 0 : 1u << (w.thief.in_vain - 1);
  }
  // Whether the main thread waits and has nothing to do, though what it has submitted is nearest to it.
  [[nodiscard]] bool main_waits_idle() noexcept { return !detail::peek(crew_.main().away) && sleep_.is_free(0); }
  // What the main thread, and the reserve in its place, have submitted and run.
  [[nodiscard]] std::uint64_t moves_of_main() noexcept {
    worker<M>& main = crew_.main();
    const std::uint64_t its_own = M::load(main.created, base::relaxed) + M::load(main.tasks, base::relaxed);
    return crew_.has_reserve() ? its_own + M::load(crew_.reserve().tasks, base::relaxed) : its_own;
  }

  static constexpr unsigned in_vain_max = 7;
  M& machine_;
  sleep<M>& sleep_;
  crew<M>& crew_;
  placement<M>& placement_;
  tempo<M>& tempo_;
  recording<M>& recording_;
  policy* policy_ = nullptr;
};

}  // namespace weft::sched
