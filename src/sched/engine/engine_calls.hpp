// What the program calls: waits, pauses, and the small questions. Each call first finds out which worker the calling
// thread is.
#pragma once
#include <algorithm>
#include <cstdio>

#include "sched/fail/stall_report.hpp"

namespace weft::sched {

// A call from the program. The calling thread may be a worker of this engine, the thread that made the engine (which is
// worker 0, even while it runs a task of another runtime), or a guest.
template <machine::machine M> class engine<M>::visit {
 public:
  explicit visit(engine& e) : saved_(current_worker()), self_(e.mine()), engine_(e), call_(e.machine_) {
    if (self_ == nullptr) self_ = guest_ = &e.context_.guests.enter(&e);
    if (self_ != saved_) set_current_worker(self_);
    deque::offer_kept(*self_);
  }
  ~visit() {
    if (self_ != saved_) set_current_worker(saved_);
    if (guest_ != nullptr) engine_.context_.guests.leave(*guest_);
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

  [[nodiscard]] worker& self() const noexcept { return *self_; }

 private:
  detail::worker* saved_;
  worker* self_;
  worker* guest_ = nullptr;
  engine& engine_;
  [[no_unique_address]] typename M::call call_;  // until the worker is as before
};

// A child that fork() makes has the memory of a runtime and none of its threads: tasks that go to others would wait for
// ever. Who: whatever gives the runtime something to do, or waits for it, before anything else.
template <machine::machine M> void engine<M>::check_process() const {
  if (machine_.forked()) [[unlikely]]
    throw error("weft: this process is a child that fork() made, and the threads of the runtime are its parent's; make "
                "the runtime in the child, or let the child go on to another program (exec)");
}

template <machine::machine M> auto engine<M>::mine() noexcept -> worker* {
  detail::worker* w = current_worker();
  if (w != nullptr && w->engine == this) return static_cast<worker*>(w);
  if (&detail::this_worker == detail::peek(owner_thread_)) return &context_.crew.main();
  M::meets_stranger();
  return nullptr;
}

// The worker if the call comes from one of this engine's workers on a real machine: the common case, without a visit.
template <machine::machine M> auto engine<M>::at_home() noexcept -> worker* {
  detail::worker* w = M::inline_self();
  return w != nullptr && w->engine == this ? static_cast<worker*>(w) : nullptr;
}

// The same, if that worker also creates what it submits.
template <machine::machine M> auto engine<M>::creates_here() noexcept -> worker* {
  detail::worker* w = M::inline_self();
  return w != nullptr && w->creates_for == this ? static_cast<worker*>(w) : nullptr;
}

// The same, if another worker creates it and takes it from the caller the short way.
template <machine::machine M> auto engine<M>::hands_over_here() noexcept -> worker* {
  detail::worker* w = M::inline_self();
  return w != nullptr && admit_.creation.is_short_from(*w) ? static_cast<worker*>(w) : nullptr;
}

template <machine::machine M> void engine<M>::check_pin(detail::record* r) {
  if (r->pin == detail::record::unpinned || r->pin < workers()) [[likely]]
    return;
  const unsigned pin = r->pin;
  r->invoke(*r, detail::errand::destroy);
  discard(r);
  throw error("weft: a task is pinned to worker " + std::to_string(pin) + ", but there are only workers 0 to " +
              std::to_string(workers() - 1));
}

template <machine::machine M> void engine<M>::push_slow(detail::worker& w, detail::record* r) {
  context_.placement.push_own(static_cast<worker&>(w), r);
}

// ---- waits

template <machine::machine M> void engine<M>::wait_all() {
  check_process();
  visit v(*this);
  worker& w = v.self();
  if (w.role == role::guest) {
    start_if_paused();
    join_.watch.call();
    const typename admission<M>::outside_wait needed(admit_.admission);
    return join_.waits.for_all_outside(w);
  }
  const program_call call(context_.ordering);
  if (w.current != nullptr) return join_.waits.for_children(w);
  join_.watch.call();
  const main_wait here(admit_.admission, w);
  start_if_paused();
  if (!join_.waits.for_all(w)) join_.stall.raise(true);
  machine_.require_whole();
}

template <machine::machine M> void engine<M>::wait_handle(detail::handle_state& h) {
  check_process();
  const visit v(*this);
  const program_call call(context_.ordering);
  wait_for(h);
}

template <machine::machine M> void engine<M>::wait_version(detail::handle_state& h, std::uint64_t version) {
  check_process();
  const visit v(*this);
  const program_call call(context_.ordering);
  wait_for(h, &version);
}

// For the accesses registered so far, or for a version.
template <machine::machine M> void engine<M>::wait_for(detail::handle_state& h, const std::uint64_t* version) {
  if (!comes(h, version)) join_.stall.raise(is_program());
  context_.poison.rethrow_for(h);
}

// Whether the calling stack is the program's, outside of tasks.
template <machine::machine M> bool engine<M>::is_program() {
  const visit v(*this);
  return v.self().role != role::guest && detail::body_around(v.self().current) == nullptr;
}

// Waits for that. Returns false if nothing can run any more.
template <machine::machine M> bool engine<M>::comes(detail::handle_state& h, const std::uint64_t* version) {
  visit v(*this);
  worker& w = v.self();
  await_creation();
  if (!join_.waits.concerns(w, h) && version == nullptr) return true;
  if (w.current == nullptr) join_.watch.call();
  if (w.role == role::guest) {
    start_if_paused();
    const typename admission<M>::outside_wait needed(admit_.admission);
    return join_.waits.for_handle_outside(w, h, version);
  }
  const main_wait here(admit_.admission, w);
  if (w.current == nullptr) start_if_paused();
  return join_.waits.for_handle(w, h, version);
}

template <machine::machine M> void engine<M>::drain(detail::handle_state& h) noexcept {
  if (machine_.forked()) return;  // nobody here will come to it
  visit v(*this);
  try {
    if (!comes(h, nullptr)) join_.stall.report(is_program());
  } catch (const error& e) {
    if (access::outstanding(h.word.raw, h.registered) != 0) {
      std::fprintf(stderr, "weft: handle or stream %s is destroyed while tasks need it. %s\n",
                   access::name_of(h).c_str(), e.what());
      abandon_uses_of(context_.pool.all(), h);
    }
  } catch (...) {
    // A task that failed: the wait for its scope will say so.
  }
  if (M::load(h.poisoned, base::relaxed)) context_.failures.forget(h);
}

// As registration does for other handles; those of streams are known to the engine before anybody registers them.
template <machine::machine M> void engine<M>::is_new(detail::handle_state& h) noexcept {
  const visit v(*this);
  M::fresh(&h, sizeof h);
}

template <machine::machine M> void engine<M>::await_creation() noexcept {
  if (!admit_.creation.on()) return;
  if (!M::admits_strangers() && &detail::this_worker != detail::peek(owner_thread_))
    return;  // no stranger can have handed over anything
  visit v(*this);
  admit_.creation.await(v.self());
}

template <machine::machine M> void engine<M>::start_if_paused() {
  if (context_.attention.paused()) pause(false);
}

template <machine::machine M> void engine<M>::pause(bool on) {
  check_process();
  visit v(*this);
  if (on) return context_.attention.pause();
  context_.attention.start();
  for (const auto& w : context_.crew) context_.sleep.notify(machine_, w->id);
}

// ---- the small questions

template <machine::machine M> run_counts engine<M>::statistics() const noexcept {
  run_counts c{};
  for (const auto& w : context_.crew) {
    c.tasks += detail::peek(w->tasks);
    c.calls += detail::peek(w->counted.called);
    c.steals += detail::peek(w->counted.steals);
    c.sleeps += detail::peek(w->counted.sleeps);
    c.suspends += detail::peek(w->counted.suspends);
    c.pushed += detail::peek(w->counted.pushed);
    c.refused += detail::peek(w->counted.refused);
    w->counted.decided.add_to(c.decided);
  }
  if (!machine_.forked()) context_.guests.add_decided(c.decided);  // by a lock that a thread may have had which is lost
  const machine::machine_counts m = machine_.counts();
  c.transfers = m.transfers;
  c.line_waits_ns = m.line_waits_ps / 1000;
  c.events = m.events;
  c.cached_bytes = m.cached_bytes;
  c.local_bytes = m.local_bytes;
  c.remote_bytes = m.remote_bytes;
  c.bandwidth_wait_ns = m.bandwidth_ps / 1000;
  c.shared_bytes = m.shared_bytes;
  c.modified_bytes = m.modified_bytes;
  c.written_back_bytes = m.written_back_bytes;
  c.units_wait_ns = m.units_ps / 1000;
  c.energy = m.energy;
  return c;
}

template <machine::machine M> trace::facts engine<M>::about() const {
  trace::facts f;
  f.machine = machine_.name();
  f.policy = opened_.policy_name;
  f.creation = admit_.creation.on() ? "decoupled" : "inline";
  f.seed = setup_.seed;
  f.window = setup_.window_tasks;
  f.places = opened_.places.get();
  f.bound = setup_.bound;
  for (const auto& w : context_.crew) {
    f.forks += detail::peek(w->counted.forks);
    f.forks_elsewhere += detail::peek(w->counted.elsewhere);
    f.pipelines += detail::peek(w->counted.pipelines);
  }
  const run_counts counts = statistics();
  f.energy = counts.energy;
  for (std::size_t i = 0; i < rules::count; ++i) {
    const auto r = static_cast<by>(i);
    const weft::rule& row = rules::row(r);
    f.rules[i] = {row.name, setup_.rules[r], row.off, counts.decided[i]};
  }
  return f;
}

template <machine::machine M> void engine<M>::write_trace() {
  check_process();
  visit v(*this);
  context_.recording.write(about(), opened_.start_ps);
}

template <machine::machine M> void* engine<M>::workspace(std::size_t bytes) {
  return static_cast<worker&>(*current_worker()).workspace.get(bytes);
}

// The machine is told of the memory of handles when it is new, not of the rest of a reduction.
template <machine::machine M> void* engine<M>::exchange(detail::handle_state& h, detail::cell<void*>& c, void* value) {
  return M::exchange_near(h.lock, c, value, base::acq_rel);
}

template <machine::machine M> bool engine<M>::try_exclusive(detail::handle_state& h) {
  base::locked<M> guard(h.lock);
  return !std::exchange(h.exclusive_taken, true);
}

// Nobody is listed for exclusive access: a group of reduces has no exclusive accesses, and other groups are not
// running.
template <machine::machine M> void engine<M>::release_exclusive(detail::handle_state& h) {
  base::locked<M> guard(h.lock);
  WEFT_ASSERT(h.exclusive_taken);
  h.exclusive_taken = false;
}

template <machine::machine M> void engine<M>::charge(std::uint64_t ps, std::span<const data_use> uses) {
  if (!M::takes_charges()) return;
  if (detail::record* r = current_worker()->current) r->cost_ps |= detail::record::charged_bit;
  const visit v(*this);
  const program_call call(context_.ordering);
  machine_.charge(ps, uses);
  offer_turn(static_cast<worker&>(*current_worker()));
}

// The program computes between its calls, outside of tasks.
template <machine::machine M> void engine<M>::charge_program(std::uint64_t ps) noexcept {
  if (!M::takes_charges()) return;
  visit v(*this);
  if (workers() >= base::pulling_workers_min)
    context_.placement.expose(v.self());  // in place of a thief that pulls (deque.md)
  machine_.charge(ps);
}

// Where the order of tasks is chosen: the caller goes to where all that is ready waits for its turn, and comes back
// when it has it.
template <machine::machine M> void engine<M>::offer_turn(worker& w) {
  if (!context_.ordering.chooses() || context_.ordering.has_none() || context_.attention.paused()) return;
  waiter self;
  detail::record* body = w.current;
  admit_.suspension.set_aside(w, self, [this, &self](worker& here) {
    self.r.pin = here.id;  // no real machine moves a body to another worker at such a call
    context_.placement.place(here, &self.r);
  });
  static_cast<worker&>(*current_worker()).current = body;
}

}  // namespace weft::sched
