// oneTBB's flow graph: a node per task, an edge to it from every task it depends on. A flow graph knows nodes and edges
// but no data, so who depends on whom is found here, from the last writer of each cell and its readers since, as a
// program would have to; that is part of the time. A node must have its edges before its predecessors run, so a pass is
// built, then started. Independent tasks go to a task_group, and so do the branches of recursions.
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include <algorithm>
#include <deque>

#include "system.hpp"

namespace weft::bench {

namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

class tbb_system {
 public:
  tbb_system(std::size_t cells, const settings& how)
      : threads_(tbb::global_control::max_allowed_parallelism, how.workers), arena_(static_cast<int>(how.workers)),
        cells_(cells), seen_(cells) {}

  template <class F> void inside(F f) { arena_.execute(f); }

  template <class Body> void independent_task(cell_index c, Body body) {
    group_.run(job(cells_.data(), std::array<cell_index, 0>{}, c, body));
  }

  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    node& n = nodes_.emplace_back(
        graph_, [run = job(cells_.data(), reads, writes[0], body)](const tbb::flow::continue_msg&) { run(); });
    earlier_.clear();
    for (cell_index c : reads) {
      after(seen_[c].writer, n);
      seen_[c].readers.push_back(&n);
    }
    for (cell_index c : writes) {
      after(seen_[c].writer, n);
      for (node* r : seen_[c].readers) after(r, n);
      seen_[c].readers.clear();
      seen_[c].writer = &n;
    }
    if (earlier_.empty()) roots_.push_back(&n);
  }

  void wait() {
    group_.wait();
    if (nodes_.empty()) return;
    for (node* n : roots_) n->try_put(tbb::flow::continue_msg{});
    graph_.wait_for_all();
    roots_.clear();
    nodes_.clear();
    for (cell_users& s : seen_) {
      s.writer = nullptr;
      s.readers.clear();
    }
  }
  [[nodiscard]] value cell(cell_index c) const { return cells_[c]; }

 private:
  struct cell_users {
    node* writer = nullptr;
    std::vector<node*> readers;  // since the writer
  };

  // One edge for a pair of tasks, however many cells they share.
  void after(node* first, node& second) {
    if (first == nullptr || std::find(earlier_.begin(), earlier_.end(), first) != earlier_.end()) return;
    earlier_.push_back(first);
    tbb::flow::make_edge(*first, second);
  }

  tbb::global_control threads_;
  tbb::task_arena arena_;
  tbb::task_group group_;
  tbb::flow::graph graph_;
  std::vector<value> cells_;
  std::vector<cell_users> seen_;
  std::vector<node*> earlier_;  // what the task being created depends on
  std::vector<node*> roots_;
  std::deque<node> nodes_;
};

}  // namespace

struct tbb_place {
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    std::invoke_result_t<Second, tbb_place> y{};
    tbb::task_group group;
    group.run([&] { y = second(tbb_place{}); });
    const auto x = first(tbb_place{});
    group.wait();
    return std::pair(x, y);
  }
};

namespace {

class tbb_forks {
 public:
  explicit tbb_forks(const settings& how)
      : threads_(tbb::global_control::max_allowed_parallelism, how.workers), arena_(static_cast<int>(how.workers)) {}

  template <class F> void inside(F f) { arena_.execute(f); }

  template <class F> value start(F f) { return f(tbb_place{}); }

 private:
  tbb::global_control threads_;
  tbb::task_arena arena_;
};

}  // namespace

std::vector<system_entry> systems_here() {
  const std::string version = std::string("oneTBB ") + TBB_runtime_version();
  return {entry_for<tbb_system>("tbb", version), recursions_for<tbb_forks>("tbb", version)};
}

}  // namespace weft::bench
