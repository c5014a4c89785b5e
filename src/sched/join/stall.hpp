// A program that cannot go on: every worker sleeps, the main thread waits, and what is left waits for what will never
// come - typically a task that waits in its body for a child that needs what the task itself holds. That is found at
// once and exactly, not by a time-out, and reported by names instead of a hang - also to threads outside the runtime
// that wait. Only while the main thread is in no wait must time tell. Why the look is exact: sleep.md, "Everybody
// asleep".
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "sched/admit/admission.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/fail/poison.hpp"
#include "sched/fail/stall_report.hpp"
#include "sched/idle/attention.hpp"
#include "sched/idle/events.hpp"
#include "sched/idle/guests.hpp"
#include "sched/idle/quiescence.hpp"
#include "sched/idle/sleep.hpp"
#include "sched/workers/source.hpp"
#include "task/pool.hpp"
#include "weft/error.hpp"

namespace weft::sched {

template <class M> struct stall_parts {
  M& machine;
  sched::sleep<M>& sleep;
  sched::crew<M>& all;
  sched::guests<M>& outside;
  sched::attention<M>& attention;
  sched::quiescence<M>& quiescence;
  sched::placement<M>& placement;
  sched::suspension<M>& suspension;
  task::pool<M>& pool;
  event_board& events;
  event_watch& watch;
  sched::admission<M>& admission;
  sched::poison<M>& poison;
};

template <class M> class stall {
 public:
  explicit stall(const stall_parts<M>& parts) : use_(parts) {}
  // Who: the thread that makes the runtime, when all workers have their sources.
  void open() { sources_.open(use_.all); }

  // Who: the worker whose announcement found everybody asleep. If somebody wakes meanwhile nothing is done: whoever
  // sleeps last asks again.
  void look(worker<M>& w) {
    const std::uint64_t announcements = use_.sleep.announcements();
    const bool paused = use_.attention.paused();
    if (!paused && sources_.any(w, use_.all)) return;  // while paused nobody takes what there is
    const bool all_done = use_.quiescence.reached();
    if (!use_.sleep.all_asleep() || use_.sleep.announcements() != announcements) return;
    // A submitter waits for room, and all free records are in the lists of workers that sleep: with nothing left to run
    // it may as well go on, however many tasks are live.
    if (use_.admission.let_exceed() || paused) return;
    // What could still be missing? A task waits only for versions, units and children that were registered before, so
    // no later submission can help it: not one of the main thread, which waits, and not one of another thread, unless
    // its call is under way and what it registers is not yet where it was looked for.
    // But what happens outside can, and what a modelled machine does at a time.
    const waiter* const program = use_.suspension.program_waiter();
    if (use_.events.outstanding() != 0 && use_.watch.events_may_come()) return;
    if (program == nullptr || use_.events.any_timed()) return;
    if (all_done && program->outer == nullptr && program->joins == nullptr && !program->is_ahead) return;
    base::locked<M> guard(use_.outside.waits_lock());  // no such call begins from here on
    if (use_.outside.calls_under_way()) return;
    if (!use_.sleep.all_asleep() || use_.sleep.announcements() != announcements) return;  // one may have ended since
    end_waits(w);
  }

  // Throws the bad news to a wait that was ended by it. A task that has failed may be why nothing can run any more:
  // that is told first, and the stall to the next wait. Who: such a wait.
  [[noreturn]] void raise(bool in_program) {
    use_.poison.rethrow_below(nullptr);
    report(in_program);
  }
  // Throws the stall itself, before anything else.
  [[noreturn]] void report(bool in_program) {
    if (in_program) told_ = true;
    std::string text;
    {
      base::locked<M> guard(use_.outside.waits_lock());
      text = text_;
    }
    WEFT_ASSERT(!text.empty());
    throw error(text);
  }
  // The runtime ends, and nothing is left to run: threads outside that wait for what nobody will bring are told so. Who
  // waits for everything only if that is not done: it sees it itself. Who: the thread that ends the runtime.
  void end_outside() noexcept {
    base::locked<M> guard(use_.outside.waits_lock());
    for (waiter* x = use_.outside.waits().first(); x != nullptr; x = guests<M>::list::after(*x)) {
      const bool for_all = x->outer == nullptr && x->awaited == nullptr;
      if ((for_all && use_.quiescence.reached()) || !delist(*x)) continue;
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
    WEFT_ASSERT(detail::is_scope(r) && use_.all.main().current == r.parent);
    use_.pool.all().for_each([&](detail::record& x) {
      if (x.parent == &r && x.state != detail::record_state::free) use_.quiescence.created(use_.all.main(), x);
    });
  }

  // Blocks until self is over, or was ended by a stall. Who: a guest. While the main thread is in no wait a stall
  // cannot be told from a program that will go on: it may have tasks in its own deque that only it can give away. So
  // such a wait is not ended, but if everything stood still for a while that is said, once.
  void await_outside(waiter& self) {
    standstill before = look_for_standstill();
    while (!M::block_for(self.signal, base::standstill_ns)) {
      const standstill now = look_for_standstill();
      if (now.still && now == before && M::exchange(standstill_told_, 1u, base::relaxed) == 0) report_standstill(self);
      before = now;
    }
  }

 private:
  struct standstill {
    bool still;
    std::uint64_t steps;  // grows with whatever happens
    [[nodiscard]] bool operator==(const standstill&) const = default;
  };

  // Lets everybody go who waits outside of tasks. The report is made first: afterwards they run.
  // Who: holder of the guests' waits_lock(), so a waiter found in the list lives until it is released.
  void end_waits(worker<M>& w) {
    WEFT_ASSERT(base::held(use_.outside.waits_lock()) && use_.suspension.program_waiter() != nullptr);
    text_ = describe_stall(use_.pool.all(), use_.events);
    for (waiter* x = use_.outside.waits().first(); x != nullptr; x = guests<M>::list::after(*x)) {
      if (x->outer != nullptr || !delist(*x)) continue;  // who fulfils an event may come from outside at any time
      x->stalled = true;
      M::signal(x->signal);
    }
    if (waiter& self = *use_.suspension.program_waiter(); delist(self)) {
      self.stalled = true;
      use_.placement.place(w, &self.r);
    }
    // Two may have found everybody asleep. The other waits for the lock, and the program may go on as soon as it has
    // it: that one began to look before this, or sees what was just placed.
    use_.sleep.look_again();
  }

  // Takes x from the list it waits in. Returns whether it was there.
  [[nodiscard]] bool delist(waiter& x) noexcept {
    if (x.outer != nullptr) return use_.events.delist(*x.outer);
    if (x.joins != nullptr) {
      auto listed = reinterpret_cast<std::uintptr_t>(&x.r);
      return M::compare_exchange(x.joins->meeting, listed, std::uintptr_t{0}, base::acq_rel);
    }
    if (x.children_of != nullptr) return M::load(x.children_of->pending, base::acquire) != 0;
    if (x.awaited == nullptr) return use_.quiescence.delist(x);
    base::locked<M> guard(x.awaited->lock);
    if (x.r.state != detail::record_state::blocked) return false;
    WEFT_ASSERT(x.awaited->waiters_head != nullptr);
    access::remove_waiter(*x.awaited, &x.r);
    // A second stall may find it here before its thread has gone.
    transition(x.r, detail::record_state::blocked, detail::record_state::ready);
    return true;
  }

  [[nodiscard]] standstill look_for_standstill() noexcept {
    const std::uint64_t steps = use_.sleep.announcements() + use_.quiescence.steps();
    const bool still = use_.suspension.program_waiter() == nullptr && !use_.outside.calls_under_way() &&
                       !use_.admission.somebody_waits() && !use_.attention.paused() &&
                       use_.sleep.all_asleep_but_first() && !use_.quiescence.reached();
    return {still, steps};
  }

  // Names what is listed on the handle that self waits for: under its lock those tasks stay where they are. Others may
  // change at any time, since the main thread runs.
  void report_standstill(waiter& self) {
    std::string text = "all tasks";
    std::string names;
    if (detail::handle_state* h = self.awaited) {
      base::locked<M> guard(h->lock);
      text = describe_wait(self.a);
      names = describe_listed(*h);
    }
    std::fprintf(stderr,
                 "weft: a thread waits for %s, and for %u s no task has run: all workers sleep and %llu tasks are not "
                 "done. The thread that made the runtime is in no wait; the tasks it submitted may need it to run.%s\n",
                 text.c_str(), static_cast<unsigned>(base::standstill_ns / 1'000'000'000u),
                 static_cast<unsigned long long>(use_.quiescence.live()), names.c_str());
  }

  stall_parts<M> use_;
  everywhere<M> sources_;
  std::string text_;                             // guarded by the guests' waits_lock()
  detail::cell<std::uint32_t> standstill_told_;  // not 0: it has been reported on stderr
  bool told_ = false;
};

}  // namespace weft::sched
