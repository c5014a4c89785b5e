// The virtual machine: every worker is a core of a machine that exists only in time, with the costs that its machine
// file says (model/machine.hpp). All cores run on the one thread that made the runtime, as fibers; an event heap
// ordered by (time, sequence) decides whose turn it is. The same program, options and seed give the same virtual times
// bit for bit: nothing here reads a clock or an address, unless bodies are to be measured.
//
// What takes time:
//   shared words   cache lines that move between cores (lines.hpp): a hit costs little, a miss waits for the line
//   instructions   the scheduler's own between them, by step of a task's life (model::step), on the core that it
//                  happens to or on one that does them for all (model::core_type::serves)
//   bodies         what the cost clause, cycles or charge() say, or their measured time; scaled by the core's type;
//                  and what moving the data of their handles takes (model/memory.hpp)
//   sleep          going to sleep, waking somebody, and being woken (virtual_sleep.cpp)
// Fine mode: every miss is an event, and a core may run ahead of the others by `lag_ps` of hits and instructions, which
// nobody else can see before the next miss. Coarse mode: the only events are the steps of a task's life; shared words
// cost a hit, and lines move when a task is stolen and with its handles.
// With `random_order` any core that is awake may be next, as turns.hpp says, at every operation on a shared word: time
// then means nothing, and what depends on the schedule shows itself.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/by_word.hpp"
#include "machine/machine.hpp"
#include "machine/stand_ins.hpp"
#include "machine/virtual/body_clock.hpp"
#include "machine/virtual/lines.hpp"
#include "machine/virtual/turns.hpp"
#include "model/energy.hpp"
#include "model/machine.hpp"
#include "model/memory.hpp"

namespace weft::machine {

class virtual_machine {
 public:
  using entry = void (*)(void* engine, unsigned id);

  struct setup {
    std::uint64_t seed = 1;
    bool random_order = false;
    bool by_priority = false;  // with random_order
    unsigned depth = 3;        // with by_priority, as is
    std::uint64_t length = 1000;
    disturbance disturbed{};  // with random_order
    bool coarse = false;
    bool measured = false;    // bodies take the time they take here, and so does the program between its calls
    double body_scale = 1;    // of measured times, to a core of the reference type
    unsigned first_core = 0;  // where worker 0 sits; the others follow in the model's order
    model::machine model{};   // has at least as many cores as workers, unless any_size
  };
  explicit virtual_machine(setup s);
  ~virtual_machine();
  virtual_machine(const virtual_machine&) = delete;
  virtual_machine& operator=(const virtual_machine&) = delete;

  template <class T> static T load(cell<T>& c, order) {
    here_->before_load(&c);
    return c.raw;
  }
  template <class T> static void store(cell<T>& c, T v, order o) {
    o == base::seq_cst ? here_->before_modify(&c) : here_->before_store(&c);
    c.raw = v;
  }
  template <class T> static T exchange(cell<T>& c, T v, order) {
    return modify(c, [v](T) { return v; });
  }
  template <class T> static bool compare_exchange(cell<T>& c, T& expected, T v, order o) {
    const T wanted = expected;
    const bool lost = o == base::acq_rel && here_->turns_.loses_steal();
    expected = modify(c, [wanted, v, lost](T old) { return old == wanted && !lost ? v : old; });
    return expected == wanted && !lost;
  }
  template <class T> static T fetch_add(cell<T>& c, T v, order) {
    return modify(c, [v](T old) { return static_cast<T>(old + v); });
  }
  template <class T> static T fetch_sub(cell<T>& c, T v, order) {
    return modify(c, [v](T old) { return static_cast<T>(old - v); });
  }
  template <class T> static T fetch_or(cell<T>& c, T v, order) {
    return modify(c, [v](T old) { return static_cast<T>(old | v); });
  }
  template <class T> static T fetch_and(cell<T>& c, T v, order) {
    return modify(c, [v](T old) { return static_cast<T>(old & v); });
  }
  static void relax(unsigned) { here_->pause(here_->setup_.model.runtime.relax_ps); }
  // One round of a search that has found nothing and goes on until `until_ps` at the latest.
  static void search_pause(unsigned spins, std::uint64_t until_ps) { here_->pause_search(spins, until_ps); }
  // The calling core runs the scheduler's own instructions of that step. `about`: the handle or record it is about.
  static void work(model::step s, const void* about = nullptr) {
    virtual_machine& m = *here_;
    if (m.served_[static_cast<std::size_t>(s)]) [[unlikely]]
      return m.ask_server(s);
    if (m.mode_ == mode::coarse) return m.step_coarsely(s, about);
    m.run_on(m.self_->step_ps[static_cast<std::size_t>(s)]);
  }
  // The caller has taken a task from that worker. In fine mode the lines of deque and record say what that takes.
  static void took_from(unsigned id) {
    if (here_->mode_ == mode::coarse) here_->pay_steal(id);
  }
  // It reads, or writes, memory that is no cell: the content of a record.
  static void touch(const void* address, std::size_t bytes, bool writes) {
    if (here_->mode_ == mode::fine) here_->touch_lines(address, bytes, writes);
  }
  // The memory is new, whatever was at its address before.
  template <class T, class U>
  static void fresh_unless(const T& word, const U& value, const void* address, std::size_t bytes) {
    if (word != value) fresh(address, bytes);
  }
  static void fresh(const void* address, std::size_t bytes) {
    if (here_ != nullptr && here_->lines_) here_->lines_->forget(address, bytes);
  }

  [[nodiscard]] static bool forked() noexcept { return false; }  // one thread, which fork() takes along

  // A system call that reaches every core: its caller pays what waking one takes.
  static bool barrier_everywhere() {
    here_->advance(here_->setup_.model.runtime.waker_ps);
    return true;
  }
  static void between_steps() noexcept {}
  [[noreturn]] static void meets_stranger();
  // Where cores have priorities, the caller's is the last from here on.
  static void give_way() { here_->pause(here_->setup_.model.runtime.relax_ps); }
  // c lies in memory that it was not told of, and is taken for part of the line of `near`, of which it was.
  template <class T> static T exchange_near(cell<std::uint8_t>& near, cell<T>& c, T v, order o) {
    static_cast<void>(fetch_or(near, std::uint8_t{0}, o));
    return std::exchange(c.raw, v);
  }
  static void declares(detail::record& r, std::uint64_t cost_ps) noexcept { r.cost_ps = cost_ps; }
  // Whoever is not a core here does it in no time.
  struct unseen {
    template <class T> static T load(const cell<T>& c, order) noexcept { return c.raw; }
    template <class T> static void store(cell<T>& c, T v, order) noexcept { c.raw = v; }
    template <class T> static T fetch_add(cell<T>& c, T v, order) noexcept {
      return std::exchange(c.raw, static_cast<T>(c.raw + v));
    }
    template <class T> static T fetch_or(cell<T>& c, T v, order) noexcept {
      return std::exchange(c.raw, static_cast<T>(c.raw | v));
    }
    template <class T> static T fetch_and(cell<T>& c, T v, order) noexcept {
      return std::exchange(c.raw, static_cast<T>(c.raw & v));
    }
  };
  // One thread, and nothing in such a section lets another core in: nobody else can be in it.
  struct section {
    explicit section(const cell<std::uint8_t>&) noexcept {}
  };
  using stand_ins = machine::stand_ins<virtual_machine>;
  template <class T, unsigned> using by_word = by_number<T>;

  // For who can tell the program: throws weft::error if the model has had no memory since this was asked last. Tasks
  // are all right then, and the time that they took is not.
  void require_whole();

  // What it is asked (machine.hpp). Nobody is outside, so that the whole is the same in every run.
  [[nodiscard]] static constexpr bool sees_calls() noexcept { return true; }
  [[nodiscard]] static constexpr bool admits_strangers() noexcept { return false; }
  [[nodiscard]] static constexpr bool has_helpers() noexcept { return false; }
  [[nodiscard]] static constexpr bool has_alarms() noexcept { return true; }
  [[nodiscard]] static constexpr bool keeps_order() noexcept { return true; }
  [[nodiscard]] static constexpr bool takes_charges() noexcept { return true; }
  // It would have one, at a price; but without is how everything has been timed.
  [[nodiscard]] static constexpr bool offers_barrier() noexcept { return false; }
  // Where a submitter blocks its stack is set aside, so its core is free.
  [[nodiscard]] static constexpr unsigned reserves() noexcept { return 0; }
  // One thread, for whose memory their number hardly matters; and to give them to others takes a lock, and so time.
  [[nodiscard]] static constexpr std::size_t idle_stacks_max() noexcept { return ~std::size_t{0}; }
  [[nodiscard]] const char* name() const noexcept { return setup_.model.name.c_str(); }
  [[nodiscard]] bool is_random() const noexcept { return mode_ == mode::random; }

  // Makes n cores. The caller becomes core 0, on the stack it is on; core i > 0 begins with e(engine, i) at time 0.
  void start(unsigned n, entry e, void* engine, std::size_t stack_bytes);
  void dismiss() noexcept { awake_.clear(); }  // nothing has run, and nothing will
  void join();                                 // runs until all entries have returned
  // Where the workers sit, for policies.
  [[nodiscard]] std::vector<place::core> places() const;

  // The calling core's clock. Outside of the simulation: core 0's.
  [[nodiscard]] std::uint64_t now_ps() const noexcept { return self_->clock; }
  [[nodiscard]] std::uint64_t program_now_ps() const noexcept { return self_->clock + computed_ps(); }
  void park(unsigned id) { sleep(id, false); }
  void doze(unsigned id) { sleep(id, true); }
  void wake(unsigned id);
  // At that time some worker that dozes wakes by itself, until another time is given; ~0: no more.
  void alarm(std::uint64_t at_ps);
  // Whether worker `id` woke by that when it parked last.
  [[nodiscard]] bool rang(unsigned id) const noexcept { return cores_[id].rang; }
  // Several machines on one thread, in one time (joint_time.hpp): this one goes on until limit() and then lets the
  // others go, as it does when all its cores sleep. pass: leaves the fiber that it is on, and comes back when the limit
  // is another, or a message is to come.
  struct others {
    virtual void pass(fiber& from) = 0;

   protected:
    ~others() = default;
  };
  // all = nullptr: alone again. notice_ps: from a message until a core that sleeps goes on because of it.
  void join_others(others* all, std::uint64_t notice_ps);
  void limit(std::uint64_t at_ps) noexcept;
  // Of its next event, if all its cores have given the thread back.
  [[nodiscard]] std::uint64_t next_ps() const noexcept { return awake_.empty() ? never : awake_.front().time; }
  // A message of another node is here from then on, and a core that has nothing to do looks for it; ~0: none is.
  void message_at(std::uint64_t at_ps);
  // The calling core computes, and whoever is earlier by then goes first at its next step.
  void spend(std::uint64_t ps) noexcept { self_->clock += ps; }
  static void settle() noexcept {}
  // For threads, of which there is one only: nobody blocks, and there is no worker beyond those of start().
  static void block(cell<std::uint32_t>&) noexcept {}
  static bool block_for(cell<std::uint32_t>&, std::uint64_t) noexcept { return true; }
  static void signal(cell<std::uint32_t>&) noexcept {}
  [[nodiscard]] static bool start_one(unsigned) noexcept { return false; }
  static void start_helper(void (*)(void*), void*) noexcept {}
  static void bring_reserve(bool) noexcept {}
  struct stay {
    stay(virtual_machine&, bool) noexcept {}
  };
  [[nodiscard]] static constexpr int cpu_of(unsigned) noexcept { return -1; }
  [[nodiscard]] static constexpr unsigned usable_cpus() noexcept { return 0; }
  struct on_cpus {
    explicit on_cpus(std::span<const int>) noexcept {}
  };
  [[nodiscard]] static std::uint64_t busy_ns() noexcept { return 0; }
  [[nodiscard]] static std::uint64_t reserve_busy_ns() noexcept { return 0; }

  void jump(unsigned id, fiber& from, fiber& to, fiber::action* after);
  // The running body took so long, on a core of the reference type, and moved these data meanwhile. Errors: weft::error
  // for data that no range has which place_memory knows.
  void charge(std::uint64_t ps, std::span<const data_use> uses = {});
  void renew_data(const detail::handle_state& h);
  void begin_body(const detail::record& r);
  // The body took what its cost clause says; if neither that nor charge() said anything, the default.
  void end_body(detail::record& r);
  void end_member(detail::record& member, detail::record& task, unsigned width);
  // The program calls into the runtime, and returns to itself: its own time in between is not the runtime's.
  void enter_runtime() noexcept {
    if (setup_.measured) [[unlikely]]
      stop_watch();
  }
  void leave_runtime() noexcept {
    if (setup_.measured) [[unlikely]]
      start_watch();
  }
  // The same from its beginning to its end. One thread may have several runtimes, so the static operations belong to
  // this one meanwhile.
  class call {
   public:
    explicit call(virtual_machine& m) noexcept : machine_(m), before_(set_current(&m)) { m.enter_runtime(); }
    ~call() {
      machine_.leave_runtime();
      static_cast<void>(set_current(before_));
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    virtual_machine& machine_;
    virtual_machine* before_;
  };
  [[nodiscard]] static constexpr detail::worker* inline_self() noexcept { return nullptr; }

  [[nodiscard]] machine_counts counts() const noexcept;

  // Which machine the static operations belong to; and which worker each core is.
  [[nodiscard]] static virtual_machine* set_current(virtual_machine* m) noexcept;
  void seat(unsigned id, detail::worker* w) noexcept { cores_[id].worker = w; }
  // Whose turn it is.
  [[nodiscard]] static unsigned core_here() noexcept { return here_->running_; }
  // Core 0's stack, which the machine did not make; and the stack that core `id` is on.
  void set_program_stack(fiber& f) noexcept { cores_[0].running = &f; }
  // A core begins on a fiber of the machine's, whatever the thread is on.
  [[nodiscard]] fiber& stack(unsigned id, fiber&) noexcept { return *cores_[id].running; }

 private:
  static constexpr std::uint64_t lag_ps = 50'000;  // below the shortest transfer that matters
  struct core {
    std::uint64_t clock = 0;
    std::uint64_t event = 0;  // sequence of the event that wakes it, if it is waiting for one
    fiber* running = nullptr;
    detail::worker* worker = nullptr;
    std::unique_ptr<fiber> first;  // the stack its entry runs on
    std::uint64_t began = 0;       // when the program went on by itself, by the clock of bodies; 0: it did not
    unsigned seat = 0;             // the model's core
    double scale = 1;              // of bodies' times on a core of this type
    std::uint64_t step_ps[model::steps] = {};
    bool missed = true;     // a line was not here, since its search last paused
    bool watching = false;  // its search sleeps until a line that it has looked at changes
    bool parked = false;
    bool dozes = false;               // an alarm may end that
    bool rang = false;                // it woke by the alarm
    std::uint64_t slept_at = 0;       // when it parked: its clock, if an alarm that it was to wake by has moved that
    std::uint64_t watched_at = 0;     // when its search began to sleep
    std::uint64_t looks_each_ps = 0;  // how often it looks
    std::uint64_t asleep_ps = 0, searching_ps = 0;  // until now, but for the sleep that goes on
    bool token = false;
    bool left = false;
  };
  struct event {
    std::uint64_t time;
    std::uint64_t sequence;
    unsigned id;
    [[nodiscard]] bool later_than(const event& o) const noexcept {
      return time != o.time ? time > o.time : sequence > o.sequence;
    }
  };
  enum class mode : std::uint8_t { fine, coarse, random };

  template <class T, class Change> static T modify(cell<T>& c, Change change) {
    here_->before_modify(&c);
    const T old = c.raw;
    c.raw = change(old);
    return old;
  }
  void before_load(const void* address) {
    if (mode_ == mode::coarse) {
      self_->clock += setup_.model.lines.load_ps;
      return;
    }
    load_finely(address);
  }
  void load_finely(const void* address);
  void before_store(const void* address);
  void before_modify(const void* address);
  void pause(std::uint64_t ps);
  void pause_search(unsigned spins, std::uint64_t until_ps);
  void step_coarsely(model::step s, const void* about) {
    if (about == nullptr && !is_event(s)) {
      self_->clock += self_->step_ps[static_cast<std::size_t>(s)];
      return;
    }
    do_step(s, about);
  }
  // What is done under a handle's lock is no event, so that nobody meets a lock that is taken.
  [[nodiscard]] static bool is_event(model::step s) noexcept {
    return s == model::step::submit || s == model::step::run || s == model::step::request;
  }
  void do_step(model::step s, const void* about);
  void ask_server(model::step s);
  void pay_steal(unsigned id);
  void have_alone(lines::number l);
  void wake_watchers(lines::number l);
  void touch_lines(const void* address, std::size_t bytes, bool writes);
  void pay_body(const detail::record& r, detail::record& uses, unsigned parts);
  [[nodiscard]] bool find_uses(detail::record& r);
  void find_uses(std::span<const data_use> said);
  void find_homes(detail::record& r);
  [[nodiscard]] std::uint32_t region_of(std::uint64_t key, const detail::data_layout& layout, std::uint64_t range = 0);
  [[nodiscard]] model::memory& data();
  [[nodiscard]] model::core_times times() const noexcept;
  void compute(std::uint64_t ps, const char* task_name);
  void move_data(std::uint64_t compute_ps, const char* task_name);
  void reschedule();
  // Calls model(), which needs memory for what it knows, unless it had none before. Returns whether it went through.
  template <class F> bool counts_on(F model) {
    if (ran_out_) [[unlikely]]
      return false;
    try {
      model();
      return true;
    } catch (const std::bad_alloc&) {
      return ran_out_ = true, false;
    }
  }
  [[nodiscard]] double scale_of(const char* task_name);
  [[nodiscard]] const char* task_here() const noexcept;
  [[nodiscard]] std::uint64_t computed_ps() const noexcept;
  void start_watch() noexcept;
  void stop_watch() noexcept;

  // Time that nobody else can see the inside of.
  void run_on(std::uint64_t ps) {
    self_->clock += ps;
    if (self_->clock > horizon_) yield();
  }
  // Advances the calling core and lets every core that is earlier by then go first.
  void advance(std::uint64_t ps) {
    self_->clock += ps;
    if (mode_ == mode::random || self_->clock >= earliest_) yield();
  }
  void wait_until(std::uint64_t time);
  void appoint();
  void appoint_anew();
  void let_others_go();
  void remind_watcher();
  void sleep(unsigned id, bool dozes);
  void yield();
  void enqueue(unsigned id);
  void make_room_for_event();
  [[nodiscard]] unsigned take_next();
  void look_ahead() noexcept;
  void give_turn();  // to the next event; returns when it is our turn again
  void switch_to(unsigned id) noexcept;
  static void first_entry(void* core_start);

  struct core_start {
    virtual_machine* machine;
    unsigned id;
  };

  // constinit spares each access the question whether it is initialised, in whose answer UBSan sees a null pointer.
  static thread_local constinit virtual_machine* here_;
  setup setup_;
  mode mode_;
  turns turns_;
  std::optional<body_clock> body_clock_;     // where bodies are measured
  std::array<bool, model::steps> served_{};  // steps that one core does for all, and that core
  unsigned server_seat_ = 0;
  std::uint64_t server_free_ps_ = 0;  // when it has done what it was asked for so far
  std::optional<lines> lines_;
  std::optional<model::memory> memory_;  // made when the first body moves data
  // By id of the handle, or by number of the range and chunk in it; numbered as they are met.
  std::unordered_map<std::uint64_t, std::uint32_t> regions_;
  std::vector<bool> homed_;  // [region] its handle has been told where it lies
  static constexpr std::uint64_t from_range = std::uint64_t{1} << 63;
  bool ran_out_ = false;            // of memory for them: they move no more
  bool told_ = false;               // require_whole() has thrown
  std::vector<unsigned> watchers_;  // cores whose searches sleep
  std::vector<model::use> uses_;    // of the body that ends
  std::vector<model::change> changed_;
  std::vector<core> cores_;
  std::vector<core_start> starts_;
  std::vector<event> awake_;        // a heap by later_than, or in random order just the set, without the running core
  std::uint64_t earliest_ = never;  // time of the first of them
  std::uint64_t horizon_ = never;   // how far the running core may run without looking
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t alarm_ = never;
  others* others_ = nullptr;
  std::uint64_t limit_ = never;       // how far this machine goes before the others
  std::uint64_t message_ps_ = never;  // when one is here that nobody has looked for
  std::uint64_t notice_ps_ = 0;
  static constexpr unsigned looks_now = 1u << 30;  // of a worker's bodies since it last looked elsewhere
  static constexpr unsigned nobody = ~0u;
  unsigned wakes_at_alarm_ = nobody;  // the parked core that does
  std::uint64_t sequence_ = 0;
  std::uint64_t events_ = 0;
  core outside_{};  // before start()
  core* self_ = &outside_;
  unsigned running_ = 0;
  entry entry_ = nullptr;
  void* engine_ = nullptr;
};

}  // namespace weft::machine
