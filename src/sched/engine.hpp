// The engine: one scheduler, written once, instantiated for each machine (src/runtime). It carries a task through the
// six steps of its life:
//
//   create   allocate() gives a record, enter() takes it filled in: counted, and its accesses get their versions, here
//            or on the worker that creates for all (registrar.hpp, creation.hpp)
//   ready    its last condition is met: whoever met it goes on with it (readiness.hpp)
//   place    one function says where it goes (placement.hpp)
//   size     each task has one worker so far
//   run      a worker's loop finds it (search.hpp) and calls the body
//   done     versions advance, what waited for them moves on, the record is free again
//
// Everything else is a noun in a file of its own, over the machine, with its own state: this class makes them, in the
// order of their floors, and is what they are called through. What the program calls is in engine_calls.hpp.
#pragma once
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "access/plain.hpp"
#include "access/registration.hpp"
#include "access/reservation.hpp"
#include "base/limits.hpp"
#include "machine/machine.hpp"
#include "place/tree.hpp"
#include "sched/any_engine.hpp"
#include "sched/attention.hpp"
#include "sched/creation.hpp"
#include "sched/crew.hpp"
#include "sched/deque.hpp"
#include "sched/events.hpp"
#include "sched/failures.hpp"
#include "sched/guests.hpp"
#include "sched/ordering.hpp"
#include "sched/placement.hpp"
#include "sched/poison.hpp"
#include "sched/policy.hpp"
#include "sched/queues.hpp"
#include "sched/quiescence.hpp"
#include "sched/recording.hpp"
#include "sched/registrar.hpp"
#include "sched/readiness.hpp"
#include "sched/search.hpp"
#include "sched/sleep.hpp"
#include "sched/stacks.hpp"
#include "sched/stall.hpp"
#include "sched/stealing.hpp"
#include "sched/suspension.hpp"
#include "sched/tempo.hpp"
#include "sched/timers.hpp"
#include "sched/waits.hpp"
#include "sched/watch.hpp"
#include "sched/worker.hpp"
#include "task/pool.hpp"

namespace weft::sched {

template <machine::machine M> class engine final : public any_engine, private window_terms, private timers<M>::settler {
 public:
  using worker = sched::worker<M>;
  using woken = access::woken;
  using deque = sched::deque<M>;

  // Two steps, because a machine's workers need the engine and the engine their number: the caller starts the machine
  // with &engine::worker_entry and this engine, then calls open() with the places of the workers there really are.
  template <class... MachineArgs> explicit engine(const engine_setup& setup, const MachineArgs&... machine_args);
  void open(place::tree places, const policy_entry& rules);
  // Before open(): everything is recorded; the program's steps are written down, and perhaps ordered (modelled machines).
  void record(std::unique_ptr<trace::session> s) noexcept { recording_.begin(std::move(s)); }
  void order(std::unique_ptr<task_order> o) noexcept { ordering_.begin(std::move(o)); }
  ~engine() override;

  [[nodiscard]] M& the_machine() noexcept { return machine_; }
  static void worker_entry(void* engine_address, unsigned id);

  detail::record* allocate(std::size_t bytes) override;
  void discard(detail::record* r) noexcept override;
  void enter(detail::record* r) override;
  void push_slow(detail::worker& w, detail::record* r) override;
  void await_pull(detail::worker& w) noexcept override { stealing<M>::await_pull(w); }
  void wait_all() override;
  void wait_handle(detail::handle_state& h) override;
  void drain(detail::handle_state& h) noexcept override;
  void wait_version(detail::handle_state& h, std::uint64_t version) override;
  void wait_event(event_state& s) override;
  void settle(const event_end& of) override;
  void settle_after(event_state& s, std::uint64_t ps) override;
  void fail_with_children(detail::record& r, const std::exception_ptr& why) override { poison_.fail_below(r, why); }
  [[nodiscard]] event_board& events() noexcept override { return events_; }
  void yield() override;
  void pause(bool on) override;
  void* exchange(detail::handle_state& h, detail::cell<void*>& c, void* value) override;
  [[nodiscard]] bool try_exclusive(detail::handle_state& h) override;
  void release_exclusive(detail::handle_state& h) override;
  [[nodiscard]] void* workspace(std::size_t bytes) override;

  [[nodiscard]] unsigned workers() const noexcept override { return crew_.workers(); }
  [[nodiscard]] const char* machine_name() const noexcept override { return machine_.name(); }
  [[nodiscard]] double now_ns() const noexcept override {
    return static_cast<double>(machine_.now_ps() - start_ps_) / 1e3;
  }
  [[nodiscard]] run_counts statistics() const noexcept override;
  void charge(std::uint64_t ps) override;
  void charge_program(std::uint64_t ps) noexcept override;
  [[nodiscard]] const char* trace_path() const noexcept override { return recording_.path(); }
  void write_trace() override;
  void await_creation() noexcept override;
  [[nodiscard]] bool all_created() noexcept override { return creation_.all_created(); }
  [[nodiscard]] int creator() const noexcept override { return creation_.creator(); }

 private:
  // always_inline below: parts of one step that are cut apart to be read and put together for speed.
  class visit;         // a call from the program: which worker the calling thread is
  class throttled_source;
  class quiescent_source;
  using program_call = typename ordering<M>::program_call;

  // create
  [[nodiscard]] worker* mine() noexcept;
  [[nodiscard, gnu::always_inline]] inline worker* at_home() noexcept;
  [[nodiscard, gnu::always_inline]] inline worker* creates_here() noexcept;
  [[nodiscard]] detail::record* allocate_on(worker& w, std::uint8_t size_class);
  [[gnu::always_inline]] inline void enter_plain(worker& w, detail::record* r);
  [[gnu::noinline]] void enter_slow(detail::record* r);
  void enter_visiting(worker& w, detail::record* r);
  void enter_on(worker& w, detail::record* r);
  [[gnu::noinline]] void enter_counted(worker& w, detail::record* r);
  [[gnu::always_inline]] inline void count(worker& w, detail::record& r);
  void check_pin(detail::record* r);

  // run
  static void loop_entry(void* engine_address) { static_cast<engine*>(engine_address)->loop(); }
  void loop();
  [[nodiscard, gnu::noinline]] bool passes_over(worker& w, detail::record* r);
  [[nodiscard, gnu::always_inline]] inline detail::record* run(worker& w, detail::record* r);
  [[gnu::noinline]] void run_timed(worker& w, detail::record* r);
  [[nodiscard, gnu::noinline]] detail::record* run_traced(worker& w, detail::record* r);
  [[gnu::always_inline]] inline trace::outcome call_body(worker& w, detail::record* r);
  void ran(worker& w, const detail::record& r, std::uint64_t body_ps);

  // done
  [[nodiscard, gnu::always_inline]] inline detail::record* follow(worker& w, detail::record* r);
  [[nodiscard, gnu::always_inline]] inline detail::record* done(worker& w, detail::record* r);
  [[gnu::noinline]] void wholly_done(worker& w, detail::record* r);
  [[gnu::always_inline]] inline void finish_accesses(detail::record* r, woken& list);
  [[gnu::always_inline]] inline void recycle(worker& w, detail::record* r) noexcept;

  void settle_on(worker& w, const event_end& of) override;
  void one_event_less(worker& w, detail::record& r, const std::exception_ptr& why);
  [[gnu::cold, gnu::noinline]] void abandon_event(worker& w, detail::record& r, std::exception_ptr why);
  [[nodiscard]] bool fulfilled(event_state& s);
  void count_yield();
  // the engine's own beginning and end, and its calls
  void list_sources();
  void end(const visit& v) noexcept;
  void wait_for(detail::handle_state& h, const std::uint64_t* version = nullptr);
  void start_if_paused();
  [[nodiscard]] trace::facts about() const;

#include "sched/engine_room_members.hpp"

  engine_setup setup_;
  M machine_;
  std::unique_ptr<place::tree> places_;
  std::unique_ptr<policy> rules_;
  const char* rules_name_ = nullptr;
  task::pool<M> pool_;
  crew<M> crew_;
  sleep<M> sleep_;
  attention<M> attention_;
  tempo<M> tempo_;
  failures<M> failures_;
  access::reservations<M> reservations_;
  guests<M> guests_{machine_, sleep_, pool_};
  quiescence<M> quiescence_{crew_, guests_};
  recording<M> recording_{machine_};
  poison<M> poison_{failures_};
  ordering<M> ordering_{machine_, sleep_};
  placement<M> placement_{machine_, sleep_, crew_, attention_, ordering_};
  readiness<M> readiness_{placement_, reservations_, ordering_, quiescence_};
  registrar<M> registrar_{this, pool_, recording_, ordering_, quiescence_, placement_, readiness_};
  stacks<M> stacks_;
  suspension<M> suspension_{machine_, stacks_, recording_, readiness_, quiescence_};
  stealing<M> stealing_{machine_, crew_, placement_, tempo_, recording_};
  urgent_source<M> urgent_{placement_, attention_};
  own_source<M> own_{placement_};
  box_source<M> box_;
  node_source<M> nodes_{placement_};
  central_source<M> central_{placement_};
  creation<M> creation_{this,
                        {machine_, sleep_, crew_, attention_, recording_, registrar_, readiness_, placement_, poison_,
                         stealing_, own_}};
  stall<M> stall_{
      {machine_, sleep_, crew_, guests_, attention_, quiescence_, placement_, suspension_, pool_, events_, *this}};
  waits<M> waits_{this,
                  {guests_, recording_, registrar_, placement_, quiescence_, poison_, suspension_, stall_, events_}};
  search<M> search_{{machine_, sleep_, attention_, ordering_, placement_, stealing_, creation_, recording_, stall_, *this}};
  std::unique_ptr<throttled_source> throttled_source_;
  std::unique_ptr<quiescent_source> quiescent_source_;
  const void* owner_thread_;  // identity of the thread that made the runtime
  std::uint64_t start_ps_ = 0;
  event_board events_;
  timers<M> timers_{machine_, events_, *this};
  std::uint64_t yields_ = 0;     // in a row, on a modelled machine
  std::uint64_t yields_at_ = 0;  // what had happened by then
  watch<M> watch_{
      {machine_, sleep_, crew_, guests_, attention_, quiescence_, placement_, suspension_, pool_, events_, *this}};
};

// ---- create

template <machine::machine M> detail::record* engine<M>::allocate(std::size_t bytes) {
  const std::uint8_t c = detail::record_class(bytes);
  if (worker* w = at_home(); w != nullptr && c != detail::record_classes) return allocate_on(*w, c);
  visit v(*this);
  worker& w = v.self();
  const bool is_guest = w.role == role::guest;
  if (is_guest) guests_.begin_call();  // until discard() or the end of enter()
  try {
    return c == detail::record_classes ? pool_.allocate_large(bytes) : allocate_on(w, c);
  } catch (...) {
    if (is_guest) guests_.end_call();
    throw;
  }
}

template <machine::machine M> detail::record* engine<M>::allocate_on(worker& w, std::uint8_t size_class) {
  if (detail::record* r = pool_.allocate(w, size_class, false)) return r;
  return throttle(w, size_class);
}

template <machine::machine M> void engine<M>::discard(detail::record* r) noexcept {
  transition(*r, detail::record_state::filling);
  visit v(*this);
  recycle(v.self(), r);
  if (v.self().role == role::guest) guests_.end_call();
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
  count(w, *r);
  const access::short_outcome done = registrar_.plain(w, r);
  if (done == access::short_outcome::waits) return;
  const bool was_away = w.current == nullptr;
  if (done == access::short_outcome::long_way) [[unlikely]] {
    transition(*r, detail::record_state::filling);
    r->plain = false;
    return enter_counted(w, r);
  }
  if (was_away) detail::come_in(w);
  placement_.place(w, r);
  if (was_away) detail::go_out(w);
}

template <machine::machine M> void engine<M>::count(worker& w, detail::record& r) {
  quiescence_.created(w, r);
  ordering_.submitted(r);
}

template <machine::machine M> void engine<M>::enter_slow(detail::record* r) {
  transition(*r, detail::record_state::filling);
  check_pin(r);
  if (worker* w = at_home(); w != nullptr && !creation_.on()) return enter_on(*w, r);
  visit v(*this);
  enter_visiting(v.self(), r);
}

template <machine::machine M> void engine<M>::enter_visiting(worker& w, detail::record* r) {
  struct call_end {  // of a guest's call, which allocate() began
    guests<M>* g;
    ~call_end() {
      if (g != nullptr) g->end_call();
    }
  } until_return{w.role == role::guest ? &guests_ : nullptr};
  if (creation_.on()) {
    count(w, *r);
    return creation_.request(w, r);
  }
  if (w.role == role::guest) return enter_on(w, r);
  const program_call call(ordering_);
  offer_turn(w);
  ordering_.step(current_worker()->current);  // the submission itself
  enter_on(static_cast<worker&>(*current_worker()), r);
  offer_turn(static_cast<worker&>(*current_worker()));
}

// A task is submitted outside of tasks by the main thread alone, which is away from its deque between its calls.
template <machine::machine M> void engine<M>::enter_on(worker& w, detail::record* r) {
  pay_creation<M>(*r, true);
  count(w, *r);
  enter_counted(w, r);
}

template <machine::machine M> void engine<M>::enter_counted(worker& w, detail::record* r) {
  woken list;
  try {
    if (registrar_.any(w, r, list, false)) {
      const at_own_end<M> here(w);
      placement_.place(w, r);
    }
  } catch (...) {
    r->invoke(*r, false);
    quiescence_.withdraw(w, *r);
    recycle(w, r);
    throw;
  }
  if (list.head == nullptr) return;
  const at_own_end<M> here(w);
  readiness_.all(w, list);
}

// ---- run

// Runs on a stack of its own, not always on the same worker: run() may come back on another one.
template <machine::machine M> void engine<M>::loop() {
  for (;;) {
    worker& w = static_cast<worker&>(*current_worker());
    if (w.role == role::reserve) [[unlikely]]
      detail::poke(w.shown_id, worker::no_id);
    detail::record* r = search_.next_or_sleep(w);
    if (attention_.called() && r != nullptr && passes_over(w, r)) [[unlikely]]
      continue;
    if (w.role == role::reserve && !take_turn(w, r)) [[unlikely]]
      continue;
    if (r == nullptr) {  // stopping
      fiber* mine = w.running;
      w.running = w.home;
      machine_.jump(w.id, *mine, *w.home, nullptr);
    }
    while (r != nullptr) r = run(static_cast<worker&>(*current_worker()), r);
  }
}

// A worker may have looked whether there is a pause long before it took r. Whoever took what was submitted after
// pause() has seen that, too, so looking once more is enough. Returns whether r is left for later. Who: w, which has
// taken r.
template <machine::machine M> bool engine<M>::passes_over(worker& w, detail::record* r) {
  if (r->kind != detail::record_kind::task || !attention_.paused() || ordering_.chooses()) return false;
  placement_.place(w, r);
  w.own_deferred = true;
  return true;
}

// Runs r and returns a task to run next, or nullptr. May return on another worker than it was called on.
template <machine::machine M> detail::record* engine<M>::run(worker& w, detail::record* r) {
  if (r->kind == detail::record_kind::resume) {
    suspension_.resume(w, waiter::of(r));
    return nullptr;
  }
  M::work(model::step::run);
  M::touch(r, bytes_in_use(*r), false);  // before the clock: where a record comes from does not make its body long
  if (w.pace.watched) [[unlikely]] {
    if (w.trace != nullptr) return run_traced(w, r);
    run_timed(w, r);
  } else {
    static_cast<void>(call_body(w, r));
  }
  return follow(static_cast<worker&>(*current_worker()), r);
}

template <machine::machine M> void engine<M>::run_timed(worker& w, detail::record* r) {
  const std::uint64_t start = machine_.now_ps();
  static_cast<void>(call_body(w, r));
  ran(static_cast<worker&>(*current_worker()), *r, machine_.now_ps() - start);
}

template <machine::machine M> void engine<M>::ran(worker& w, const detail::record& r, std::uint64_t body_ps) {
  if (r.has_waited) return;
  tempo_.ran(w.pace, body_ps);
  rules_->ran(w.id, r, body_ps);
}

template <machine::machine M> detail::record* engine<M>::run_traced(worker& w, detail::record* r) {
  const bool timed = w.pace.timed;
  const bool follows = recording_.starts(w, *r);
  const std::uint64_t start = follows ? w.body_end_ps : machine_.now_ps();
  const std::uint16_t first = w.id;
  const trace::outcome outcome = call_body(w, r);
  worker& here = static_cast<worker&>(*current_worker());
  const std::uint64_t end = machine_.now_ps();
  recording_.ran(here, *r, {start, end, first, follows, outcome});
  if (timed) ran(here, *r, end - start);
  return follow(here, r);
}

template <machine::machine M> trace::outcome engine<M>::call_body(worker& w, detail::record* r) {
  transition(*r, detail::record_state::running);
  r->next = nullptr;  // from here on: who waits for the children
  r->cursor = 0;      // from here on: the number of children so far
  w.current = r;
  count_one(w.tasks);
  detail::poke(w.body_name, r->name);
  machine_.begin_body(*r);
  trace::outcome outcome = trace::outcome::done;
  ordering_.step(r);
  try {
    if (!poison_.concerns(*r)) [[likely]]
      r->invoke(*r, true);
    else if (poison_.skip(*r))
      outcome = trace::outcome::skipped;
    if (outcome == trace::outcome::skipped) [[unlikely]]
      abandon_event(w, *r, nullptr);
  } catch (...) {
    poison_.fail(*r, std::current_exception());
    outcome = trace::outcome::failed;
    abandon_event(static_cast<worker&>(*current_worker()), *r, std::current_exception());
  }
  if constexpr (M::modelled)
    if (outcome != trace::outcome::skipped) machine_.end_body(*r);
  ordering_.ended(*r);
  return outcome;
}

// ---- done

// The body of r has returned on w. Returns what runs next.
template <machine::machine M> detail::record* engine<M>::follow(worker& w, detail::record* r) {
  detail::record* follower = done(w, r);
  if (follower == nullptr) return nullptr;
  if (++w.tick < w.tick_limit && !attention_.called()) return follower;
  placement_.push_own(w, follower);
  return nullptr;
}

// The body of r has returned: versions advance, and what waited for them moves on (SuperGlue §3.1, Listing 5).
template <machine::machine M> detail::record* engine<M>::done(worker& w, detail::record* r) {
  w.current = nullptr;
  woken list;
  if (r->has_children) [[unlikely]] {
    transition(*r, detail::record_state::draining);
    if (!r->subtasks)
      finish_accesses(r, list);
    else if (r->exclusives != 0)
      readiness_.wait_begins(list);
    const std::uint32_t own = 1 | (detail::peek(r->pending) & detail::record::body_bit);
    if (M::fetch_sub(r->pending, own, base::acq_rel) == own) wholly_done(w, r);
  } else {
    if (r->access_count != 0) finish_accesses(r, list);
    if (r->parent == nullptr && !failures_.any()) [[likely]] {
      recycle(w, r);
      quiescence_.finished(w);
    } else {
      wholly_done(w, r);
    }
  }
  return readiness_.all_but_one(w, list);
}

// r and its children are done: the record is free, and its parent has one child less. Walks up as far as that was the
// last; a parent that waits for its children is resumed instead.
template <machine::machine M> void engine<M>::wholly_done(worker& w, detail::record* r) {
  for (;;) {
    detail::record* parent = r->parent;
    if (failures_.any()) [[unlikely]]
      poison_.hand_up(*r);
    if (r->subtasks && r->has_children) {
      woken list;
      finish_accesses(r, list);
      if (r->exclusives != 0) readiness_.wait_ends();
      readiness_.all(w, list);
    }
    recycle(w, r);
    if (parent == nullptr) return quiescence_.finished(w);
    // Of a task with an event that is outstanding: whether its body waits for its children.
    const std::uint32_t before = M::fetch_sub(parent->pending, 1u, base::acq_rel);
    if (before != 1 && (before & ~detail::record::event_bit) != (detail::record::body_bit | 1)) return;
    if (parent->next != nullptr) return placement_.place(w, parent->next);
    r = parent;
  }
}

template <machine::machine M> void engine<M>::finish_accesses(detail::record* r, woken& list) {
  if (r->plain) return access::finish_plain<M>(*r, list);
  for (std::uint32_t i = 0; i < r->access_count; ++i)
    if (!access::is_repeated(r->accesses()[i])) access::finish<M>(r->accesses()[i], list);
}

template <machine::machine M> void engine<M>::recycle(worker& w, detail::record* r) noexcept {
  if (r->size_class == detail::record_classes) return pool_.free_large(r);
  if (!pool_.recycle(w, r)) return;
  // A batch has become free. Somebody may be waiting for room on a worker that sleeps.
  if (M::load(throttled_, base::seq_cst) != 0) room_made(false);
}

}  // namespace weft::sched

#include "sched/engine_calls.hpp"
#include "sched/engine_events.hpp"
#include "sched/engine_room.hpp"
