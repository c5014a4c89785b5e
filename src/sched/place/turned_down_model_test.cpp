// Forks at which thieves that ask are turned down, because somebody is about who asks again, under thousands of random
// schedules: an owner that forks within forks and is in a long body in the end; thieves that search, ask, announce
// their sleep, pull and park as search.hpp has it, and one is called away by something else. Each branch must run once;
// none may be left with an owner in a long body beside thieves that sleep. The same harness must reject five broken
// variants. The barrier on all threads is a step like others: these schedules are sequentially consistent.
#include <array>

#include "sched/join/branches.hpp"
#include "thieves.hpp"

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

template <flaw Flaw> class trial : public testing::thieves<trial<Flaw>> {
  using base = testing::thieves<trial<Flaw>>;
  friend base;
  using base::complain, base::ends_now, base::rng, base::s, base::stands, base::stealing;

 public:
  static constexpr unsigned depth = 5;

  explicit trial(std::uint64_t seed) : base(seed, 2 + static_cast<unsigned>(seed % 4)) {
    worker<M>& w = s.crew.main();
    w.where->on = &w;  // in a body
    w.current = &body_;
    w.hooked.raw = 0;
    w.turns_down.raw = true;
  }

 private:
  void owner() {
    for (unsigned round = 0; round < 3 && !ends_now(); ++round) fork(0, 1 + rng.below(depth));
    is_last_ = true;
    fork(0, 1 + rng.below(depth));
  }
  // A body at depth d that forks until depth `to`.
  void fork(unsigned d, unsigned to) {
    if (ends_now()) return;
    if (d == to) return end_of_chain();
    worker<M>& w = s.crew.main();
    node& b = nodes_[d];
    b.called = 0;
    b.is_offered = true;
    b.parent = nullptr;
    b.state = {};
    const bool too_early = Flaw == flaw::asks_late && M::load(w.asked, weft::base::relaxed) != 0;
    for (std::uint32_t n = Flaw == flaw::asks_late ? rng.below(100) : 0; n > 0; --n) M::relax(1);
    keep(w, b);
    if (Flaw == flaw::asks_late ? too_early : M::load(w.asked, weft::base::relaxed) != 0) heed(w);
    fork(d + 1, to);
    join(w, b);
    b.is_offered = false;
    if (!ends_now() && b.called != 1) complain("a fork is over, and its branch has not run once");
  }
  void end_of_chain() {
    base::dawdle(3, 300);
    if (!is_last_ || stands) return;
    stands = true;
    while (!ends_now()) M::relax(1);
  }
  // As short_forks.hpp does, but for the question whether it pays.
  void heed(worker<M>& w) {
    if (rng.below(4) != 0 && !deque<M>::has_private(w)) {
      M::store(w.asked, std::uint8_t{0}, weft::base::seq_cst);
      if (Flaw == flaw::turns_down_alone || s.sleep.somebody_comes_by()) return;
      M::store(w.asked, std::uint8_t{1}, weft::base::relaxed);
    }
    deque<M>::offer_half(w);
    if (deque<M>::share(w)) s.sleep.notify(base::play.machine());
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
    if (taken_back(w, b) || (kept<M>::any(w) && deque<M>::take_kept(w, b))) return take(w, &b);
    deque<M>::offer_kept(w);
    if (detail::record* const r = deque<M>::pop(w)) take(w, r);
    while (b.called == 0 && !ends_now()) M::relax(1);
  }

  void take(worker<M>&, detail::record* r) {
    node& b = static_cast<node&>(*static_cast<detail::branch*>(r));
    if (!b.is_offered || ++b.called != 1) complain("a branch was taken that nobody offers, or twice");
  }
  [[nodiscard]] bool goes_on(worker<M>& w, bool& counted) {
    counted = stealing.asks_again() && s.sleep.search_alone();
    if (counted) return true;
    if (!stealing.pull(w)) return false;
    counted = s.sleep.begin_search();
    return true;
  }
  [[nodiscard]] bool before_sleep(worker<M>&) { return Flaw == flaw::guarded_early && s.sleep.somebody_searches(); }
  [[nodiscard]] bool sees(worker<M>& w, bool early) {
    const bool guarded = Flaw == flaw::guarded_early ? early : s.sleep.somebody_searches();
    w.look.guarded(guarded);
    if (!guarded) static_cast<void>(M::barrier_everywhere());
    return looks(w, Flaw == flaw::sleeps_on);
  }
  [[nodiscard]] bool looks(worker<M>& w, bool only_tasks) {
    const bool any = only_tasks ? deque<M>::stealable(s.crew.main()) : stealing.visible(w);
    w.look.guarded(false);
    return any;
  }
  [[nodiscard]] bool leaves_something(worker<M>& w) {
    return Flaw != flaw::leaves_quietly && (looks(w, false) || s.sleep.is_relied_on());
  }
  [[nodiscard]] const char* left() const {
    for (const node& b : nodes_)
      if (b.is_offered && b.called == 0) return "a branch is left with an owner in a long body, and all sleep";
    return nullptr;
  }

  detail::record body_{};
  std::array<node, depth> nodes_;
  bool is_last_ = false;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(1 << 18); }

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
