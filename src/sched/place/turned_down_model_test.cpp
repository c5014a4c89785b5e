// Forks at which thieves that ask are turned down, because somebody is about who asks again, under thousands of random
// schedules: an owner that forks within forks and is in a long body in the end; thieves that search, ask, announce
// their sleep, pull and park as search.hpp has it, and one is called away by something else. Each branch must run once;
// none may be left with an owner in a long body beside thieves that sleep. The same harness must reject five broken
// variants. The barrier on all threads is a step like others: these schedules are sequentially consistent.
#include <array>

#include "interleave.hpp"
#include "sched/join/branches.hpp"
#include "sched/place/stealing.hpp"
#include "scheduler.hpp"

namespace weft::sched {
namespace {

using M = interleave::watched;

enum class flaw {
  none,
  turns_down_alone,  // the owner turns thieves down, whether anybody comes by or not
  asks_late,         // the owner looks whether thieves ask, and keeps the branch then
  sleeps_on,         // a thief does not look again at who turned it down, once it has announced its sleep
  guarded_early,     // it asks whether another searches before it has announced its sleep
  leaves_quietly,    // a searcher that is called away says nothing
};

struct node : detail::branch {
  unsigned called = 0;
  bool is_offered = false;
};

template <flaw Flaw> class trial {
 public:
  static constexpr unsigned depth = 5;

  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), s_(play_.machine(), 2 + static_cast<unsigned>(seed % 4)) {
    s_.open();
    stealing_.open(s_.policy);
    worker<M>& w = s_.crew.main();
    w.where->on = &w;  // in a body
    w.current = &body_;
    w.hooked.raw = 0;
    w.turns_down.raw = true;
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) { id == 1 ? owner() : thief(id - 1); };
    const bool done = play_.run(
        s_.crew.workers(), core, [this] { return wrong_ != nullptr || at_rest(); }, 1 << 18);
    if (!done) complain("thieves do not come to rest");
    return wrong_;
  }

 private:
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends_now() const noexcept { return play_.over() || wrong_ != nullptr; }
  // The owner is in its last, long body, and all thieves but who was called away have been parked for longer than a
  // wake could be on its way.
  [[nodiscard]] bool at_rest() {
    if (!calm_.for_long(is_long_ && parked_ + gone_ + 1 == s_.crew.workers())) return false;
    for (const node& b : nodes_)
      if (b.is_offered && b.called == 0) complain("a branch is left with an owner in a long body, and all sleep");
    return true;
  }

  void owner() {
    for (unsigned round = 0; round < 3 && !ends_now(); ++round) fork(0, 1 + rng_.below(depth));
    is_last_ = true;
    fork(0, 1 + rng_.below(depth));
  }
  // A body at depth d that forks until depth `to`.
  void fork(unsigned d, unsigned to) {
    if (ends_now()) return;
    if (d == to) return end_of_chain();
    worker<M>& w = s_.crew.main();
    node& b = nodes_[d];
    b.called = 0;
    b.is_offered = true;
    b.parent = nullptr;
    b.state = {};
    const bool too_early = Flaw == flaw::asks_late && M::load(w.asked, base::relaxed) != 0;
    for (std::uint32_t n = Flaw == flaw::asks_late ? rng_.below(100) : 0; n > 0; --n) M::relax(1);
    keep(w, b);
    if (Flaw == flaw::asks_late ? too_early : M::load(w.asked, base::relaxed) != 0) heed(w);
    fork(d + 1, to);
    join(w, b);
    b.is_offered = false;
    if (!ends_now() && b.called != 1) complain("a fork is over, and its branch has not run once");
  }
  void end_of_chain() {
    for (std::uint32_t turns = rng_.below(3) == 0 ? rng_.below(300) : 0; turns > 0; --turns) M::relax(1);
    if (!is_last_ || is_long_) return;
    is_long_ = true;
    while (!ends_now()) M::relax(1);
  }
  // As short_forks.hpp does, but for the question whether it pays.
  void heed(worker<M>& w) {
    if (rng_.below(4) != 0 && !deque<M>::has_private(w)) {
      M::store(w.asked, std::uint8_t{0}, base::seq_cst);
      if (Flaw == flaw::turns_down_alone || s_.sleep.somebody_comes_by()) return;
      M::store(w.asked, std::uint8_t{1}, base::relaxed);
    }
    deque<M>::offer_half(w);
    if (deque<M>::share(w)) s_.sleep.notify(play_.machine());
  }
  // What the inline path of a fork does, step by step (weft/detail/branch.hpp).
  static void keep(detail::worker& w, detail::branch& b) {
    detail::poke(b.older, detail::peek(w.kept));
    M::between_steps();
    detail::poke_release(w.kept, &b);
    M::between_steps();
  }
  static bool taken_back(detail::worker& w, detail::branch& b) {
    if (detail::peek(w.kept) != &b) return false;
    M::between_steps();
    detail::poke(w.kept, detail::peek(b.older));
    M::between_steps();
    if (detail::peek(w.claimed) == 0) return true;
    M::between_steps();
    detail::poke_release(w.kept, &b);
    return false;
  }
  void join(worker<M>& w, node& b) {
    if (ends_now()) return;
    if (taken_back(w, b) || (kept<M>::any(w) && deque<M>::take_kept(w, b))) return take(&b);
    deque<M>::offer_kept(w);
    if (detail::record* const r = deque<M>::pop(w)) take(r);
    while (b.called == 0 && !ends_now()) M::relax(1);
  }

  void take(detail::record* r) {
    node& b = static_cast<node&>(*static_cast<detail::branch*>(r));
    if (!b.is_offered || ++b.called != 1) complain("a branch was taken that nobody offers, or twice");
  }
  // As search.hpp does, without the time it goes on looking.
  void thief(unsigned id) {
    worker<M>& w = s_.crew[id];
    bool counted = s_.sleep.begin_search();
    while (!ends_now()) {
      if (counted && id == 1 && s_.crew.workers() > 2 && rng_.below(8) == 0) return leave(w);
      if (detail::record* r = look(w)) {
        if (counted) s_.sleep.found(play_.machine());
        for (; r != nullptr; r = look(w)) take(r);
        counted = s_.sleep.begin_search();
        continue;
      }
      if (counted) s_.sleep.give_up();
      counted = stealing_.asks_again() && s_.sleep.search_alone();
      if (counted) continue;
      if (stealing_.pull(w)) {
        counted = s_.sleep.begin_search();
        continue;
      }
      fall_asleep(w, counted);
    }
  }
  void fall_asleep(worker<M>& w, bool& counted) {
    const bool too_early = Flaw == flaw::guarded_early && s_.sleep.somebody_searches();
    for (std::uint32_t n = rng_.below(4) == 0 ? rng_.below(100) : 0; n > 0; --n) M::relax(1);
    static_cast<void>(s_.sleep.announce(w.id));
    const bool guarded = Flaw == flaw::guarded_early ? too_early : s_.sleep.somebody_searches();
    w.look.guarded(guarded);
    if (!guarded) static_cast<void>(M::barrier_everywhere());
    if (!sees(w, Flaw == flaw::sleeps_on) || !s_.sleep.retract(w.id)) {
      park(w.id);
      counted = true;
      return;
    }
    if (detail::record* r = look(w)) {
      take(r);
      s_.sleep.notify(play_.machine());
    }
    counted = s_.sleep.begin_search();
  }
  [[nodiscard]] bool sees(worker<M>& w, bool only_tasks) {
    const bool sees = only_tasks ? deque<M>::stealable(s_.crew.main()) : stealing_.visible(w);
    w.look.guarded(false);
    return sees;
  }
  // It was counted, and others take over what it had seen to.
  void leave(worker<M>& w) {
    s_.sleep.found_own(play_.machine(), [this, &w] {
      return Flaw != flaw::leaves_quietly && (sees(w, false) || s_.sleep.is_relied_on());
    });
    ++gone_;
  }
  [[nodiscard]] detail::record* look(worker<M>& w) {
    if (detail::record* r = deque<M>::pop(w)) return r;
    return stealing_.take(w);
  }
  void park(unsigned id) {
    ++parked_;
    play_.machine().park(id);
    --parked_;
  }

  interleave::play<M> play_;
  base::random rng_;
  testing::scheduler<M> s_;
  stealing<M> stealing_{play_.machine(), s_.sleep, s_.crew, s_.placement, s_.tempo, s_.recording};
  detail::record body_{};
  std::array<node, depth> nodes_;
  unsigned parked_ = 0;
  unsigned gone_ = 0;
  interleave::calm calm_;
  bool is_last_ = false;
  bool is_long_ = false;
  const char* wrong_ = nullptr;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("turned down model: each branch runs once, and none is left with an owner in a long body") {
  interleave::all_seeds(8000, &tried<flaw::none>);
}
TEST_CASE("turned down model: must fail if the owner asks nobody") {
  CHECK(interleave::caught(8000, &tried<flaw::turns_down_alone>));
}
TEST_CASE("turned down model: must fail if the owner looks before it keeps") {
  CHECK(interleave::caught(8000, &tried<flaw::asks_late>));
}
TEST_CASE("turned down model: must fail if a thief falls asleep beside who turned it down") {
  CHECK(interleave::caught(8000, &tried<flaw::sleeps_on>));
}
TEST_CASE("turned down model: must fail if a thief asks for another one before it has announced sleep") {
  CHECK(interleave::caught(40000, &tried<flaw::guarded_early>));
}
TEST_CASE("turned down model: must fail if a searcher that is called away says nothing") {
  CHECK(interleave::caught(8000, &tried<flaw::leaves_quietly>));
}

}  // namespace weft::sched
