// Random schedules for tests of a protocol. A few cores of the virtual machine run the code under test, without an
// engine; every shared access is a point where another core may go first, and the seed decides which. In
// weft_conformance interleavings are sequentially consistent. In weft_weak the same models run on a machine with weak
// memory (weak/README.md).
//
//   all_seeds(2000, [](std::uint64_t seed) -> const char* { ... return nullptr; });    nullptr: nothing wrong
//   CHECK(caught(2000, [](std::uint64_t seed) -> const char* { ... broken variant ... }));
//
// Seeds are 1..n, so a test passes or fails for everybody alike. WEFT_TEST_SEED=7 runs that seed alone, the line that a
// failure prints; WEFT_TEST_SEEDS=1000000 goes hunting.
#pragma once
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "base/random.hpp"
#include "machine/virtual/virtual.hpp"
#include "quick.hpp"
#include "sanitized.hpp"
#ifdef WEFT_CELL_WORDS
#include "weak/machine.hpp"
#endif

namespace weft::interleave {

using base::order;
using detail::cell;
using machine::virtual_machine;

#ifdef WEFT_CELL_WORDS
inline constexpr bool weak_memory = true;
class unsteady : public weak::machine_of_seed {
 public:
  using machine_of_seed::machine_of_seed;
};
[[nodiscard]] inline const char* race_seen() noexcept { return unsteady::take_fault(); }
#else
inline constexpr bool weak_memory = false;
[[nodiscard]] inline const char* race_seen() noexcept { return nullptr; }

// A virtual machine whose cores now and then stall before an access, for longer than another needs for a whole
// operation. Turns drawn evenly almost never hold one core back that long, and that is what most races need.
class unsteady : public virtual_machine {
 public:
  explicit unsteady(std::uint64_t seed) : virtual_machine({.seed = seed, .random_order = true}) {
    stalls_ = base::random(~seed);
  }

  template <class T> static T load(cell<T>& c, order o) { return stall(), virtual_machine::load(c, o); }
  template <class T> static void store(cell<T>& c, T v, order o) { stall(), virtual_machine::store(c, v, o); }
  template <class T> static T exchange(cell<T>& c, T v, order o) { return stall(), virtual_machine::exchange(c, v, o); }
  template <class T> static bool compare_exchange(cell<T>& c, T& expected, T v, order o) {
    return stall(), virtual_machine::compare_exchange(c, expected, v, o);
  }
  template <class T> static T fetch_add(cell<T>& c, T v, order o) {
    return stall(), virtual_machine::fetch_add(c, v, o);
  }
  template <class T> static T fetch_sub(cell<T>& c, T v, order o) {
    return stall(), virtual_machine::fetch_sub(c, v, o);
  }
  template <class T> static T fetch_or(cell<T>& c, T v, order o) { return stall(), virtual_machine::fetch_or(c, v, o); }
  template <class T> static T fetch_and(cell<T>& c, T v, order o) {
    return stall(), virtual_machine::fetch_and(c, v, o);
  }
  // A step of the owner of a deque that is no access of a machine's.
  static void between_steps() { stall(), virtual_machine::relax(1); }

 private:
  static void stall() {
    if (stalls_.below(24) != 0) return;
    for (std::uint32_t turns = stalls_.below(48); turns > 0; --turns) virtual_machine::relax(1);
  }
  static inline thread_local base::random stalls_{0};
};
#endif

// The same for a crew of workers: core 0 watches, so worker i is core i + 1. The barrier on all threads is a step like
// others where schedules are sequentially consistent.
class watched : public unsteady {
 public:
  using unsteady::unsteady;
  static bool barrier_everywhere() noexcept {
    if constexpr (weak_memory) return unsteady::barrier_everywhere();
    return between_steps(), true;
  }
  static bool offers_barrier() { return barrier_everywhere(); }
  void park(unsigned worker) { unsteady::park(worker + 1); }
  void doze(unsigned worker) { unsteady::doze(worker + 1); }
  void wake(unsigned worker) { unsteady::wake(worker + 1); }
};

// Whether something has been so at each turn for longer than a wake can be on its way. Who: core 0.
class calm {
 public:
  [[nodiscard]] bool for_long(bool is_so) noexcept {
    turns_ = is_so ? turns_ + 1 : 0;
    return turns_ >= 2000;
  }

 private:
  unsigned turns_ = 0;
};

// One run: cores 1..n call a body, core 0 counts turns. Core 0 never sleeps, so that "all asleep" is a state that the
// test can see and judge instead of a broken invariant of the machine.
template <class M> class play {
 public:
  explicit play(std::uint64_t seed) : machine_(seed), seed_(seed) {}

  [[nodiscard]] M& machine() noexcept { return machine_; }
  // The run is being ended: a body that sees this returns. A parked one is woken to see it.
  [[nodiscard]] bool over() const noexcept { return over_; }
  // Whether all bodies have returned.
  [[nodiscard]] bool all_left() const noexcept { return live_ == 0; }

  // Calls body(id) on cores 1..n. Returns whether done() came to hold before core 0 had `turns` turns.
  template <class Body, class Done> [[nodiscard]] bool run(unsigned n, Body body, Done done, unsigned turns = 1 << 16) {
    struct call {
      play* self;
      Body* body;
    } note{this, &body};
    virtual_machine* before = virtual_machine::set_current(&machine_);
    machine::fiber program;
    live_ = n;
    machine_.start(
        n + 1,
        [](void* engine, unsigned id) {
          call& c = *static_cast<call*>(engine);
          (*c.body)(id);
          --c.self->live_;
        },
        &note, std::size_t{64} << 10);
    machine_.set_program_stack(program);
    const bool held = wait(done, turns);
    over_ = true;
    for (unsigned id = 1; id <= n; ++id) machine_.virtual_machine::wake(id);
    if (!wait([this] { return live_ == 0; }, turns)) {
      std::fprintf(stderr, "seed %llu: a core is caught in an operation that does not end\n",
                   static_cast<unsigned long long>(seed_));
      std::abort();
    }
    machine_.join();
    static_cast<void>(virtual_machine::set_current(before));
    return held;
  }

 private:
  template <class Done> static bool wait(Done done, unsigned turns) {
    for (; turns > 0; --turns) {
      if constexpr (weak_memory) M::know_all();  // core 0 is no part of the protocol, but its judge
      if (done()) break;
      virtual_machine::relax(1);
    }
    return turns > 0;
  }

  M machine_;
  std::uint64_t seed_;
  unsigned live_ = 0;
  bool over_ = false;
};

// The schedules of a seed are the same in every build, so the plain one covers what a slower one leaves out.
inline constexpr unsigned slower = thread_sanitizer ? 40 : address_sanitizer ? 10 : 1;

[[nodiscard]] inline std::uint64_t variable(const char* name) noexcept {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

[[nodiscard]] inline std::string replay(std::uint64_t seed) {
  std::string name = doctest::getContextOptions()->currentTest->m_name;
  std::replace(name.begin(), name.end(), ',', '?');  // which stands for any one character: a comma would end the name
  return "replay: WEFT_TEST_SEED=" + std::to_string(seed) + " " + program_invocation_short_name + " --test-case=\"" +
         name + "\"";
}

// trial(seed) gives what is wrong, or nullptr. Fails the test case at the first seed with which something is.
template <class Trial> void all_seeds(unsigned n, Trial trial) {
  const std::uint64_t only = variable("WEFT_TEST_SEED");
  const std::uint64_t wanted = variable("WEFT_TEST_SEEDS");
  const std::uint64_t last = only != 0 ? only : wanted != 0 ? wanted : few(std::max(n / slower, 20u));
  for (std::uint64_t seed = only != 0 ? only : 1; seed <= last; ++seed) {
    const char* wrong = trial(seed);
    if (const char* race = race_seen()) wrong = race;
    if (wrong != nullptr) {
      FAIL_CHECK(std::string(wrong) << "; " << replay(seed));
      return;
    }
  }
  CHECK(last > 0);
}

// Whether trial, which is broken on purpose, fails for one of n seeds: a harness that cannot fail shows nothing.
// Where only one of tens of thousands does, the search begins shortly before it.
template <class Trial> [[nodiscard]] bool caught(unsigned n, Trial trial, std::uint64_t first = 1) {
  std::uint64_t seed = first;
  const char* wrong = nullptr;
  for (unsigned left = n; left > 0; --left) {
    wrong = trial(seed);
    if (const char* race = race_seen()) wrong = race;
    if (wrong != nullptr) break;
    seed = seed == n ? 1 : seed + 1;
  }
  if (wrong != nullptr && variable("WEFT_TEST_VERBOSE") != 0)
    MESSAGE("caught at seed " << seed << ": " << std::string(wrong));
  return wrong != nullptr;
}

}  // namespace weft::interleave
