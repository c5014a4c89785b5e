// The real machine: one thread per worker, hardware atomics, a steady clock, sleep in the kernel by futex.
#pragma once
#include <sched.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/atomic.hpp"
#include "base/limits.hpp"
#include "base/lock.hpp"
#include "machine/by_word.hpp"
#include "machine/machine.hpp"
#include "machine/stand_ins.hpp"

namespace weft::machine {

class host {
 public:
  using entry = void (*)(void* engine, unsigned id);

  host();
  ~host();
  host(const host&) = delete;
  host& operator=(const host&) = delete;

  using at = base::place;
  template <class T> static T load(cell<T>& c, order o, at p = at::current()) noexcept {
    return base::shared(c, p).load(o);
  }
  template <class T> static void store(cell<T>& c, T v, order o, at p = at::current()) noexcept {
    base::shared(c, p).store(v, o);
  }
  template <class T> static T exchange(cell<T>& c, T v, order o, at p = at::current()) noexcept {
    return base::shared(c, p).exchange(v, o);
  }
  template <class T>
  static bool compare_exchange(cell<T>& c, T& expected, T v, order o, at p = at::current()) noexcept {
    return base::shared(c, p).compare_exchange_strong(expected, v, o, base::on_failure(o));
  }
  template <class T> static T fetch_add(cell<T>& c, T v, order o, at p = at::current()) noexcept {
    return base::shared(c, p).fetch_add(v, o);
  }
  template <class T> static T fetch_sub(cell<T>& c, T v, order o, at p = at::current()) noexcept {
    return base::shared(c, p).fetch_sub(v, o);
  }
  template <class T> static T fetch_or(cell<T>& c, T v, order o, at p = at::current()) noexcept {
    return base::shared(c, p).fetch_or(v, o);
  }
  template <class T> static T fetch_and(cell<T>& c, T v, order o, at p = at::current()) noexcept {
    return base::shared(c, p).fetch_and(v, o);
  }
  // A pause at first; later the core is given away, because the holder of what we wait for may need it.
  static void relax(unsigned spins) noexcept;
  static void search_pause(unsigned spins, std::uint64_t) noexcept;
  static void work(model::step, const void* = nullptr) noexcept {}
  static void took_from(unsigned) noexcept {}
  static void touch(const void*, std::size_t, bool) noexcept {}
  static void fresh(const void*, std::size_t) noexcept {}
  template <class T, class U> static void fresh_unless(const T&, const U&, const void*, std::size_t) noexcept {}
  static void between_steps() noexcept {}
  static void give_way() noexcept {}
  static void meets_stranger() noexcept {}
  template <class T> static T exchange_near(cell<std::uint8_t>&, cell<T>& c, T v, order o) noexcept {
    return exchange(c, v, o);
  }
  static void declares(detail::record&, std::uint64_t) noexcept {}
  using unseen = host;
  using section = base::locked<host>;
  using stand_ins = no_stand_ins;
  template <class T, unsigned Bits> using by_word = by_hash<T, Bits>;

  // Whether this is a child of the process that made the machine: its threads do not exist here.
  [[nodiscard]] bool forked() const noexcept;

  // What it is asked (machine.hpp). One reserve, which takes the place of submitters that block.
  [[nodiscard]] static constexpr bool sees_calls() noexcept { return false; }
  [[nodiscard]] static constexpr bool admits_strangers() noexcept { return true; }
  [[nodiscard]] static constexpr bool has_helpers() noexcept { return true; }
  [[nodiscard]] static constexpr bool has_alarms() noexcept { return false; }
  [[nodiscard]] static constexpr bool keeps_order() noexcept { return false; }
  [[nodiscard]] static constexpr bool takes_charges() noexcept { return false; }
  [[nodiscard]] static bool offers_barrier() noexcept { return barrier_everywhere(); }
  [[nodiscard]] static constexpr unsigned reserves() noexcept { return 1; }
  [[nodiscard]] static constexpr std::size_t idle_stacks_max() noexcept { return base::idle_stacks_max; }

  // A call of the program: nothing here has to know of it.
  struct call {
    explicit call(host&) noexcept {}
  };
  [[nodiscard, gnu::always_inline]] static detail::worker* inline_self() noexcept { return detail::self(); }
  static void seat(unsigned, detail::worker*) noexcept {}
  static void set_program_stack(fiber&) noexcept {}
  [[nodiscard]] static fiber& stack(unsigned, fiber& of_thread) noexcept { return of_thread; }
  [[nodiscard]] static const char* name() noexcept { return "host"; }

  // Makes threads for workers 1..n-1 that wait for run(); gives the number of workers there are then, fewer than n if
  // the system refuses threads. `cpus`: what to bind worker i to, or empty.
  [[nodiscard]] unsigned start(unsigned n, entry e, void* engine, const std::vector<unsigned>& cpus);
  void run() noexcept;      // lets the threads go
  void dismiss() noexcept;  // in place of run(): they end, and no entry is called
  // Makes the thread of a worker beyond the n of start(), which begins at once. Who: one thread at a time, after run().
  // Returns whether there is one now; if the system refuses, that is said once.
  [[nodiscard]] bool start_one(unsigned id);
  // Makes a thread that is no worker and counts as none; it begins at once. If the system refuses, there is none. Who:
  // one thread, once, after run().
  void start_helper(void (*entry_point)(void*), void* argument);
  // Where workers are bound: that thread, made or to be made, runs on the caller's core from now on, or anywhere.
  // Who: as start_one().
  void bring_reserve(bool to_caller) noexcept;
  // Where workers are bound: the caller stays on its core, although it blocks and its core has another thread to run,
  // until this ends. Otherwise Linux wakes it on a core that is idle, far from what it has in its caches.
  class stay {
   public:
    stay(host& machine, bool wanted) noexcept;
    ~stay();
    stay(const stay&) = delete;
    stay& operator=(const stay&) = delete;

   private:
    bool bound_ = false;
    cpu_set_t before_;
  };
  // The CPU that worker `id` is bound to, or that is left for the main thread, which is not; -1: workers are not bound.
  [[nodiscard]] int cpu_of(unsigned id) const noexcept;
  // How many CPUs there are where workers are not bound.
  [[nodiscard]] unsigned usable_cpus() const noexcept;
  // The caller runs on these CPUs and no other until this ends, on whatever thread; on any as before if one is -1.
  // Threads that it makes meanwhile do, too, for good. Cost: three system calls. If the system refuses, nothing.
  class on_cpus {
   public:
    explicit on_cpus(std::span<const int> cpus) noexcept;
    ~on_cpus();
    on_cpus(const on_cpus&) = delete;
    on_cpus& operator=(const on_cpus&) = delete;

   private:
    int thread_ = 0;  // of the system; 0: it was left alone
    cpu_set_t before_;
  };
  void join() noexcept;  // returns when all entries have returned

  [[nodiscard]] std::uint64_t now_ps() const noexcept;
  [[nodiscard]] std::uint64_t program_now_ps() const noexcept { return now_ps(); }
  void park(unsigned id) noexcept;
  void doze(unsigned id) noexcept { park(id); }
  void wake(unsigned id) noexcept;
  static void alarm(std::uint64_t) noexcept {}
  [[nodiscard]] static constexpr bool rang(unsigned) noexcept { return false; }
  // Worker 0's thread begins to run tasks: it leaves the core that another worker is bound to.
  void settle() const noexcept;
  // For a thread that is no worker: sleeps until signal(word), which may come first.
  static void block(cell<std::uint32_t>& word) noexcept;
  // The same for at most so long; gives whether the signal came.
  static bool block_for(cell<std::uint32_t>& word, std::uint64_t ns) noexcept;
  static void signal(cell<std::uint32_t>& word) noexcept;

  void jump(unsigned, fiber& from, fiber& to, fiber::action* after) { from.jump(to, after); }
  // Time that the threads of workers 1 and up have spent on cores so far.
  [[nodiscard]] std::uint64_t busy_ns() noexcept;
  // The same of the thread that start_one() made.
  [[nodiscard]] std::uint64_t reserve_busy_ns() noexcept;
  // Every running thread of this process passes a full barrier before this returns. False: the system has no such call.
  static bool barrier_everywhere() noexcept;
  static void charge(std::uint64_t, std::span<const data_use> = {}) noexcept {}
  static void renew_data(detail::handle_state& h) noexcept;
  static void require_whole() noexcept {}  // times are the clock's
  static void begin_body(const detail::record&) noexcept {}
  static void end_body(const detail::record&) noexcept {}
  static void end_member(const detail::record&, const detail::record&, unsigned) noexcept {}
  static void enter_runtime() noexcept {}
  static void leave_runtime() noexcept {}
  [[nodiscard]] static machine_counts counts() noexcept { return {}; }

 private:
  struct threads;
  std::unique_ptr<threads> threads_;
};

}  // namespace weft::machine
