// A little engine in which things happen, for the tests of what waits and searches: worker 0 is the calling
// thread, on real stacks, and while it waits a loop runs what is in its inbox and its deque. When nothing is left the
// loop looks for the end and, with everybody asleep, for a stall. Nobody else runs, so a test is one thread.
#pragma once
#include "little_engine.hpp"
#include "sched/admit/admission.hpp"
#include "sched/admit/stacks.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/join/stall.hpp"
#include "sched/workers/children.hpp"

namespace weft::testing {

struct running_engine : little_engine<notes> {
  running_engine(notes& on, unsigned workers) : little_engine(on, workers) {
    open();
    suspension.open(w);
    sched::set_current_worker(&w);
  }
  ~running_engine() { sched::set_current_worker(before); }

  // What an engine does between a task being found and its end.
  void run(task& t) {
    transition(t.r, record_state::ready, record_state::running);
    t.r.running.ended_here = 0;
    t.r.running.children = 0;
    w.current = &t.r;
    t.r.invoke(t.r, detail::errand::run);
    w.current = nullptr;
    access::woken list;
    access::settle<notes>(t.r, list);
    readiness.all(w, list);
    record* const parent = t.r.parent;
    if (parent == nullptr) return quiescence.finished(w);
    if (sched::children<notes>::ended(*parent)) placement.place(w, parent->running.awaits_children);
  }
  void fall_asleep() {
    for (unsigned id = 0; id < crew.workers(); ++id) static_cast<void>(sleep.announce(id));
  }
  void wake_up() {
    for (unsigned id = 0; id < crew.workers(); ++id) static_cast<void>(sleep.retract(id));
  }

  sched::stacks<notes> stacks{std::size_t{128} << 10, &running_engine::enter, this};
  sched::suspension<notes> suspension{machine, sleep, stacks, recording, readiness, quiescence};
  sched::admission<notes> admission{*this, suspension, place.stealing, 1024};
  sched::event_board events;
  struct no_watch final : sched::event_watch {
    unsigned told = 0;
    [[nodiscard]] bool events_may_come() override { return ++told, true; }
  } watch;
  sched::stall<notes> stall{*this, suspension, events, watch, admission};
  sched::worker<notes>& w = crew[0];
  unsigned idle_looks = 0;

 private:
  static void enter(void* self) { static_cast<running_engine*>(self)->loop(); }
  void loop() {
    for (;;) {
      record* r = w.box.pop();
      if (r == nullptr) r = sched::deque<notes>::pop(w);
      if (r == nullptr) {
        rest();
      } else if (r->kind == detail::record_kind::resume) {
        suspension.resume(w, sched::waiter::of(r));
      } else {
        run(reinterpret_cast<task&>(*r));
      }
    }
  }
  void rest() {
    WEFT_ASSERT(++idle_looks < 100);  // somebody waits for what never comes, and nobody finds that out
    if (quiescence.is_over_for_some()) return readiness.quiescent(w);
    fall_asleep();
    stall.look(w);
    wake_up();
  }

  detail::worker* const before = sched::current_worker();
};

}  // namespace weft::testing
