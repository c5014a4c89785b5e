// A program that cannot go on: every worker sleeps, the main thread waits, and what is left waits for what will never
// come - typically a task that waits in its body for a child that needs what the task itself holds. That is found at
// once and exactly, not by a time-out, and reported by names instead of a hang - also to threads outside the runtime
// that wait. What only time can tell watch.hpp sees. Why this look is exact: sleep.md, "Everybody asleep".
#pragma once
#include <cstdint>
#include <string>

#include "base/assert.hpp"
#include "sched/admit/admission.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/fail/stall_report.hpp"
#include "sched/idle/events.hpp"
#include "sched/place/context.hpp"
#include "sched/workers/source.hpp"
#include "weft/error.hpp"

namespace weft::sched {

template <class M> class stall {
 public:
  stall(context<M>& context, suspension<M>& suspension, event_board& events, event_watch& watch,
        admission<M>& admission)
      : context_(context), suspension_(suspension), events_(events), watch_(watch), admission_(admission) {}
  // Who: the thread that makes the runtime, when all workers have their sources.
  void open() { sources_.open(context_.crew); }

  // Who: the worker whose announcement found everybody asleep. If somebody wakes meanwhile nothing is done: whoever
  // sleeps last asks again.
  void look(worker<M>& w) {
    const std::uint64_t announcements = context_.sleep.announcements();
    const bool paused = context_.attention.paused();
    if (!paused && sources_.any(w, context_.crew)) return;  // while paused nobody takes what there is
    const bool all_done = context_.quiescence.reached();
    if (!context_.sleep.all_asleep() || context_.sleep.announcements() != announcements) return;
    // A submitter waits for room, and all free records are in the lists of workers that sleep: with nothing left to run
    // it may as well go on, however many tasks are live.
    if (admission_.let_exceed() || paused) return;
    // What could still be missing? A task waits only for versions, units and children that were registered before, so
    // no later submission can help it: not one of the main thread, which waits, and not one of another thread, unless
    // its call is under way and what it registers is not yet where it was looked for.
    // But what happens outside can, and what a modelled machine does at a time.
    const waiter* const program = suspension_.program_waiter();
    if (events_.outstanding() != 0 && (events_.hears || watch_.events_may_come())) return;
    if (program == nullptr || events_.any_timed()) return;
    if (all_done && program->outer == nullptr && program->joins == nullptr && !program->is_ahead) return;
    base::locked<M> guard(context_.guests.waits_lock());  // no such call begins from here on
    if (context_.guests.calls_under_way()) return;
    if (!context_.sleep.all_asleep() || context_.sleep.announcements() != announcements)
      return;  // one may have ended since
    end_waits(w);
  }

  // Throws the bad news to a wait that was ended by it. A task that has failed may be why nothing can run any more:
  // that is told first, and the stall to the next wait. Who: such a wait.
  [[noreturn]] void raise(bool in_program) {
    context_.poison.rethrow_below(nullptr);
    report(in_program);
  }
  // Throws the stall itself, before anything else.
  [[noreturn]] void report(bool in_program) {
    if (in_program) told_ = true;
    std::string text;
    {
      base::locked<M> guard(context_.guests.waits_lock());
      text = text_;
    }
    WEFT_ASSERT(!text.empty());
    throw error(text);
  }
  // The runtime ends, and nothing is left to run: threads outside that wait for what nobody will bring are told so. Who
  // waits for everything only if that is not done: it sees it itself. Who: the thread that ends the runtime.
  void end_outside() noexcept {
    base::locked<M> guard(context_.guests.waits_lock());
    for (waiter* x = context_.guests.waits().first(); x != nullptr; x = guests<M>::list::after(*x)) {
      const bool for_all = x->outer == nullptr && x->awaited == nullptr;
      if ((for_all && context_.quiescence.reached()) || !delist(*x)) continue;
      if (text_.empty()) text_ = "weft: a runtime ends while a thread waits there for what nothing will bring";
      x->stalled = true;
      M::signal(x->signal);
    }
  }
  // Whether the program has had the report. Who: the thread that made the runtime.
  [[nodiscard]] bool told() const noexcept { return told_; }

  // The main thread has been told that the scope r will never be over, and leaves it: the tasks that are left belong to
  // the scope around it, or to the program. Who: it, in that scope already; nothing can run.
  void orphan(const detail::record& r) noexcept {
    WEFT_ASSERT(detail::is_scope(r) && context_.crew.main().current == r.parent);
    context_.pool.all().for_each([&](detail::record& x) {
      if (x.parent == &r && x.state != detail::record_state::free) context_.quiescence.created(context_.crew.main(), x);
    });
  }

 private:
  // Lets everybody go who waits outside of tasks. The report is made first: afterwards they run.
  // Who: holder of the guests' waits_lock(), so a waiter found in the list lives until it is released.
  void end_waits(worker<M>& w) {
    WEFT_ASSERT(base::held(context_.guests.waits_lock()) && suspension_.program_waiter() != nullptr);
    text_ = describe_stall(context_.pool.all(), events_);
    for (waiter* x = context_.guests.waits().first(); x != nullptr; x = guests<M>::list::after(*x)) {
      if (x->outer != nullptr || !delist(*x)) continue;  // who fulfils an event may come from outside at any time
      x->stalled = true;
      M::signal(x->signal);
    }
    if (waiter& self = *suspension_.program_waiter(); delist(self)) {
      self.stalled = true;
      context_.placement.place(w, &self.r);
    }
    // Two may have found everybody asleep. The other waits for the lock, and the program may go on as soon as it has
    // it: that one began to look before this, or sees what was just placed.
    context_.sleep.look_again();
  }

  // Takes x from the list it waits in. Returns whether it was there.
  [[nodiscard]] bool delist(waiter& x) noexcept {
    if (x.outer != nullptr) return events_.delist(*x.outer);
    if (x.joins != nullptr) {
      auto listed = reinterpret_cast<std::uintptr_t>(&x.r);
      return M::compare_exchange(x.joins->meeting, listed, std::uintptr_t{0}, base::acq_rel);
    }
    if (x.children_of != nullptr) return M::load(x.children_of->pending, base::acquire) != 0;
    if (x.awaited == nullptr) return context_.quiescence.delist(x);
    base::locked<M> guard(x.awaited->lock);
    if (x.r.state != detail::record_state::blocked) return false;
    WEFT_ASSERT(x.awaited->waiters_head != nullptr);
    access::remove_waiter(*x.awaited, &x.r);
    // A second stall may find it here before its thread has gone.
    transition(x.r, detail::record_state::blocked, detail::record_state::ready);
    return true;
  }

  context<M>& context_;
  suspension<M>& suspension_;
  event_board& events_;
  event_watch& watch_;
  admission<M>& admission_;
  everywhere<M> sources_;
  std::string text_;  // guarded by the guests' waits_lock()
  bool told_ = false;
};

}  // namespace weft::sched
