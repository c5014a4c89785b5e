// Which task waits for which: the edges of a graph, and what follows from its accesses. Of k tasks that each wait for m
// others there are k + m links and not k * m: between two groups of accesses to a datum there is a meeting point, to
// which each task of the first leads, and which leads to each task of the second.
#pragma once
#include <span>
#include <vector>

#include "graph.hpp"

namespace weft::tool::foreign {

// Accesses by task and datum, one each: a task that reads and writes a datum writes it. Edges sorted, each once, and
// none that the accesses bring anyway. Who: before a dependences is made.
void normalise(graph& g);

class dependences {
 public:
  explicit dependences(const graph& g);

  // Nodes below tasks() are the graph's tasks, the others meeting points.
  [[nodiscard]] index tasks() const noexcept { return tasks_; }
  [[nodiscard]] index nodes() const noexcept { return static_cast<index>(before_.size()); }
  [[nodiscard]] std::span<const index> after(index node) const noexcept {
    return std::span(after_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  // Of each node, how many lead to it.
  [[nodiscard]] const std::vector<index>& before() const noexcept { return before_; }

 private:
  void add_accesses(const graph& g, std::vector<edge>& links);

  index tasks_;
  std::vector<index> first_, after_, before_;
};

// Counts what nodes wait for down, as tasks end. Meeting points are passed through.
class countdown {
 public:
  explicit countdown(const dependences& d) : d_(d), unmet_(d.before()) {}

  // Calls `ready` with each task that waits for none.
  template <class Ready> void begin(Ready ready) {
    for (index t = 0; t < d_.tasks(); ++t)
      if (unmet_[t] == 0) ready(t);
  }
  // The task has ended. Calls `ready` with each that waited for it last.
  template <class Ready> void end(index task, Ready ready) {
    passed_.push_back(task);
    while (!passed_.empty()) {
      const index n = passed_.back();
      passed_.pop_back();
      for (const index next : d_.after(n))
        if (--unmet_[next] == 0) next < d_.tasks() ? ready(next) : passed_.push_back(next);
    }
  }
  // Of each node, what it waits for still.
  [[nodiscard]] const std::vector<index>& unmet() const noexcept { return unmet_; }

 private:
  const dependences& d_;
  std::vector<index> unmet_, passed_;
};

// The tasks in an order in which none comes before one that it waits for: that of the file, or as near to it as can be.
// Errors: weft::error that names a circle.
[[nodiscard]] std::vector<index> submission_order(const graph& g, const dependences& d);

// The longest sum of durations of tasks that wait for each other. Who: when there is no circle.
[[nodiscard]] ns longest_chain(const graph& g, const dependences& d);

}  // namespace weft::tool::foreign
