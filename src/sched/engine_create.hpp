// Part of engine.hpp. Decoupled creation (TaskGenX §3): a submitter only counts its task and hands it over, as a
// request; the creator, one worker that runs no tasks, gives it its versions and lets it go. That is the code that a
// submitter runs itself where creation is inline, called later.
//
// Order. A request is created before the next one is taken (creating_), and requests are taken in the order in which
// they were handed over. So the tasks of one submitter get their versions in program order, and a wait that first sees
// to it that all requests so far are created (await_creation) waits for what it would wait for inline. What is counted
// - parents, children, top-level tasks - is counted by the submitter, so other waits need not look at requests at all.
//
// Who creates. The creator is never lent to tasks, because while it ran one nobody would get any. It runs only what
// must run there, pinned tasks, and is away meanwhile: then whoever has nothing else to do creates. So does a thread
// that waits for its requests. With two workers nobody can be spared, and the creator is away for good. Protocol with
// sleepers (sleep.md): a request is pushed, then creator_away_ is read; the creator stores creator_away_, then looks
// for requests. All seq_cst, so one of the two sees the other and wakes somebody.
#pragma once

#include <cstdio>

namespace weft::sched {

// Who: the thread that makes the runtime, with all workers made and none running. creator: 0 for the last worker.
template <machine::machine M> void engine<M>::open_creation(unsigned creator) {
  const unsigned n = workers();
  if (n == 1) {  // fewer threads than were asked for
    std::fprintf(stderr, "weft: with one worker left tasks are created inline, by those who submit them.\n");
    return;
  }
  creator_ = workers_[creator == 0 || creator >= n ? n - 1 : creator].get();
  for (auto& w : workers_) {
    w->creates_for = nullptr;
    w->hooked = true;
  }
  if (n == 2) {
    detail::poke(creator_away_, 1u);
  } else {
    creator_->creates_only = creator_->is_special = true;
    detail::poke(creator_->tick_limit, 1u);  // what follows on a pinned task is for others
    sleep_.set_apart(creator_->id);
  }
  enlist();
}

// r is filled in and nobody has counted it. Who: any thread, as enter().
template <machine::machine M> void engine<M>::request(detail::record* r) {
  visit v(*this);
  worker* w = v.self();
  count_created(w, r);
  M::work(model::step::request);
  M::touch(r, bytes_in_use(*r), true);
  if (trace_ != nullptr) {  // both are free until registration
    r->prev = reinterpret_cast<detail::record*>(machine_.now_ps());
    r->cursor = w != nullptr ? w->id + 1u : trace::by_outside;
  }
  requests_.push(r);  // r may be gone from here on
  if (M::load(creator_away_, base::seq_cst) == 0)
    sleep_.notify(machine_, creator_->id);
  else
    sleep_.notify(machine_);
  if (w == nullptr) end_outside_call();
}

// Creates the oldest request. Gives whether there was one and nobody else was at it. Who: worker w, its own thread.
template <machine::machine M> bool engine<M>::create_one(worker& w) {
  if (requests_.empty() || M::exchange(creating_, std::uint8_t{1}, base::acquire) != 0) return false;
  detail::record* r = requests_.pop();
  if (r == nullptr) {
    base::release_lock<M>(creating_);
    return false;
  }
  pay_creation<M>(*r, false);
  owner_section at_own_end(*this, &w);
  bool is_ready = true;
  woken list;
  try {
    if (trace_ != nullptr) {
      w.requested_ps = reinterpret_cast<std::uintptr_t>(r->prev);
      w.requested_by = static_cast<std::uint16_t>(r->cursor);
      if (r->access_count == 0) trace_submitted(&w, *r);
    }
    is_ready = r->access_count == 0 || register_and_apply(&w, r, list);
  } catch (...) {
    refuse(w, *r, std::current_exception());
  }
  M::store(created_, detail::peek(created_) + 1, base::release);  // pairs with await_creation()
  base::release_lock<M>(creating_);
  if (is_ready) make_ready(w, r);
  make_all_ready(&w, list);
  if (w.creates_only && deque::starved(w)) share_all(w);
  return true;
}

template <machine::machine M> void engine<M>::share_all(worker& w) noexcept {
  if (deque::expose(w)) sleep_.notify(machine_);
}

// What would have been thrown at submission is what the task fails with. Nothing of it is registered, so it forgets its
// accesses. It is still run, as one that is skipped: destroying its body may wait, for a handle that it owns.
template <machine::machine M> void engine<M>::refuse(worker& w, detail::record& r, const std::exception_ptr& why) {
  failures_.add(r, why);
  if (trace_ != nullptr) {
    const std::uint32_t n = std::exchange(r.access_count, 0u);
    trace_submitted(&w, r);
    r.access_count = n;
  }
  for (std::uint32_t i = 0; i < r.access_count; ++i) {
    access::entry& a = r.accesses()[i];
    if ((access::kind_of(a) & (detail::kind_readonly | detail::kind_resource)) == 0) {
      detail::handle_state& h = access::handle_of(a);
      base::locked<M> guard(h.lock);
      if (h.engine == this) failures_.poison(h, why);  // of another runtime, or of none, it is not ours to poison
    }
    a.handle_and_kind = detail::kind_repeated;
  }
  r.plain = r.subtasks = false;
  r.exclusives = 0;
}

// Returns when what the caller has handed over so far is created. A worker helps, unless that is done already; a
// stranger, who has no queue to put tasks in, waits for those who do.
template <machine::machine M> void engine<M>::await_creation() noexcept {
  if (creator_ == nullptr) return;
  if (!M::foreign_threads && &detail::this_worker != owner_thread_)
    return;  // no stranger can have handed over anything
  visit v(*this);
  // At most one more than are queued: the one that is being created. The queue first, or some might be missed.
  const std::uint32_t queued = requests_.size();
  const std::uint64_t until = M::load(created_, base::acquire) + queued + 1;
  for (unsigned spins = 0; M::load(created_, base::acquire) < until && !machine_.forked();) {
    if (v.self() != nullptr && create_one(*v.self())) continue;
    if (requests_.empty() && M::load(creating_, base::acquire) == 0) return;
    M::relax(++spins);
  }
}

// Takes no modelled time: a look, for handle_base::idle().
template <machine::machine M> bool engine<M>::all_created() noexcept {
  return requests_.none() && base::shared(creating_).load(base::acquire) == 0;
}

// What a worker that is not the creator finds there: tasks that are ready, and if the creator is away requests.
template <machine::machine M> detail::record* engine<M>::next_created(worker& w) {
  if (creator_->creates_only) {
    detail::record* r = nullptr;
    steal_result result = steal_result::lost;
    while (result == steal_result::lost) result = deque::steal(*creator_, r);
    if (result == steal_result::taken) {
      count_one(w.steals);
      if (w.trace != nullptr) trace_stolen(w, *creator_, *r);
      return r;
    }
  }
  if (M::load(creator_away_, base::seq_cst) == 0) return nullptr;
  while (create_one(w))
    if (detail::record* r = next_own(w)) return r;
  return nullptr;
}

template <machine::machine M> bool engine<M>::requests_wait_for_anyone() noexcept {
  return creator_ != nullptr && M::load(creator_away_, base::seq_cst) != 0 && !requests_.empty();
}

// The creator's turn of loop(). Gives what must run there, sooner or later; nullptr when the runtime stops.
template <machine::machine M> detail::record* engine<M>::next_of_creator(worker& w) {
  w.body_end_ps = 0;  // it creates, and may sleep, before the next body
  if (detail::peek(creator_away_) != 0) M::store(creator_away_, 0u, base::seq_cst);
  for (;;) {
    if (detail::record* r = create_for_a_while(w)) {
      M::store(creator_away_, 1u, base::seq_cst);
      if (!requests_.empty()) sleep_.notify(machine_);
      return r;
    }
    if (M::load(stopping_, base::seq_cst) != 0) return nullptr;
    if (sleep_.announce(w.id)) break_stall(w);
    if (!creator_sees_anything(w))
      park(w);
    else if (!sleep_.retract(w.id))
      machine_.park(w.id);  // takes the wake that is on its way
  }
}

// Requests first; from time to time the inbox, so that they do not shut out a pinned task for ever.
template <machine::machine M> detail::record* engine<M>::create_for_a_while(worker& w) {
  std::uint64_t until = machine_.now_ps() + base::search_ns * 1000;
  unsigned spins = 0;
  do {
    unsigned created = 0;
    while (created < ticks_between_looks && create_one(w)) ++created;
    share_all(w);
    if (!paused())
      if (detail::record* r = w.box.pop()) return r;
    if (detail::record* r = next_throttled(w)) return r;
    if (M::load(quiescent_waiting_, base::seq_cst) != 0 && quiescent()) end_quiescent_waits(&w);
    if (M::load(stopping_, base::acquire) != 0) return nullptr;
    if (created != 0)
      until = machine_.now_ps() + base::search_ns * 1000;
    else
      M::relax(++spins);
  } while (machine_.now_ps() < until);
  return nullptr;
}

template <machine::machine M> bool engine<M>::creator_sees_anything(worker& w) noexcept {
  if (M::load(stopping_, base::seq_cst) != 0 || !requests_.empty()) return true;
  if (M::load(beyond_window_, base::seq_cst) != 0 && w.throttled_head != nullptr) return true;
  if (!paused() && !w.box.empty()) return true;
  return M::load(quiescent_waiting_, base::seq_cst) != 0 && quiescent();
}

// The runtime ends after a stall: what was never created never will be.
template <machine::machine M> void engine<M>::abandon_requests() noexcept {
  while (detail::record* r = requests_.pop()) r->invoke(*r, false);
}

}  // namespace weft::sched
