// The engine's beginning and end: the crew is made, each worker gets its list of sources, and what is left when nothing
// can run any more is put at rest.
#pragma once
#include <cstdio>

#include "sched/fail/stall_report.hpp"

namespace weft::sched {

template <machine::machine M> template <class... MachineArgs>
engine<M>::engine(const engine_setup& setup, const MachineArgs&... machine_args)
    : setup_(setup), machine_(machine_args...), context_(machine_, setup.workers_wanted, setup_.rules),
      place_(context_), sources_(context_, place_),
      admit_(this, context_, place_, setup.stack_bytes, &loop_entry, this, setup.window_tasks),
      join_(this, *this, *this, context_, admit_), teams_(context_, admit_, join_),
      search_(context_, place_.stealing, admit_.creation, admit_.admission, join_.stall, setup.search_ns),
      owner_thread_{&detail::this_worker} {}

// What two looks at the clock take: the least of some, since a busy machine only adds. 0 where time is modelled.
template <machine::machine M> std::uint64_t clock_cost_ps(const M& machine) noexcept {
  std::uint64_t least = ~std::uint64_t{0};
  for (int looks = 0; looks < 32; ++looks) {
    const std::uint64_t before = machine.now_ps();
    least = std::min(least, machine.now_ps() - before);
  }
  return least;
}

template <machine::machine M> void engine<M>::open(place::tree places, const policy_entry& asked) {
  opened_.places = std::make_unique<place::tree>(std::move(places));
  opened_.policy = asked.make(asked, *opened_.places);
  opened_.policy_name = asked.name.name;
  context_.crew.open(opened_.places->workers(), M::reserves() != 0);
  place_.stealing.open(*opened_.policy);
  place_.locality.open(*opened_.places);
  sources_.open(*opened_.places, *opened_.policy);
  teams_.teams.who().open(*opened_.places);
  context_.placement.open(*opened_.policy, *opened_.places);
  if (opened_.policy->wakes_by_chance()) context_.sleep.wake_by_chance();
  admit_.suspension.open(context_.crew.main());
  opened_.child_first = opened_.policy->child_first();
  constexpr bool alone = M::sees_calls();  // such a machine plays all workers on one thread
  const bool hooked = alone || !context_.placement.own_only() || context_.recording.on() || opened_.child_first;
  constexpr std::uint8_t always = detail::hooked_always | (alone ? detail::hooked_alone : 0);
  const std::uint8_t why_hooked = hooked ? always : std::uint8_t{0};
  for (const auto& w : context_.crew) {
    w->engine = this;
    w->creates_for = opened_.child_first ? nullptr : this;  // closed: the short ways of a submission
    detail::poke(w->hooked, why_hooked);
    detail::poke(w->moves, std::uint64_t{w->id} << detail::worker::moves_bits);
    w->attention = &context_.attention.word();
    w->rng = base::random(setup_.seed * 1024 + w->id);
    machine_.seat(w->id, w.get());
  }
  machine_.set_program_stack(admit_.suspension.program());
  context_.sleep.open(workers(), context_.crew.has_reserve());
  join_.watch.open(setup_.stuck_ns);
  if (setup_.decoupled && admit_.creation.open(setup_.creator)) {
    enlist();
    opened_.is_enlisted = true;
  }
  if (admit_.creation.has_creator_apart())
    teams_.teams.who().leave_out(static_cast<unsigned>(admit_.creation.creator()));
  admit_.admission.open(admit_.creation.has_creator_apart(), context_.placement.stays());
  list_sources();
  {
    visit v(*this);
    const deque_size size{setup_.deque_slots, setup_.deque_slots_max};
    for (const auto& w : context_.crew) {
      deque::open(*w, workers() > 1, size, &context_.placement.overflow());
      admit_.stacks.put_aside(*w);
    }
    const std::uint64_t look_ps = clock_cost_ps(machine_);
    context_.recording.open(context_.crew, opened_.places.get(), look_ps);
    context_.tempo.open(look_ps);
    opened_.start_ps = machine_.now_ps();
    context_.worker_time.open(context_.crew, setup_.top);
    context_.recording.begins(about(), opened_.start_ps);
  }
  // With several runtimes on one thread the first has the short way in; the others find their worker by visit.
  if (current_worker() == nullptr) set_current_worker(&context_.crew.main());
  opened_.is_whole = true;
}

template <machine::machine M> void engine<M>::list_sources() {
  source<M>* const timed = M::has_alarms() ? static_cast<source<M>*>(&join_.timers) : nullptr;
  for (const auto& w : context_.crew) {
    static constexpr bool always = true;  // who is there for others calls no children inline
    if (w->is_special()) w->is_watched = &always;
    sources_.list(*w, {timed, context_.ordering.chooses() ? &context_.ordering : nullptr, admit_.creation,
                       admit_.admission, &join_.polls});
  }
  join_.stall.open();
}

template <machine::machine M> void engine<M>::worker_entry(void* engine_address, unsigned id) {
  engine& e = *static_cast<engine*>(engine_address);
  worker& w = e.context_.crew[id];
  fiber thread_stack;
  w.thread = &detail::this_worker;
  set_current_worker(&w);
  e.context_.recording.open_counters(w);
  e.context_.worker_time.turns(w, spends::busy);
  w.begins_on(e.machine_.stack(id, thread_stack));
  fiber& loop = e.admit_.stacks.take(w);
  w.moves_to(loop);
  e.machine_.jump(w.id, *w.stacks.home, loop, nullptr);  // comes back when the runtime stops
  set_current_worker(nullptr);
}

// A body that ends the program by std::exit() ends runtimes of static storage, too: its own would wait for it.
template <machine::machine M> bool engine<M>::can_end() noexcept {
  if (!context_.crew.is_open() || machine_.forked()) return true;
  const auto is_inside = [](const worker& w) { return w.current != nullptr || !w.on_program_stack(); };
  bool inside = is_inside(context_.crew.main());
  for (const auto& w : context_.crew) inside = inside || (w.get() == current_worker() && w->current != nullptr);
  if (inside) context_.attention.pause();
  return !inside;
}

// A task that failed unnoticed is reported; nothing can be thrown from here. Who: as a rule the thread that made the
// engine. If it is another one, as at the end of a program whose runtime was made on first use, that takes its place:
// the one that made it is not inside, and may be gone.
template <machine::machine M> engine<M>::~engine() {
  if (!opened_.is_whole) {
    never_began();
    return;
  }
  const bool by_owner = detail::peek(owner_thread_) == &detail::this_worker;
  if (!machine_.forked()) {
    if (!by_owner) detail::poke<const void*>(owner_thread_, &detail::this_worker);  // strangers may still read it
    visit v(*this);
    end(v);
    context_.recording.write_or_say(about(), opened_.start_ps);
  }
  onlooker.reset();  // in a child
  if (!by_owner) context_.crew.main_stays();
  if (current_worker() == &context_.crew.main()) set_current_worker(nullptr);
  if (opened_.is_enlisted) strike(machine_.forked());
}

// Something threw before open() was over: no worker has begun, and nobody knows of this runtime.
template <machine::machine M> void engine<M>::never_began() noexcept {
  machine_.dismiss();
  for (const auto& w : context_.crew) deque::close(*w);
  if (opened_.is_enlisted) strike(false);
}

template <class Wait> void say_unnoticed(Wait wait) noexcept {
  try {
    wait();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft: at the end of a runtime, unnoticed until now: %s\n", e.what());
  } catch (...) {
    std::fprintf(stderr, "weft: at the end of a runtime, unnoticed until now: a task threw something\n");
  }
}

// Calls of other threads that are not quite over. What one brought about may have let the program end the runtime: who
// submits may still be behind its task. And who waits is told that nothing will bring it any more. Returns when the
// last has left; false: when there is something to run again, which a call may be waiting for.
template <machine::machine M> bool engine<M>::strangers_leave(bool can_run) noexcept {
  if (!context_.guests.ever_any()) return true;
  const std::uint64_t since = machine_.now_ps();
  bool told = false;
  for (unsigned spins = 0; !context_.guests.all_left();) {
    if (can_run && !context_.quiescence.reached()) return false;
    join_.stall.end_outside();
    M::relax(++spins);
    if (told || machine_.now_ps() - since < base::standstill_ns * 1000) continue;
    told = true;
    std::fprintf(stderr, "weft: a runtime is to end while another thread is in a call of it; it waits for that call\n");
  }
  return !can_run || context_.quiescence.reached();
}

template <machine::machine M> void engine<M>::end(const visit& v) noexcept {
  join_.watch.call();
  const main_wait here(admit_.admission, v.self());
  start_if_paused();
  bool can_run = true;
  do {
    say_unnoticed([&] { can_run = join_.waits.for_all(v.self()); });
  } while (!strangers_leave(can_run));
  if (!can_run) say_unnoticed([&] { context_.poison.rethrow_below(nullptr); });
  if (!can_run && !join_.stall.told()) say_unnoticed([&] { join_.stall.report(true); });
  say_unnoticed([&] { machine_.require_whole(); });
  // Who fulfils an event need not know of this runtime, and may still be on the way out.
  for (unsigned spins = 0; join_.events.calls_under_way();) M::relax(++spins);
  join_.watch.stop();
  onlooker.reset();
  search_.stop();
  for (const auto& w : context_.crew) context_.sleep.notify(machine_, w->id);
  admit_.admission.the_reserve().release();
  machine_.join();
  if (!context_.quiescence.reached()) {
    admit_.creation.abandon();
    abandon_all(context_.pool.all());
  }
  join_.events.abandon_all();
  join_.timers.close();
  admit_.registrar.forget_all();                       // none is left but after a stall
  static_cast<void>(context_.failures.take(nullptr));  // heals the handles that outlive this
  for (const auto& w : context_.crew) deque::close(*w);
}

}  // namespace weft::sched
