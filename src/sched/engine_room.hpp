// Part of engine.hpp. Submitters at a full window, the reserve worker that runs tasks in their place, and what a thief
// may do for a main thread that is away in the program's own code.
//
// A submitter may hold a lock that bodies take, so where threads are real no body may run on its stack, nor on its
// thread: it blocks. Then one worker too few runs tasks - with a single worker none - so a thread more takes its place:
// the reserve, a worker like the others that comes when it is called and goes when it is no longer wanted. Tasks that
// run there see the id of a worker that is blocked, so ids stay below workers(); whoever comes out of the blocking wait
// lets the reserve end the body that uses its id before it goes on.
// If all bodies wait for something while the submitter waits for them, the submitter is let go beyond the window. That
// is judged by what can be seen from here: for base::patience_ns no task has begun and no worker has used its core.
#pragma once

#include <algorithm>

namespace weft::sched {

// The main thread at its end of the deque, and away again. A worker's loop is always at its end.
template <machine::machine M> class engine<M>::owner_section {
 public:
  enum reason : bool { submits, waits };

  owner_section(engine& e, worker* w, reason why = submits) : engine_(e) {
    if constexpr (M::foreign_threads) {
      if (w == nullptr || w->running != &e.program_ || w->current != nullptr || detail::peek(w->inside) != 0) return;
      worker_ = w;
      waits_ = why == waits;
      detail::come_in(*w);
      if (waits_) wait_begins();
    }
  }
  ~owner_section() {
    if constexpr (M::foreign_threads) {
      if (worker_ == nullptr) return;
      if (waits_) wait_is_over();
      detail::go_out(*worker_);
    }
  }
  owner_section(const owner_section&) = delete;
  owner_section& operator=(const owner_section&) = delete;

 private:
  void wait_begins() {
    {
      base::locked<M> guard(engine_.room_lock_);
      engine_.main_waits_ = true;
    }
    engine_.await_turn(worker_->id);  // from now on worker 0 shows its id itself
  }
  // What is left in the deque is for those who are not away.
  void wait_is_over() {
    if (deque::expose(*worker_)) engine_.sleep_.notify(engine_.machine_);
    {
      base::locked<M> guard(engine_.room_lock_);
      engine_.main_waits_ = false;
    }
    engine_.call_reserve();
  }

  engine& engine_;
  worker* worker_ = nullptr;
  bool waits_ = false;
};

// A thread that is no worker waits for tasks. With one worker, which may be away, nobody else would run them.
template <machine::machine M> class engine<M>::foreign_wait {
 public:
  explicit foreign_wait(engine& e) : engine_(e) {
    if constexpr (M::foreign_threads) {
      count(1);
      e.call_reserve();
    }
  }
  ~foreign_wait() {
    if constexpr (M::foreign_threads) count(-1);
  }
  foreign_wait(const foreign_wait&) = delete;
  foreign_wait& operator=(const foreign_wait&) = delete;

 private:
  void count(int one) {
    base::locked<M> guard(engine_.room_lock_);
    engine_.foreign_waits_ += static_cast<unsigned>(one);
  }
  engine& engine_;
};

// Puts what the main thread has kept private within reach of thieves while it is away. Who: a worker that has found
// nothing and is about to sleep. Gives whether there was something. Protocol: deque.md, "A thief acts for the owner".
template <machine::machine M> bool engine<M>::pull(worker& w) noexcept {
  if constexpr (M::foreign_threads) {
    worker& owner = *workers_[0];
    if (&w == &owner || M::load(owner.inside, base::relaxed) != 0) return false;
    if (M::exchange(owner.pulled, std::uint8_t{1}, base::acq_rel) != 0) return false;  // another thief does it
    const bool got = M::barrier_everywhere() && M::load(owner.inside, base::acquire) == 0 && deque::expose(owner);
    M::store(owner.pulled, std::uint8_t{0}, base::release);  // pairs with await_pull()
    return got;
  } else {
    static_cast<void>(w);
    return false;
  }
}

template <machine::machine M> void engine<M>::await_pull(detail::worker& w) noexcept {
  for (unsigned spins = 0; M::load(w.pulled, base::acquire) != 0;) M::relax(++spins);
}

template <machine::machine M> detail::record* engine<M>::throttle(worker& w, std::uint8_t size_class) {
  if constexpr (M::foreign_threads) {
    if (!setup_.submitters_help) {
      const exclusive_wait until_there_is_room(*this, w);
      return wait_for_room(&w, size_class);
    }
  }
  return set_submitter_aside(w, size_class);
}

// The submitter is set aside and its worker runs what there is; it comes back when records are free, or when nothing
// else can run anywhere.
template <machine::machine M> detail::record* engine<M>::set_submitter_aside(worker& w, std::uint8_t size_class) {
  owner_section at_own_end(*this, &w, owner_section::waits);
  waiter self;
  self.r.size_class = size_class;
  suspend(w, self, {trace::why::window}, [&self](worker& here, engine& e) {
    self.r.pin = here.id;
    (here.throttled_head == nullptr ? here.throttled_head : here.throttled_tail->next) = &self.r;
    here.throttled_tail = &self.r;
    M::store(here.throttled_here, true, base::seq_cst);
    static_cast<void>(M::fetch_add(e.throttled_, 1u, base::seq_cst));
  });
  return reinterpret_cast<detail::record*>(self.a.required);
}

// The oldest submitter that this worker set aside, with the record it wants, if there is one to be had.
template <machine::machine M> detail::record* engine<M>::next_throttled(worker& w) {
  detail::record* r = w.throttled_head;
  if (r == nullptr) return nullptr;
  detail::record* room = try_room(&w, r->size_class, take_leave_to_exceed());
  if (room == nullptr) return nullptr;
  waiter::of(r).a.required = reinterpret_cast<std::uintptr_t>(room);
  w.throttled_head = r->next;
  if (w.throttled_head == nullptr) M::store(w.throttled_here, false, base::relaxed);
  static_cast<void>(M::fetch_sub(throttled_, 1u, base::seq_cst));
  return r;
}

// Whether break_stall() lets somebody exceed the window, and the caller is first to ask.
template <machine::machine M> bool engine<M>::take_leave_to_exceed() noexcept {
  return M::load(beyond_window_, base::relaxed) != 0 && M::exchange(beyond_window_, 0u, base::acq_rel) != 0;
}

template <machine::machine M> detail::record* engine<M>::try_room(worker* w, std::uint8_t size_class, bool beyond) {
  if (w != nullptr) return pool_.allocate(*w, size_class, beyond);
  base::locked<M> guard(outside_lock_);
  return pool_.allocate(outside_, size_class, beyond);
}

// w: the worker whose thread blocks here, nullptr for a stranger.
template <machine::machine M> detail::record* engine<M>::wait_for_room(worker* w, std::uint8_t size_class) {
  if (use_credit())
    if (detail::record* r = try_room(w, size_class, true)) return r;
  if (w != nullptr) {
    owner_section at_own_end(*this, w);
    if (deque::expose(*w)) sleep_.notify(machine_);  // others must be able to run what this worker has
  }
  waiter self;
  self.r.pin = w != nullptr ? detail::peek(w->shown_id) : worker::no_id;
  static_cast<void>(M::fetch_add(throttled_, 1u, base::seq_cst));  // before the first look: room_made() reads it after
  {
    base::locked<M> guard(room_lock_);
    blocked_.push_back(&self);
    if (w != nullptr) ++blocked_workers_;
  }
  call_reserve();
  const bool traced = w != nullptr && w->trace != nullptr;
  const pause_start from{traced ? trace_suspend(*w, w->current) : 0, traced ? w->id : std::uint16_t{0}};
  detail::record* r = nullptr;
  for (progress before = look(); r == nullptr; before = look()) {
    r = try_room(w, size_class, take_leave_to_exceed());
    if (r != nullptr || M::block_for(self.signal, base::patience_ns)) {
      M::store(self.signal, 0u, base::relaxed);
      continue;
    }
    if (may_exceed(before)) r = try_room(w, size_class, true);
  }
  {
    base::locked<M> guard(room_lock_);
    std::erase(blocked_, &self);
    if (w != nullptr) --blocked_workers_;
  }
  static_cast<void>(M::fetch_sub(throttled_, 1u, base::seq_cst));
  if (w != nullptr && w->current != nullptr) await_turn(self.r.pin);
  if (traced) trace_resume(*w, w->current, {trace::why::window}, from);
  return r;
}

template <machine::machine M> auto engine<M>::look() noexcept -> progress {
  progress p{0, machine_.busy_ns()};
  for (const auto& w : workers_) p.tasks += M::load(w->tasks, base::relaxed);
  return p;
}

// Each time in a row that nothing has moved, one batch of records more than the time before: a program with a million
// tasks to submit under a lock gets through in seconds, one whose bodies merely sleep for long grows slowly.
template <machine::machine M> bool engine<M>::may_exceed(const progress& before) {
  const progress now = look();
  const bool moved = now.tasks != before.tasks || now.busy_ns - before.busy_ns > base::patience_busy_ns;
  base::locked<M> guard(room_lock_);
  steps_beyond_ = moved ? 0 : steps_beyond_ + 1;
  credit_beyond_ = steps_beyond_;
  stuck_at_tasks_ = now.tasks;
  return !moved;
}

template <machine::machine M> bool engine<M>::use_credit() noexcept {
  std::uint64_t tasks = 0;
  for (const auto& w : workers_) tasks += M::load(w->tasks, base::relaxed);
  base::locked<M> guard(room_lock_);
  if (credit_beyond_ == 0) return false;
  credit_beyond_ = tasks == stuck_at_tasks_ ? credit_beyond_ - 1 : 0;
  return tasks == stuck_at_tasks_;
}

// A batch of records has become free, or break_stall() lets somebody exceed the window.
template <machine::machine M> void engine<M>::room_made(bool at_once) noexcept {
  for (const auto& w : workers_)
    if (M::load(w->throttled_here, base::seq_cst)) sleep_.notify(machine_, w->id);
  if constexpr (!M::foreign_threads) return;
  base::locked<M> guard(room_lock_);
  if (blocked_.empty()) return;
  // A wake-up costs as much as some hundred small tasks: worth it for a part of the window only.
  const std::size_t worth = std::clamp<std::size_t>(setup_.window_tasks / (4 * base::pool_batch_records), 1, 256);
  if (!at_once && ++batches_back_ < worth) return;
  batches_back_ = 0;
  for (waiter* b : blocked_) M::signal(b->signal);  // under the lock: b leaves the list before it is gone
}

// Who: holder of room_lock_.
template <machine::machine M> bool engine<M>::reserve_wanted() noexcept {
  return blocked_workers_ != 0 || (workers() == 1 && foreign_waits_ != 0 && !main_waits_);
}

template <machine::machine M> bool engine<M>::leaves_reserve() noexcept {
  base::locked<M> guard(room_lock_);
  return !reserve_wanted();
}

template <machine::machine M> void engine<M>::call_reserve() {
  base::locked<M> guard(room_lock_);
  const reserve_state was = M::load(reserve_, base::relaxed);
  if (!reserve_wanted() || was == reserve_state::here || was == reserve_state::refused) return;
  M::store(reserve_, reserve_state::here, base::release);
  sleep_.set_reserve_away(false);
  if (was == reserve_state::away) return M::signal(reserve_called_);
  if (machine_.start_one(workers())) return;
  sleep_.set_reserve_away(true);
  M::store(reserve_, reserve_state::refused, base::release);
}

// Who: the reserve, between two bodies, with what it has found to do or nullptr. Gives whether it goes on with that; if
// not, r is left to others, and where it was not wanted it has been away.
template <machine::machine M> bool engine<M>::take_turn(worker& w, detail::record* r) {
  {
    base::locked<M> guard(room_lock_);
    if (M::load(stopping_, base::seq_cst) != 0) return true;
    if (reserve_wanted() || w.throttled_head != nullptr) {
      const auto worker_blocked = [](const waiter* b) { return b->r.pin != worker::no_id; };
      const auto b = std::find_if(blocked_.begin(), blocked_.end(), worker_blocked);
      M::store(w.shown_id, b != blocked_.end() ? (*b)->r.pin : std::uint16_t{0}, base::seq_cst);
      return r != nullptr;
    }
  }
  if (r != nullptr) push_own(w, r);
  // It leaves like a worker that falls asleep: it may have run the last task, and the last who could have run one.
  if (M::load(quiescent_waiting_, base::seq_cst) != 0 && quiescent()) end_quiescent_waits(&w);
  if (deque::expose(w)) sleep_.notify(machine_);
  {
    base::locked<M> guard(room_lock_);
    if (reserve_wanted()) return false;
    M::store(reserve_called_, 0u, base::relaxed);
    M::store(reserve_, reserve_state::away, base::release);
    sleep_.set_reserve_away(true);
  }
  // Whoever made work visible while this worker was a searcher relied on it: the last look, as before falling asleep.
  if (anything_visible(w) || deque::stealable(w)) sleep_.notify(machine_);
  if (sleep_.all_asleep()) break_stall(w);
  if (M::load(stopping_, base::seq_cst) == 0) M::block(reserve_called_);
  return false;
}

// Returns when the reserve does not run a body under this id. If that body waits for something - perhaps for the lock
// that the caller holds - it would not end before the caller has gone on.
template <machine::machine M> void engine<M>::await_turn(unsigned id) noexcept {
  if constexpr (M::foreign_threads) {
    if (M::load(reserve_, base::acquire) != reserve_state::here) return;
    detail::cell<std::uint32_t> never;
    progress before = look();
    std::uint64_t waited = 0, poll = 20'000;  // longer and longer: this thread's own looks must not count as work
    while (M::load(workers_.back()->shown_id, base::seq_cst) == id) {
      static_cast<void>(M::block_for(never, poll));
      waited += poll;
      poll = std::min(2 * poll, base::patience_ns / 4);
      if (waited < base::patience_ns) continue;
      waited = 0;
      const progress now = look();
      if (now.tasks == before.tasks && now.busy_ns - before.busy_ns <= base::patience_busy_ns) return;
      before = now;
    }
  } else {
    static_cast<void>(id);
  }
}

}  // namespace weft::sched
