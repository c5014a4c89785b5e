// What the runtime object needs from an engine, whatever its machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/limits.hpp"
#include "memory/home.hpp"
#include "sched/admit/decoupled.hpp"
#include "sched/balance/rules.hpp"
#include "trace/live_page.hpp"
#include "weft/counts.hpp"
#include "weft/data_use.hpp"
#include "weft/detail/worker.hpp"

namespace weft::sched {

struct engine_setup {
  unsigned workers_wanted;
  std::uint64_t seed;
  std::size_t window_tasks;
  std::size_t stack_bytes;
  std::uint64_t search_ns;  // that an idle worker looks for work before it sleeps
  bool bound = false;       // worker threads are bound to the cores of their places
  bool decoupled = false;   // one worker creates the tasks that all submit
  unsigned creator = 0;     // its number; 0: the last
  std::uint32_t deque_slots = base::deque_capacity_first;
  std::uint32_t deque_slots_max = base::deque_capacity_max;
  bool top = false;            // others may look at the counters
  std::uint64_t stuck_ns = 0;  // after so long without a task that begins or ends that is said; 0: never
  sched::rules rules{};
};

// Somebody who looks at an engine's counters, from a thread of his own. Gone, no look is under way or begins.
struct onlooker {
  virtual ~onlooker() = default;
};

struct any_engine : detail::engine_base, decoupled {
  memory::machine_shape machine_memory;       // who makes the engine knows the machine
  std::unique_ptr<sched::onlooker> onlooker;  // the same; it goes before the workers do
  ~any_engine() override = default;
  // Whether the calling thread may end it now: neither it nor the thread that made it is inside. If not, no further
  // task begins.
  [[nodiscard]] virtual bool can_end() noexcept = 0;
  [[nodiscard]] virtual unsigned workers() const noexcept = 0;
  [[nodiscard]] virtual const char* machine_name() const noexcept = 0;
  [[nodiscard]] virtual double now_ns() const noexcept = 0;
  [[nodiscard]] virtual run_counts statistics() const noexcept = 0;
  // A rule has decided something for the calling thread's worker.
  virtual void decides(by r) noexcept = 0;
  virtual void charge(std::uint64_t ps, std::span<const data_use> uses) = 0;
  // -1: tasks are created by those who submit them.
  [[nodiscard]] virtual int creator() const noexcept = 0;
  virtual void charge_program(std::uint64_t ps) noexcept = 0;
  [[nodiscard]] virtual void* workspace(std::size_t bytes) = 0;
  // nullptr if nothing is recorded.
  [[nodiscard]] virtual const char* trace_path() const noexcept = 0;
  virtual void write_trace() = 0;
  // What the counters are at the moment, a row for each seat (join/live_view.hpp). Who: one thread at a time, any.
  virtual void look(trace::live_head& head, std::span<trace::live_row> rows) = 0;
  [[nodiscard]] virtual unsigned seats() const noexcept = 0;
};

// The same for whoever does not know the engine.
inline void decides(by r) noexcept {
  detail::worker* const w = detail::self();
  if (w != nullptr && w->engine != nullptr) static_cast<any_engine&>(*w->engine).decides(r);
}

}  // namespace weft::sched
