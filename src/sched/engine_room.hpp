// Part of engine.hpp. Submitters at a full window, the reserve worker that runs tasks in their place, and what a thief
// may do for a main thread that is away in the program's own code.
//
// A submitter may hold a lock that bodies take, so where threads are real no body may run on its stack, nor on its
// thread: it blocks. Then one worker too few runs tasks - with a single worker none - so a thread more takes its place:
// the reserve, a worker like the others that comes when it is called and goes when it is no longer wanted. Tasks that
// run there see the id of a worker that is blocked, so ids stay below workers(); whoever comes out of the blocking wait
// lets the reserve end the body that uses its id before it goes on.
// If all bodies wait for something while the submitter waits for them, the submitter is let go beyond the window, of
// several the oldest. That is judged by what can be seen from here: for base::patience_ns no task has begun and no
// worker has used its core. So it is, too, when all bodies are submitters that are blocked, the reserve's among them.
#pragma once

#include <algorithm>

namespace weft::sched {

// The main thread at its end of the deque, and away again. A worker's loop is always at its end.
template <machine::machine M> class engine<M>::owner_section {
 public:
  enum reason : bool { submits, waits };

  owner_section(engine& e, worker& w, reason why = submits) : engine_(e) {
    if constexpr (M::foreign_threads) {
      if (!w.on_program_stack() || w.current != nullptr || detail::peek(w.inside) != 0) return;
      worker_ = &w;
      waits_ = why == waits;
      detail::come_in(w);
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
    engine_.watch_.call();
    engine_.machine_.settle();
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
      e.watch_.call();
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

template <machine::machine M> detail::record* engine<M>::throttle(worker& w, std::uint8_t size_class) {
  if constexpr (M::foreign_threads) {
    if (w.role == role::guest) {
      foreign_wait here(*this);
      return wait_for_room(w, nullptr, size_class);
    }
    if (!setup_.submitters_help) {
      const typename readiness<M>::exclusive_wait until_there_is_room(readiness_, w);
      return wait_for_room(w, &w, size_class);
    }
  }
  return set_submitter_aside(w, size_class);
}

// The submitter is set aside and its worker runs what there is; it comes back when records are free, or when nothing
// else can run anywhere.
template <machine::machine M> detail::record* engine<M>::set_submitter_aside(worker& w, std::uint8_t size_class) {
  owner_section at_own_end(*this, w, owner_section::waits);
  waiter self;
  self.r.size_class = size_class;
  suspension_.suspend(w, self, {trace::why::window}, [this, &self](worker& here) {
    self.r.pin = here.id;
    (here.throttled_head == nullptr ? here.throttled_head : here.throttled_tail->next) = &self.r;
    here.throttled_tail = &self.r;
    M::store(here.throttled_here, true, base::seq_cst);
    static_cast<void>(M::fetch_add(throttled_, 1u, base::seq_cst));
  });
  return reinterpret_cast<detail::record*>(self.a.required);
}

// The oldest submitter that this worker set aside, with the record it wants, if there is one to be had.
template <machine::machine M> detail::record* engine<M>::next_throttled(worker& w) {
  detail::record* r = w.throttled_head;
  if (r == nullptr) return nullptr;
  detail::record* room = pool_.allocate(w, r->size_class, take_leave_to_exceed());
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

// w: the worker whose thread blocks here, nullptr for a guest, g.
template <machine::machine M> detail::record* engine<M>::wait_for_room(worker& g, worker* w, std::uint8_t size_class) {
  if (use_credit())
    if (detail::record* r = pool_.allocate(g, size_class, true)) return r;
  if (w != nullptr) {
    owner_section at_own_end(*this, *w);
    if (deque::expose(*w)) sleep_.notify(machine_);  // others must be able to run what this worker has
  }
  waiter self;
  self.r.pin = w != nullptr ? detail::peek(w->shown_id) : worker::no_id;
  static_cast<void>(M::fetch_add(throttled_, 1u, base::seq_cst));  // before the first look: room_made() reads it after
  begin_to_block(self, w);
  call_reserve();
  const bool traced = w != nullptr && w->trace != nullptr;
  const auto from = traced ? recording_.waits(*w, w->current) : typename recording<M>::pause{};
  detail::record* r = nullptr;
  progress since = look();  // since then no room was made
  for (progress before = since; r == nullptr; before = look()) {
    if (before.room != since.room) since = before;
    r = pool_.allocate(g, size_class, take_leave_to_exceed() || is_front_of_all(self));
    if (r != nullptr || M::block_for(self.signal, base::patience_ns)) {
      M::store(self.signal, 0u, base::relaxed);
      continue;
    }
    if (may_exceed(self, before, since)) r = pool_.allocate(g, size_class, true);
  }
  end_to_block(self, w);
  static_cast<void>(M::fetch_sub(throttled_, 1u, base::seq_cst));
  // What runs on the reserve has its turn already: its id is taken by itself.
  if (w != nullptr && w->current != nullptr && !(w->role == role::reserve)) await_turn(self.r.pin);
  if (traced) recording_.goes_on(*w, w->current, {trace::why::window}, from);
  return r;
}

// The leader comes back to the place it had.
template <machine::machine M> void engine<M>::begin_to_block(waiter& self, const worker* w) {
  const std::uint64_t tasks = crew_.tasks_begun();
  base::locked<M> guard(room_lock_);
  blocked_.insert(leads(tasks) ? blocked_.begin() : blocked_.end(), &self);
  if (w == nullptr) return;
  ++blocked_workers_;
  if ((w->role == role::reserve)) M::store(reserve_blocked_, true, base::release);
  tell_front_if_all_stand();
}

template <machine::machine M> void engine<M>::end_to_block(waiter& self, const worker* w) {
  base::locked<M> guard(room_lock_);
  std::erase(blocked_, &self);
  M::store(room_, detail::peek(room_) + 1, base::release);
  if (w == nullptr) return tell_front_if_all_stand();
  --blocked_workers_;
  if ((w->role == role::reserve)) M::store(reserve_blocked_, false, base::release);
}

template <machine::machine M> auto engine<M>::look() noexcept -> progress {
  return {crew_.tasks_begun(), machine_.busy_ns(), M::load(room_, base::acquire), machine_.now_ps()};
}

// Only the oldest that is blocked: if all exceeded the window, each by what its body submits, it would grow by the sum
// of that, and no body would be done before most are; this way the first is done early, and its worker runs tasks.
// Each time in a row that nothing has moved, one batch of records more than the time before: a program with a million
// tasks to submit under a lock gets through in seconds, one whose bodies merely sleep for long grows slowly.
template <machine::machine M>
bool engine<M>::may_exceed(const waiter& self, const progress& before, const progress& since) {
  const progress now = look();
  base::locked<M> guard(room_lock_);
  if (blocked_.front() != &self || now.room != before.room) return false;  // another one moves, or is to move
  if (!before.stands(now) && !only_others_move(since, now)) {
    steps_beyond_ = 0;
    credit_beyond_ = 0;
    return false;
  }
  lead(now.tasks);
  return true;
}

// More tasks have begun than there are records, and no batch has come back: they use their own again and again, as a
// body does that submits and waits in turns, and how long it does so may depend on the caller.
template <machine::machine M>
bool engine<M>::only_others_move(const progress& since, const progress& now) const noexcept {
  const std::size_t held = setup_.window_tasks + 2 * base::pool_batch_records * (crew_.seats() + 1);
  return now.tasks - since.tasks > held && now.at_ps - since.at_ps >= 1000 * base::patience_alone_ns;
}

// Who: holder of room_lock_.
template <machine::machine M> void engine<M>::lead(std::uint64_t tasks) noexcept {
  steps_beyond_ = tasks == stuck_at_tasks_ ? steps_beyond_ + 1 : 1;
  credit_beyond_ = steps_beyond_;
  stuck_at_tasks_ = tasks;
  leader_ = &detail::this_worker;
}

// Whether no thread is left that could run a task: then no patience is needed. Who: holder of room_lock_.
template <machine::machine M> bool engine<M>::all_stand() const noexcept {
  return blocked_workers_ + turn_waits_ == crew_.seats();
}

// Who: holder of room_lock_, which has just made one more worker stand.
template <machine::machine M> void engine<M>::tell_front_if_all_stand() {
  if (all_stand() && !blocked_.empty()) M::signal(blocked_.front()->signal);
}

template <machine::machine M> bool engine<M>::is_front_of_all(const waiter& self) {
  const std::uint64_t tasks = crew_.tasks_begun();
  base::locked<M> guard(room_lock_);
  if (!all_stand() || blocked_.front() != &self) return false;
  lead(tasks);
  return true;
}

// Whether the calling thread exceeded the window last and nothing has moved since, so that it goes on before others.
// Not for ever: it may submit until something happens that another one would do. Who: holder of room_lock_.
template <machine::machine M> bool engine<M>::leads(std::uint64_t tasks) const noexcept {
  return leader_ == &detail::this_worker && tasks == stuck_at_tasks_ && steps_beyond_ % base::lead_steps != 0;
}

template <machine::machine M> bool engine<M>::use_credit() noexcept {
  const std::uint64_t tasks = crew_.tasks_begun();
  base::locked<M> guard(room_lock_);
  if (credit_beyond_ == 0 || leader_ != &detail::this_worker) return false;
  credit_beyond_ = tasks == stuck_at_tasks_ ? credit_beyond_ - 1 : 0;
  return tasks == stuck_at_tasks_;
}

// Who runs tasks while others are blocked may hold up those for ever: its own tasks never end, and the room that the
// others wait for comes from tasks that stand in their deques, or at the old end of its own. So now and then it takes
// one from there.
template <machine::machine M> detail::record* engine<M>::look_aside(worker& w) {
  if constexpr (!M::foreign_threads) return nullptr;
  if (M::load(throttled_, base::relaxed) == 0 || setup_.submitters_help) return nullptr;
  if ((w.role == role::reserve) && ++w.looks_aside % ticks_between_looks != 0) return nullptr;  // it comes by after each body
  if (deque::expose(w)) sleep_.notify(machine_);
  const unsigned seats = static_cast<unsigned>(crew_.seats());
  for (unsigned i = 0; i < seats; ++i) {
    const unsigned at = w.aside_next;
    w.aside_next = at + 1 < seats ? at + 1 : 0;
    if (detail::record* r = stealing_.rob(w, crew_[at])) return r;
  }
  return nullptr;
}

// A batch of records has become free, or break_stall() lets somebody exceed the window.
template <machine::machine M> void engine<M>::room_made(bool at_once) noexcept {
  for (const auto& w : crew_)
    if (M::load(w->throttled_here, base::seq_cst)) sleep_.notify(machine_, w->id);
  if constexpr (!M::foreign_threads) return;
  base::locked<M> guard(room_lock_);
  M::store(room_, detail::peek(room_) + 1, base::release);
  if (blocked_.empty()) return;
  // A wake-up costs as much as some hundred small tasks: worth it for a part of the window only.
  const std::size_t worth = std::clamp<std::size_t>(setup_.window_tasks / (4 * base::pool_batch_records), 1, 256);
  if (!at_once && ++batches_back_ < worth) return;
  batches_back_ = 0;
  for (waiter* b : blocked_) M::signal(b->signal);  // under the lock: b leaves the list before it is gone
}

template <machine::machine M> bool engine<M>::let_exceed() noexcept {
  if (!somebody_waits()) return false;
  M::store(beyond_window_, 1u, base::seq_cst);
  room_made(true);
  return true;
}

// Who: holder of room_lock_.
template <machine::machine M> bool engine<M>::reserve_wanted() noexcept {
  return blocked_workers_ != 0 || (workers() == 1 && foreign_waits_ != 0 && !main_waits_);
}

template <machine::machine M> bool engine<M>::leaves_reserve() noexcept {
  if (crew_.reserve().throttled_head != nullptr) return false;
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
    if (search_.stopping()) return true;
    if (reserve_wanted() || w.throttled_head != nullptr) {
      const auto worker_blocked = [](const waiter* b) { return b->r.pin != worker::no_id; };
      const auto b = std::find_if(blocked_.begin(), blocked_.end(), worker_blocked);
      M::store(turn_, detail::peek(turn_) + 1, base::release);
      M::store(w.shown_id, b != blocked_.end() ? (*b)->r.pin : std::uint16_t{0}, base::seq_cst);
      return r != nullptr;
    }
  }
  if (r != nullptr) placement_.push_own(w, r);
  // It leaves like a worker that falls asleep: it may have run the last task, and the last who could have run one.
  if (quiescence_.is_over_for_some()) readiness_.quiescent(w);
  if (deque::expose(w)) sleep_.notify(machine_);
  {
    base::locked<M> guard(room_lock_);
    if (reserve_wanted()) return false;
    M::store(reserve_called_, 0u, base::relaxed);
    M::store(reserve_, reserve_state::away, base::release);
    sleep_.set_reserve_away(true);
  }
  // Whoever made work visible while this worker was a searcher relied on it: the last look, as before falling asleep.
  if (any_visible(w, attention_.paused())) sleep_.notify(machine_);
  if (sleep_.all_asleep()) stall_.look(w);
  if (!search_.stopping()) M::block(reserve_called_);
  return false;
}

// A worker that waits for its id runs no tasks: it stands, as those do that are blocked.
template <machine::machine M> class engine<M>::standing {
 public:
  explicit standing(engine& e) : engine_(e) {
    base::locked<M> guard(e.room_lock_);
    ++e.turn_waits_;
    e.tell_front_if_all_stand();
  }
  ~standing() {
    base::locked<M> guard(engine_.room_lock_);
    --engine_.turn_waits_;
  }
  standing(const standing&) = delete;
  standing& operator=(const standing&) = delete;

 private:
  engine& engine_;
};

// Returns when the reserve does not run a body under this id. If that body waits for something - perhaps for the lock
// that the caller holds - it would not end before the caller has gone on: that is so if nothing moves, or if the
// reserve alone has had no core for so long that it cannot be for want of cores. A body that waits for room gets it.
template <machine::machine M> void engine<M>::await_turn(unsigned id) noexcept {
  if constexpr (M::foreign_threads) {
    worker& reserve = crew_.reserve();
    if (M::load(reserve_, base::acquire) != reserve_state::here || M::load(reserve.shown_id, base::seq_cst) != id)
      return;
    const standing for_a_turn(*this);
    detail::cell<std::uint32_t> never;
    progress before = look();
    std::uint64_t reserve_busy = machine_.reserve_busy_ns(), alone = 0;
    std::uint64_t waited = 0, poll = 20'000;  // longer and longer: this thread's own looks must not count as work
    while (M::load(reserve.shown_id, base::seq_cst) == id) {
      const std::uint64_t turn = M::load(turn_, base::acquire);
      if (turn == M::load(turn_given_up_, base::relaxed)) return;
      static_cast<void>(M::block_for(never, poll));
      waited += poll;
      poll = std::min(2 * poll, base::patience_ns / 4);
      if (waited < base::patience_ns) continue;
      const progress now = look();
      const std::uint64_t busy = machine_.reserve_busy_ns();
      const bool hangs = busy == reserve_busy && !M::load(reserve_blocked_, base::acquire);
      alone = hangs ? alone + waited : 0;
      if ((hangs && before.stands(now)) || alone >= base::patience_alone_ns)
        return M::store(turn_given_up_, turn, base::relaxed);
      before = now;
      reserve_busy = busy;
      waited = 0;
    }
  } else {
    static_cast<void>(id);
  }
}

}  // namespace weft::sched
