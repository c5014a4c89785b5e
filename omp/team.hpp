// Teams of threads, and what each of their threads knows. A region of n threads runs on a weft::runtime of n workers,
// its crew: member i is a task that is pinned to worker i, so it keeps its thread, and with it what is threadprivate,
// however often it waits. A member that waits is set aside like any body, and its worker runs tasks meanwhile. A region
// of one thread is a call; tasks in it are calls too.
//
//   thread   what a thread of the system is at: a task, and its number in the team
//   task     an implicit one (a member), or an explicit one while its body runs; lives where it runs
//   team     what the members of one region share: barriers, worksharing constructs
//   crew     a runtime with its team, kept for the next region of so many threads
//   root     a thread that is in no region: its own team of one, and the crews that it has made
#pragma once
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "omp/depends.hpp"
#include "omp/settings.hpp"
#include "weft/finish_scope.hpp"
#include "weft/weft.hpp"

namespace weft::omp {

struct crew;
struct task;
struct team;

using function = void (*)(void*);

// A taskgroup, or what a worksharing construct with task reductions opens. Lives from its start to its end.
struct group {
  group* outer = nullptr;
  task* owner = nullptr;
  std::uintptr_t* reductions = nullptr;
  std::atomic<bool> cancelled{false};
  bool is_taskgroup = true;
  std::unique_ptr<finish_scope> scope;  // empty where tasks are calls
};

struct task {
  team* of = nullptr;
  const controls* icv = nullptr;
  group* groups = nullptr;
  depends* edges = nullptr;  // of its children
  bool is_final = false;
  bool is_implicit = false;
  bool is_untied = false;
  bool has_children = false;  // that it has not waited for
};

// A worksharing construct that some member has met and not all have left.
struct workshare {
  // 4 * (how often the place was used) + phase: nobody has come, somebody sets it up, it is ready.
  std::atomic<std::uint64_t> ticket{0};
  std::uint64_t count = 0, first = 0, step = 0, chunk = 0;  // iteration k has the value first + k * step
  schedule kind = schedule::fixed;
  bool is_ordered = false;
  std::atomic<bool> cancelled{false};
  alignas(64) std::atomic<std::uint64_t> next{0};      // iteration that nobody has, or section
  alignas(64) std::atomic<std::uint64_t> in_order{0};  // iterations before this one are through
  std::atomic<unsigned> left{0};
  void* shared = nullptr;                       // copyprivate; the base of reductions
  std::vector<unsigned char> memory;            // that the construct asked for
  std::unique_ptr<std::atomic<bool>[]> posted;  // doacross: by iteration vector, as one number
  std::vector<std::uint64_t> extents;
};

// Where a member is in the worksharing construct that it is in.
struct position {
  std::uint64_t met = 0;  // how many it has met
  workshare* share = nullptr;
  std::uint64_t index = 0;
  std::uint64_t round = 0;         // static: its chunks so far
  std::uint64_t from = 0, to = 0;  // the chunk that it is at
  bool has_chunk = false;
};

struct alignas(64) member {
  enum word_value : unsigned { gone, spinning, called };
  std::atomic<unsigned> word{gone};  // whether its body looks for the next region
  std::atomic<bool> asleep{false};
  event* wake = nullptr;
  task implicit;
  position at;
  alignas(64) std::atomic<std::uint64_t> made{0};   // tasks, by this thread
  alignas(64) std::atomic<std::uint64_t> ended{0};  // on this thread
  bool is_over_limit = false;
};

struct team {
  team(unsigned n, member* all, workshare* ring, unsigned ring_size)
      : size(n), members(all), shares(ring), share_count(ring_size) {}
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  const unsigned size;
  member* const members;
  workshare* const shares;
  const unsigned share_count;
  crew* of = nullptr;     // nullptr: its tasks are calls
  team* outer = nullptr;  // of the task that met the region
  unsigned outer_number = 0;
  unsigned level = 0, active_level = 0;
  unsigned league = 1, league_number = 0;
  function body = nullptr;
  void* data = nullptr;
  alignas(64) std::atomic<unsigned> arrived{0};
  alignas(64) std::atomic<unsigned> turn{0};  // of barriers
  std::atomic<bool> has_tasks{false};         // since the last barrier
  std::atomic<bool> cancelled{false};
  alignas(64) std::atomic<unsigned> inside{0};  // members but 0 whose region is not over
  std::atomic<unsigned> sleepers{0};
  std::mutex lock;  // guards what follows
  std::vector<std::unique_ptr<controls>> renewed;
  std::vector<std::unique_ptr<event>> events;  // of tasks that complete with one
  std::vector<std::unique_ptr<depends>> orphans;

  // Whoever sleeps in await() looks again.
  void wake_sleepers() noexcept;
};

struct thread {
  task* now = nullptr;  // nullptr: nothing of OpenMP yet
  unsigned number = 0;
};

[[nodiscard]] runtime& runtime_of(const team& t) noexcept;

// The calling thread. Out of line, because a task that waited may be on another one.
[[nodiscard]] thread& here_raw() noexcept;
[[nodiscard]] thread& begin_root() noexcept;
[[nodiscard]] inline thread& here() noexcept {
  thread& t = here_raw();
  return t.now != nullptr ? t : begin_root();
}

// Before the body of t waits: if it is tied, it stays on this worker.
void before_wait(const task& t) noexcept;
// t goes on, after whatever may have run others on its thread.
void goes_on(task& t) noexcept;
// Returns when the children of t are done, with theirs.
void wait_for_children(task& t) noexcept;
// Where tasks are calls: until the events that complete some of them are fulfilled.
void wait_for_events(task& t) noexcept;
// All members meet. Returns whether the region is cancelled.
bool barrier(thread& th) noexcept;

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks until `is_true`, and lets tasks of this worker run meanwhile. For waits that others end soon.
template <class F> void poll(task& t, F is_true) noexcept {
  for (unsigned i = 0; i < 2000 && set().spins && t.of->size <= set().cpus; ++i) {
    if (is_true()) return;
    relax();
  }
  while (!is_true()) {
    before_wait(t);
    yield();
    goes_on(t);
    if (is_true()) return;
    sched_yield();
  }
}

// How many threads a region that is met by t gets; asked: its num_threads clause, 0 for none.
[[nodiscard]] unsigned threads_for(const task& t, unsigned asked) noexcept;
// Called before the region begins, with its team: what the construct is to find set up.
struct preparation {
  void (*call)(team& of, void* with) = nullptr;
  void* with = nullptr;
};
void parallel(function f, void* data, unsigned threads, preparation before = {}) noexcept;

// The controls of t, for its own changes.
[[nodiscard]] controls& own_controls(task& t);

}  // namespace weft::omp
