// The engine: one scheduler, written once, instantiated for each machine (src/runtime). It carries a task through the
// six steps of its life:
//
//   create   allocate() gives a record, enter() takes it filled in: counted, and its accesses get their versions, here
//            or on the worker that creates for all (registrar.hpp, creation.hpp)
//   ready    its last condition is met: whoever met it goes on with it (readiness.hpp)
//   place    one function says where it goes (placement.hpp)
//   size     a task has one worker, or a team (teams.hpp); one with hints may be a call where it is submitted
//            (leaves.hpp)
//   run      a worker's loop finds it (search.hpp) and calls the body
//   done     versions advance, what waited for them moves on, the record is free again
//
// Everything else is a noun in a file of its own, over the machine, with its own state. This class holds what they all
// share (context.hpp) and what each room adds to that (place_room.hpp and its like), in the order of their floors, and
// is what they are called through. The steps are in engine_steps.hpp, in this order; its
// beginning and end in engine_life.hpp; what the program calls in engine_calls.hpp.
#pragma once
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "access/plain.hpp"
#include "access/registration.hpp"
#include "base/limits.hpp"
#include "machine/machine.hpp"
#include "place/tree.hpp"
#include "sched/admit/admit_room.hpp"
#include "sched/admit/any_engine.hpp"
#include "sched/engine/search.hpp"
#include "sched/engine/sources.hpp"
#include "sched/join/join_room.hpp"
#include "sched/place/context.hpp"
#include "sched/place/place_room.hpp"
#include "sched/policies/policy.hpp"
#include "sched/policies/registry.hpp"
#include "sched/queues/deque.hpp"
#include "sched/teams/team_room.hpp"
#include "sched/workers/children.hpp"
#include "sched/workers/worker.hpp"

namespace weft::sched {

template <machine::machine M>
class engine final : public any_engine, private child_runner<M>, private timers<M>::settler {
 public:
  using worker = sched::worker<M>;
  using woken = access::woken;
  using deque = sched::deque<M>;

  // Two steps, because a machine's workers need the engine and the engine their number: the caller starts the machine
  // with &engine::worker_entry and this engine, then calls open() with the places of the workers there really are.
  template <class... MachineArgs> explicit engine(const engine_setup& setup, const MachineArgs&... machine_args);
  void open(place::tree places, const policy_entry& asked);
  // Before open(): everything is recorded; the program's steps are written down, and perhaps ordered (modelled
  // machines).
  void record(std::unique_ptr<trace::session> s) noexcept { context_.recording.begin(std::move(s)); }
  void tells(std::vector<listener> all, unsigned runtime) {
    context_.recording.tells(std::move(all), runtime);
    context_.placement.tells(context_.recording.listeners());
  }
  void order(std::unique_ptr<task_order> o) noexcept { context_.ordering.begin(std::move(o)); }
  ~engine() override;

  [[nodiscard]] M& the_machine() noexcept { return machine_; }
  static void worker_entry(void* engine_address, unsigned id);

  detail::record* allocate(std::size_t bytes) override;
  void discard(detail::record* r) noexcept override;
  void enter(detail::record* r) override;
  void push_slow(detail::worker& w, detail::record* r) override;
  void enter_forks(detail::worker& w) override;
  void leave_forks(detail::worker& w) noexcept override;
  [[nodiscard]] detail::not_begun fork(detail::worker& w, detail::branch& b) override;
  [[nodiscard]] detail::not_begun offer(detail::worker& w, detail::branch& b, std::uint32_t id = 0);
  [[nodiscard, gnu::noinline]] bool call_recorded(detail::branch& b);
  void share(detail::worker& w) noexcept override;
  void look_in_loop(detail::worker& w, std::uint64_t left, bool begins) override;
  void loop_over(detail::worker& w) override;
  bool join(detail::worker& w, detail::branch& b) override;
  void drop(detail::worker& w, detail::branch& b) noexcept override;
  [[nodiscard]] std::uint8_t near(const detail::near_clause* hints, std::size_t count) noexcept override;
  void run_team(detail::record& r, const detail::team_clause& wish, detail::team_body body) override;
  [[nodiscard]] bool team_barrier(detail::team_state& t) override;
  void team_guest(detail::team_state* t, detail::guest_call& c) override;
  [[nodiscard]] std::uint64_t team_take(detail::team_state& t, std::uint64_t count, std::uint64_t least, bool guided,
                                        std::uint64_t& taken) override;
  [[nodiscard]] std::uint32_t team_unit(detail::team_state& t, const detail::unit_order& order,
                                        std::uint32_t done) override;
  void run_graph(detail::record& r, detail::graph_state& g) override;
  void heal(detail::graph_state& g) override;
  void open_scope(detail::worker& w, detail::scope& s) override;
  void close_scope(detail::worker& w, detail::scope& s) override;
  void end_call(detail::worker& w, detail::record& r, bool threw) noexcept override;
  void failed(detail::worker& w, const std::exception_ptr& e) noexcept override;
  void cancelled(bool is_open) noexcept override;
  void wait_all() override;
  void wait_handle(detail::handle_state& h) override;
  void drain(detail::handle_state& h) noexcept override;
  void wait_version(detail::handle_state& h, std::uint64_t version) override;
  std::exception_ptr failure_of(detail::handle_state& h) noexcept override { return context_.poison.why(h); }
  void wait_event(event_state& s) override;
  void settle(const event_end& of) override;
  void settle_after(event_state& s, std::uint64_t ps) override;
  void fail_with_children(detail::record& r, const std::exception_ptr& why) override {
    context_.poison.fail_below(r, why);
  }
  [[nodiscard]] event_board& events() noexcept override { return join_.events; }
  void yield() override;
  void pause(bool on) override;
  void* exchange(detail::handle_state& h, detail::cell<void*>& c, void* value) override;
  [[nodiscard]] detail::pipeline_gates& pipelines() noexcept override {
    if (context_.recording.on()) [[unlikely]]
      count_one(static_cast<worker&>(*current_worker()).counted.pipelines);
    return join_.pipelines;
  }
  [[nodiscard]] detail::pass_book* passes() noexcept override {
    return context_.recording.on() ? &context_.passes : nullptr;
  }
  [[nodiscard]] bool try_exclusive(detail::handle_state& h) override;
  void release_exclusive(detail::handle_state& h) override;
  [[nodiscard]] void* workspace(std::size_t bytes) override;

  [[nodiscard]] unsigned workers() const noexcept override { return context_.crew.workers(); }
  [[nodiscard]] const char* machine_name() const noexcept override { return machine_.name(); }
  [[nodiscard]] double now_ns() const noexcept override {
    return static_cast<double>(machine_.program_now_ps() - opened_.start_ps) / 1e3;
  }
  [[nodiscard]] run_counts statistics() const noexcept override;
  void decides(by r) noexcept override { context_.crew.decides(r); }
  void charge(std::uint64_t ps, std::span<const data_use> uses) override;
  void renew_data(detail::handle_state& h) override { machine_.renew_data(h); }
  void is_new(detail::handle_state& h) noexcept override;
  void charge_program(std::uint64_t ps) noexcept override;
  [[nodiscard]] bool can_end() noexcept override;
  [[nodiscard]] const char* trace_path() const noexcept override { return context_.recording.path(); }
  void write_trace() override;
  [[nodiscard]] unsigned seats() const noexcept override { return context_.crew.seats(); }
  void look(trace::live_head& head, std::span<trace::live_row> rows) override { join_.live_view.look(head, rows); }
  void await_creation() noexcept override;
  [[nodiscard]] bool all_created() noexcept override { return admit_.creation.all_created(); }
  [[nodiscard]] int creator() const noexcept override { return admit_.creation.creator(); }

 private:
  // always_inline below: parts of one step that are cut apart to be read and put together for speed.
  class visit;  // a call from the program: which worker the calling thread is
  using program_call = typename ordering<M>::program_call;
  using main_wait = typename admission<M>::main_wait;

  // create
  [[nodiscard]] worker* mine() noexcept;
  [[nodiscard, gnu::always_inline]] inline worker* at_home() noexcept;
  [[nodiscard, gnu::always_inline]] inline worker* creates_here() noexcept;
  [[nodiscard, gnu::always_inline]] inline worker* hands_over_here() noexcept;
  [[gnu::noinline]] void enter_plain(worker& w, detail::record* r);
  [[gnu::always_inline]] inline void enter_plainly(worker& w, detail::record* r);
  [[gnu::noinline]] void hand_over(worker& w, detail::record* r);
  [[gnu::noinline]] void hand_over_and_foresee(worker& w, detail::record* r);
  [[gnu::noinline]] void enter_slow(detail::record* r);
  void enter_visiting(worker& w, detail::record* r);
  void enter_on(worker& w, detail::record* r);
  [[gnu::noinline]] void enter_counted(worker& w, detail::record* r);
  [[gnu::always_inline]] inline void count(worker& w, detail::record& r);
  void check_pin(detail::record* r);

  // size
  [[gnu::cold, gnu::noinline]] void follow_hints() noexcept;
  [[nodiscard]] bool is_call(worker& w, const detail::record& r) noexcept;
  [[nodiscard]] bool called(detail::record* r);
  [[nodiscard]] team_course<M> how_wide(worker& w, detail::record& r, const detail::team_clause& wish);
  void call_child(worker& w, detail::record* r);
  [[nodiscard]] bool goes_first(worker& w, const detail::record& r) noexcept;
  [[gnu::noinline]] void run_first(worker& w, detail::record* r);

  // run
  static void loop_entry(void* engine_address) { static_cast<engine*>(engine_address)->loop(); }
  void loop();
  [[nodiscard, gnu::noinline]] bool passes_over(worker& w, detail::record* r);
  [[nodiscard]] bool take_turn(worker& w, detail::record* r);
  [[nodiscard, gnu::always_inline]] inline detail::record* run(worker& w, detail::record* r);
  template <bool IsNode = false> [[gnu::always_inline]] inline void execute(worker& w, detail::record* r);
  [[gnu::noinline]] void run_timed(worker& w, detail::record* r);
  [[gnu::noinline]] void run_traced(worker& w, detail::record* r);
  template <bool IsNode = false> [[gnu::always_inline]] inline void begin_body(worker& w, detail::record& r);
  template <bool IsNode = false> [[gnu::always_inline]] inline trace::outcome call_body(worker& w, detail::record* r);
  void ran(worker& w, const detail::record& r, std::uint64_t body_ps);
  void run_child(worker& w, detail::record* x) override;
  [[nodiscard, gnu::noinline]] detail::record* run_branch(worker& w, branch& b);
  [[nodiscard, gnu::noinline]] detail::record* run_node(worker& w, detail::record* r);

  // done
  [[nodiscard, gnu::always_inline]] inline detail::record* follow(worker& w, detail::record* r);
  [[nodiscard, gnu::always_inline]] inline detail::record* done(worker& w, detail::record* r);
  [[nodiscard, gnu::always_inline]] inline detail::record* node_done(worker& w, detail::record* r);
  [[nodiscard, gnu::noinline]] detail::record* node_with_children_done(worker& w, detail::record* r);
  [[gnu::noinline]] void wholly_done(worker& w, detail::record* r);
  void release_behind(worker& w, detail::record& r);
  [[gnu::always_inline]] inline void recycle(worker& w, detail::record* r) noexcept;

  // events
  void settle_on(worker& w, const event_end& of) override;
  void one_event_less(worker& w, detail::record& r, const std::exception_ptr& why);
  [[gnu::cold, gnu::noinline]] void abandon_event(worker& w, detail::record& ran, std::exception_ptr why);
  [[nodiscard]] bool fulfilled(event_state& s);
  void count_yield();

  // the engine's own beginning and end, and its calls
  void list_sources();
  void never_began() noexcept;
  void end(const visit& v) noexcept;
  [[nodiscard]] bool strangers_leave(bool can_run) noexcept;
  void wait_for(detail::handle_state& h, const std::uint64_t* version = nullptr);
  [[nodiscard]] bool comes(detail::handle_state& h, const std::uint64_t* version);
  [[nodiscard]] bool is_program();
  [[gnu::always_inline]] inline void check_process() const;
  void start_if_paused();
  [[nodiscard]] trace::facts about() const;
  void offer_turn(worker& w);

  // What open() has made.
  struct opened {
    std::unique_ptr<place::tree> places;
    std::unique_ptr<sched::policy> policy;
    const char* policy_name = nullptr;
    bool child_first = false;  // as the policy says
    bool is_enlisted = false;  // among those that create elsewhere
    bool is_whole = false;     // open() has come to its end
    std::uint64_t start_ps = 0;
  };
  // In a row, on a modelled machine.
  struct yields {
    std::uint64_t count = 0;
    std::uint64_t at = 0;  // what had happened by then
  };

  engine_setup setup_;
  M machine_;
  opened opened_;
  context<M> context_;
  place_room<M> place_;
  sources<M> sources_;
  admit_room<M> admit_;
  join_room<M> join_;
  team_room<M> teams_;
  search<M> search_;
  detail::cell<const void*> owner_thread_;  // identity of the thread that made the runtime, or of the one that ends it
  yields yields_;
};

}  // namespace weft::sched

#include "sched/engine/engine_calls.hpp"
#include "sched/engine/engine_events.hpp"
#include "sched/engine/engine_forks.hpp"
#include "sched/engine/engine_graphs.hpp"
#include "sched/engine/engine_life.hpp"
#include "sched/engine/engine_size.hpp"
#include "sched/engine/engine_steps.hpp"
