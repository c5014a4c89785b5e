// Programs of threads on the chip of the Swarm paper (weft/lab/swarm.hpp) without its task units: what is written there
// with locks, barriers and atomic operations runs on the same cores, caches and network, so that both can be compared
// (MICRO 2015, §6.2, Fig. 12 and 13).
//
//   std::uint64_t sum = 0;
//   const weft::swarm_statistics s = weft::run_chip_threads([&](weft::chip_thread& t) {
//     t.fetch_add(sum, part_of(t.rank()));
//   });
//
// A thread for each core, one instruction a cycle, and what the program says of its loads and stores: an L1 hit takes
// no further time, all else takes what the caches, the directory and the network take. Who writes a line has it to
// itself until then: others that want it wait, so what all threads count on one word costs what it costs. Threads run
// one at a time on the thread that calls, each on a stack of 256 KiB.
//
// Order: atomic operations happen one after the other, in the order of the chip's time. What is loaded and stored
// plainly is for data that no other thread uses at that time; where another does, a load may be up to 256 cycles early.
// Numbers depend on the program, the options and where data lie within their pages of 4 KiB, and on nothing else.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "weft/lab/swarm.hpp"

namespace weft {

namespace detail {

// What a modelled core does for its thread.
class chip_thread_hooks {
 public:
  virtual void load(const void* from, std::size_t bytes) = 0;
  virtual void store(const void* to, std::size_t bytes) = 0;
  virtual void stored(const void* to, std::size_t bytes) = 0;
  virtual void atomic(const void* at, bool write) = 0;
  virtual void wait_for_store(const void* at) = 0;
  virtual void work(std::uint64_t instructions) = 0;
  virtual void* allocate(std::size_t bytes, std::size_t alignment) = 0;
  virtual void release(void* at, std::size_t bytes, std::size_t alignment) = 0;
  [[nodiscard]] virtual std::uint64_t cycle() const noexcept = 0;

 protected:
  ~chip_thread_hooks() = default;
};

}  // namespace detail

inline constexpr std::uint32_t chip_threads_max = 256;

// What a thread has of its core. Who: that thread, until its body returns. Each call may throw what unwinds a thread
// whose program has ended by an error: it is no std::exception, whoever catches it throws it on, and no destructor
// calls.
class chip_thread {
 public:
  chip_thread(detail::chip_thread_hooks& hooks, std::uint32_t rank, std::uint32_t count) noexcept
      : hooks_(hooks), rank_(rank), count_(count) {}
  chip_thread(const chip_thread&) = delete;
  chip_thread& operator=(const chip_thread&) = delete;

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t cycle() const noexcept { return hooks_.cycle(); }

  // Cost: an instruction for each word of 8 bytes, and what misses take.
  template <class T> [[nodiscard]] T load(const T& from) {
    static_assert(std::is_trivially_copyable_v<T>, "weft: what is loaded is copied as bytes");
    hooks_.load(&from, sizeof(T));
    return from;
  }
  template <class T> void store(T& to, const std::type_identity_t<T>& value) {
    static_assert(std::is_trivially_copyable_v<T>, "weft: what is stored is copied as bytes");
    hooks_.store(&to, sizeof(T));
    to = value;
    hooks_.stored(&to, sizeof(T));
  }
  // Instructions beside loads, stores and atomic operations.
  void work(std::uint64_t instructions) { hooks_.work(instructions); }

  // Cost: an instruction each, and what misses take, one writer of a line after the other.
  template <class T> [[nodiscard]] T atomic_load(const T& from) {
    require_atomic<T>();
    hooks_.atomic(&from, false);
    return from;
  }
  template <class T> void atomic_store(T& to, std::type_identity_t<T> value) {
    require_atomic<T>();
    hooks_.atomic(&to, true);
    to = value;
    hooks_.stored(&to, sizeof(T));
  }
  template <class T> T exchange(T& at, std::type_identity_t<T> value) {
    return change(at, [&](T) { return value; });
  }
  template <class T> T fetch_add(T& at, std::type_identity_t<T> more) {
    return change(at, [&](T there) { return static_cast<T>(there + more); });
  }
  // Stores `value` if `expected` is there; returns whether it was.
  template <class T> bool compare_exchange(T& at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    return change(at, [&](T there) { return there == expected ? value : there; }) == expected;
  }
  // Returns when something else than `old` is there. As a loop of loads that hit the core's own L1 until somebody
  // writes the line: it costs nobody anything, and a miss then.
  template <class T> T wait(const T& at, std::type_identity_t<T> old) {
    for (;;) {
      const T found = atomic_load(at);
      if (found != old) return found;
      hooks_.wait_for_store(&at);
    }
  }

  // Memory for n objects of T, not initialized. Cost: swarm_options::allocation. Errors: std::bad_alloc.
  template <class T> [[nodiscard]] T* allocate(std::size_t n = 1) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (n > SIZE_MAX / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(hooks_.allocate(n * sizeof(T), alignof(T)));
  }
  template <class T> void release(T* at, std::size_t n = 1) { hooks_.release(at, n * sizeof(T), alignof(T)); }

 private:
  template <class T> static void require_atomic() {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8 && alignof(T) == sizeof(T),
                  "weft: atomic operations are for numbers and pointers of at most 8 bytes");
  }
  template <class T, class Change> T change(T& at, const Change& to) {
    require_atomic<T>();
    hooks_.atomic(&at, true);
    const T before = at;
    const T after = to(before);
    if (after == before) return before;
    at = after;
    hooks_.stored(&at, sizeof(T));
    return before;
  }

  detail::chip_thread_hooks& hooks_;
  const std::uint32_t rank_, count_;
};

namespace detail {

using chip_thread_body = void (*)(const void* of, chip_thread& t);
swarm_statistics run_chip_threads(chip_thread_body body, const void* of, const swarm_options* chip);

}  // namespace detail

// Runs body(thread) on each core of the chip, and returns when all have returned: cycles; core_cycles, of which waits
// are `stall` and cores whose thread has ended `empty`; traffic. nullptr: the chip is what WEFT_SWARM says, or that of
// the paper. Errors: what a body threw first; weft::error for options that no chip can have, and where all threads
// wait.
template <class Body> swarm_statistics run_chip_threads(const Body& body, const swarm_options* chip = nullptr) {
  const auto call = [](const void* of, chip_thread& t) { (*static_cast<const Body*>(of))(t); };
  return detail::run_chip_threads(call, __builtin_addressof(body), chip);
}

// A lock that is looked at before it is tried. On a line of its own.
class alignas(64) chip_lock {
 public:
  void lock(chip_thread& t) {
    while (t.exchange(held_, 1) != 0) t.wait(held_, 1);
  }
  [[nodiscard]] bool try_lock(chip_thread& t) { return t.atomic_load(held_) == 0 && t.exchange(held_, 1) == 0; }
  void unlock(chip_thread& t) { t.atomic_store(held_, 0); }

 private:
  std::uint64_t held_ = 0;
};

// All threads of a chip wait for each other: a tree of counters, four to each, then one word that all watch.
class alignas(4096) chip_barrier {
 public:
  void arrive_and_wait(chip_thread& t) {
    const std::uint64_t round = t.atomic_load(round_.value);
    std::uint32_t at = t.rank(), among = t.count(), first = 0;
    for (; among > 1; first += (among + fan_in - 1) / fan_in, at /= fan_in, among = (among + fan_in - 1) / fan_in) {
      const std::uint32_t group = at / fan_in;
      const std::uint64_t expected = among - group * fan_in < fan_in ? among - group * fan_in : fan_in;
      std::uint64_t& arrived = counters_[first + group].value;
      if (t.fetch_add(arrived, 1) + 1 != expected) {
        t.wait(round_.value, round);
        return;
      }
      t.atomic_store(arrived, 0);
    }
    t.atomic_store(round_.value, round + 1);
  }

 private:
  static constexpr std::uint32_t fan_in = 4;
  struct alignas(64) counter {
    std::uint64_t value = 0;
  };
  counter round_;
  counter counters_[64 + 16 + 4 + 1];  // of chip_threads_max, floor by floor
};

}  // namespace weft
