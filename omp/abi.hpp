// What GCC's generated code and libgomp's callers agree on: numbers in flags and lists, as g++ -fdump-tree-optimized
// shows them.
#pragma once
#include <cstdint>

#include "omp/team.hpp"

#define WEFT_OMP __attribute__((visibility("default")))

namespace weft::omp {

inline constexpr unsigned task_untied = 1, task_final = 2, task_mergeable = 4, task_depend = 8, task_priority = 16,
                          task_up = 256, task_grainsize = 512, task_if = 1024, task_nogroup = 2048,
                          task_reduction = 4096, task_detach = 8192, task_strict = 16384;
inline constexpr unsigned cancel_parallel = 1, cancel_loop = 2, cancel_sections = 4, cancel_taskgroup = 8;
inline constexpr std::uint32_t schedule_monotonic = 0x80000000U;

// The arguments of GOMP_task, of which old code gives fewer: what its flags do not announce is not looked at.
struct task_call {
  function f;
  void* data;
  void (*copy)(void*, void*);
  long size, align;
  bool deferred;
  unsigned flags;
  void** depend;
  int priority;
  void* detach;
};

// A loop's iterations: the k-th has the value first + k * step, in unsigned arithmetic for both of the compiler's
// types.
struct iterations {
  std::uint64_t first, step, count;
};
[[nodiscard]] inline iterations signed_iterations(long start, long end, long step) noexcept {
  const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(end),
             by = static_cast<std::uint64_t>(step);
  if (step > 0) return {from, by, end > start ? (to - from - 1) / by + 1 : 0};
  return {from, by, end < start ? (from - to - 1) / (0 - by) + 1 : 0};
}
[[nodiscard]] inline iterations unsigned_iterations(bool up, std::uint64_t from, std::uint64_t to,
                                                    std::uint64_t step) noexcept {
  if (up) return {from, step, to > from ? (to - from - 1) / step + 1 : 0};
  return {from, step, to < from ? (from - to - 1) / (0 - step) + 1 : 0};
}

void begin_group(task& t, group& g, bool is_taskgroup);
void end_group(task& t);

// Memory for the parts of a task reduction, one for each thread of the team; g: who looks for them there.
void register_reductions(team& of, group* g, std::uintptr_t* list);
void unregister_reductions(std::uintptr_t* list) noexcept;

}  // namespace weft::omp
