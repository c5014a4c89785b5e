// A scheduling policy of the program's own: a table of functions that answer where a ready task goes, whom a worker
// without work robs, how much it takes, and how wide a team is. A policy decides when and where tasks run, never the
// order that versions demand; and it owns no queue, thread or clock. Every question has a default answer, which is what
// the policy `local` says, so a table names only what it does otherwise:
//
//   constexpr weft::policy ring{
//       .name = "ring",
//       .about = "rob the next worker by number, then the one after it",
//       .victim = [](void*, const weft::policy_places& places, unsigned self, unsigned i, weft::chance&) {
//         return (self + 1 + i) % places.workers();
//       }};
//   weft::add_policy(ring);
//   weft::runtime rt({.policy = "ring"});             // or WEFT_POLICY=ring, on real cores and on modelled ones
//
// Who calls the functions: any worker, several at once, at events and never per instruction. They may not throw, wait,
// submit or take a lock that a body holds. The same questions must get the same answers: what looks random is drawn
// from `chance`, never from time or addresses. Else no run can be replayed.
// An answer that cannot be followed - a worker or a node that is not there, an exception - is said once on stderr, and
// the default is taken in its place. SuperGlue §4.1; guide, page 6.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>

namespace weft {

namespace base {
class random;
}
namespace detail {
struct record;
}
namespace place {
class tree;
}

// Where a ready task goes.
struct destination {
  enum class queue : std::uint8_t { own, central, urgent, worker, node, pile };
  queue where = queue::own;
  std::uint16_t number = 0;  // of the worker or memory node
  bool bounded = false;      // for that worker if it has room, which others may steal; else own

  // The deque of the worker on which it became ready: that worker takes the newest first, thieves the oldest. Of a task
  // that became ready on a thread that is no worker: central.
  [[nodiscard]] static constexpr destination own() noexcept { return {}; }
  // The one queue that all workers share, oldest first.
  [[nodiscard]] static constexpr destination central() noexcept { return {queue::central}; }
  // Before all that are not urgent; what weft::priority says.
  [[nodiscard]] static constexpr destination urgent() noexcept { return {queue::urgent}; }
  // Only that worker runs it.
  [[nodiscard]] static constexpr destination worker(std::uint16_t id) noexcept { return {queue::worker, id}; }
  // For that worker if it has room; it may be stolen from there. Else own.
  [[nodiscard]] static constexpr destination pushed(std::uint16_t id) noexcept { return {queue::worker, id, true}; }
  // The queue of a memory node, oldest first; of one without workers, that of the nearest that has some.
  [[nodiscard]] static constexpr destination node(std::uint16_t n) noexcept { return {queue::node, n}; }
  // The pile of a memory node, newest first for its workers, oldest first for others.
  [[nodiscard]] static constexpr destination pile(std::uint16_t n) noexcept { return {queue::pile, n}; }
};

// Where a worker looks that has nothing in its own deque.
enum class search_levels : std::uint8_t {
  flat,         // the queues of memory nodes, if there are any, and of the machine, then all other workers
  near_to_far,  // its leaf, the queue of its node, the other leaves there, the queue of the machine, then as flat
  near_only,    // the same, but nothing of other nodes
  upwards,      // its leaf, the queue of its node, the queue of the machine, and nothing else
};
// Who must starve for a task with hints that could be a call to become a task.
enum class elasticity : std::uint8_t { none, leaf, node };

// The machine, as far as policies may know it. Numbers begin at 0. Cost: a call and a load.
class policy_places {
 public:
  explicit policy_places(const place::tree& tree) noexcept : tree_(tree) {}
  [[nodiscard]] unsigned workers() const noexcept;
  [[nodiscard]] unsigned nodes() const noexcept;                   // memory nodes that have workers
  [[nodiscard]] unsigned node_of(unsigned worker) const noexcept;  // worker < workers()
  // The i-th of the other workers, the nearest first; i + 1 < workers().
  [[nodiscard]] unsigned neighbour(unsigned worker, unsigned i) const noexcept;
  // 0 the same core, 1 a shared cache, 2 a memory node, 3 the machine: a node of class 1, 4 one of class 2, and so on.
  [[nodiscard]] unsigned distance(unsigned a, unsigned b) const noexcept;

 private:
  friend class policy_task;
  [[nodiscard]] unsigned served_by(unsigned node) const noexcept;
  const place::tree& tree_;
};

// A task, as far as policies may know it: what its clauses say. Valid during the call.
class policy_task {
 public:
  explicit policy_task(const detail::record& r) noexcept : r_(r) {}
  static constexpr unsigned nowhere = ~0u;

  struct datum {
    const void* address;  // of the handle; the same for all accesses to it
    std::size_t bytes;    // 0: nobody said
    unsigned node;        // the memory node where it lies; nowhere: it is not known, or lies on several
    bool written;         // by this task
  };
  [[nodiscard]] const char* name() const noexcept;  // nullptr: it has none
  [[nodiscard]] bool is_urgent() const noexcept;    // weft::priority above 0
  [[nodiscard]] unsigned accesses() const noexcept;
  [[nodiscard]] datum access(unsigned i) const noexcept;  // i < accesses()
  // The memory node of its hints (weft/near.hpp), with workers; nowhere: it has none, or they span nodes.
  [[nodiscard]] unsigned hinted_node(const policy_places& places) const noexcept;

 private:
  const detail::record& r_;
};

// Draws by the seed of the runtime; each worker has its own.
class chance {
 public:
  explicit chance(base::random& source) noexcept : source_(source) {}
  [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept;  // uniform in [0, n), n > 0

 private:
  base::random& source_;
};

// `state` is what make() returned for this runtime, or nullptr. A function that is nullptr gives the default answer.
struct policy {
  static constexpr unsigned nobody = ~0u;  // as `self`: a thread that is no worker

  const char* name;            // as options::policy and WEFT_POLICY have it: letters, digits, '_', '-'
  const char* about;           // one line for `weft info`
  bool follows_hints = false;  // whether it asks policy_task::hinted_node(): for those who compare policies

  // Once for each runtime, before and after all else. Errors: what make() throws, the constructor of the runtime
  // throws.
  void* (*make)(const policy_places& places) = nullptr;
  void (*end)(void* state) = nullptr;

  // r became ready on worker self, or nobody: where it goes. What its clauses fix (pin, priority) is stronger. Default:
  // own.
  destination (*ready)(void* state, const policy_places& places, unsigned self, const policy_task& r,
                       chance& draw) = nullptr;
  // self has no work: whom to rob as i-th of this sweep, 0 <= i < workers - 1. Over one sweep every other worker must
  // have a chance to be named, or its tasks may wait for it alone. Default: the nearest first.
  unsigned (*victim)(void* state, const policy_places& places, unsigned self, unsigned i, chance& draw) = nullptr;
  // self robs victim, where so many tasks are within reach: how many it takes, 1 to available. Default: half.
  unsigned (*how_many)(void* state, unsigned self, unsigned victim, unsigned available) = nullptr;
  // self begins r, a team of at least and at most so many workers: how many. Default: the most.
  unsigned (*width)(void* state, unsigned self, const policy_task& r, unsigned least, unsigned most) = nullptr;
  // The body of r, which did not wait, took so long on self. Where bodies are timed: all with a trace, else some.
  void (*ran)(void* state, unsigned self, const policy_task& r, double ns) = nullptr;

  search_levels levels = search_levels::flat;
  elasticity elastic = elasticity::none;  // not none: tasks with hints are plain calls while nobody near starves
  bool child_first = false;               // a task that a body submits runs before the rest of that body
};

// From now on runtimes can be made with this policy, and weft::policies() has it. p is copied; what it points to must
// outlive all runtimes. Who: any thread. Errors: weft::error if the name is empty, has other characters, or is taken,
// if `about` is missing, or after policies_max of them.
void add_policy(const policy& p);
inline constexpr std::size_t policies_max = 64;  // that programs add

}  // namespace weft
