// Part of engine.hpp. A program that cannot go on: every worker sleeps, the main thread waits, and what is left waits
// for what will never come - typically a task that waits in its body for a child that needs what the task itself holds.
// That is found at once and exactly, not by a time-out, and reported by names instead of a hang - also to threads
// outside the runtime that wait. Only while the main thread is in no wait must time tell.
#pragma once

#include <cstdio>

namespace weft::sched {

// Who: the worker whose announcement found everybody asleep. If somebody wakes meanwhile nothing is done: whoever
// sleeps last asks again.
template <machine::machine M> void engine<M>::break_stall(worker& w) {
  const std::uint64_t announcements = sleep_.announcements();
  if (anything_anywhere() && !paused()) return;  // while paused nobody takes what there is
  const bool all_done = quiescent();
  if (!sleep_.all_asleep() || sleep_.announcements() != announcements) return;
  // A submitter waits for room, and all free records are in the lists of workers that sleep: with nothing left to run
  // it may as well go on, however many tasks are live.
  if (window_.anyone()) return let_one_exceed();
  if (paused()) return;  // nothing runs because nothing may
  // What could still be missing? A task waits only for versions, units and children that were registered before, so no
  // later submission can help it: not one of the main thread, which waits, and not one of another thread, unless its
  // call is under way and what it registers is not yet where it was looked for.
  if (all_done || detail::peek(program_waiter_) == nullptr) return;
  base::locked<M> guard(outside_waits_lock_);  // no such call begins from here on
  if (M::load(outside_calls_, base::seq_cst) != 0) return;
  if (!sleep_.all_asleep() || sleep_.announcements() != announcements) return;  // one may have ended since
  end_stalled_waits(w);
}

template <machine::machine M> bool engine<M>::anything_anywhere() noexcept {
  if (!central_.empty() || !urgent_.empty() || (creator_ != nullptr && !requests_.empty())) return true;
  if (chooses() && !order_->empty()) return true;
  for (const auto& w : workers_)
    if (!w->box.empty() || deque::stealable(*w)) return true;
  return false;
}

// Lets everybody go who waits outside of tasks, with the bad news. The report is made first: afterwards they run.
// Who: holder of outside_waits_lock_, so a waiter found in the list lives until it is released.
template <machine::machine M> void engine<M>::end_stalled_waits(worker& w) {
  stall_text_ = describe_stall();
  for (waiter* x : outside_waits_) {
    if (!delist(*x)) continue;
    x->stalled = true;
    M::signal(x->signal);
  }
  waiter& self = *detail::peek(program_waiter_);
  if (!delist(self)) return;
  self.stalled = true;
  make_ready(w, &self.r);
}

// Takes x from the list it waits in. Gives whether it was there.
template <machine::machine M> bool engine<M>::delist(waiter& x) noexcept {
  if (x.awaited != nullptr) {
    base::locked<M> guard(x.awaited->lock);
    if (x.r.state != detail::record_state::blocked) return false;
    access::remove_waiter(*x.awaited, &x.r);
    x.r.state = detail::record_state::ready;  // a second stall may find it here before its thread has gone
    return true;
  }
  base::locked<M> guard(quiescent_lock_);
  const bool listed = std::erase(quiescent_waiters_, &x) != 0;
  M::store(quiescent_waiting_, static_cast<std::uint32_t>(quiescent_waiters_.size()), base::seq_cst);
  return listed;
}

template <machine::machine M> void engine<M>::throw_stall() {
  if (current_worker() != nullptr && current_worker()->engine == this) stall_told_ = true;
  std::string text;
  {
    base::locked<M> guard(outside_waits_lock_);
    text = stall_text_;
  }
  throw error(text);
}

[[nodiscard]] inline std::string describe_task(const detail::record& r) {
  return r.name != nullptr ? "task '" + std::string(r.name) + "'" : std::string("an unnamed task");
}

// What a blocked task waits for. Who: nobody else changes r.
[[nodiscard]] inline std::string describe_blocked(detail::record& r) {
  const access::entry& a = access::awaited(&r);
  const std::string who = describe_task(r);
  if ((a.handle_and_kind & detail::handle_address_mask) == 0) return who + " waits for a handle that is gone";
  const detail::handle_state& h = access::handle_of(a);
  if (access::is_resource(a))
    return who + " waits for " + std::to_string(a.required) + " units of resource " + access::name_of(h);
  return who + " waits for version " + std::to_string(a.required & access::version_mask) + " of handle " +
         access::name_of(h) + ", which is at " + std::to_string(access::version_in(detail::peek(h.word)));
}

template <machine::machine M> std::string engine<M>::describe_stall() {
  constexpr int shown_max = 8;
  std::string text;
  int waiting = 0;
  const auto say = [&](const std::string& line) {
    if (++waiting <= shown_max) text += "\n  " + line;
  };
  pool_.all().for_each([&](detail::record& r) {
    if (r.state == detail::record_state::running) say(describe_task(r) + " waits inside its body");
    if (r.state == detail::record_state::draining) say(describe_task(r) + " waits for its subtasks");
    if (r.state == detail::record_state::blocked) say(describe_blocked(r));
  });
  if (waiting > shown_max) text += "\n  and " + std::to_string(waiting - shown_max) + " more";
  return "weft: no task can run any more, but " + std::to_string(waiting) +
         " are not done; a task must not wait for one that needs what it holds itself:" + text;
}

// A call by a thread that is no worker, as long as it may make something ready or fill in a record. No stall is
// declared meanwhile, so the last one to end has a worker ask again if all sleep. Order: the count goes down before the
// sleepers are looked at, and whoever falls asleep says so before it reads the count (both seq_cst): one of the two
// sees the other. The lock keeps a call from beginning while a stall is being described.
template <machine::machine M> void engine<M>::begin_outside_call() noexcept {
  base::locked<M> guard(outside_waits_lock_);
  static_cast<void>(M::fetch_add(outside_calls_, 1u, base::seq_cst));
}

template <machine::machine M> void engine<M>::end_outside_call() noexcept {
  if (M::fetch_sub(outside_calls_, 1u, base::seq_cst) == 1 && sleep_.all_asleep()) sleep_.notify(machine_);
}

template <machine::machine M> class engine<M>::outside_call {
 public:
  explicit outside_call(engine& e) noexcept : engine_(e) { e.begin_outside_call(); }
  struct begun {};
  outside_call(engine& e, begun) noexcept : engine_(e) {}  // ends what was begun before
  ~outside_call() { engine_.end_outside_call(); }
  outside_call(const outside_call&) = delete;
  outside_call& operator=(const outside_call&) = delete;

 private:
  engine& engine_;
};

// Such a thread waits in `self`, for h or for everything: known to end_stalled_waits() from before it is listed where
// its end will be seen until after it was taken from there.
template <machine::machine M> class engine<M>::outside_wait {
 public:
  outside_wait(engine& e, waiter& self, detail::handle_state* h) : engine_(e), self_(self) {
    self.r.kind = detail::record_kind::external;
    self.awaited = h;
    base::locked<M> guard(e.outside_waits_lock_);
    e.outside_waits_.push_back(&self);
  }
  ~outside_wait() {
    base::locked<M> guard(engine_.outside_waits_lock_);
    std::erase(engine_.outside_waits_, &self_);
  }
  outside_wait(const outside_wait&) = delete;
  outside_wait& operator=(const outside_wait&) = delete;

 private:
  engine& engine_;
  waiter& self_;
};

// Blocks until self is over. While the main thread is in no wait a stall cannot be told from a program that will go on:
// it may have tasks in its own deque that only it can give away. So such a wait is not ended, but if everything stood
// still for a while that is said, once.
template <machine::machine M> void engine<M>::await_outside(waiter& self) {
  if constexpr (M::foreign_threads) {
    standstill before = look_for_standstill();
    while (!M::block_for(self.signal, base::standstill_ns)) {
      const standstill now = look_for_standstill();
      if (now.still && now == before && M::exchange(standstill_told_, 1u, base::acq_rel) == 0) report_standstill(self);
      before = now;
    }
  }
  if (self.stalled) throw_stall();
}

template <machine::machine M> auto engine<M>::look_for_standstill() noexcept -> standstill {
  std::uint64_t steps = sleep_.announcements() + detail::peek(outside_.created) + detail::peek(outside_.finished);
  for (const auto& w : workers_) steps += detail::peek(w->created) + detail::peek(w->finished);
  const bool still = detail::peek(program_waiter_) == nullptr && M::load(outside_calls_, base::seq_cst) == 0 &&
                     !window_.anyone() && !paused() && sleep_.all_asleep_but_first() && !quiescent();
  return {still, steps};
}

// Names what is listed on the handle that self waits for: under its lock those tasks stay where they are. Others may
// change at any time, since the main thread runs.
template <machine::machine M> void engine<M>::report_standstill(waiter& self) {
  std::string text = "all tasks";
  std::string names;
  if (detail::handle_state* h = self.awaited) {
    base::locked<M> guard(h->lock);
    text = "version " + std::to_string(self.a.required) + " of handle " + access::name_of(*h) + ", which is at " +
           std::to_string(M::load(h->word, base::relaxed) >> 1);
    unsigned more = 0;
    for (detail::record* r = h->waiters_head; r != nullptr; r = r->next) {
      if (r->kind != detail::record_kind::task) continue;
      if (++more <= 8) names += "\n  " + describe_blocked(*r);
    }
    if (more > 8) names += "\n  and " + std::to_string(more - 8) + " more";
  }
  std::uint64_t live = detail::peek(outside_.created) - detail::peek(outside_.finished);
  for (const auto& w : workers_) live += detail::peek(w->created) - detail::peek(w->finished);
  std::fprintf(stderr,
               "weft: a thread waits for %s, and for %u s no task has run: all workers sleep and %llu tasks are not "
               "done. The thread that made the runtime is in no wait; the tasks it submitted may need it to run.%s\n",
               text.c_str(), static_cast<unsigned>(base::standstill_ns / 1'000'000'000u),
               static_cast<unsigned long long>(live), names.c_str());
}

// After a stall: neither free nor done for good.
[[nodiscard]] inline bool is_stuck(const detail::record& r) noexcept {
  return r.state == detail::record_state::blocked || r.state == detail::record_state::running ||
         r.state == detail::record_state::draining;
}

// The runtime ends with tasks that can never run. Their closures are destroyed; of a body that waits for ever the stack
// is given back, but not what it owns.
template <machine::machine M> void engine<M>::abandon_all() noexcept {
  pool_.all().for_each([](detail::record& r) {
    if (!is_stuck(r)) return;
    if (r.state == detail::record_state::blocked) r.invoke(r, false);
    for (std::uint32_t i = 0; i < r.access_count; ++i) {
      if ((r.accesses()[i].handle_and_kind & detail::handle_address_mask) == 0) continue;
      detail::handle_state& h = access::handle_of(r.accesses()[i]);
      h.waiters_head = h.waiters_tail = nullptr;
      h.exclusive_taken = false;
      h.word.raw = access::word_at(h.registered);
    }
  });
}

// h dies although tasks that can never run still name it: they forget it.
template <machine::machine M> void engine<M>::abandon_uses_of(detail::handle_state& h) noexcept {
  pool_.all().for_each([&](detail::record& r) {
    if (!is_stuck(r)) return;
    for (std::uint32_t i = 0; i < r.access_count; ++i)
      if ((r.accesses()[i].handle_and_kind & detail::handle_address_mask) == reinterpret_cast<std::uintptr_t>(&h))
        r.accesses()[i].handle_and_kind = detail::kind_repeated;
  });
}

template <machine::machine M> void engine<M>::drain(detail::handle_state& h) noexcept {
  visit v(*this);
  try {
    wait_for(h);
  } catch (const error& e) {
    if (access::outstanding(h.word.raw, h.registered) != 0) {
      std::fprintf(stderr, "weft: handle %s is destroyed while tasks need it. %s\n", access::name_of(h).c_str(),
                   e.what());
      abandon_uses_of(h);
    }
  } catch (...) {
    // A task that failed: the wait for its scope will say so.
  }
  if (M::load(h.poisoned, base::relaxed)) failures_.forget(h);
}

}  // namespace weft::sched
