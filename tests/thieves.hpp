// What models of thieves have in common: one main thread and some thieves, which search, take, give up, announce their
// sleep, look once more and park as engine/search.hpp has it, but for the time that they go on looking; one of them is
// called away by something else. A model says what the main thread does, and the steps in which its protocol, or a
// flaw in it, shows:
//
//   void owner()                       the main thread, once. When it stands still for good it sets `stands`
//   void take(w, r)                    w runs r
//   bool goes_on(w, counted)           w has found nothing and searches no more: whether it looks again; counted:
//                                      whether it is a searcher then
//   bool before_sleep(w)               what w learns before it announces its sleep; handed to sees()
//   bool sees(w, early)                whether w, which has announced its sleep, sees something
//   bool leaves_something(w)           whether a searcher that is called away has to tell others
//   const char* left()                 what is wrong where all are at rest, or nullptr
#pragma once
#include <cstdint>

#include "interleave.hpp"
#include "sched/place/stealing.hpp"
#include "scheduler.hpp"

namespace weft::testing {

template <class Model> class thieves {
 public:
  using M = interleave::watched;
  using worker = sched::worker<M>;

  // What is wrong, or nullptr. `looks`: of the schedule, at most.
  const char* run(unsigned looks = 1 << 16) {
    const auto core = [this](unsigned id) { id == 1 ? model().owner() : thief(id - 1); };
    const bool done = play.run(
        s.crew.workers(), core, [this] { return wrong_ != nullptr || at_rest(); }, looks);
    if (!done) complain("thieves do not come to rest");
    return wrong_;
  }

 protected:
  thieves(std::uint64_t seed, unsigned workers) : play(seed), rng(seed * 7), s(play.machine(), workers) {
    s.open();
    stealing.open(s.policy);
  }

  void complain(const char* what) noexcept {
    if (wrong_ == nullptr) wrong_ = what;
  }
  [[nodiscard]] bool ends_now() const noexcept { return play.over() || wrong_ != nullptr; }
  // For a while, one time in `seldom`.
  void dawdle(unsigned seldom, std::uint32_t most) {
    for (std::uint32_t n = rng.below(seldom) == 0 ? rng.below(most) : 0; n > 0; --n) M::relax(1);
  }

  interleave::play<M> play;
  base::random rng;
  scheduler<M> s;
  sched::stealing<M> stealing{play.machine(), s.sleep, s.crew, s.placement, s.tempo, s.recording};
  bool stands = false;

 private:
  [[nodiscard]] Model& model() noexcept { return static_cast<Model&>(*this); }
  // The main thread stands still, and all thieves but who was called away have been parked for longer than a wake could
  // be on its way.
  [[nodiscard]] bool at_rest() {
    if (!calm_.for_long(stands && parked_ + gone_ + 1 == s.crew.workers())) return false;
    if (const char* const what = model().left()) complain(what);
    return true;
  }
  void thief(unsigned id) {
    worker& w = s.crew[id];
    bool counted = s.sleep.begin_search();
    while (!ends_now()) {
      if (counted && id == 1 && s.crew.workers() > 2 && rng.below(8) == 0) return leave(w);
      if (detail::record* r = look(w)) {
        if (counted) s.sleep.found(play.machine());
        for (; r != nullptr; r = look(w)) model().take(w, r);
        counted = s.sleep.begin_search();
        continue;
      }
      if (counted) s.sleep.give_up();
      counted = false;
      if (!model().goes_on(w, counted)) fall_asleep(w, counted);
    }
  }
  void fall_asleep(worker& w, bool& counted) {
    const bool early = model().before_sleep(w);
    dawdle(4, 100);
    static_cast<void>(s.sleep.announce(w.id));
    if (!model().sees(w, early) || !s.sleep.retract(w.id)) {
      ++parked_;
      play.machine().park(w.id);
      --parked_;
      counted = true;
      return;
    }
    if (detail::record* r = look(w)) {
      model().take(w, r);
      s.sleep.notify(play.machine());
    }
    counted = s.sleep.begin_search();
  }
  // It was counted, and others take over what it had seen to.
  void leave(worker& w) {
    s.sleep.found_own(play.machine(), [this, &w] { return model().leaves_something(w); });
    ++gone_;
  }
  [[nodiscard]] detail::record* look(worker& w) {
    if (detail::record* r = sched::deque<M>::pop(w)) return r;
    return stealing.take(w);
  }

  unsigned parked_ = 0;
  unsigned gone_ = 0;
  interleave::calm calm_;
  const char* wrong_ = nullptr;
};

}  // namespace weft::testing
