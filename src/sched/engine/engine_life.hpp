// The engine's beginning and end: the crew is made, each worker gets its list of sources, and what is left when nothing
// can run any more is put at rest.
#pragma once
#include <cstdio>

#include "sched/fail/stall_report.hpp"

namespace weft::sched {

// Those who wait for everything to be done: whoever finds nothing else to do lets them go.
template <machine::machine M> class engine<M>::quiescent_source final : public source<M> {
 public:
  explicit quiescent_source(engine& e)
      : source<M>("waits that are over", {.shared = true, .serves_one = true}), engine_(e) {}
  [[nodiscard]] detail::record* take(worker& w) override {
    // To ask whether all is done takes a look at as many lines as there are workers; so first a hint, but for who is
    // about to sleep.
    if (!engine_.quiescence_.is_awaited() || (!w.looks_at_all && engine_.sleep_.somebody_is_busy())) return nullptr;
    if (!engine_.quiescence_.is_up_to_caller() || !engine_.quiescence_.reached()) return nullptr;
    if (!engine_.quiescence_.is_up_to_caller()) return nullptr;
    engine_.readiness_.quiescent(w);
    return engine_.ordering_.chooses() ? engine_.ordering_.take(w) : w.box.pop();
  }
  [[nodiscard]] bool visible(worker&) noexcept override { return engine_.quiescence_.is_over_at_last(); }

 private:
  engine& engine_;
};

template <machine::machine M> template <class... MachineArgs>
engine<M>::engine(const engine_setup& setup, const MachineArgs&... machine_args)
    : setup_(setup), machine_(machine_args...), pool_(setup.workers_wanted),
      stacks_(setup.stack_bytes, &loop_entry, this), admission_({machine_, sleep_, crew_, pool_, attention_, recording_,
                                                                 placement_, readiness_, suspension_, stealing_},
                                                                setup.window_tasks),
      search_(
          {machine_, sleep_, attention_, ordering_, placement_, stealing_, creation_, recording_, stall_, admission_},
          setup.search_ns, setup_.rules),
      quiescent_source_(std::make_unique<quiescent_source>(*this)), owner_thread_{&detail::this_worker} {}

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
  places_ = std::make_unique<place::tree>(std::move(places));
  policy_ = asked.make(asked, *places_);
  policy_name_ = asked.name.name;
  crew_.open(places_->workers(), M::reserves() != 0);
  stealing_.open(*policy_);
  locality_.open(*places_);
  sources_.open(*places_, *policy_);
  teams_.who().open(*places_);
  placement_.open(*policy_, *places_);
  suspension_.open(crew_.main());
  child_first_ = policy_->child_first();
  constexpr bool alone = M::sees_calls();  // such a machine plays all workers on one thread
  const bool hooked = alone || !placement_.own_only() || recording_.on() || child_first_;
  constexpr std::uint8_t always = detail::hooked_always | (alone ? detail::hooked_alone : 0);
  const std::uint8_t why_hooked = hooked ? always : std::uint8_t{0};
  for (const auto& w : crew_) {
    w->engine = this;
    w->creates_for = child_first_ ? nullptr : this;  // closed: the short ways of a submission
    detail::poke(w->hooked, why_hooked);
    detail::poke(w->moves, std::uint64_t{w->id} << detail::worker::moves_bits);
    w->attention = &attention_.word();
    w->rng = base::random(setup_.seed * 1024 + w->id);
    machine_.seat(w->id, w.get());
  }
  machine_.set_program_stack(suspension_.program());
  sleep_.open(workers(), crew_.has_reserve());
  watch_.open(setup_.stuck_ns);
  if (setup_.decoupled && creation_.open(setup_.creator)) {
    enlist();
    is_enlisted_ = true;
  }
  if (creation_.has_creator_apart()) teams_.who().leave_out(static_cast<unsigned>(creation_.creator()));
  admission_.open(creation_.has_creator_apart(), placement_.stays());
  list_sources();
  {
    visit v(*this);
    const deque_size size{setup_.deque_slots, setup_.deque_slots_max};
    for (const auto& w : crew_) {
      deque::open(*w, workers() > 1, size, &placement_.overflow());
      stacks_.put_aside(*w);
    }
    const std::uint64_t look_ps = clock_cost_ps(machine_);
    recording_.open(crew_, places_.get(), look_ps);
    tempo_.open(look_ps);
    start_ps_ = machine_.now_ps();
    recording_.begins(about(), start_ps_);
  }
  // With several runtimes on one thread the first has the short way in; the others find their worker by visit.
  if (current_worker() == nullptr) set_current_worker(&crew_.main());
  is_open_ = true;
}

template <machine::machine M> void engine<M>::list_sources() {
  for (const auto& w : crew_) {
    static constexpr bool always = true;  // who is there for others calls no children inline
    if (w->is_special()) w->is_watched = &always;
    sources_.list(*w, {M::has_alarms() ? &timers_ : nullptr, ordering_.chooses() ? &ordering_ : nullptr, creation_,
                       admission_, *quiescent_source_});
  }
  stall_.open();
}

template <machine::machine M> void engine<M>::worker_entry(void* engine_address, unsigned id) {
  engine& e = *static_cast<engine*>(engine_address);
  worker& w = e.crew_[id];
  fiber thread_stack;
  w.thread = &detail::this_worker;
  set_current_worker(&w);
  e.recording_.open_counters(w);
  w.home = &e.machine_.stack(id, thread_stack);
  fiber& loop = e.stacks_.take(w);
  w.moves_to(loop);
  e.machine_.jump(w.id, *w.home, loop, nullptr);  // comes back when the runtime stops
  set_current_worker(nullptr);
}

// A body that ends the program by std::exit() ends runtimes of static storage, too: its own would wait for it.
template <machine::machine M> bool engine<M>::can_end() noexcept {
  if (!crew_.is_open() || machine_.forked()) return true;
  const auto is_inside = [](const worker& w) { return w.current != nullptr || !w.on_program_stack(); };
  bool inside = is_inside(crew_.main());
  for (const auto& w : crew_) inside = inside || (w.get() == current_worker() && w->current != nullptr);
  if (inside) attention_.pause();
  return !inside;
}

// A task that failed unnoticed is reported; nothing can be thrown from here. Who: as a rule the thread that made the
// engine. If it is another one, as at the end of a program whose runtime was made on first use, that takes its place:
// the one that made it is not inside, and may be gone.
template <machine::machine M> engine<M>::~engine() {
  if (!is_open_) {
    never_began();
    return;
  }
  const bool by_owner = detail::peek(owner_thread_) == &detail::this_worker;
  if (!machine_.forked()) {
    if (!by_owner) detail::poke<const void*>(owner_thread_, &detail::this_worker);  // strangers may still read it
    visit v(*this);
    end(v);
    recording_.write_or_say(about(), start_ps_);
  }
  if (!by_owner) crew_.main_stays();
  if (current_worker() == &crew_.main()) set_current_worker(nullptr);
  if (is_enlisted_) strike(machine_.forked());
}

// Something threw before open() was over: no worker has begun, and nobody knows of this runtime.
template <machine::machine M> void engine<M>::never_began() noexcept {
  machine_.dismiss();
  for (const auto& w : crew_) deque::close(*w);
  if (is_enlisted_) strike(false);
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
  if (!guests_.ever_any()) return true;
  const std::uint64_t since = machine_.now_ps();
  bool told = false;
  for (unsigned spins = 0; !guests_.all_left();) {
    if (can_run && !quiescence_.reached()) return false;
    stall_.end_outside();
    M::relax(++spins);
    if (told || machine_.now_ps() - since < base::standstill_ns * 1000) continue;
    told = true;
    std::fprintf(stderr, "weft: a runtime is to end while another thread is in a call of it; it waits for that call\n");
  }
  return !can_run || quiescence_.reached();
}

template <machine::machine M> void engine<M>::end(const visit& v) noexcept {
  watch_.call();
  const main_wait here(admission_, v.self());
  start_if_paused();
  bool can_run = true;
  do {
    say_unnoticed([&] { can_run = waits_.for_all(v.self()); });
  } while (!strangers_leave(can_run));
  if (!can_run) say_unnoticed([&] { poison_.rethrow_below(nullptr); });
  if (!can_run && !stall_.told()) say_unnoticed([&] { stall_.report(true); });
  say_unnoticed([&] { machine_.require_whole(); });
  // Who fulfils an event need not know of this runtime, and may still be on the way out.
  for (unsigned spins = 0; events_.calls_under_way();) M::relax(++spins);
  watch_.stop();
  search_.stop();
  for (const auto& w : crew_) sleep_.notify(machine_, w->id);
  admission_.the_reserve().release();
  machine_.join();
  if (!quiescence_.reached()) {
    creation_.abandon();
    abandon_all(pool_.all());
  }
  events_.abandon_all();
  timers_.close();
  registrar_.forget_all();                     // none is left but after a stall
  static_cast<void>(failures_.take(nullptr));  // heals the handles that outlive this
  for (const auto& w : crew_) deque::close(*w);
}

}  // namespace weft::sched
