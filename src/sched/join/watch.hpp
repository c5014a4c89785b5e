// A look from outside at a runtime in which nothing moves, on real cores. Three things can only be seen that way,
// because no worker is free to see them or none may act on them:
//
//   bodies that block their cores   P + 1 tasks that spin until all are in: every worker is in a body and stays there
//   events that do not come         everybody sleeps, and somebody outside may still fulfil one (stall.hpp)
//   waits of other threads          everybody sleeps, and the main thread, in no wait, may still submit or give away
//                                   what such a wait needs, so it is not ended
//
// They are reported on stderr, once each, and nothing else is done: bodies may just be long, and events late.
// The look is taken by a thread that is made when the program first waits, sleeps for a third of the time after which
// it would report, and sleeps for good while nobody waits: a wait then wakes it, for the price of a load if it is
// awake. It sees counters only, never a record: what a body is called its worker puts into a cell when it begins. What
// it cannot see: bodies that spin while the program is in no wait, and tasks inside tasks that wait for a core in the
// private part of the deque of a worker that spins.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/printable.hpp"
#include "sched/admit/admission.hpp"
#include "sched/admit/suspension.hpp"
#include "sched/fail/stall_report.hpp"
#include "sched/idle/events.hpp"
#include "sched/place/context.hpp"
#include "sched/workers/source.hpp"

namespace weft::sched {

template <class M> class watch final : public event_watch {
 public:
  watch(context<M>& context, suspension<M>& suspension, event_board& events, admission<M>& admission)
      : context_(context), suspension_(suspension), events_(events), admission_(admission) {}

  // stuck_ns: after so long without a task that begins or ends it is said where the workers are; 0: never, and nothing
  // of events either.
  void open(std::uint64_t stuck_ns) noexcept { stuck_ns_ = stuck_ns; }
  // Somebody begins to wait. Who: any thread. Cost: one load while the watch is awake.
  void call() {
    if (M::has_helpers() && M::load(awake_, base::seq_cst) == 0) wake();
  }
  // Looks more often.
  [[nodiscard]] bool events_may_come() override {
    if (!M::has_helpers()) return false;
    if (M::load(told_of_events_, base::relaxed) == 0 && M::exchange(hurried_, 1u, base::relaxed) == 0) wake();
    return true;
  }
  // Who: the thread that ends the runtime, before it joins the machine's threads.
  void stop() noexcept {
    if (!M::has_helpers()) return;
    M::store(stopping_, 1u, base::relaxed);  // who is called sees it
    M::signal(called_);
  }

 private:
  struct sight {
    std::uint64_t steps = 0;
    bool somebody_waits = false;  // else nothing is to be watched
    bool program_waits = false;   // the main thread is among them
    bool all_in_bodies = false;   // every worker
    bool all_asleep = false;
    [[nodiscard]] bool operator==(const sight&) const = default;
  };

  void wake() {
    base::locked<M> guard(lock_);
    M::store(awake_, 1u, base::seq_cst);
    if (made_) return M::signal(called_);
    WEFT_ASSERT(M::load(stopping_, base::relaxed) == 0);
    made_ = true;
    context_.machine.start_helper([](void* self) { static_cast<watch*>(self)->run(); }, this);
  }

  void run() {
    sight before = look();
    std::uint64_t since_ps = context_.machine.now_ps();
    while (M::load(stopping_, base::relaxed) == 0) {
      static_cast<void>(M::block_for(called_, period_ns(before)));
      static_cast<void>(M::exchange(called_, 0u, base::acquire));
      if (M::load(stopping_, base::relaxed) != 0) return;
      const sight now = look();
      const std::uint64_t now_ps = context_.machine.now_ps();
      if (now == before) {
        judge(now, (now_ps - since_ps) / 1000);
      } else {
        before = now;
        since_ps = now_ps;
      }
      if (!now.somebody_waits) rest();
    }
  }
  // Who calls is about to be listed where look() finds it; the second look is late enough for who called just before.
  void rest() {
    M::store(awake_, 0u, base::seq_cst);
    if (!M::block_for(called_, base::patience_ns) && !look().somebody_waits) M::block(called_);
    M::store(awake_, 1u, base::seq_cst);
  }
  [[nodiscard]] std::uint64_t period_ns(const sight& last) noexcept {
    const std::uint64_t rare = stuck_ns_ != 0 ? stuck_ns_ / 3 + 1 : 10 * base::standstill_ns;
    const bool for_events = M::load(hurried_, base::relaxed) != 0 && M::load(told_of_events_, base::relaxed) == 0;
    const bool for_outside = !last.program_waits && !told_of_outside_;  // also of one who is about to be listed
    const bool hurried = for_events || for_outside;
    return hurried && rare > base::standstill_ns / 4 ? base::standstill_ns / 4 : rare;
  }

  [[nodiscard]] sight look() noexcept {
    sight s;
    s.steps = context_.sleep.announcements() + context_.quiescence.steps() + context_.crew.tasks_begun() +
              events_.outstanding();
    for (const auto& w : context_.crew) s.steps += detail::peek(w->counted.suspends);
    s.program_waits = suspension_.program_waiter() != nullptr;
    {
      base::locked<M> guard(context_.guests.waits_lock());
      s.somebody_waits = s.program_waits || !context_.guests.waits().empty();
    }
    s.all_in_bodies = context_.sleep.nobody_idle() && !context_.attention.paused() &&
                      (s.program_waits || context_.crew.workers() > 1);
    s.all_asleep = (s.program_waits ? context_.sleep.all_asleep() : context_.sleep.all_asleep_but_first()) &&
                   !context_.guests.calls_under_way() && !admission_.somebody_waits() && !context_.attention.paused();
    return s;
  }

  void judge(const sight& s, std::uint64_t for_ns) {
    if (!s.somebody_waits || stuck_ns_ == 0) return;
    if (s.all_asleep && for_ns >= base::standstill_ns) {
      if (events_.outstanding() != 0)
        tell_of_events(for_ns);
      else if (!s.program_waits && !context_.quiescence.reached())
        tell_of_outside(for_ns);
    }
    if (s.all_in_bodies && for_ns >= stuck_ns_ && others_wait()) tell_of_bodies(for_ns);
  }
  // Tasks that could run if a worker were free, or that are not done and in no body.
  [[nodiscard]] bool others_wait() noexcept {
    if (context_.quiescence.live() > context_.crew.workers()) return true;
    for (const auto& w : context_.crew)
      for (source<M>* s : w->sources)
        if (s->visible(*w)) return true;
    return false;
  }

  void tell_of_events(std::uint64_t for_ns) {
    WEFT_ASSERT(for_ns >= base::standstill_ns);
    if (M::exchange(told_of_events_, 1u, base::relaxed) != 0) return;
    std::fprintf(stderr,
                 "weft: for %llu s no task has run: all workers sleep, and what is left waits for what comes from "
                 "outside:%s\n",
                 static_cast<unsigned long long>(for_ns / 1'000'000'000u), events_.lines().c_str());
  }
  // Names what is listed on the handle that a thread waits for: under its lock those tasks stay where they are. Others
  // may change at any time, since the main thread runs. Who is about to be listed there is told of another time.
  void tell_of_outside(std::uint64_t for_ns) {
    if (told_of_outside_) return;
    base::locked<M> guard(context_.guests.waits_lock());  // a waiter found in the list lives until it is released
    if (context_.guests.calls_under_way()) return;
    waiter* x = context_.guests.waits().first();
    while (x != nullptr && x->outer != nullptr) x = guests<M>::list::after(*x);
    if (x == nullptr || (x->awaited != nullptr && x->a.handle_and_kind == 0)) return;
    told_of_outside_ = true;
    std::string text = "all tasks", names;
    if (detail::handle_state* h = x->awaited) {
      base::locked<M> listed(h->lock);
      text = describe_wait(x->a);
      names = describe_listed(*h);
    }
    std::fprintf(stderr,
                 "weft: a thread waits for %s, and for %llu s no task has run: all workers sleep and %llu tasks are "
                 "not done. The thread that made the runtime is in no wait; the tasks it submitted may need it to run."
                 "%s\n",
                 text.c_str(), static_cast<unsigned long long>(for_ns / 1'000'000'000u),
                 static_cast<unsigned long long>(context_.quiescence.live()), names.c_str());
  }
  void tell_of_bodies(std::uint64_t for_ns) {
    if (told_of_bodies_) return;
    told_of_bodies_ = true;
    std::string where;
    for (unsigned id = 0; id < context_.crew.workers(); ++id) {
      if (context_.crew[id].role == role::creator) continue;
      const char* const name = detail::peek(context_.crew[id].body_name);
      where += "\n  worker " + std::to_string(id) + ": " +
               (name != nullptr ? "task '" + base::printable(name) + "'" : std::string("an unnamed task"));
    }
    std::fprintf(
        stderr,
        "weft: for %.1f s no task has begun or ended, every worker is in a body, and other tasks wait. If these "
        "bodies wait for those tasks they never end: let them wait by the runtime, or weft::yield().%s\n",
        static_cast<double>(for_ns) / 1e9, where.c_str());
  }

  context<M>& context_;
  suspension<M>& suspension_;
  event_board& events_;
  admission<M>& admission_;
  std::uint64_t stuck_ns_ = 0;
  detail::cell<std::uint8_t> lock_;
  bool made_ = false;            // the thread; guarded by lock_
  bool told_of_bodies_ = false;  // its thread's own, as the next
  bool told_of_outside_ = false;
  detail::cell<std::uint32_t> awake_;  // it looks from time to time
  detail::cell<std::uint32_t> hurried_;
  detail::cell<std::uint32_t> told_of_events_;
  detail::cell<std::uint32_t> called_;
  detail::cell<std::uint32_t> stopping_;
};

}  // namespace weft::sched
