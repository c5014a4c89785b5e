// Thieves that leave tiny tasks to who is at work on them, and sleep beside those while another one searches, under
// thousands of random schedules: a main thread that submits, and stands still in the end; thieves that keep away, take
// some, are called away, announce their sleep and park as search.hpp has it. No task may be left beside thieves that
// all sleep. The same harness must reject four broken variants.
#include <vector>

#include "interleave.hpp"
#include "sched/place/stealing.hpp"
#include "scheduler.hpp"

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

template <flaw Flaw> class trial {
 public:
  explicit trial(std::uint64_t seed)
      : play_(seed), rng_(seed * 7), s_(play_.machine(), 2 + static_cast<unsigned>(seed % 5)),
        tasks_(1 + rng_.below(10)) {
    s_.open();
    stealing_.open(s_.policy);
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
  [[nodiscard]] bool at_rest() {
    if (!calm_.for_long(stands_ && parked_ + gone_ + 1 == s_.crew.workers())) return false;
    for (const testing::task& t : tasks_)
      if (t.called == 0) complain("a task is left with a main thread that stands still, and all sleep");
    return true;
  }

  void owner() {
    worker<M>& w = s_.crew.main();
    make_tiny();
    for (testing::task& t : tasks_) {
      if (ends_now()) return;
      transition(t.r, detail::record_state::filling, detail::record_state::ready);
      M::store(w.created, detail::peek(w.created) + 1, base::release);
      deque<M>::push(w, &t.r);
      if (deque<M>::expose(w)) s_.sleep.notify(play_.machine());
      for (std::uint32_t away = rng_.below(3) == 0 ? rng_.below(200) : 0; away > 0; --away) M::relax(1);
    }
    stands_ = true;
  }

  void make_tiny() {
    pace p;
    while (!s_.tempo.tiny()) s_.tempo.ran(p, 1000);
  }
  void take(worker<M>& w, detail::record* r) {
    if (++reinterpret_cast<testing::task*>(r)->called != 1) complain("a task was taken twice");
    M::store(w.tasks, detail::peek(w.tasks) + 1, base::relaxed);
  }
  // As search.hpp does, without the time it goes on looking.
  void thief(unsigned id) {
    worker<M>& w = s_.crew[id];
    make_tiny();
    bool counted = s_.sleep.begin_search();
    while (!ends_now()) {
      if (counted && id == 1 && s_.crew.workers() > 2 && rng_.below(8) == 0) return leave(w);
      if (detail::record* r = look(w)) {
        if (counted) s_.sleep.found(play_.machine());
        for (; r != nullptr; r = look(w)) take(w, r);
        counted = s_.sleep.begin_search();
        continue;
      }
      if (counted) s_.sleep.give_up();
      counted = insists(w);
      if (!counted) fall_asleep(w, counted);
    }
  }
  [[nodiscard]] bool insists(worker<M>& w) {
    const auto searches = [this, &w] { return stealing_.visible(w) && s_.sleep.begin_search(); };
    return Flaw == flaw::never_asks ? stands_ && searches() : stealing_.insists(w, searches);
  }
  void fall_asleep(worker<M>& w, bool& counted) {
    const bool too_early = Flaw == flaw::looks_too_early && s_.sleep.somebody_searches();
    for (std::uint32_t n = rng_.below(4) == 0 ? rng_.below(100) : 0; n > 0; --n) M::relax(1);
    static_cast<void>(s_.sleep.announce(w.id));
    w.look.guarded(Flaw == flaw::sleeps_alone || Flaw == flaw::never_asks ||
                   (Flaw == flaw::looks_too_early ? too_early : s_.sleep.somebody_searches()));
    const bool sees = stealing_.visible(w);
    w.look.guarded(false);
    if (!sees || !s_.sleep.retract(w.id)) {
      park(w.id);
      counted = true;
      return;
    }
    if (detail::record* r = look(w)) {
      take(w, r);
      s_.sleep.notify(play_.machine());
    }
    counted = s_.sleep.begin_search();
  }
  // It was counted, and others take over what it had seen to.
  void leave(worker<M>& w) {
    s_.sleep.found_own(play_.machine(), [this, &w] { return Flaw != flaw::leaves_quietly && stealing_.visible(w); });
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
  bool stands_ = false;
  const char* wrong_ = nullptr;
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
