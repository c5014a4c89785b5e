// OpenMP tasks with `depend`, compiled twice: by g++ for libgomp, by clang for libomp. All tasks come from one thread
// of a parallel region; the others wait at the end of its `single`, where OpenMP lets them execute tasks. A fork is a
// task, a call and a `taskwait`.
#include <omp.h>

#include "system.hpp"

namespace weft::bench {

namespace {

class openmp_system {
 public:
  openmp_system(std::size_t cells, const settings& how) : cells_(cells), workers_(static_cast<int>(how.workers)) {
    omp_set_dynamic(0);  // or the runtime may take fewer threads than asked for
  }

  template <class F> void inside(F f) const {
#pragma omp parallel num_threads(workers_)
#pragma omp single
    f();
  }

  template <class Body> void independent_task(cell_index c, Body body) {
    const job run(cells_.data(), std::array<cell_index, 0>{}, c, body);
#pragma omp task firstprivate(run)
    run();
  }

  // The clause wants its list spelled out, so there is one per form of task that the problems have.
  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    value* const c = cells_.data();
    const job run(c, reads, writes[0], body);
    const auto& r = reads;
    const auto& w = writes;
    if constexpr (R == 0 && W == 1) {
#pragma omp task firstprivate(run) depend(inout : c[w[0]])
      run();
    } else if constexpr (R == 0 && W == 3) {
#pragma omp task firstprivate(run) depend(inout : c[w[0]], c[w[1]], c[w[2]])
      run();
    } else if constexpr (R == 0 && W == 8) {
#pragma omp task firstprivate(run)                                                                                     \
    depend(inout : c[w[0]], c[w[1]], c[w[2]], c[w[3]], c[w[4]], c[w[5]], c[w[6]], c[w[7]])
      run();
    } else if constexpr (R == 1 && W == 1) {
#pragma omp task firstprivate(run) depend(in : c[r[0]]) depend(inout : c[w[0]])
      run();
    } else if constexpr (R == 2 && W == 1) {
#pragma omp task firstprivate(run) depend(in : c[r[0]], c[r[1]]) depend(inout : c[w[0]])
      run();
    } else {
      static_assert(R == 3 && W == 1);
#pragma omp task firstprivate(run) depend(in : c[r[0]], c[r[1]], c[r[2]]) depend(inout : c[w[0]])
      run();
    }
  }

  void wait() const {
#pragma omp taskwait
  }
  [[nodiscard]] value cell(cell_index c) const { return cells_[c]; }

 private:
  std::vector<value> cells_;
  int workers_;
};

}  // namespace

struct openmp_place {
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    std::invoke_result_t<Second, openmp_place> y{};
#pragma omp task shared(y, second)
    y = second(openmp_place{});
    const auto x = first(openmp_place{});
#pragma omp taskwait
    return std::pair(x, y);
  }
};

namespace {

class openmp_forks {
 public:
  explicit openmp_forks(const settings& how) : workers_(static_cast<int>(how.workers)) { omp_set_dynamic(0); }

  template <class F> void inside(F f) const {
#pragma omp parallel num_threads(workers_)
#pragma omp single
    f();
  }

  template <class F> value start(F f) { return f(openmp_place{}); }

 private:
  int workers_;
};

#ifdef __clang__

// Counted with two threads, how many of 100 tasks were run before their creator went on: 53 on uts, all of a million
// independent ones.
remark remarks(const problem& p, unsigned workers) {
  if (workers > 1 && p.form == shape::independent)
    return {.text = "libomp runs a task where it is created when its thread has many: here all", .comparable = false};
  if (workers > 1 && p.form == shape::uts)
    return {.text = "libomp runs a task where it is created when its thread has many: here every second",
            .comparable = false};
  if (workers > 1) return {};
  if (family_of(p) == family::recursions || p.form == shape::independent)
    return {.text = "libomp with one thread runs a task where it is created", .comparable = false};
  return {.text = "libomp with one thread runs a task where it is created and looks at no dependence",
          .comparable = false};
}
const std::string name = "libomp";
const std::string version = "libomp, clang " __clang_version__;

#else

// Measured with one thread: a task of the stencil on a ring of 4 takes 10 us when 2,000 are created before a wait, and
// 30 times as long when it is 16,000. Counted: on uts 96 of 100 tasks were run before their creator went on, of a
// million independent ones 99, none on the other recursions.
remark remarks(const problem& p, unsigned) {
  if (p.form == shape::uts || p.form == shape::independent)
    return {.text = "libgomp runs a task where it is created when many wait: here nearly all", .comparable = false};
  if (p.form != shape::stencil) return {};
  return {.tasks_max = 2'000,
          .text = "libgomp: 2000 tasks a pass, as its time per task grows with the tasks that read a cell"};
}
const std::string name = "libgomp";
const std::string version = "libgomp, gcc " __VERSION__;

#endif

}  // namespace

std::vector<system_entry> systems_here() {
  return {entry_for<openmp_system>(name, version, remarks), recursions_for<openmp_forks>(name, version, remarks)};
}

}  // namespace weft::bench
