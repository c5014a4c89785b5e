// What the program calls: the engine's beginning and end, waits, pauses, and the small questions. Each call first finds
// out which worker the calling thread is.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sched/stall_report.hpp"

namespace weft::sched {

// A call from the program. The calling thread may be a worker of this engine, the thread that made the engine (which is
// worker 0, even while it runs a task of another runtime), or a guest.
template <machine::machine M> class engine<M>::visit {
 public:
  explicit visit(engine& e) : saved_(current_worker()), self_(e.mine()), engine_(e) {
    if constexpr (M::modelled) {
      saved_machine_ = M::set_current(&e.machine_);
      e.machine_.enter_runtime();
    }
    if (self_ == nullptr) self_ = guest_ = &e.guests_.enter(&e);
    if (self_ != saved_) set_current_worker(self_);
  }
  ~visit() {
    if (self_ != saved_) set_current_worker(saved_);
    if (guest_ != nullptr) engine_.guests_.leave(*guest_);
    if constexpr (M::modelled) {
      engine_.machine_.leave_runtime();
      static_cast<void>(M::set_current(saved_machine_));
    }
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

  [[nodiscard]] worker& self() const noexcept { return *self_; }

 private:
  detail::worker* saved_;
  worker* self_;
  worker* guest_ = nullptr;
  M* saved_machine_ = nullptr;
  engine& engine_;
};

template <machine::machine M> auto engine<M>::mine() noexcept -> worker* {
  detail::worker* w = current_worker();
  if (w != nullptr && w->engine == this) return static_cast<worker*>(w);
  if (&detail::this_worker == owner_thread_) return &crew_.main();
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

template <machine::machine M> void engine<M>::check_pin(detail::record* r) {
  if (r->pin == detail::record::unpinned || r->pin < workers()) [[likely]]
    return;
  const unsigned pin = r->pin;
  r->invoke(*r, false);
  discard(r);
  throw error("weft: a task is pinned to worker " + std::to_string(pin) + ", but there are only workers 0 to " +
              std::to_string(workers() - 1));
}

template <machine::machine M> void engine<M>::push_slow(detail::worker& w, detail::record* r) {
  placement_.push_own(static_cast<worker&>(w), r);
}

// ---- beginning and end

// Submitters that this worker set aside; and, where others are blocked, tasks at the old ends of deques.
template <machine::machine M> class engine<M>::throttled_source final : public source<M> {
 public:
  explicit throttled_source(engine& e)
      : source<M>("submitters that wait for room", {.while_paused = true, .now_and_then = true}), engine_(e) {}
  [[nodiscard]] detail::record* take(worker& w) override {
    detail::record* r = engine_.next_throttled(w);
    return r != nullptr || w.tick != 0 || engine_.attention_.paused() ? r : engine_.look_aside(w);
  }
  [[nodiscard]] bool visible(worker& w) noexcept override {
    return M::load(engine_.beyond_window_, base::seq_cst) != 0 && M::load(w.throttled_here, base::seq_cst);
  }

 private:
  engine& engine_;
};

// Those who wait for everything to be done: whoever finds nothing else to do lets them go.
template <machine::machine M> class engine<M>::quiescent_source final : public source<M> {
 public:
  explicit quiescent_source(engine& e) : source<M>("waits that are over", {.shared = true}), engine_(e) {}
  [[nodiscard]] detail::record* take(worker& w) override {
    if (!engine_.quiescence_.is_over_for_some()) return nullptr;
    engine_.readiness_.quiescent(w);
    return engine_.ordering_.chooses() ? engine_.ordering_.take(w) : w.box.pop();
  }
  [[nodiscard]] bool visible(worker&) noexcept override { return engine_.quiescence_.is_over_for_some(); }

 private:
  engine& engine_;
};

template <machine::machine M> template <class... MachineArgs>
engine<M>::engine(const engine_setup& setup, const MachineArgs&... machine_args)
    : setup_(setup), machine_(machine_args...), pool_(setup.window_tasks, setup.workers_wanted),
      stacks_(setup.stack_bytes, &loop_entry, this), throttled_source_(std::make_unique<throttled_source>(*this)),
      quiescent_source_(std::make_unique<quiescent_source>(*this)), owner_thread_(&detail::this_worker) {}

template <machine::machine M> void engine<M>::open(place::tree places, const policy_entry& rules) {
  places_ = std::make_unique<place::tree>(std::move(places));
  rules_ = rules.make(*places_);
  rules_name_ = rules.name.name;
  crew_.open(places_->workers(), M::foreign_threads);
  stealing_.open(*rules_);
  placement_.open(*rules_, *places_);
  suspension_.open(crew_.main());
  const bool hooked = M::modelled || !placement_.own_only() || recording_.on();
  for (const auto& w : crew_) {
    w->engine = w->creates_for = this;
    w->hooked = hooked;
    w->rng = base::random(setup_.seed * 1024 + w->id);
    if constexpr (M::modelled) machine_.seat(w->id, w.get());
  }
  if constexpr (M::modelled) machine_.set_program_stack(suspension_.program());
  sleep_.open(workers(), M::foreign_threads);
  watch_.open(setup_.stuck_ns);
  if (setup_.decoupled && creation_.open(setup_.creator)) enlist();
  list_sources();
  {
    visit v(*this);
    for (const auto& w : crew_) deque::open(*w, workers() > 1, setup_.deque_slots);
    recording_.open(crew_);
    start_ps_ = machine_.now_ps();
  }
  // With several runtimes on one thread the first has the short way in; the others find their worker by visit.
  if (current_worker() == nullptr) set_current_worker(&crew_.main());
}

// Where each worker looks for work, in this order: nearest first.
template <machine::machine M> void engine<M>::list_sources() {
  for (const auto& w : crew_) {
    std::vector<source<M>*>& s = w->sources;
    if (ordering_.chooses()) {
      s = {&ordering_, throttled_source_.get(), quiescent_source_.get()};
    } else if (w->role == role::creator) {
      s = {&creation_, &box_, throttled_source_.get(), quiescent_source_.get()};
    } else {
      s = {&urgent_, &box_};
      if (creation_.on()) s.insert(s.end(), {&creation_.made(), &creation_});
      s.push_back(&own_);
      if (rules_->uses_nodes()) s.push_back(&nodes_);
      s.insert(s.end(), {&central_, &stealing_, throttled_source_.get(), quiescent_source_.get()});
    }
    if constexpr (M::modelled) s.insert(s.begin(), &timers_);
  }
}

template <machine::machine M> void engine<M>::worker_entry(void* engine_address, unsigned id) {
  engine& e = *static_cast<engine*>(engine_address);
  worker& w = e.crew_[id];
  fiber thread_stack;
  set_current_worker(&w);
  e.recording_.open_counters(w);
  w.home = &thread_stack;
  if constexpr (M::modelled) w.home = &e.machine_.stack(id);  // a modelled core begins on a fiber of its machine
  fiber& loop = e.stacks_.take(w);
  w.running = &loop;
  e.machine_.jump(w.id, *w.home, loop, nullptr);  // comes back when the runtime stops
  set_current_worker(nullptr);
}

// Who: the thread that made the engine. A task that failed unnoticed is reported; nothing can be thrown from here.
template <machine::machine M> engine<M>::~engine() {
  if (crew_.is_open() && !machine_.forked()) {
    visit v(*this);
    end(v);
    recording_.write_or_say(about(), start_ps_);
  }
  if (crew_.is_open() && current_worker() == &crew_.main()) set_current_worker(nullptr);
  if (creation_.on()) strike(machine_.forked());
}

template <machine::machine M> void engine<M>::end(const visit& v) noexcept {
  owner_section at_own_end(*this, v.self(), owner_section::waits);
  start_if_paused();
  const bool told_before = stall_.told();
  try {
    if (!waits_.for_all(v.self())) stall_.raise(true);
  } catch (const std::exception& e) {
    if (!told_before) std::fprintf(stderr, "weft: at the end of a runtime, unnoticed until now: %s\n", e.what());
  } catch (...) {
    std::fprintf(stderr, "weft: at the end of a runtime, unnoticed until now: a task threw something\n");
  }
  // Who fulfils an event need not know of this runtime, and may still be on the way out.
  for (unsigned spins = 0; events_.calls_under_way(); ) M::relax(++spins);
  watch_.stop();
  search_.stop();
  for (const auto& w : crew_) sleep_.notify(machine_, w->id);
  M::signal(reserve_called_);
  machine_.join();
  if (!quiescence_.reached()) {
    creation_.abandon();
    abandon_all(pool_.all());
  }
  events_.abandon_all();
  timers_.close();
  registrar_.forget_all();                       // none is left but after a stall
  static_cast<void>(failures_.take(nullptr));  // heals the handles that outlive this
  for (const auto& w : crew_) deque::close(*w);
}

// ---- waits

template <machine::machine M> void engine<M>::wait_all() {
  visit v(*this);
  worker& w = v.self();
  if (w.role == role::guest) {
    start_if_paused();
    foreign_wait needed(*this);
    return waits_.for_all_outside(w);
  }
  const program_call call(ordering_);
  if (w.current != nullptr) return waits_.for_children(w);
  owner_section at_own_end(*this, w, owner_section::waits);
  start_if_paused();
  if (!waits_.for_all(w)) stall_.raise(true);
}

template <machine::machine M> void engine<M>::wait_handle(detail::handle_state& h) {
  const visit v(*this);
  const program_call call(ordering_);
  wait_for(h);
}

template <machine::machine M> void engine<M>::wait_version(detail::handle_state& h, std::uint64_t version) {
  const visit v(*this);
  const program_call call(ordering_);
  wait_for(h, &version);
}

// For the accesses registered so far, or for a version.
template <machine::machine M> void engine<M>::wait_for(detail::handle_state& h, const std::uint64_t* version) {
  visit v(*this);
  worker& w = v.self();
  await_creation();
  if (!waits_.concerns(w, h) && version == nullptr) return;
  if (w.role == role::guest) {
    start_if_paused();
    foreign_wait needed(*this);
    waits_.for_handle_outside(w, h, version);
  } else {
    owner_section at_own_end(*this, w, owner_section::waits);
    if (w.current == nullptr) start_if_paused();
    if (!waits_.for_handle(w, h, version)) stall_.raise(w.current == nullptr);
  }
  poison_.rethrow_for(h);
}

template <machine::machine M> void engine<M>::drain(detail::handle_state& h) noexcept {
  visit v(*this);
  try {
    wait_for(h);
  } catch (const error& e) {
    if (access::outstanding(h.word.raw, h.registered) != 0) {
      std::fprintf(stderr, "weft: handle %s is destroyed while tasks need it. %s\n", access::name_of(h).c_str(),
                   e.what());
      abandon_uses_of(pool_.all(), h);
    }
  } catch (...) {
    // A task that failed: the wait for its scope will say so.
  }
  if (M::load(h.poisoned, base::relaxed)) failures_.forget(h);
}

template <machine::machine M> void engine<M>::await_creation() noexcept {
  if (!creation_.on()) return;
  if (!M::foreign_threads && &detail::this_worker != owner_thread_) return;  // no stranger can have handed over anything
  visit v(*this);
  creation_.await(v.self());
}

template <machine::machine M> void engine<M>::start_if_paused() {
  if (attention_.paused()) pause(false);
}

template <machine::machine M> void engine<M>::pause(bool on) {
  visit v(*this);
  if (on) return attention_.pause();
  attention_.start();
  for (const auto& w : crew_) sleep_.notify(machine_, w->id);
}

// ---- the small questions

template <machine::machine M> run_counts engine<M>::statistics() const noexcept {
  run_counts c{};
  for (const auto& w : crew_) {
    c.tasks += detail::peek(w->tasks);
    c.steals += detail::peek(w->steals);
    c.sleeps += detail::peek(w->sleeps);
    c.suspends += detail::peek(w->suspends);
  }
  const machine::machine_counts m = machine_.counts();
  c.transfers = m.transfers;
  c.line_waits_ns = m.line_waits_ps / 1000;
  c.events = m.events;
  c.cached_bytes = m.cached_bytes;
  c.local_bytes = m.local_bytes;
  c.remote_bytes = m.remote_bytes;
  c.bandwidth_wait_ns = m.bandwidth_ps / 1000;
  return c;
}

template <machine::machine M> trace::facts engine<M>::about() const {
  trace::facts f;
  f.machine = machine_.name();
  f.policy = rules_name_;
  f.seed = setup_.seed;
  f.window = setup_.window_tasks;
  f.places = places_.get();
  f.bound = setup_.bound;
  return f;
}

template <machine::machine M> void engine<M>::write_trace() {
  visit v(*this);
  recording_.write(about(), start_ps_);
}

// Grows by doubling, so that tasks of growing needs do not allocate each time. Lives as long as the worker.
template <machine::machine M> void* engine<M>::workspace(std::size_t bytes) {
  worker& w = static_cast<worker&>(*current_worker());
  if (w.scratch_bytes < bytes) {
    w.scratch_bytes = std::max({bytes, 2 * w.scratch_bytes, std::size_t{4096}});
    w.scratch.reset(static_cast<std::byte*>(::operator new(w.scratch_bytes, std::align_val_t{64})));
  }
  return w.scratch.get();
}

// A modelled machine knows the memory of handles, which it is told of when it is new; the rest of a reduction it does
// not, and takes for part of that.
template <machine::machine M> void* engine<M>::exchange(detail::handle_state& h, detail::cell<void*>& c, void* value) {
  if constexpr (!M::modelled) return M::exchange(c, value, base::acq_rel);
  static_cast<void>(M::fetch_or(h.lock, std::uint8_t{0}, base::acq_rel));
  return std::exchange(c.raw, value);
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

template <machine::machine M> void engine<M>::charge(std::uint64_t ps) {
  if constexpr (M::modelled) {
    if (detail::record* r = current_worker()->current) r->cost_ps |= detail::record::charged_bit;
    const visit v(*this);
    const program_call call(ordering_);
    machine_.charge(ps);
    offer_turn(static_cast<worker&>(*current_worker()));
  } else {
    static_cast<void>(ps);
  }
}

// The program computes between its calls, outside of tasks.
template <machine::machine M> void engine<M>::charge_program(std::uint64_t ps) noexcept {
  if constexpr (M::modelled) {
    visit v(*this);
    machine_.charge(ps);
  } else {
    static_cast<void>(ps);
  }
}

// Where the order of tasks is chosen: the caller goes to where all that is ready waits for its turn, and comes back
// when it has it.
template <machine::machine M> void engine<M>::offer_turn(worker& w) {
  if (!ordering_.chooses() || ordering_.has_none() || attention_.paused()) return;
  waiter self;
  detail::record* body = w.current;
  suspension_.set_aside(w, self, [this, &self](worker& here) {
    self.r.pin = here.id;  // no real machine moves a body to another worker at such a call
    placement_.place(here, &self.r);
  });
  static_cast<worker&>(*current_worker()).current = body;
}

}  // namespace weft::sched
