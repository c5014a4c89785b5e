// Part of engine.hpp. A submitter at a full window (window.hpp), the reserve that runs tasks in its place
// (reserve.hpp), and what a thief may do for a main thread that is away in the program's own code.
//
// A submitter may hold a lock that bodies take, so where threads are real no body may run on its stack, nor on its
// thread: it blocks, lends its id to the reserve, and takes it back before it goes on.
#pragma once

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
    engine_.machine_.settle();
    engine_.reserve_.main_waits(true);
    if (engine_.reserve_.holds(worker_->id)) engine_.take_back(*worker_);  // from now on worker 0 shows its id itself
  }
  // What is left in the deque is for those who are not away.
  void wait_is_over() {
    if (deque::expose(*worker_)) engine_.sleep_.notify(engine_.machine_);
    engine_.reserve_.main_waits(false);
  }

  engine& engine_;
  worker* worker_ = nullptr;
  bool waits_ = false;
};

// A thread that is no worker waits for tasks. With one worker, which may be away, nobody else would run them.
template <machine::machine M> class engine<M>::foreign_wait {
 public:
  explicit foreign_wait(engine& e) : engine_(e) {
    if constexpr (M::foreign_threads) e.reserve_.outsiders(1);
  }
  ~foreign_wait() {
    if constexpr (M::foreign_threads) engine_.reserve_.outsiders(-1);
  }
  foreign_wait(const foreign_wait&) = delete;
  foreign_wait& operator=(const foreign_wait&) = delete;

 private:
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
  if constexpr (!M::foreign_threads) return set_submitter_aside(w, size_class);
  const exclusive_wait until_there_is_room(*this, w);
  return wait_for_room(&w, size_class);
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
    e.window_.comes();
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
  window_.goes();
  return r;
}

// Whether break_stall() lets somebody exceed the window, and the caller is first to ask.
template <machine::machine M> bool engine<M>::take_leave_to_exceed() noexcept {
  return M::load(beyond_window_, base::relaxed) != 0 && M::exchange(beyond_window_, 0u, base::acq_rel) != 0;
}

template <machine::machine M> detail::record* engine<M>::try_room(worker* w, std::uint8_t size_class, bool beyond) {
  const std::size_t live_max = beyond ? pool_.no_limit : window_.limit();
  if (w != nullptr) return pool_.allocate(*w, size_class, live_max);
  base::locked<M> guard(outside_lock_);
  return pool_.allocate(outside_, size_class, live_max);
}

// w: the worker whose thread blocks here, nullptr for a stranger.
template <machine::machine M> detail::record* engine<M>::wait_for_room(worker* w, std::uint8_t size_class) {
  if (w != nullptr) {
    owner_section at_own_end(*this, w);
    if (deque::expose(*w)) sleep_.notify(machine_);  // others must be able to run what this worker has
  }
  detail::cell<std::uint32_t> stranger_signal;
  submitter self(w != nullptr ? w->let_go : stranger_signal, size_class,
                 w != nullptr ? detail::peek(w->shown_id) : submitter::stranger);
  self.replaceable = w == nullptr || !w->is_reserve;
  while (!window_.enter(self))
    if (detail::record* r = try_room(w, size_class, false)) return r;
  const bool traced = w != nullptr && w->trace != nullptr;
  const pause_start from{traced ? trace_suspend(*w, w->current) : 0, traced ? w->id : std::uint16_t{0}};
  detail::record* r = try_room(w, size_class, window_.look_again(self));
  if (r == nullptr) r = block_for_room(w, self);
  window_.leave(self);
  if (w != nullptr && !w->is_reserve) take_back(*w);
  if (traced) trace_resume(*w, w->current, {trace::why::window}, from);
  return r;
}

template <machine::machine M> detail::record* engine<M>::block_for_room(worker* w, submitter& self) {
  const bool lends = w != nullptr && !w->is_reserve;
  if (w != nullptr && w->is_reserve) reserve_.set_blocked(true);
  if (lends && w->id == 0) machine_.settle();
  const typename M::stay here(machine_, lends);
  detail::record* r = nullptr;
  while (r == nullptr) {
    if (lends) reserve_.lend(w->id, self.signal);
    if (!M::block_for(self.signal, window_.patience(self))) window_.judge(self, look());
    M::store(self.signal, 0u, base::relaxed);
    r = try_room(w, self.size_class, window_.look_again(self));
  }
  if (w != nullptr && w->is_reserve) reserve_.set_blocked(false);
  return r;
}

// Returns when no body runs on the reserve under w's id.
template <machine::machine M> void engine<M>::take_back(worker& w) noexcept {
  struct standing {
    window<M>& w;
    explicit standing(window<M>& its_window) noexcept : w(its_window) { w.stand(); }
    ~standing() { w.stand_no_longer(); }
    standing(const standing&) = delete;
    standing& operator=(const standing&) = delete;
  };
  if constexpr (M::foreign_threads)
    reserve_.take_back(
        w.id, w.let_go, [this] { return look(); }, [this] { return standing(window_); });
}

template <machine::machine M> void engine<M>::room_needs::wake(submitter& s) noexcept {
  s.id == submitter::stranger ? M::signal(s.signal) : e.reserve_.recall(static_cast<std::uint16_t>(s.id), s.signal);
}

template <machine::machine M> std::uint64_t engine<M>::room_needs::tasks_begun() noexcept { return e.tasks_begun(); }

template <machine::machine M>
bool engine<M>::room_needs::has_room(std::uint8_t size_class, std::size_t live_max) noexcept {
  return e.pool_.has_room(size_class, live_max);
}

template <machine::machine M> std::uint64_t engine<M>::tasks_begun() noexcept {
  std::uint64_t tasks = 0;
  for (const auto& w : workers_) tasks += M::load(w->tasks, base::relaxed);
  return tasks;
}

template <machine::machine M> progress engine<M>::look() noexcept {
  return {tasks_begun(), machine_.busy_ns(), machine_.now_ps()};
}

// Who runs tasks while others are blocked may hold up those for ever: its own tasks never end, and the room that the
// others wait for comes from tasks that stand in their deques, or at the old end of its own. So now and then it takes
// one from there.
template <machine::machine M> detail::record* engine<M>::look_aside(worker& w) {
  if constexpr (!M::foreign_threads) return nullptr;
  if (!window_.anyone_lately()) return nullptr;
  if (deque::expose(w)) sleep_.notify(machine_);
  const unsigned seats = static_cast<unsigned>(workers_.size());
  for (unsigned i = 0; i < seats; ++i) {
    const unsigned at = w.aside_next;
    w.aside_next = at + 1 < seats ? at + 1 : 0;
    if (detail::record* r = rob(w, *workers_[at])) return r;
  }
  return nullptr;
}

// A batch of records of that class has become free, and somebody waits for room.
template <machine::machine M> void engine<M>::room_made(std::uint8_t size_class) noexcept {
  if constexpr (M::foreign_threads)
    window_.room_made(size_class);
  else
    wake_set_aside();
}

template <machine::machine M> void engine<M>::wake_set_aside() noexcept {
  for (const auto& w : workers_)
    if (M::load(w->throttled_here, base::seq_cst)) sleep_.notify(machine_, w->id);
}

// Nothing can run but submitters that wait for room: one may exceed the window.
template <machine::machine M> void engine<M>::let_one_exceed() noexcept {
  if constexpr (M::foreign_threads) return window_.all_idle();
  M::store(beyond_window_, 1u, base::seq_cst);
  wake_set_aside();
}

// Who: the reserve, between two bodies, with what it has found to do or nullptr. Returns whether it goes on with that;
// if not, r is left to others, and where it was not wanted it has been away.
template <machine::machine M> bool engine<M>::take_turn(worker& w, detail::record* r) {
  if (M::load(stopping_, base::seq_cst) != 0) return true;
  if (reserve_.next_turn()) return r != nullptr;
  if (r != nullptr) push_own(w, r);
  // It leaves like a worker that falls asleep: it may have run the last task, and the last who could have run one.
  if (M::load(quiescent_waiting_, base::seq_cst) != 0 && quiescent()) end_quiescent_waits(&w);
  if (deque::expose(w)) sleep_.notify(machine_);
  if (!reserve_.go_away()) return false;
  // Whoever made work visible while this worker was a searcher relied on it: the last look, as before falling asleep.
  if (anything_visible(w) || deque::stealable(w)) sleep_.notify(machine_);
  if (sleep_.all_asleep()) break_stall(w);
  if (M::load(stopping_, base::seq_cst) == 0) reserve_.block();
  return false;
}

}  // namespace weft::sched
