// The engine: one scheduler, written once, instantiated for each machine (src/runtime). It carries a task through the
// steps of its life; the files of this class follow them:
//
//   engine_submit.hpp   created -> ready: records, registration, where a ready task goes
//   engine_create.hpp   creation by another worker than the submitter's
//   engine_run.hpp      placed -> run -> done: the worker loop, stealing, completion
//   engine_wait.hpp     waits: setting a stack aside and entering it again, quiescence
//   engine_room.hpp     submitters at a full window, and the reserve worker
//   engine_stall.hpp    a program that cannot go on, and what is left of it
//   engine_life.hpp     the engine's own beginning and end
//   engine_trace.hpp    what of all this goes into a trace
//   engine_order.hpp    an order of tasks that is not the scheduler's own, on modelled machines
//
// A worker runs its loop on a fiber. A body is called on the loop's stack, so a task that never waits never switches.
// When a body waits, the whole stack is set aside, a fresh loop goes on in its place, and when the wait is over the
// loop that finds the waiter leaves its own stack idle and enters the waiter's. Nothing ever runs on top of a waiting
// body.
#pragma once
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "access/plain.hpp"
#include "access/registration.hpp"
#include "access/reservation.hpp"
#include "base/limits.hpp"
#include "machine/machine.hpp"
#include "place/tree.hpp"
#include "sched/decoupled.hpp"
#include "sched/deque.hpp"
#include "sched/failures.hpp"
#include "sched/order.hpp"
#include "sched/policy.hpp"
#include "sched/sleep.hpp"
#include "sched/worker.hpp"
#include "task/pool.hpp"
#include "trace/session.hpp"
#include "weft/runtime.hpp"

namespace weft::sched {

struct engine_setup {
  unsigned workers_wanted;
  std::uint64_t seed;
  std::size_t window_tasks;
  std::size_t stack_bytes;
  bool submitters_help;
  bool bound = false;      // worker threads are bound to the cores of their places
  bool decoupled = false;  // one worker creates the tasks that all submit
  unsigned creator = 0;    // its number; 0: the last
  std::uint32_t deque_slots = base::deque_capacity_first;
};

// This thread's worker, read anew: a call that may wait can return on another thread.
[[nodiscard]] inline detail::worker* current_worker() noexcept { return detail::self(); }
void set_current_worker(detail::worker* w) noexcept;

// What the submitter fills in and the worker reads, but for captures beyond the first words. Never what lies behind r,
// which may be another record or, by where the memory came from, anything.
[[nodiscard]] inline std::size_t bytes_in_use(const detail::record& r) noexcept {
  const std::size_t bytes = sizeof r + r.access_count * sizeof(access::entry) + 32;
  return r.size_class < detail::record_classes ? std::min(bytes, detail::record_bytes[r.size_class]) : bytes;
}

// What creating r takes, by whoever does it: its submitter fills it in, a creator only reads it.
template <class M> void pay_creation(const detail::record& r, bool filled_in_here) {
  M::work(model::step::submit);
  M::touch(&r, bytes_in_use(r), filled_in_here);
}

// What the runtime object needs from an engine, whatever its machine.
struct any_engine : detail::engine_base, decoupled {
  ~any_engine() override = default;
  [[nodiscard]] virtual unsigned workers() const noexcept = 0;
  [[nodiscard]] virtual const char* machine_name() const noexcept = 0;
  [[nodiscard]] virtual double now_ns() const noexcept = 0;
  [[nodiscard]] virtual runtime::counts statistics() const noexcept = 0;
  virtual void charge(std::uint64_t ps) = 0;
  // -1: tasks are created by those who submit them.
  [[nodiscard]] virtual int creator() const noexcept = 0;
  virtual void charge_program(std::uint64_t ps) noexcept = 0;
  [[nodiscard]] virtual void* workspace(std::size_t bytes) = 0;
  // nullptr if nothing is recorded.
  [[nodiscard]] virtual const char* trace_path() const noexcept = 0;
  virtual void write_trace() = 0;
};

template <machine::machine M> class engine final : public any_engine {
 public:
  using worker = sched::worker<M>;
  using woken = access::woken;
  using deque = sched::deque<M>;

  // Two steps, because a machine's workers need the engine and the engine their number: the caller starts the machine
  // with &engine::worker_entry and this engine, then calls open() with the places of the workers there really are.
  template <class... MachineArgs> explicit engine(const engine_setup& setup, const MachineArgs&... machine_args);
  void open(place::tree places, const policy_entry& rules);
  // Before the machine starts: everything is recorded.
  void record(std::unique_ptr<trace::session> s) noexcept { trace_ = std::move(s); }
  // Before open(): the program's steps are written down, and perhaps ordered. Modelled machines only.
  void order(std::unique_ptr<task_order> o) noexcept { order_ = std::move(o); }
  ~engine() override;

  [[nodiscard]] M& the_machine() noexcept { return machine_; }
  static void worker_entry(void* engine_address, unsigned id);

  detail::record* allocate(std::size_t bytes) override;
  void discard(detail::record* r) noexcept override;
  void enter(detail::record* r) override;
  void push_slow(detail::worker& w, detail::record* r) override;
  void await_pull(detail::worker& w) noexcept override;
  void wait_all() override;
  void wait_handle(detail::handle_state& h) override;
  void pause(bool on) override;
  void* exchange(detail::handle_state& h, detail::cell<void*>& c, void* value) override;
  [[nodiscard]] bool try_exclusive(detail::handle_state& h) override;
  void release_exclusive(detail::handle_state& h) override;
  [[nodiscard]] void* workspace(std::size_t bytes) override;

  [[nodiscard]] unsigned workers() const noexcept override { return places_->workers(); }
  [[nodiscard]] const char* machine_name() const noexcept override { return machine_.name(); }
  [[nodiscard]] double now_ns() const noexcept override {
    return static_cast<double>(machine_.now_ps() - start_ps_) / 1e3;
  }
  [[nodiscard]] runtime::counts statistics() const noexcept override;
  void charge(std::uint64_t ps) override;
  void charge_program(std::uint64_t ps) noexcept override;
  [[nodiscard]] const char* trace_path() const noexcept override { return trace_ ? trace_->path().c_str() : nullptr; }
  void write_trace() override;
  void drain(detail::handle_state& h) noexcept override;
  void await_creation() noexcept override;
  [[nodiscard]] bool all_created() noexcept override;
  [[nodiscard]] int creator() const noexcept override { return creator_ != nullptr ? creator_->id : -1; }

 private:
  // always_inline below: parts of one step that are cut apart to be read and put together for speed.
  class visit;  // a call from the program: which worker the calling thread is
  void end(const visit& v) noexcept;

  // engine_submit.hpp
  [[nodiscard]] worker* mine() noexcept;
  [[nodiscard, gnu::always_inline]] inline worker* at_home() noexcept;
  [[nodiscard, gnu::always_inline]] inline worker* creates_here() noexcept;
  [[nodiscard]] detail::record* allocate_on(worker& w, std::uint8_t size_class);
  [[nodiscard]] detail::record* allocate_outside(std::uint8_t size_class);
  [[gnu::always_inline]] inline void enter_plain(worker& w, detail::record* r);
  [[nodiscard, gnu::always_inline]] inline access::short_outcome register_plain(worker* w, detail::record* r);
  [[gnu::noinline]] void enter_slow(detail::record* r);
  void enter_on(worker& w, detail::record* r);
  [[gnu::noinline]] void enter_counted(worker& w, detail::record* r);
  void enter_outside(detail::record* r);
  [[nodiscard]] bool register_and_apply(worker* w, detail::record* r, woken& list);
  void apply_reduction(worker* w, detail::handle_state& h, const detail::record* before = nullptr);
  [[gnu::always_inline]] inline void count_created(worker* w, detail::record* r) noexcept;
  void count_beside(worker* w, detail::record* r, const detail::record& before) noexcept;
  [[gnu::always_inline]] inline void recycle(worker& w, detail::record* r) noexcept;
  void make_ready(worker& w, detail::record* r);
  void make_ready_outside(detail::record* r);
  void make_all_ready(worker* w, woken& list);
  [[nodiscard, gnu::always_inline]] inline bool advance_waiting(detail::record*& r, woken& out);
  [[gnu::always_inline]] inline void push_own(worker& w, detail::record* r);
  void push_urgent(detail::record* r) noexcept;
  void share(worker& w) noexcept;
  [[gnu::always_inline]] inline void keep_within_reach(worker& w) noexcept;

  // engine_create.hpp
  void open_creation(unsigned creator);
  void request(detail::record* r);
  bool create_one(worker& w);
  void share_all(worker& w) noexcept;
  void refuse(worker& w, detail::record& r, const std::exception_ptr& why);
  [[nodiscard, gnu::noinline]] detail::record* next_created(worker& w);
  [[nodiscard]] bool requests_wait_for_anyone() noexcept;
  [[nodiscard]] detail::record* next_of_creator(worker& w);
  [[nodiscard]] detail::record* create_for_a_while(worker& w);
  [[nodiscard]] bool creator_sees_anything(worker& w) noexcept;
  void abandon_requests() noexcept;

  // engine_run.hpp
  static void loop_entry(void* engine_address);
  void loop();
  [[nodiscard, gnu::noinline]] bool passes_over(worker& w, detail::record* r);
  [[nodiscard, gnu::noinline]] detail::record* next_special(worker& w);
  [[nodiscard, gnu::always_inline]] inline detail::record* next(worker& w);
  [[nodiscard, gnu::always_inline]] inline detail::record* next_own(worker& w);
  [[nodiscard]] detail::record* next_shared(worker& w, bool all = false);
  [[nodiscard]] detail::record* next_urgent() noexcept;
  [[nodiscard]] detail::record* end_if_quiescent(worker& w);
  [[nodiscard]] bool paused() noexcept;
  [[nodiscard]] detail::record* steal(worker& w, bool all);
  [[nodiscard]] detail::record* rob_partners(worker& w);
  [[nodiscard]] detail::record* rob(worker& w, worker& victim);
  [[nodiscard]] bool bodies_are_tiny() noexcept;
  [[nodiscard]] bool others_move(worker& w) noexcept;
  void give_way(worker& w);
  [[nodiscard]] detail::record* look_around(worker& w);
  [[nodiscard]] detail::record* search(worker& w);
  [[nodiscard]] bool anything_visible(worker& w) noexcept;
  [[nodiscard, gnu::always_inline]] inline detail::record* run(worker& w, detail::record* r);
  [[gnu::noinline]] void run_timed(worker& w, detail::record* r);
  void note_length(worker& w, std::uint64_t body_ps) noexcept;
  [[nodiscard, gnu::always_inline]] inline detail::record* follow(worker& w, detail::record* r);
  [[gnu::always_inline]] inline trace::outcome call_body(worker& w, detail::record* r);
  [[nodiscard]] bool reads_poison(detail::record& r) noexcept;
  [[nodiscard, gnu::cold]] bool skip(detail::record& r);
  [[gnu::cold]] void poison_writes(detail::record& r, const std::exception_ptr& e);
  [[gnu::cold]] void fail(detail::record& r, const std::exception_ptr& e);
  [[nodiscard, gnu::always_inline]] inline bool may_follow(const worker& w, const detail::record& x) const noexcept;
  [[nodiscard, gnu::always_inline]] inline detail::record* done(worker& w, detail::record* r);
  [[gnu::noinline]] void wholly_done(worker& w, detail::record* r);
  [[gnu::always_inline]] inline void finish_accesses(detail::record* r, woken& list);

  // engine_wait.hpp
  class exclusive_wait;
  template <class Publish> void suspend(worker& w, waiter& self, trace::reason why, Publish publish);
  template <class Publish> void set_aside(worker& w, waiter& self, Publish publish);
  void resume(worker& w, waiter& to);
  [[nodiscard]] fiber& idle_loop(worker& w);
  void leave_idle(worker& w, fiber* stack);
  [[nodiscard]] fiber* take_idle(worker& w);
  [[nodiscard]] std::unique_ptr<fiber> make_loop_stack() noexcept;
  void wait_children(worker& w);
  void start_if_paused() {
    if (paused()) pause(false);
  }
  void wait_quiescent(worker& w);
  void apply_reductions(worker* w);
  void apply_if_open(worker* w, detail::handle_state& h);
  void wait_quiescent_outside();
  [[nodiscard]] bool list_on(detail::handle_state& h, waiter& self);
  [[nodiscard]] bool quiescent() noexcept;
  void end_quiescent_waits(worker* w);
  void rethrow_for(detail::handle_state& h);

  // engine_order.hpp
  class program_call;
  [[nodiscard]] bool chooses() const noexcept {
    if constexpr (M::modelled) return order_ != nullptr && order_->chooses();
    return false;
  }
  // Whether r goes to the pool before it has its exclusive access, so that adds come in the order that is chosen.
  [[nodiscard]] bool chooses_among_adds(const detail::record& r) const noexcept {
    return chooses() && r.kind == detail::record_kind::task && r.exclusives == 1;
  }
  [[nodiscard]] detail::record* take_by_order(worker& w);
  void note_step(const detail::record* body) noexcept;
  void offer_turn(worker& w);
  void make_ready_by_order(worker& w, detail::record* r);
  [[nodiscard]] detail::record* next_by_order(worker& w);

  // engine_room.hpp
  class owner_section;
  class foreign_wait;
  struct progress {
    std::uint64_t tasks;
    std::uint64_t busy_ns;
    std::uint64_t room;
    std::uint64_t at_ps;
    [[nodiscard]] bool stands(const progress& now) const noexcept {
      return now.tasks == tasks && now.busy_ns - busy_ns <= base::patience_busy_ns;
    }
  };
  [[nodiscard]] bool pull(worker& w) noexcept;
  [[nodiscard]] detail::record* throttle(worker& w, std::uint8_t size_class);
  [[nodiscard]] detail::record* set_submitter_aside(worker& w, std::uint8_t size_class);
  [[nodiscard]] detail::record* next_throttled(worker& w);
  [[nodiscard]] detail::record* wait_for_room(worker* w, std::uint8_t size_class);
  [[nodiscard]] detail::record* try_room(worker* w, std::uint8_t size_class, bool beyond);
  void begin_to_block(waiter& self, const worker* w);
  void end_to_block(waiter& self, const worker* w);
  void tell_front_if_all_stand();
  [[nodiscard]] bool all_stand() const noexcept;
  [[nodiscard]] bool is_front_of_all(const waiter& self);
  [[nodiscard]] bool may_exceed(const waiter& self, const progress& before, const progress& since);
  [[nodiscard]] bool only_others_move(const progress& since, const progress& now) const noexcept;
  void lead(std::uint64_t tasks) noexcept;
  [[nodiscard]] progress look() noexcept;
  [[nodiscard]] std::uint64_t tasks_begun() noexcept;
  void room_made(bool at_once) noexcept;
  [[nodiscard]] bool take_leave_to_exceed() noexcept;
  [[nodiscard]] bool leads(std::uint64_t tasks) const noexcept;
  [[nodiscard]] bool use_credit() noexcept;
  [[nodiscard]] detail::record* look_aside(worker& w);
  [[nodiscard]] bool reserve_wanted() noexcept;
  [[nodiscard]] bool leaves_reserve() noexcept;
  void call_reserve();
  [[nodiscard]] bool take_turn(worker& w, detail::record* r);
  class standing;
  void await_turn(unsigned id) noexcept;

  // engine_trace.hpp
  void write_trace_or_say() noexcept;
  [[gnu::noinline]] void trace_submitted(worker* w, detail::record& r) noexcept;
  // For registration, which calls it with a task whose versions are known and which nobody can run yet.
  [[nodiscard]] auto submission_recorder(worker* w) noexcept {
    return [this, w](detail::record& r) {
      if (trace_ != nullptr) [[unlikely]]
        trace_submitted(w, r);
    };
  }
  [[nodiscard, gnu::noinline]] detail::record* run_traced(worker& w, detail::record* r);
  [[nodiscard]] bool trace_start(worker& w, const detail::record& r) noexcept;
  struct piece {
    std::uint64_t start_ps;
    std::uint64_t end_ps;
    std::uint16_t first_worker;
    bool follows;
    trace::outcome outcome;
  };
  void trace_ran(worker& w, const detail::record& r, const piece& ran) noexcept;
  [[gnu::noinline]] std::uint64_t trace_suspend(worker& w, const detail::record* body) noexcept;
  struct pause_start {
    std::uint64_t ps;
    std::uint16_t worker;
  };
  [[gnu::noinline]] void trace_resume(worker& w, const detail::record* body, trace::reason why,
                                      const pause_start& from) noexcept;
  [[gnu::noinline]] void trace_passed(worker& w, trace::reason why) noexcept;
  [[gnu::noinline]] void trace_stolen(worker& w, const worker& victim, const detail::record& r) noexcept;
  void trace_counts(worker& w, const detail::record* body) noexcept;
  void park(worker& w);

  // engine_stall.hpp
  void break_stall(worker& w);
  [[nodiscard]] bool anything_anywhere() noexcept;
  void end_stalled_waits(worker& w);
  [[nodiscard]] bool delist(waiter& x) noexcept;
  [[noreturn]] void throw_stall();
  [[nodiscard]] std::string describe_stall();
  void begin_outside_call() noexcept;
  void end_outside_call() noexcept;
  class outside_call;
  class outside_wait;
  struct standstill {
    bool still;
    std::uint64_t steps;  // grows with whatever happens
    [[nodiscard]] bool operator==(const standstill&) const = default;
  };
  [[nodiscard]] standstill look_for_standstill() noexcept;
  void await_outside(waiter& self);
  void wait_for(detail::handle_state& h);
  void report_standstill(waiter& self);
  void abandon_all() noexcept;
  void abandon_uses_of(detail::handle_state& h) noexcept;

  engine_setup setup_;
  std::unique_ptr<trace::session> trace_;  // nullptr: nothing is recorded
  std::unique_ptr<task_order> order_;      // nullptr: nothing is written down, and the scheduler decides
  detail::cell<std::uint32_t> order_changes_;
  std::unique_ptr<place::tree> places_;
  std::unique_ptr<policy> rules_;
  const char* rules_name_ = nullptr;
  bool own_deque_only_ = true;                    // the policy never answers anything else, so it is not asked
  std::vector<std::unique_ptr<worker>> workers_;  // by id; on real machines the reserve is the last
  static constexpr std::uint64_t outside_order = std::uint64_t{1} << 63;
  worker outside_;  // records and counters of threads that are no workers; guarded by outside_lock_
  detail::cell<std::uint8_t> outside_lock_;
  detail::cell<std::uint32_t> outside_calls_;  // calls of such threads under way that may make something ready
  detail::cell<std::uint8_t> outside_waits_lock_;
  std::vector<waiter*> outside_waits_;           // such threads that wait; guarded by outside_waits_lock_
  std::string stall_text_;                       // what their and the main thread's waits throw; guarded by the same
  detail::cell<std::uint32_t> standstill_told_;  // not 0: a standstill has been reported on stderr

  worker* creator_ = nullptr;                 // nullptr: tasks are created inline
  detail::cell<std::uint32_t> creator_away_;  // it runs a task: whoever is idle creates
  inbox<M> requests_;                         // submitted, counted, not yet created
  detail::cell<std::uint8_t> creating_;       // held from taking a request until it is registered
  detail::cell<std::uint64_t> created_;       // requests so far; written under creating_

  M machine_;
  task::pool<M> pool_;
  sleep<M> sleep_;
  inbox<M> central_;  // the root place's queue
  inbox<M> urgent_;   // tasks with priority, for whoever is free first
  // Number of urgent tasks, plus paused_bit. One word, so that a worker without either pays one load per task.
  detail::cell<std::uint32_t> attention_;
  static constexpr std::uint32_t paused_bit = std::uint32_t{1} << 31;
  failures<M> failures_;
  access::open_reductions<M> open_reductions_;
  detail::cell<std::uint32_t> body_ns_{unknown_ns};  // how long bodies are, on average lately; a hint
  static constexpr std::uint32_t unknown_ns = ~std::uint32_t{0};
  access::reservations<M> reservations_;
  detail::cell<std::uint8_t> quiescent_lock_;
  std::vector<waiter*> quiescent_waiters_;         // guarded by quiescent_lock_
  detail::cell<std::uint32_t> quiescent_waiting_;  // their number
  detail::cell<std::uint32_t> throttled_;          // submitters that wait for room, set aside or blocked
  detail::cell<std::uint32_t> beyond_window_;      // nothing else can run: the next throttled submitter may exceed it
  detail::cell<std::uint8_t> room_lock_;
  std::vector<waiter*> blocked_;   // threads that wait for room, oldest first; guarded by room_lock_, as what follows
  unsigned blocked_workers_ = 0;   // those among them that are workers
  unsigned turn_waits_ = 0;        // workers in await_turn()
  unsigned foreign_waits_ = 0;     // threads that are no workers and wait for tasks or room
  bool main_waits_ = false;        // worker 0's thread is in a wait and runs tasks itself
  unsigned batches_back_ = 0;      // free batches since somebody last blocked
  unsigned steps_beyond_ = 0;      // times in a row that nothing moved
  const void* leader_ = nullptr;   // the thread that exceeded the window last
  std::size_t credit_beyond_ = 0;  // batches that it may take without waiting again ...
  std::uint64_t stuck_at_tasks_ = 0;  // ... while no more tasks than these have begun
  detail::cell<std::uint64_t> room_;  // times that room was made or a blocked thread went on; written under room_lock_
  detail::cell<std::uint64_t> turn_;  // bodies that the reserve has begun; written under room_lock_
  detail::cell<std::uint64_t> turn_given_up_;  // the one of those that nobody waits for any more
  detail::cell<bool> reserve_blocked_;         // its body waits for room
  enum class reserve_state : std::uint8_t { none, refused, away, here };
  detail::cell<reserve_state> reserve_;         // written under room_lock_
  detail::cell<std::uint32_t> reserve_called_;  // what the reserve blocks on while it is away
  bool stall_told_ = false;                     // the program has had the report of a stall
  // What the main thread waits in; written by worker 0. What it points to is read when all sleep.
  detail::cell<waiter*> program_waiter_;
  detail::cell<std::uint32_t> stopping_;
  detail::cell<std::uint8_t> fibers_lock_;
  std::vector<std::unique_ptr<fiber>> fibers_;  // every loop's stack; guarded by fibers_lock_
  std::vector<fiber*> spare_;                   // idle stacks beyond those of the workers; guarded by fibers_lock_
  fiber program_;                               // the stack of the thread that made the runtime
  const void* owner_thread_;                    // identity of that thread
  std::uint64_t start_ps_ = 0;
};

}  // namespace weft::sched

#include "sched/engine_create.hpp"
#include "sched/engine_life.hpp"
#include "sched/engine_order.hpp"
#include "sched/engine_room.hpp"
#include "sched/engine_run.hpp"
#include "sched/engine_stall.hpp"
#include "sched/engine_submit.hpp"
#include "sched/engine_trace.hpp"
#include "sched/engine_wait.hpp"
