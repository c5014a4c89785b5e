// Setting a stack aside and entering it again. A worker runs its loop on a fiber and calls bodies on that same stack. A
// body that waits leaves the whole stack; a fresh loop goes on in its place, and when the wait is over the waiter is
// queued like any task. The loop that finds it leaves its own stack idle and enters the waiter's. Nothing ever runs on
// top of a waiting body but its own children.
//
// A stack that waits is saved before anyone can know of it: what tells the others (the `publish` step) runs after the
// switch, on the stack that was switched to.
#pragma once
#include <cstdint>
#include <utility>

#include "base/assert.hpp"
#include "sched/admit/stacks.hpp"
#include "sched/idle/expected.hpp"
#include "sched/idle/quiescence.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/place/readiness.hpp"
#include "sched/replay/recording.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <class M> class suspension {
 public:
  suspension(M& machine, sleep<M>& sleep, stacks<M>& stacks, recording<M>& recording, readiness<M>& readiness,
             quiescence<M>& quiescence)
      : machine_(machine), sleep_(sleep), stacks_(stacks), recording_(recording), readiness_(readiness),
        quiescence_(quiescence) {}

  // Worker 0 begins on the stack of the thread that makes the runtime.
  void open(worker<M>& main) noexcept {
    main.begins_on(program_);
    main.where = &program_.where;
  }
  [[nodiscard]] fiber& program() noexcept { return program_; }
  // What the main thread waits in, nullptr: nothing. Who: whoever finds that all sleep, or takes it for a guess.
  [[nodiscard]] waiter* program_waiter() const noexcept { return detail::peek(program_waiter_); }

  // That the next wait on w needs no memory. Who: w's thread. Errors: std::bad_alloc.
  void ensure_stack(worker<M>& w) { stacks_.ensure_one(w); }
  // Leaves the running stack until self.r is run, which may be on another worker. publish(here) makes self.r known to
  // whoever will make it ready. Who: w's thread. The caller restores here.current.
  template <class Publish> void set_aside(worker<M>& w, waiter& self, Publish publish) {
    struct step : fiber::action {
      Publish* publish;
    };
    WEFT_ASSERT(w.stacks.running != nullptr && w.role != role::guest);
    deque<M>::offer_kept(w);  // what the body keeps others may take from now on
    self.r.kind = detail::record_kind::resume;
    self.r.pin = only_on(w);
    self.r.parent = w.current;
    self.stack = w.stacks.running;
    step after{{[](fiber::action& a) {
                 Publish told = *static_cast<step&>(a).publish;  // the step itself may be gone once told
                 told(static_cast<worker<M>&>(*current_worker()));
               }},
               &publish};
    detail::worker* const program_on = w.where->on;
    detail::poke(w.moves, detail::peek(w.moves) + 1);
    fiber& loop = stacks_.take(w);
    detail::light_scope* const light = std::exchange(w.light, nullptr);
    trace::strand* const strand = strands<M>::leaves_stack(w);
    w.moves_to(loop);
    w.current = nullptr;
    machine_.jump(w.id, *self.stack, loop, &after);
    if (self.stack == &program_) program_.where.on = program_on;
    current_worker()->light = light;
    strands<M>::enters_stack(static_cast<worker<M>&>(*current_worker()), strand);
  }

  // The same for a stack that has to wait: counted, recorded, and known to reservations. Returns on the worker that the
  // body goes on with. since: when the wait began, if that was before; nullptr: now.
  template <class Publish> worker<M>& suspend(worker<M>& w, waiter& self, trace::reason why, Publish publish,
                                              const typename recording<M>::pause* since = nullptr) {
    detail::record* const current = w.current;
    detail::record* const body = detail::body_around(current);
    const bool is_program = w.on_program_stack();
    const typename readiness<M>::exclusive_wait until_resumed(readiness_, w);
    const bool is_expected = only_on(w) == w.id && expected<M>::waits_for_one(w, self);
    if (is_expected) expected<M>::begin(sleep_, w, self, is_program);
    count_one(w.counted.suspends);
    if (is_program) detail::poke(program_waiter_, &self);
    if (body != nullptr) note_wait(*body, &self.r);
    const auto from = since != nullptr ? *since : recording_.waits(w, body);
    set_aside(w, self, publish);
    worker<M>& here = static_cast<worker<M>&>(*current_worker());
    here.current = current;
    if (is_expected) expected<M>::end(sleep_, here, is_program);
    if (body != nullptr) note_wait(*body, nullptr);
    recording_.goes_on(here, body, why, from);
    if (is_program) back_in_program(here);
    return here;
  }

  // Enters a stack that waited; the loop on w leaves its own.
  void resume(worker<M>& w, waiter& to) {
    struct step : fiber::action {
      stacks<M>* all;
      worker<M>* w;
      fiber* stack;
    };
    step after{{[](fiber::action& a) {
                 step& s = static_cast<step&>(a);
                 s.all->leave(*s.w, s.stack);
               }},
               &stacks_,
               &w,
               w.stacks.running};
    WEFT_ASSERT(to.r.kind == detail::record_kind::resume && w.current == nullptr);
    WEFT_ASSERT(to.stack != nullptr && to.stack != w.stacks.running);
    fiber* mine = w.stacks.running;
    w.moves_to(*to.stack);
    machine_.jump(w.id, *mine, *to.stack, &after);
  }

  // The worker that alone goes on with the stack that w is on, or unpinned. The pin of a body belongs to its stack, so
  // it holds over waits, also for children that are calls on that stack; and the main thread comes back as itself.
  [[nodiscard]] static std::uint16_t only_on(const worker<M>& w) noexcept {
    if (w.on_program_stack()) return w.id;
    for (const detail::record* r = detail::body_around(w.current); r != nullptr; r = detail::body_around(r->parent)) {
      if (r->pin != detail::record::unpinned) return r->pin;
      if (!r->is_call) break;  // it is the first on its stack
    }
    return detail::record::unpinned;
  }

  // The running task r waits in `self`, or goes on: for its time, which says nothing, and for the report of a stall.
  static void note_wait(detail::record& r, detail::record* self) noexcept {
    WEFT_ASSERT(r.state == detail::record_state::running);
    r.has_waited = true;
    r.running.waits_in = self;
  }

 private:
  // This worker goes back to the program without the look for the end that it takes before it sleeps, and may have run
  // the last task: threads outside that wait for it would be forgotten.
  void back_in_program(worker<M>& main) {
    detail::poke(program_waiter_, static_cast<waiter*>(nullptr));
    if (M::admits_strangers() && quiescence_.is_over_for_some()) readiness_.quiescent(main);
  }

  M& machine_;
  sleep<M>& sleep_;
  stacks<M>& stacks_;
  recording<M>& recording_;
  readiness<M>& readiness_;
  quiescence<M>& quiescence_;
  fiber program_;  // the stack of the thread that made the runtime
  detail::cell<waiter*> program_waiter_;
};

}  // namespace weft::sched
