// Part of engine.hpp. The engine's own beginning and end.
#pragma once

#include <algorithm>
#include <cstdio>

namespace weft::sched {

template <machine::machine M> template <class... MachineArgs>
engine<M>::engine(const engine_setup& setup, const MachineArgs&... machine_args)
    : setup_(setup), machine_(machine_args...), pool_(setup.window_tasks, setup.workers_wanted),
      owner_thread_(&detail::this_worker) {}

template <machine::machine M> void engine<M>::open(place::tree places, const policy_entry& rules) {
  places_ = std::make_unique<place::tree>(std::move(places));
  rules_ = rules.make(*places_);
  rules_name_ = rules.name.name;
  own_deque_only_ = rules_->always_own_deque() && !chooses();
  const unsigned n = places_->workers();
  constexpr unsigned reserves = M::foreign_threads ? 1 : 0;
  if (trace_ != nullptr) trace_->open(n + reserves);
  for (unsigned id = 0; id < n + reserves; ++id) {
    auto w = std::make_unique<worker>();
    w->engine = this;
    w->id = static_cast<std::uint16_t>(id);
    w->is_reserve = w->is_special = id == n;
    w->creates_for = this;
    if (w->is_reserve) w->tick_limit = 1;  // after each body it asks whether it is still wanted
    detail::poke(w->shown_id, w->is_reserve ? worker::no_id : w->id);
    w->hooked = M::modelled || !own_deque_only_ || trace_ != nullptr;
    if (trace_ != nullptr) w->trace = &trace_->of(id);
    w->rng = base::random(setup_.seed * 1024 + id);
    workers_.push_back(std::move(w));
    if constexpr (M::modelled) machine_.seat(id, workers_[id].get());
  }
  if constexpr (M::modelled) machine_.set_program_stack(program_);
  workers_[0]->running = &program_;
  sleep_.open(n, reserves != 0);
  if (setup_.decoupled) open_creation(setup_.creator);
  {
    visit v(*this);
    for (auto& w : workers_) deque::open(*w, n > 1, setup_.deque_slots);
    if (trace_ != nullptr) trace_->open_counters(*workers_[0]->trace);
    start_ps_ = machine_.now_ps();
  }
  // With several runtimes on one thread the first has the short way in; the others find their worker by visit.
  if (current_worker() == nullptr) set_current_worker(workers_[0].get());
}

// Who: the thread that made the engine. A task that failed unnoticed is reported; nothing can be thrown from here.
template <machine::machine M> engine<M>::~engine() {
  if (!workers_.empty() && !machine_.forked()) {
    visit v(*this);
    end(v);
    write_trace_or_say();
  }
  if (!workers_.empty() && current_worker() == workers_[0].get()) set_current_worker(nullptr);
  if (creator_ != nullptr) strike(machine_.forked());
}

template <machine::machine M> void engine<M>::end(const visit& v) noexcept {
  owner_section at_own_end(*this, v.self(), owner_section::waits);
  start_if_paused();
  const bool told_before = stall_told_;
  try {
    if (v.self() != nullptr) wait_quiescent(*v.self());
  } catch (const std::exception& e) {
    if (!told_before) std::fprintf(stderr, "weft: at the end of a runtime, unnoticed until now: %s\n", e.what());
  } catch (...) {
    std::fprintf(stderr, "weft: at the end of a runtime, unnoticed until now: a task threw something\n");
  }
  M::store(stopping_, 1u, base::seq_cst);
  for (const auto& w : workers_) sleep_.notify(machine_, w->id);
  M::signal(reserve_called_);
  machine_.join();
  if (!quiescent()) {
    abandon_requests();
    abandon_all();
  }
  while (detail::handle_state* h = open_reductions_.first()) {  // none is left but after a stall
    h->group_kind = 0;
    open_reductions_.remove(*h);
  }
  static_cast<void>(failures_.take(nullptr));  // heals the handles that outlive this
  for (auto& w : workers_) deque::close(*w);
}

template <machine::machine M> runtime::counts engine<M>::statistics() const noexcept {
  runtime::counts c{};
  for (const auto& w : workers_) {
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

template <machine::machine M> void engine<M>::pause(bool on) {
  visit v(*this);
  if (on) {
    static_cast<void>(M::fetch_or(attention_, paused_bit, base::seq_cst));
  } else {
    static_cast<void>(M::fetch_and(attention_, ~paused_bit, base::seq_cst));
    for (const auto& w : workers_) sleep_.notify(machine_, w->id);
  }
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

template <machine::machine M> void engine<M>::charge(std::uint64_t ps) {
  if constexpr (M::modelled) {
    if (detail::record* r = current_worker()->current) r->cost_ps |= detail::record::charged_bit;
    const visit v(*this);
    const program_call call(*this);
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
    // In place of a thief that pulls (deque.md).
    if (workers() > base::sweep_max && deque::expose(*v.self())) sleep_.notify(machine_);
    machine_.charge(ps);
  } else {
    static_cast<void>(ps);
  }
}

}  // namespace weft::sched
