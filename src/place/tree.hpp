// The place tree: where workers sit relative to each other. machine > memory node > shared cache > core.
// On the host it comes from hwloc, on a modelled machine from its description. Policies ask it for neighbours.
#pragma once
#include <cstdint>
#include <vector>

namespace weft::place {

struct core {
  unsigned cpu = 0;    // operating system's index; for binding
  unsigned cache = 0;  // number of the outermost shared cache
  unsigned node = 0;   // number of the memory node
};

class tree {
 public:
  // One worker per core, in this order; more workers than cores wrap around. Needs at least one core. `apart` has the
  // class of distance between two memory nodes, 1 for the nearest others; empty: all others are equally far.
  tree(std::vector<core> cores, unsigned workers, std::vector<std::vector<unsigned>> apart = {});

  [[nodiscard]] unsigned workers() const noexcept { return static_cast<unsigned>(seat_.size()); }
  [[nodiscard]] const core& of(unsigned worker) const noexcept { return seat_[worker]; }
  // Memory nodes, numbered from 0, and the one that a worker sits at.
  [[nodiscard]] unsigned nodes() const noexcept { return nodes_; }
  [[nodiscard]] unsigned node_of(unsigned worker) const noexcept { return seat_[worker].node; }
  // All memory nodes of the machine, also those without workers, and which node with workers is nearest to one of them.
  [[nodiscard]] unsigned memory_nodes() const noexcept { return static_cast<unsigned>(served_by_.size()); }
  [[nodiscard]] unsigned served_by(unsigned node) const noexcept { return served_by_[node % served_by_.size()]; }
  // How far the memory of one node is from the cores of another: 0 its own, then by class.
  [[nodiscard]] unsigned apart(unsigned node, unsigned other) const noexcept;
  // Leaves: the shared caches that have workers, numbered from 0, and the workers at one of them.
  [[nodiscard]] unsigned leaves() const noexcept { return static_cast<unsigned>(leaf_workers_.size()); }
  [[nodiscard]] unsigned leaf_of(unsigned worker) const noexcept { return leaf_[worker]; }
  [[nodiscard]] const std::vector<std::uint16_t>& at_leaf(unsigned leaf) const noexcept { return leaf_workers_[leaf]; }
  // 0 the same core, 1 a shared cache, 2 a memory node, 3 the machine: a node of class 1, 4 one of class 2, and so on.
  [[nodiscard]] unsigned distance(unsigned a, unsigned b) const noexcept;
  // The other workers, nearest first; those of equal distance in cyclic order from `worker`.
  [[nodiscard]] const std::vector<std::uint16_t>& neighbours(unsigned worker) const noexcept { return near_[worker]; }

 private:
  void find_leaves();
  void find_servers(std::size_t memory_nodes);

  std::vector<core> seat_;
  unsigned nodes_ = 0;
  std::vector<std::vector<unsigned>> apart_;
  std::vector<std::vector<std::uint16_t>> near_;
  std::vector<unsigned> served_by_;
  std::vector<unsigned> leaf_;
  std::vector<std::vector<std::uint16_t>> leaf_workers_;
};

// The same cores in the same cyclic order, beginning with `cpu` if it is among them.
[[nodiscard]] std::vector<core> starting_at(std::vector<core> cores, unsigned cpu);

}  // namespace weft::place
