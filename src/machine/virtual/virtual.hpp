// The virtual machine, first form: every worker is a core of a machine that exists only in time. All cores run on the
// one thread that made the runtime, as fibers; an event heap ordered by (time, sequence) decides whose turn it is. The
// same program, options and seed give the same virtual times bit for bit: nothing here reads a clock or an address.
//
// Every operation on a shared word advances the core's clock by a fixed cost and is a point where another core may come
// first. The costs are one core's view of a small real machine (PEERS: measured medians); caches, distances and
// bandwidth are not modelled yet.
// With `random_order` any core that is awake may be next, as turns.hpp says: time then means nothing, and what depends
// on the schedule shows itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/machine.hpp"
#include "machine/virtual/turns.hpp"

namespace weft::machine {

// Picoseconds. Where measured, on two cores of a Zen 4 server.
struct virtual_costs {
  std::uint64_t load_ps = 280;         // first-level hit
  std::uint64_t store_ps = 280;        // plain store
  std::uint64_t modify_ps = 2'060;     // uncontended fetch_add
  std::uint64_t relax_ps = 10'000;     // one pause
  std::uint64_t jump_ps = 5'700;       // half a fiber switch pair
  std::uint64_t body_ps = 1'000'000;   // a body that says nothing about itself
  std::uint64_t wake_ps = 12'800'000;  // from wake to running
};

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
    virtual_costs costs{};
  };
  explicit virtual_machine(const setup& s);
  ~virtual_machine();
  virtual_machine(const virtual_machine&) = delete;
  virtual_machine& operator=(const virtual_machine&) = delete;

  template <class T> static T load(cell<T>& c, order) {
    point(here_->setup_.costs.load_ps);
    return c.raw;
  }
  template <class T> static void store(cell<T>& c, T v, order) {
    point(here_->setup_.costs.store_ps);
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
  static void relax(unsigned) {
    here_->turns_.waits(here_->running_);
    point(here_->setup_.costs.relax_ps);
  }

  [[nodiscard]] static bool forked() noexcept { return false; }  // one thread, which fork() takes along

  static constexpr bool foreign_threads = false;
  static constexpr bool modelled = true;
  static constexpr const char* name = "virtual";

  // Makes n cores. The caller becomes core 0, on the stack it is on; core i > 0 begins with e(engine, i) at time 0.
  void start(unsigned n, entry e, void* engine, std::size_t stack_bytes);
  void join();  // runs until all entries have returned

  // The calling core's clock. Outside of the simulation: core 0's.
  [[nodiscard]] std::uint64_t now_ps() const noexcept { return cores_[running_].clock; }
  void park(unsigned id);
  void wake(unsigned id);
  // For threads, of which there is one only: nobody blocks, and there is no worker beyond those of start().
  static void block(cell<std::uint32_t>&) noexcept {}
  static bool block_for(cell<std::uint32_t>&, std::uint64_t) noexcept { return true; }
  static void signal(cell<std::uint32_t>&) noexcept {}
  [[nodiscard]] static bool start_one(unsigned) noexcept { return false; }
  [[nodiscard]] static std::uint64_t busy_ns() noexcept { return 0; }
  static bool barrier_everywhere() noexcept { return false; }

  void jump(unsigned id, fiber& from, fiber& to, fiber::action* after);
  void charge(std::uint64_t ps) { advance(ps); }
  // The body took what its cost clause says; if neither that nor charge() said anything, the default.
  void end_body(const detail::record& r) { advance(r.cost_ps == 0 ? setup_.costs.body_ps : r.declared_cost_ps()); }

  // Which machine the static operations belong to, and which worker each core is: set by the engine when the program
  // calls in, because one thread may have several runtimes.
  [[nodiscard]] static virtual_machine* set_current(virtual_machine* m) noexcept;
  void seat(unsigned id, detail::worker* w) noexcept { cores_[id].worker = w; }
  // Core 0's stack, which the machine did not make; and the stack that core `id` is on.
  void set_program_stack(fiber& f) noexcept { cores_[0].running = &f; }
  [[nodiscard]] fiber& stack(unsigned id) noexcept { return *cores_[id].running; }

 private:
  struct core {
    std::uint64_t clock = 0;
    fiber* running = nullptr;
    detail::worker* worker = nullptr;
    std::unique_ptr<fiber> first;  // the stack its entry runs on
    bool parked = false;
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

  template <class T, class Change> static T modify(cell<T>& c, Change change) {
    point(here_->setup_.costs.modify_ps);
    const T old = c.raw;
    c.raw = change(old);
    return old;
  }
  // Advances the calling core and lets every core that is earlier by now go first.
  static void point(std::uint64_t ps) { here_->advance(ps); }
  void advance(std::uint64_t ps);
  void enqueue(unsigned id);
  [[nodiscard]] unsigned take_next();
  void give_turn();  // to the next event; returns when it is our turn again
  static void first_entry(void* core_start);

  struct core_start {
    virtual_machine* machine;
    unsigned id;
  };

  // constinit spares each access the question whether it is initialised, in whose answer UBSan sees a null pointer.
  static thread_local constinit virtual_machine* here_;
  setup setup_;
  turns turns_;
  std::vector<core> cores_;
  std::vector<core_start> starts_;
  std::vector<event> awake_;  // a heap by later_than, or in random order just the set, without the running core
  std::uint64_t sequence_ = 0;
  unsigned running_ = 0;
  entry entry_ = nullptr;
  void* engine_ = nullptr;
};

}  // namespace weft::machine
