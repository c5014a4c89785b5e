// Thieves that leave tiny tasks to who is at work on them, and sleep beside those while another one searches, under
// thousands of random schedules: a main thread that submits, and stands still in the end; thieves that keep away, take
// some, are called away, announce their sleep and park as search.hpp has it. No task may be left beside thieves that
// all sleep. The same harness must reject four broken variants.
#include <vector>

#include "thieves.hpp"

namespace weft::sched {
namespace {

using M = interleave::watched;

enum class flaw {
  none,
  sleeps_alone,     // a thief sleeps beside tiny tasks whether another one searches or not
  looks_too_early,  // it asks that before it has announced its sleep
  never_asks,       // who searches keeps away for good, whether the others move or not
  leaves_quietly,   // a searcher that is called away does not look what it leaves
};

template <flaw Flaw> class trial : public testing::thieves<trial<Flaw>> {
  using base = testing::thieves<trial<Flaw>>;
  friend base;
  using base::complain, base::ends_now, base::rng, base::s, base::stands, base::stealing;

 public:
  explicit trial(std::uint64_t seed) : base(seed, 2 + static_cast<unsigned>(seed % 5)), tasks_(1 + rng.below(10)) {}

 private:
  void owner() {
    worker<M>& w = s.crew.main();
    pace p;
    while (!s.tempo.tiny()) s.tempo.ran(p, 1000);
    for (testing::task& t : tasks_) {
      if (ends_now()) return;
      transition(t.r, detail::record_state::filling, detail::record_state::ready);
      M::store(w.created, detail::peek(w.created) + 1, weft::base::release);
      deque<M>::push(w, &t.r);
      if (deque<M>::expose(w)) s.sleep.notify(base::play.machine());
      base::dawdle(3, 200);
    }
    stands = true;
  }
  void take(worker<M>& w, detail::record* r) {
    if (++reinterpret_cast<testing::task*>(r)->called != 1) complain("a task was taken twice");
    M::store(w.tasks, detail::peek(w.tasks) + 1, weft::base::relaxed);
  }
  [[nodiscard]] bool goes_on(worker<M>& w, bool& counted) {
    const auto searches = [this, &w] { return stealing.visible(w) && s.sleep.begin_search(); };
    return counted = Flaw == flaw::never_asks ? stands && searches() : stealing.insists(w, searches);
  }
  [[nodiscard]] bool before_sleep(worker<M>&) { return Flaw == flaw::looks_too_early && s.sleep.somebody_searches(); }
  [[nodiscard]] bool sees(worker<M>& w, bool early) {
    w.look.guarded(Flaw == flaw::sleeps_alone || Flaw == flaw::never_asks ||
                   (Flaw == flaw::looks_too_early ? early : s.sleep.somebody_searches()));
    const bool any = stealing.visible(w);
    w.look.guarded(false);
    return any;
  }
  [[nodiscard]] bool leaves_something(worker<M>& w) { return Flaw != flaw::leaves_quietly && stealing.visible(w); }
  [[nodiscard]] const char* left() const {
    for (const testing::task& t : tasks_)
      if (t.called == 0) return "a task is left with a main thread that stands still, and all sleep";
    return nullptr;
  }

  std::vector<testing::task> tasks_;
};

template <flaw Flaw> const char* tried(std::uint64_t seed) { return trial<Flaw>(seed).run(); }

}  // namespace

TEST_CASE("tiny model: each task is taken once, and none is left when the others stand still") {
  interleave::all_seeds(8000, &tried<flaw::none>);
}
TEST_CASE("tiny model: must fail if a thief sleeps beside tiny tasks alone") {
  CHECK(interleave::caught(4000, &tried<flaw::sleeps_alone>));
}
TEST_CASE("tiny model: must fail if a thief asks for another one before it has announced sleep") {
  CHECK(interleave::caught(20000, &tried<flaw::looks_too_early>, 5000));
}
TEST_CASE("tiny model: must fail if a thief that keeps away never asks whether the others move") {
  CHECK(interleave::caught(4000, &tried<flaw::never_asks>));
}
TEST_CASE("tiny model: must fail if a searcher that is called away says nothing") {
  CHECK(interleave::caught(4000, &tried<flaw::leaves_quietly>));
}

}  // namespace weft::sched
