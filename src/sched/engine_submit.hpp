// Part of engine.hpp. From created to ready: a record, its registration, and the queue it goes to.
#pragma once

#include <new>

namespace weft::sched {

// A call from the program. The calling thread may be a worker of this engine, the thread that made the engine (which is
// worker 0, even while it runs a task of another runtime), or a stranger.
template <machine::machine M> class engine<M>::visit {
 public:
  explicit visit(engine& e) noexcept : saved_(current_worker()), self_(e.mine()) {
    if constexpr (M::modelled) {
      saved_machine_ = M::set_current(&e.machine_);
      engine_ = &e;
      e.machine_.enter_runtime();
    }
    if (self_ != nullptr && self_ != saved_) set_current_worker(self_);
  }
  ~visit() {
    if (self_ != nullptr && self_ != saved_) set_current_worker(saved_);
    if constexpr (M::modelled) {
      engine_->machine_.leave_runtime();
      static_cast<void>(M::set_current(saved_machine_));
    }
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

  // nullptr: a stranger.
  [[nodiscard]] worker* self() const noexcept { return self_; }

 private:
  detail::worker* saved_;
  worker* self_;
  M* saved_machine_ = nullptr;
  engine* engine_ = nullptr;  // only on modelled machines
};

template <machine::machine M> auto engine<M>::mine() noexcept -> worker* {
  detail::worker* w = current_worker();
  if (w != nullptr && w->engine == this) return static_cast<worker*>(w);
  if (&detail::this_worker == owner_thread_) return workers_[0].get();
  if constexpr (!M::foreign_threads) {
    std::fprintf(stderr, "weft: a runtime on a modelled machine may be used only by the thread that made it.\n");
    std::abort();
  }
  return nullptr;
}

// The worker if the call comes from one of this engine's workers on a real machine: the common case, without a visit.
template <machine::machine M> auto engine<M>::at_home() noexcept -> worker* {
  if constexpr (M::modelled) return nullptr;
  detail::worker* w = detail::self();
  return w != nullptr && w->engine == this ? static_cast<worker*>(w) : nullptr;
}

// The same, if that worker also creates what it submits.
template <machine::machine M> auto engine<M>::creates_here() noexcept -> worker* {
  if constexpr (M::modelled) return nullptr;
  detail::worker* w = detail::self();
  return w != nullptr && w->creates_for == this ? static_cast<worker*>(w) : nullptr;
}

template <machine::machine M> detail::record* engine<M>::allocate(std::size_t bytes) {
  const std::uint8_t c = detail::record_class(bytes);
  if (worker* w = at_home(); w != nullptr && c != detail::record_classes) return allocate_on(*w, c);
  visit v(*this);
  if (v.self() != nullptr) return c == detail::record_classes ? pool_.allocate_large(bytes) : allocate_on(*v.self(), c);
  begin_outside_call();  // until discard() or the end of enter()
  try {
    return c == detail::record_classes ? pool_.allocate_large(bytes) : allocate_outside(c);
  } catch (...) {
    end_outside_call();
    throw;
  }
}

template <machine::machine M> detail::record* engine<M>::allocate_on(worker& w, std::uint8_t size_class) {
  if (detail::record* r = pool_.allocate(w, size_class, false)) return r;
  return throttle(w, size_class);
}

template <machine::machine M> detail::record* engine<M>::allocate_outside(std::uint8_t size_class) {
  if (detail::record* r = try_room(nullptr, size_class, false)) return r;
  if constexpr (M::foreign_threads) {
    foreign_wait here(*this);
    return wait_for_room(nullptr, size_class);
  }
  std::abort();  // mine() has found the stranger already
}

template <machine::machine M> void engine<M>::recycle(worker& w, detail::record* r) noexcept {
  if (r->size_class == detail::record_classes) {
    pool_.free_large(r);
    return;
  }
  if (!pool_.recycle(w, r)) return;
  // A batch has become free. Somebody may be waiting for room on a worker that sleeps.
  if (M::load(throttled_, base::seq_cst) != 0) room_made(false);
}

template <machine::machine M> void engine<M>::discard(detail::record* r) noexcept {
  r->state = detail::record_state::filling;
  visit v(*this);
  if (v.self() != nullptr) return recycle(*v.self(), r);
  {
    base::locked<M> guard(outside_lock_);
    recycle(outside_, r);
  }
  end_outside_call();
}

template <machine::machine M> void engine<M>::enter(detail::record* r) {
  if (r->plain) [[likely]] {
    if (worker* w = creates_here()) return enter_plain(*w, r);
  }
  enter_slow(r);
}

// What most submissions are; nothing here throws but the deque when it must grow and cannot.
template <machine::machine M> void engine<M>::enter_plain(worker& w, detail::record* r) {
  pay_creation<M>(*r, true);
  count_created(&w, r);
  const access::short_outcome done = register_plain(&w, r);
  if (done == access::short_outcome::waits) return;
  const bool was_away = w.current == nullptr;
  if (done == access::short_outcome::long_way) [[unlikely]] {
    r->state = detail::record_state::filling;
    r->plain = false;
    return enter_counted(w, r);
  }
  if (was_away) detail::come_in(w);
  make_ready(w, r);
  if (was_away) detail::go_out(w);
}

template <machine::machine M> access::short_outcome engine<M>::register_plain(worker* w, detail::record* r) {
  return access::register_plain<M>(r, this, submission_recorder(w));
}

template <machine::machine M> void engine<M>::enter_slow(detail::record* r) {
  r->state = detail::record_state::filling;
  if (r->pin != detail::record::unpinned && r->pin >= workers()) [[unlikely]] {
    const unsigned pin = r->pin;
    r->invoke(*r, false);
    discard(r);
    throw error("weft: a task is pinned to worker " + std::to_string(pin) + ", but there are only workers 0 to " +
                std::to_string(workers() - 1));
  }
  if (creator_ != nullptr) return request(r);
  if (worker* w = at_home()) return enter_on(*w, r);
  visit v(*this);
  if (v.self() == nullptr) return enter_outside(r);
  const program_call call(*this);
  offer_turn(*v.self());
  if constexpr (M::modelled) note_step(current_worker()->current);  // the submission itself
  enter_on(static_cast<worker&>(*current_worker()), r);
  offer_turn(static_cast<worker&>(*current_worker()));
}

// Counts r before it is registered: it may be done before registration returns, and a count of finished tasks that runs
// ahead would look like quiescence. w: nullptr for a stranger.
template <machine::machine M> void engine<M>::count_created(worker* w, detail::record* r) noexcept {
  detail::record* parent = w != nullptr ? w->current : nullptr;
  r->parent = parent;
  if (parent != nullptr) {
    parent->has_children = true;
    r->order = parent->cursor++;
    static_cast<void>(M::fetch_add(parent->pending, 1u, base::relaxed));
  } else if (w != nullptr) {
    r->order = detail::peek(w->created) + 1;
    M::store(w->created, r->order, base::release);
  } else {
    base::locked<M> guard(outside_lock_);
    const std::uint64_t count = detail::peek(outside_.created) + 1;
    r->order = outside_order | count;  // behind the main thread's, which counts for itself
    M::store(outside_.created, count, base::release);
  }
  if constexpr (M::modelled) {
    if (order_ != nullptr) [[unlikely]]
      order_->submitted(*r);
  }
}

// The same for an internal task that must come directly before one that is counted already. It belongs to that one's
// parent, which cannot be done yet; who creates it is nobody's child.
template <machine::machine M>
void engine<M>::count_beside(worker* w, detail::record* r, const detail::record& before) noexcept {
  r->parent = before.parent;
  r->order = before.order;
  if (r->parent != nullptr)
    static_cast<void>(M::fetch_add(r->parent->pending, 1u, base::relaxed));
  else
    M::store(w->created, detail::peek(w->created) + 1, base::release);
}

// Registers r, after the internal tasks that it must come behind. Gives whether r is ready.
template <machine::machine M> bool engine<M>::register_and_apply(worker* w, detail::record* r, woken& list) {
  if (r->plain) {
    const access::short_outcome done = register_plain(w, r);
    if (done != access::short_outcome::long_way) return done == access::short_outcome::ready;
    r->plain = false;
  }
  for (;;) {
    const access::registered done =
        access::register_task<M>(r, this, open_reductions_, list, submission_recorder(w), chooses_among_adds(*r));
    if (done.what != access::outcome::apply_first) return done.what == access::outcome::ready;
    apply_reduction(w, *done.reduction, r);
  }
}

// Closes the group of reduces on h: a task that writes h applies what they left over. Somebody else may have been
// quicker; then the task finds nothing and its write changes nothing. before: the task that calls for it, or nullptr.
template <machine::machine M>
void engine<M>::apply_reduction(worker* w, detail::handle_state& h, const detail::record* before) {
  const access::apply_function apply = access::reduction_of(h);
  struct closure {
    access::apply_function apply;
    detail::handle_state* h;
  };
  constexpr std::uint8_t size_class =
      detail::record_class(sizeof(detail::record) + sizeof(access::entry) + sizeof(closure));
  // Beyond the window if need be: a submitter that is in the middle of registering must not be set aside.
  detail::record* r = nullptr;
  if (w != nullptr) {
    r = pool_.allocate(*w, size_class, true);
  } else {
    base::locked<M> guard(outside_lock_);
    r = pool_.allocate(outside_, size_class, true);
  }
  const std::uint8_t its_class = r->size_class;
  *r = detail::record{};
  r->size_class = its_class;
  r->state = detail::record_state::filling;
  r->pin = detail::record::unpinned;
  r->name = "apply reduction";
  r->cost_ps = detail::record::charged_bit;
  r->access_count = 1;
  r->applies_reduction = true;
  detail::poke(r->pending, 1u);
  r->accesses()[0].handle_and_kind = reinterpret_cast<std::uintptr_t>(&h) | detail::kind_bits(detail::kind_write);
  new (r->closure()) closure{apply, &h};
  r->invoke = [](detail::record& self, bool run) {
    const closure& c = *static_cast<closure*>(self.closure());
    if (run) c.apply(*c.h);
  };
  open_reductions_.remove(h);
  pay_creation<M>(*r, true);
  if (before != nullptr && creator_ != nullptr)
    count_beside(w, r, *before);
  else
    count_created(w, r);
  woken list;
  const access::registered done = access::register_task<M>(r, this, open_reductions_, list, submission_recorder(w));
  if (done.what == access::outcome::ready) w != nullptr ? make_ready(*w, r) : make_ready_outside(r);
  make_all_ready(w, list);
}

// A task is submitted outside of tasks by the main thread alone, which is away from its deque between its calls.
template <machine::machine M> void engine<M>::enter_on(worker& w, detail::record* r) {
  pay_creation<M>(*r, true);
  count_created(&w, r);
  enter_counted(w, r);
}

template <machine::machine M> void engine<M>::enter_counted(worker& w, detail::record* r) {
  const bool was_away = w.current == nullptr;
  woken list;
  try {
    if (r->access_count == 0 && w.trace != nullptr) [[unlikely]]
      trace_submitted(&w, *r);
    const bool is_ready = r->access_count == 0 || register_and_apply(&w, r, list);
    if (!is_ready && list.head == nullptr) return;
    if (was_away) detail::come_in(w);
    if (is_ready) make_ready(w, r);
  } catch (...) {
    if (was_away) detail::go_out(w);
    r->invoke(*r, false);
    if (r->parent != nullptr)
      static_cast<void>(M::fetch_sub(r->parent->pending, 1u, base::relaxed));
    else
      M::store(w.finished, detail::peek(w.finished) + 1, base::release);
    recycle(w, r);
    throw;
  }
  make_all_ready(&w, list);
  if (was_away) detail::go_out(w);
}

template <machine::machine M> void engine<M>::enter_outside(detail::record* r) {
  outside_call until_return(*this, typename outside_call::begun{});
  count_created(nullptr, r);
  if (trace_ != nullptr && r->access_count == 0) trace_submitted(nullptr, *r);
  woken list;
  try {
    if (r->access_count == 0 || register_and_apply(nullptr, r, list)) make_ready_outside(r);
  } catch (...) {
    r->invoke(*r, false);
    base::locked<M> guard(outside_lock_);
    M::store(outside_.finished, detail::peek(outside_.finished) + 1, base::release);
    recycle(outside_, r);
    throw;
  }
  make_all_ready(nullptr, list);
}

template <machine::machine M> void engine<M>::make_ready(worker& w, detail::record* r) {
  r->state = detail::record_state::ready;
  if (chooses()) return make_ready_by_order(w, r);
  if (r->kind == detail::record_kind::external) {
    M::signal(waiter::of(r).signal);
  } else if (const unsigned pin = r->pin; pin != detail::record::unpinned) {
    workers_[pin]->box.push(r);  // r may be gone from here on
    if (pin != w.id) sleep_.notify(machine_, pin);
  } else if (r->urgent) {
    push_urgent(r);
  } else if (own_deque_only_ || rules_->ready(w.id, *r) == target::own_deque) {
    push_own(w, r);
  } else {
    central_.push(r);
    sleep_.notify(machine_);
  }
}

template <machine::machine M> void engine<M>::make_ready_outside(detail::record* r) {
  r->state = detail::record_state::ready;
  if (r->kind == detail::record_kind::external) {
    M::signal(waiter::of(r).signal);
  } else if (const unsigned pin = r->pin; pin != detail::record::unpinned) {
    workers_[pin]->box.push(r);  // r may be gone from here on
    sleep_.notify(machine_, pin);
  } else if (r->urgent) {
    push_urgent(r);
  } else {
    central_.push(r);
    sleep_.notify(machine_);
  }
}

template <machine::machine M> void engine<M>::push_urgent(detail::record* r) noexcept {
  static_cast<void>(M::fetch_add(attention_, 1u, base::seq_cst));  // before the push: it must not be popped uncounted
  urgent_.push(r);
  sleep_.notify(machine_);
}

// The condition that r was listed for is met. Gives whether r is ready; if not, it is listed elsewhere. Where r only
// stood for a task (reservation.hpp) it is that task afterwards.
template <machine::machine M> bool engine<M>::advance_waiting(detail::record*& r, woken& out) {
  if (r->plain) return access::advance_plain<M>(r);
  if (r->kind == detail::record_kind::resume || r->kind == detail::record_kind::external) return true;
  if (chooses_among_adds(*r) && r->cursor < r->access_count) return access::advance_versions<M>(r);
  return reservations_.advance(r, out);
}

// w: the worker this happens on, nullptr for a stranger.
template <machine::machine M> void engine<M>::make_all_ready(worker* w, woken& list) {
  while (detail::record* r = list.take())
    if (advance_waiting(r, list)) w != nullptr ? make_ready(*w, r) : make_ready_outside(r);
}

template <machine::machine M> void engine<M>::push_own(worker& w, detail::record* r) {
  deque::push(w, r);
  if (deque::starved(w)) share(w);
}

template <machine::machine M> void engine<M>::push_slow(detail::worker& w, detail::record* r) {
  push_own(static_cast<worker&>(w), r);
}

// The main thread between its calls takes nothing back, so there is nothing to keep for it.
template <machine::machine M> void engine<M>::share(worker& w) noexcept {
  const bool only_pushes = w.running == &program_ && w.current == nullptr;
  const bool shared = !only_pushes                   ? deque::share(w)
                      : workers() <= base::sweep_max ? deque::expose(w)
                                                     : deque::hand_out(w);
  if (shared) sleep_.notify(machine_);
}

}  // namespace weft::sched
