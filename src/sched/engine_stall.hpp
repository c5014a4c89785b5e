// Part of engine.hpp. A program that cannot go on: every worker sleeps, the main thread waits, and what is left waits
// for what will never come - typically a task that waits in its body for a child that needs what the task itself holds.
// That is found at once and exactly, not by a time-out, and reported by names instead of a hang.
#pragma once

#include <cstdio>

namespace weft::sched {

// Who: the worker whose announcement found everybody asleep. If somebody wakes meanwhile nothing is done: whoever
// sleeps last asks again.
template <machine::machine M> void engine<M>::break_stall(worker& w) {
  const std::uint64_t announcements = sleep_.announcements();
  if (anything_anywhere()) return;
  const bool all_done = quiescent();
  if (!sleep_.all_asleep() || sleep_.announcements() != announcements) return;
  // A submitter waits for room, and all free records are in the lists of workers that sleep: with nothing left to run
  // it may as well go on, however many tasks are live.
  if (M::load(throttled_, base::seq_cst) != 0) {
    M::store(beyond_window_, 1u, base::seq_cst);
    return wake_throttled();
  }
  if (paused()) return;  // nothing runs because nothing may
  // Somebody who is not waiting may yet submit what is missing.
  if (all_done || M::load(outside_calls_, base::seq_cst) != 0 || program_waiter_ == nullptr) return;
  end_stalled_wait(w);
}

template <machine::machine M> bool engine<M>::anything_anywhere() noexcept {
  if (!central_.empty() || !urgent_.empty()) return true;
  for (const auto& w : workers_)
    if (!w->box.empty() || deque::stealable(*w)) return true;
  return false;
}

// Takes the main thread's waiter from the list it is in and lets it go with the bad news.
template <machine::machine M> void engine<M>::end_stalled_wait(worker& w) {
  waiter& self = *program_waiter_;
  bool listed = false;
  if (self.r.access_count == 1) {
    detail::handle_state& h = access::handle_of(self.a);
    base::locked<M> guard(h.lock);
    listed = self.r.state == detail::record_state::blocked;
    if (listed) access::remove_waiter(h, &self.r);
  } else {
    base::locked<M> guard(quiescent_lock_);
    listed = std::erase(quiescent_waiters_, &self) != 0;
    M::store(quiescent_waiting_, static_cast<std::uint32_t>(quiescent_waiters_.size()), base::seq_cst);
  }
  if (!listed) return;
  self.stalled = true;
  make_ready(w, &self.r);
}

template <machine::machine M> void engine<M>::throw_stall() {
  stall_told_ = true;
  throw error(describe_stall());
}

template <machine::machine M> std::string engine<M>::describe_stall() {
  constexpr int shown_max = 8;
  std::string text;
  int waiting = 0;
  const auto say = [&](const detail::record& r, const std::string& why) {
    if (++waiting > shown_max) return;
    text +=
        (r.name != nullptr ? "\n  task '" + std::string(r.name) + "'" : std::string("\n  an unnamed task")) + " " + why;
  };
  pool_.all().for_each([&](detail::record& r) {
    if (r.state == detail::record_state::running) say(r, "waits inside its body");
    if (r.state == detail::record_state::draining) say(r, "waits for its subtasks");
    if (r.state != detail::record_state::blocked) return;
    const access::entry& a = access::awaited(&r);
    if ((a.handle_and_kind & detail::handle_address_mask) == 0) return say(r, "waits for a handle that is gone");
    const detail::handle_state& h = access::handle_of(a);
    if (access::is_resource(a))
      say(r, "waits for " + std::to_string(a.required) + " units of resource " + access::name_of(h));
    else
      say(r, "waits for version " + std::to_string(a.required & access::version_mask) + " of handle " +
                 access::name_of(h) + ", which is at " + std::to_string(access::version_in(h.word.raw)));
  });
  if (waiting > shown_max) text += "\n  and " + std::to_string(waiting - shown_max) + " more";
  return "weft: no task can run any more, but " + std::to_string(waiting) +
         " are not done; a task must not wait for one that needs what it holds itself:" + text;
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
      h.word.raw = h.registered << 1;
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
    wait_handle(h);
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
