// A graph that runs again (weft/graph.hpp), of tasks of Python. A node is a job without a future, called once in each
// run. Its first node does nothing and writes the token: what reads the token comes after a whole run.
//
// A node that raises poisons what it writes, as a task does. That is undone when the next run begins.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>
#include <vector>

#include "core.hpp"

namespace weftrt {

class graph {
 public:
  // nodes: tuples of a function, its arguments and its keywords or None. Who: with the GIL, outside of tasks on a
  // modelled machine. Errors: as for submit().
  graph(core& of, nanobind::list nodes, nanobind::object token);
  ~graph();
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  // Submits a run. Who: as the constructor, one thread at a time.
  void submit();
  // The first failure of the run in the order of recording, or None. Who: the task that reads the token.
  nanobind::object take_failure();
  // Who: run_job().
  void call(job* j);
  // The runtime ends. Who: without the GIL.
  void end() noexcept { is_.reset(); }

  [[nodiscard]] std::shared_ptr<weftrt::scope>& scope() noexcept { return inside_; }  // what its nodes submit
  [[nodiscard]] std::size_t nodes() const;
  [[nodiscard]] std::size_t edges() const;
  [[nodiscard]] std::uint64_t runs() const;

 private:
  void record(weft::recorder& r, job* j, const task_clauses& said);
  void begin();
  [[nodiscard]] weft::graph& living() const;  // Errors: RuntimeError when the runtime has ended

  core& of_;
  nanobind::object token_;
  std::vector<job*> jobs_;
  std::shared_ptr<weftrt::scope> inside_;
  std::unique_ptr<weft::graph> is_;
  bool is_fresh_ = false;                                    // no node of the run has begun
  std::pair<std::uint64_t, PyObject*> failure_{0, nullptr};  // the first: which node, and what
  std::vector<std::pair<PyObject*, PyObject*>> poisoned_;    // Handle and cause, by the last run
};

}  // namespace weftrt
