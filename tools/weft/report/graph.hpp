// What had to come before what, and how long the longest chain of it is. Nodes are pieces (pieces.hpp), the moments at
// which a handle reaches a version, and the moments at which a task and all below it are done. An edge says that its
// target cannot begin earlier. A group of n reads before m adds costs n + m edges, because they meet in the version;
// the dependencies view of the trace file would have n * m.
// Known to the trace and used: versions, submission (a child begins no earlier than its parent had come that far),
// waits, and for adds to one handle, which exclude each other, the order in which they ran. Not used: workers, the
// window, resources. So the longest chain, the span, is what the run would take on ever more workers that cost nothing.
#pragma once
#include "pieces.hpp"

namespace weft::tool::report {

// Of each access: the moment it needs and the moment it helps to bring about; none where nobody does.
struct moments {
  std::vector<std::uint32_t> needs, brings;
  std::uint32_t count = 0;
};
[[nodiscard]] moments find_moments(const trace::file& r);

// Adds to one handle and version run one at a time. Of each access: the task whose add came before; none.
[[nodiscard]] std::vector<std::uint32_t> add_before(const trace::file& r);

// Of each task: when it and all tasks below it were done.
[[nodiscard]] std::vector<ns> wholly_done(const trace::file& r, const std::vector<std::uint32_t>& parents_first);

// Whether a task keeps its versions back until its children are done (clause `subtasks`). Traces of format 1 have no
// word for it: taken as so if it has children that outlasted it, and nobody who needed its versions began before the
// last was done.
[[nodiscard]] std::vector<bool> holds_back(const trace::file& r, const moments& m,
                                           const std::vector<std::uint32_t>& adds, const std::vector<ns>& wholly);

struct step {
  std::uint32_t piece;
  ns time;  // of the piece, on the path: less than its length where a child continues the path
};

struct chain {
  ns span = 0;
  std::vector<step> steps;    // in time
  std::uint64_t circles = 0;  // nodes that had to be forced: 0, unless the file contradicts itself
};
// Cost: O(tasks + accesses + waits), some 20 bytes each.
[[nodiscard]] chain longest_chain(const trace::file& r, const pieces& p, const moments& m,
                                  const std::vector<std::uint32_t>& adds, const std::vector<bool>& holds);

// Of each task: when the last of what it had to wait for was done, at least its submission. Tasks not run: submission.
[[nodiscard]] std::vector<ns> ready_times(const trace::file& r, const moments& m,
                                          const std::vector<std::uint32_t>& adds, const std::vector<bool>& holds,
                                          const std::vector<ns>& wholly);

}  // namespace weft::tool::report
