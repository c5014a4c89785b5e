// The eleven workloads of TaskGenX (Table 1) as graphs of tasks: the paper's numbers of tasks, their length, and what
// the runtime spends on each. The paper gives no graphs. Those of Cholesky and QR are textbook algorithms whose counts
// match to the task; the others are read from their counts and from what the programs are known to do, and
// workloads.cpp says of each which part is a guess.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::apps::taskgenx {

// Who takes the tasks of a graph, in program order. Data are cells, numbered from 0.
class receiver {
 public:
  using numbers = std::span<const unsigned>;  // of cells
  receiver() = default;
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;
  virtual ~receiver() = default;

  virtual void task(const char* name, double cycles, numbers reads, numbers writes) = 0;
  // A task that computes for so long, then submits `children` tasks without accesses, and is done when they are.
  virtual void parent(const char* name, double cycles, numbers reads, numbers writes, unsigned children,
                      double child_cycles) = 0;
  // The program goes on when all tasks so far are done.
  virtual void wait() = 0;
};

struct workload {
  const char* name;
  const char* problem;        // as Table 1 has it
  std::size_t tasks;          // of the whole
  double task_kcycles;        // mean length
  double create_cycles;       // what the creation of a task takes
  double dependences_cycles;  // dependences and scheduling of one
  double ratio;               // of a big core's speed to a little one's, as the paper measured it
  double r;                   // how much faster creation must be for 512 cores, as the table prints it
  std::size_t steps;          // frames, queries, temperatures; of a matrix: tiles a side
  unsigned alone;             // tasks beyond those of the algorithm
  void (*submit)(receiver& to, const workload& w, std::size_t steps);

  [[nodiscard]] double task_cycles() const noexcept { return task_kcycles * 1e3; }
  [[nodiscard]] double all_cycles() const noexcept { return create_cycles + dependences_cycles; }
  // Equation 1: creation that keeps 512 cores busy, against creation on a general core.
  [[nodiscard]] double needed_r() const noexcept { return create_cycles * 512 / task_cycles(); }
};

[[nodiscard]] std::span<const workload> workloads();
// Errors: weft::error, with the names there are.
[[nodiscard]] const workload& find_workload(std::string_view name);

}  // namespace weft::apps::taskgenx
