// A main thread that keeps tasks back while thieves starve, because somebody is about who comes for them, under
// thousands of random schedules; in the end it is away for good. Thieves search, rely on one another, announce their
// sleep, pull and park as search.hpp has it, and one is called away by something else. No task may be left beside
// thieves that sleep. The same harness must reject six broken variants. The barrier on all threads is a step like
// others: these schedules are sequentially consistent.
#include <vector>

#include "interleave.hpp"
#include "sched/place/stealing.hpp"
#include "scheduler.hpp"

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

template <flaw Flaw> class trial {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), s_(play_.machine(), 2 + static_cast<unsigned>(seed % 4)),
        tasks_(1 + rng_.below(8)) {
    s_.open();
    stealing_.open(s_.policy);
    s_.crew.main().away.raw = true;
  }

  // What is wrong, or nullptr.
  const char* run() {
    const auto core = [this](unsigned id) { id == 1 ? owner() : thief(id - 1); };
    const bool done = play_.run(s_.crew.workers(), core, [this] { return wrong_ != nullptr || at_rest(); });
    if (!done) complain("thieves do not come to rest");
    return wrong_;
  }

 private:
  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends_now() const noexcept { return play_.over() || wrong_ != nullptr; }

  // The main thread is away for good, and all thieves but who was called away have been parked for longer than a wake
  // could be on its way.
  [[nodiscard]] bool at_rest() {
    if (!calm_.for_long(is_away_ && parked_ + gone_ + 1 == s_.crew.workers())) return false;
    for (const testing::task& t : tasks_)
      if (t.called == 0) complain("a task is left with a main thread that is away, and all sleep");
    return true;
  }

  void owner() {
    worker<M>& w = s_.crew.main();
    for (testing::task& t : tasks_) {
      if (ends_now()) return;
      transition(t.r, detail::record_state::filling, detail::record_state::ready);
      const bool too_early = Flaw == flaw::looks_before_it_pushes && s_.sleep.somebody_comes_by();
      deque<M>::push(w, &t.r);
      if (deque<M>::starved(w) && !keeps(too_early) && deque<M>::expose(w)) s_.sleep.notify(play_.machine());
      for (std::uint32_t away = rng_.below(3) == 0 ? rng_.below(300) : 0; away > 0; --away) M::relax(1);
    }
    is_away_ = true;
  }
  [[nodiscard]] bool keeps(bool too_early) {
    if (rng_.below(4) == 0) return false;
    if (Flaw == flaw::looks_before_it_pushes) return too_early;
    return Flaw == flaw::keeps_alone || s_.sleep.somebody_comes_by();
  }

  void take(detail::record* r) {
    if (++reinterpret_cast<testing::task*>(r)->called != 1) complain("a task was taken twice");
  }
  // As search.hpp does, without the time it goes on looking.
  void thief(unsigned id) {
    worker<M>& w = s_.crew[id];
    bool counted = s_.sleep.begin_search();
    while (!ends_now()) {
      if (counted && id == 1 && s_.crew.workers() > 2 && rng_.below(8) == 0) return leave(w);
      if (detail::record* r = look(w)) {
        if (counted) s_.sleep.found(play_.machine());
        while (r != nullptr) {
          take(r);
          r = look(w);
        }
        counted = s_.sleep.begin_search();
        continue;
      }
      if (counted) s_.sleep.give_up();
      const bool main_moves = rng_.below(2) == 0;  // whether that is so or not
      counted = main_moves && Flaw != flaw::relies_on_nobody && s_.sleep.search_alone();
      if (!counted) fall_asleep(w, main_moves, counted);
    }
  }
  void fall_asleep(worker<M>& w, bool main_moves, bool& counted) {
    const bool early = Flaw == flaw::pulls_too_early && !main_moves && stealing_.pull_from_main(w);
    for (std::uint32_t n = main_moves && rng_.below(4) == 0 ? rng_.below(100) : 0; n > 0; --n) M::relax(1);
    static_cast<void>(s_.sleep.announce(w.id));
    const bool relies = main_moves && (Flaw == flaw::relies_on_nobody || Flaw == flaw::relies_too_early ||
                                       s_.sleep.somebody_searches());
    const bool pulled = Flaw == flaw::pulls_too_early ? early : !relies && stealing_.pull_from_main(w);
    if (!pulled && !stealing_.visible(w)) {
      park(w.id);
      counted = true;
    } else if (!s_.sleep.retract(w.id)) {
      park(w.id);
      counted = true;
    } else if (detail::record* r = look(w)) {
      take(r);
      s_.sleep.notify(play_.machine());
      counted = s_.sleep.begin_search();
    } else {
      counted = s_.sleep.begin_search();
    }
  }
  // It was counted, and others take over what it had seen to.
  void leave(worker<M>& w) {
    s_.sleep.found_own(play_.machine(), [this, &w] {
      return stealing_.visible(w) || (Flaw != flaw::leaves_quietly && s_.sleep.is_relied_on());
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
  std::vector<testing::task> tasks_;
  unsigned parked_ = 0;
  unsigned gone_ = 0;
  interleave::calm calm_;
  bool is_away_ = false;
  const char* wrong_ = nullptr;
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
