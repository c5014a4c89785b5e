// A main thread that keeps tasks back while thieves starve, because somebody is about who comes for them, under
// thousands of random schedules; in the end it is away for good. Thieves search, rely on one another, announce their
// sleep, pull and park as search.hpp has it, and one is called away by something else. No task may be left beside
// thieves that sleep. The same harness must reject six broken variants. The barrier on all threads is a step like
// others: these schedules are sequentially consistent.
#include <vector>

#include "thieves.hpp"

namespace weft::sched {
namespace {

using M = interleave::watched;

enum class flaw {
  none,
  keeps_alone,             // the main thread keeps tasks, whether anybody comes by or not
  looks_before_it_pushes,  // it asks that before its push
  pulls_too_early,         // a thief pulls, and announces its sleep then
  relies_on_nobody,        // a thief sleeps without a pull although no other one searches
  relies_too_early,        // a thief does not ask again whether one does, once it has announced its sleep
  leaves_quietly,          // a searcher that is called away looks only at what is visible
};

template <flaw Flaw> class trial : public testing::thieves<trial<Flaw>> {
  using base = testing::thieves<trial<Flaw>>;
  friend base;
  using base::complain, base::ends_now, base::rng, base::s, base::stands, base::stealing;

 public:
  explicit trial(std::uint64_t seed)
      : base(seed, 2 + static_cast<unsigned>(seed % 4)), tasks_(1 + rng.below(8)), main_moves_(s.crew.workers()) {
    s.crew.main().away.raw = true;
  }

 private:
  void owner() {
    worker<M>& w = s.crew.main();
    for (testing::task& t : tasks_) {
      if (ends_now()) return;
      transition(t.r, detail::record_state::filling, detail::record_state::ready);
      const bool too_early = Flaw == flaw::looks_before_it_pushes && s.sleep.somebody_comes_by();
      deque<M>::push(w, &t.r);
      if (deque<M>::starved(w) && !keeps(too_early) && deque<M>::expose(w)) s.sleep.notify(base::play.machine());
      base::dawdle(3, 300);
    }
    stands = true;
  }
  [[nodiscard]] bool keeps(bool too_early) {
    if (rng.below(4) == 0) return false;
    if (Flaw == flaw::looks_before_it_pushes) return too_early;
    return Flaw == flaw::keeps_alone || s.sleep.somebody_comes_by();
  }
  void take(worker<M>&, detail::record* r) {
    if (++reinterpret_cast<testing::task*>(r)->called != 1) complain("a task was taken twice");
  }
  [[nodiscard]] bool goes_on(worker<M>& w, bool& counted) {
    main_moves_[w.id] = rng.below(2) == 0;  // whether that is so or not
    return counted = main_moves_[w.id] && Flaw != flaw::relies_on_nobody && s.sleep.search_alone();
  }
  [[nodiscard]] bool before_sleep(worker<M>& w) {
    return Flaw == flaw::pulls_too_early && !main_moves_[w.id] && stealing.pull_from_main(w);
  }
  [[nodiscard]] bool sees(worker<M>& w, bool early) {
    const bool relies = main_moves_[w.id] && (Flaw == flaw::relies_on_nobody || Flaw == flaw::relies_too_early ||
                                              s.sleep.somebody_searches());
    const bool pulled = Flaw == flaw::pulls_too_early ? early : !relies && stealing.pull_from_main(w);
    return pulled || stealing.visible(w);
  }
  [[nodiscard]] bool leaves_something(worker<M>& w) {
    return stealing.visible(w) || (Flaw != flaw::leaves_quietly && s.sleep.is_relied_on());
  }
  [[nodiscard]] const char* left() const {
    for (const testing::task& t : tasks_)
      if (t.called == 0) return "a task is left with a main thread that is away, and all sleep";
    return nullptr;
  }

  std::vector<testing::task> tasks_;
  std::vector<char> main_moves_;  // of each thief
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("collecting model: each task is taken once, and none is left with a main thread that is away") {
  interleave::all_seeds(20000, &tried<flaw::none>);
}
TEST_CASE("collecting model: must fail if the main thread asks nobody") {
  CHECK(interleave::caught(4000, &tried<flaw::keeps_alone>));
}
TEST_CASE("collecting model: must fail if it asks before it pushes") {
  CHECK(interleave::caught(4000, &tried<flaw::looks_before_it_pushes>));
}
TEST_CASE("collecting model: must fail if a thief pulls before it announces sleep") {
  CHECK(interleave::caught(4000, &tried<flaw::pulls_too_early>));
}
TEST_CASE("collecting model: must fail if a thief relies on another that does not search") {
  CHECK(interleave::caught(4000, &tried<flaw::relies_on_nobody>));
}
TEST_CASE("collecting model: must fail if a thief asks for another one before it has announced sleep alone") {
  CHECK(interleave::caught(20000, &tried<flaw::relies_too_early>));
}
TEST_CASE("collecting model: must fail if a searcher that is called away says nothing") {
  CHECK(interleave::caught(4000, &tried<flaw::leaves_quietly>));
}

}  // namespace weft::sched
