// Part of engine.hpp. Waiting. A stack that waits is saved before anyone can know of it: what tells the others (the
// `publish` step) runs after the switch, on the stack that was switched to.
#pragma once

namespace weft::sched {

// The body that w runs may hold exclusive access, and is about to wait: until it goes on nobody reserves handles that
// those may need whom it waits for (access/reservation.hpp).
template <machine::machine M> class engine<M>::exclusive_wait {
 public:
  exclusive_wait(engine& e, worker& w) : engine_(e), counts_(w.current != nullptr && w.current->exclusives != 0) {
    if (!counts_) [[likely]]
      return;
    woken list;
    e.reservations_.wait_begins(list);
    e.make_all_ready(&w, list);
  }
  ~exclusive_wait() {
    if (counts_) engine_.reservations_.wait_ends();
  }
  exclusive_wait(const exclusive_wait&) = delete;
  exclusive_wait& operator=(const exclusive_wait&) = delete;

 private:
  engine& engine_;
  const bool counts_;
};

// Leaves the running stack until self.r is run, which may be on another worker. `publish` makes self.r known to whoever
// will make it ready.
template <machine::machine M> template <class Publish>
void engine<M>::set_aside(worker& w, waiter& self, Publish publish) {
  struct step : fiber::action {
    engine* e;
    Publish* publish;
  };
  self.r.kind = detail::record_kind::resume;
  self.r.pin = w.running == &program_ ? w.id : detail::record::unpinned;  // the main thread comes back as itself
  self.r.parent = w.current;
  self.stack = w.running;
  step after{{[](fiber::action& a) {
               step& s = static_cast<step&>(a);
               Publish told = *s.publish;  // the step itself may be gone once told
               engine& e = *s.e;
               told(static_cast<worker&>(*current_worker()), e);
             }},
             this,
             &publish};
  fiber& loop = idle_loop(w);
  w.running = &loop;
  w.current = nullptr;
  machine_.jump(w.id, *self.stack, loop, &after);
}

// The same for a stack that has to wait.
template <machine::machine M> template <class Publish>
void engine<M>::suspend(worker& w, waiter& self, trace::reason why, Publish publish) {
  detail::record* body = w.current;
  const exclusive_wait until_resumed(*this, w);
  count_one(w.suspends);
  if (w.running == &program_) detail::poke(program_waiter_, &self);
  const pause_start from{w.trace != nullptr ? trace_suspend(w, body) : 0, w.id};
  set_aside(w, self, publish);
  worker& here = static_cast<worker&>(*current_worker());
  here.current = body;
  if (here.trace != nullptr) trace_resume(here, body, why, from);
  if (self.stack != &program_) return;
  detail::poke(program_waiter_, static_cast<waiter*>(nullptr));
  // This worker goes back to the program without the look for quiescence that it takes before it sleeps, and may have
  // run the last task: threads outside that wait for it would be forgotten.
  if constexpr (M::foreign_threads) {
    if (M::load(quiescent_waiting_, base::seq_cst) != 0 && quiescent()) end_quiescent_waits(&here);
  }
}

inline constexpr std::size_t idle_stacks_max = 16;  // that a worker keeps for itself

// Enters a stack that waited. The loop that does so leaves its own stack idle, for the next one that waits here.
template <machine::machine M> void engine<M>::resume(worker& w, waiter& to) {
  struct step : fiber::action {
    engine* e;
    worker* w;
    fiber* stack;
  };
  step after{{[](fiber::action& a) {
               step& s = static_cast<step&>(a);
               s.e->leave_idle(*s.w, s.stack);
             }},
             this,
             &w,
             w.running};
  fiber* mine = w.running;
  w.running = to.stack;
  machine_.jump(w.id, *mine, *to.stack, &after);
}

// A worker keeps few: after deep waits here, a deep descent elsewhere would make all its stacks anew. A modelled
// machine has one thread, for whose memory that hardly matters, and each lock would cost it virtual time.
template <machine::machine M> void engine<M>::leave_idle(worker& w, fiber* stack) {
  if (M::modelled || w.idle.size() < idle_stacks_max) return w.idle.push_back(stack);  // only w takes it from there
  base::locked<M> guard(fibers_lock_);
  spare_.push_back(stack);
}

template <machine::machine M> fiber* engine<M>::take_idle(worker& w) {
  if (!w.idle.empty()) {
    fiber* f = w.idle.back();
    w.idle.pop_back();
    return f;
  }
  if (M::modelled) return nullptr;
  base::locked<M> guard(fibers_lock_);
  if (spare_.empty()) return nullptr;
  fiber* f = spare_.back();
  spare_.pop_back();
  return f;
}

template <machine::machine M> fiber& engine<M>::idle_loop(worker& w) {
  if (fiber* f = take_idle(w)) return *f;
  auto made = make_loop_stack();
  w.idle.reserve(idle_stacks_max);
  base::locked<M> guard(fibers_lock_);
  fibers_.push_back(std::move(made));
  spare_.reserve(fibers_.capacity());  // so that giving one back allocates nothing
  return *fibers_.back();
}

// A wait that threw for want of a stack would unwind the frame that the children it did not wait for still use.
template <machine::machine M> std::unique_ptr<fiber> engine<M>::make_loop_stack() noexcept {
  try {
    return std::make_unique<fiber>(setup_.stack_bytes, &loop_entry, this);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "weft: no memory for one more stack of %zu KiB beside the %zu that waits inside tasks hold; nest them "
                 "less deeply, or choose a smaller stack_kib.\n",
                 setup_.stack_bytes / 1024, fibers_.size());
    std::abort();
  }
}

template <machine::machine M> void engine<M>::wait_all() {
  visit v(*this);
  if (v.self() == nullptr) return wait_quiescent_outside();
  const program_call call(*this);
  owner_section at_own_end(*this, v.self(), owner_section::waits);
  if (v.self()->current == nullptr) start_if_paused();
  v.self()->current != nullptr ? wait_children(*v.self()) : wait_quiescent(*v.self());
}

// The running task gives up its own share of `pending`; whoever brings the count to zero resumes it.
template <machine::machine M> void engine<M>::wait_children(worker& w) {
  detail::record* r = w.current;
  if (r->has_children && M::load(r->pending, base::acquire) != 1) {
    waiter self;
    suspend(w, self, {trace::why::children}, [r, &self](worker& here, engine& e) {
      r->next = &self.r;  // published by the decrement; pairs with wholly_done()
      if (M::fetch_sub(r->pending, 1u, base::acq_rel) == 1) e.make_ready(here, &self.r);
    });
    r->next = nullptr;
    M::store(r->pending, 1u, base::relaxed);  // nobody else counts: there are no children
  } else if (w.trace != nullptr && r->has_children) [[unlikely]] {
    trace_passed(w, {trace::why::children});
  }
  if (failures_.any()) [[unlikely]] {
    if (std::exception_ptr e = failures_.take(r)) std::rethrow_exception(e);
  }
}

// Closes every group of reduces that is open, so that what follows the wait sees whole results.
template <machine::machine M> void engine<M>::apply_reductions(worker* w) {
  while (detail::handle_state* h = open_reductions_.first()) apply_reduction(w, *h);
}

template <machine::machine M> bool engine<M>::try_exclusive(detail::handle_state& h) {
  base::locked<M> guard(h.lock);
  return !std::exchange(h.exclusive_taken, true);
}

// Nobody is listed for exclusive access: a group of reduces has no exclusive accesses, and other groups are not
// running.
template <machine::machine M> void engine<M>::release_exclusive(detail::handle_state& h) {
  base::locked<M> guard(h.lock);
  h.exclusive_taken = false;
}

template <machine::machine M> void engine<M>::wait_quiescent(worker& w) {
  apply_reductions(&w);
  bool waited = false;
  if (deque::expose(w)) sleep_.notify(machine_);  // to ask whether all is done takes long, with many workers
  while (!quiescent()) {
    waited = true;
    waiter self;
    // This worker's loop looks for quiescence before it sleeps.
    suspend(w, self, {trace::why::all}, [&self](worker&, engine& e) {
      base::locked<M> guard(e.quiescent_lock_);
      e.quiescent_waiters_.push_back(&self);
      M::store(e.quiescent_waiting_, static_cast<std::uint32_t>(e.quiescent_waiters_.size()), base::seq_cst);
    });
    if (self.stalled) throw_stall();
    apply_reductions(&w);  // of tasks that were submitted by tasks meanwhile
  }
  if (!waited && w.trace != nullptr) [[unlikely]]
    trace_passed(w, {trace::why::all});
  if (failures_.any()) [[unlikely]] {
    if (std::exception_ptr e = failures_.take(nullptr)) std::rethrow_exception(e);
  }
}

template <machine::machine M> void engine<M>::wait_quiescent_outside() {
  start_if_paused();
  foreign_wait needed(*this);
  do {
    waiter self;
    outside_wait listed(*this, self, nullptr);
    {
      outside_call here(*this);
      apply_reductions(nullptr);
      base::locked<M> guard(quiescent_lock_);
      quiescent_waiters_.push_back(&self);
      static_cast<void>(
          M::exchange(quiescent_waiting_, static_cast<std::uint32_t>(quiescent_waiters_.size()), base::seq_cst));
    }
    // Either a worker that is about to sleep sees the entry, or this look sees that it was the last to finish.
    if (quiescent()) end_quiescent_waits(nullptr);
    await_outside(self);
  } while (open_reductions_.first() != nullptr);
  if (std::exception_ptr e = failures_.take(nullptr)) std::rethrow_exception(e);
}

// Whether every top-level task is wholly done. Finished counts are read before created ones: finished <= created at
// every instant and both only grow, so equal sums mean that nothing was live in between.
template <machine::machine M> bool engine<M>::quiescent() noexcept {
  std::uint64_t finished = M::load(outside_.finished, base::acquire);
  for (const auto& w : workers_) finished += M::load(w->finished, base::acquire);  // pairs with wholly_done()
  std::uint64_t created = M::load(outside_.created, base::acquire);
  for (const auto& w : workers_) created += M::load(w->created, base::acquire);
  return finished == created;
}

// Who has the lock ends the waits, or is about to look whether they can end: so many come here at once that they would
// wait for each other for longer than that takes.
template <machine::machine M> detail::record* engine<M>::end_if_quiescent(worker& w) {
  const auto is_up_to_w = [this] {
    return M::load(quiescent_waiting_, base::seq_cst) != 0 && M::load(quiescent_lock_, base::relaxed) == 0;
  };
  if (!is_up_to_w() || !quiescent() || !is_up_to_w()) return nullptr;
  end_quiescent_waits(&w);
  return w.box.pop();
}

template <machine::machine M> void engine<M>::end_quiescent_waits(worker* w) {
  std::vector<waiter*> over;
  {
    base::locked<M> guard(quiescent_lock_);
    // Asked again with the list in hand: since the caller asked, whoever waited may have gone on, submitted more and
    // come back to wait for that.
    if (!quiescent()) return;
    over.swap(quiescent_waiters_);
    static_cast<void>(M::exchange(quiescent_waiting_, 0u, base::seq_cst));
  }
  for (waiter* x : over) w != nullptr ? make_ready(*w, &x->r) : make_ready_outside(&x->r);
}

template <machine::machine M> void engine<M>::apply_if_open(worker* w, detail::handle_state& h) {
  bool open = false;
  {
    base::locked<M> guard(h.lock);
    open = access::reduction_open(h);
  }
  if (open) apply_reduction(w, h);
}

// Lists a waiter for the accesses registered so far. Gives whether it has to wait.
template <machine::machine M> bool engine<M>::list_on(detail::handle_state& h, waiter& self) {
  self.r.access_count = 1;
  base::locked<M> guard(h.lock);
  self.a = {reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_read), h.registered};
  return access::wait_unless_available<M>(h, &self.r);
}

template <machine::machine M> void engine<M>::wait_handle(detail::handle_state& h) {
  const visit v(*this);
  const program_call call(*this);
  wait_for(h);
}

template <machine::machine M> void engine<M>::wait_for(detail::handle_state& h) {
  visit v(*this);
  bool elsewhere = false;
  worker* w = v.self();
  if (w != nullptr && w->current != nullptr)
    for (std::uint32_t i = 0; i < w->current->access_count; ++i)
      if ((w->current->accesses()[i].handle_and_kind & detail::handle_address_mask) ==
          reinterpret_cast<std::uintptr_t>(&h))
        throw error("weft: a task waits for handle " + access::name_of(h) +
                    ", which it uses itself; it would never end");
  await_creation();
  {
    base::locked<M> guard(h.lock);
    if (h.engine == nullptr) return;
    if (h.engine != this && !access::in_use<M>(h)) return;
    elsewhere = h.engine != this;
  }
  if (elsewhere) access::throw_in_use(h);
  waiter self;
  if (w == nullptr) {
    start_if_paused();
    outside_wait listed(*this, self, &h);
    foreign_wait needed(*this);
    bool waits = false;
    {
      outside_call here(*this);
      apply_if_open(w, h);
      waits = list_on(h, self);
    }
    if (waits) await_outside(self);
    return rethrow_for(h);
  }
  owner_section at_own_end(*this, w, owner_section::waits);
  if (w->current == nullptr) start_if_paused();
  self.awaited = &h;
  apply_if_open(w, h);
  bool there = false;
  {
    base::locked<M> guard(h.lock);
    there = access::available<M>(h, h.registered);
  }
  if (there) {
    if (w->trace != nullptr) [[unlikely]]
      trace_passed(*w, {trace::why::handle, h.id});
  } else {
    suspend(*w, self, {trace::why::handle, h.id}, [&self, &h](worker& here, engine& e) {
      if (!e.list_on(h, self)) e.make_ready(here, &self.r);
    });
  }
  if (self.stalled) throw_stall();
  rethrow_for(h);
}

template <machine::machine M> void engine<M>::rethrow_for(detail::handle_state& h) {
  if (!M::load(h.poisoned, base::acquire)) return;
  if (std::exception_ptr e = failures_.of(h)) std::rethrow_exception(e);
}

}  // namespace weft::sched
