// The place tree: where workers sit relative to each other. machine > memory node > shared cache > core.
// On the host it comes from hwloc, on a modelled machine from its description. Policies ask it for neighbours.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace weft::place {

struct core {
  unsigned cpu = 0;    // operating system's index; for binding
  unsigned cache = 0;  // number of the outermost shared cache
  unsigned node = 0;   // number of the memory node
};

// What is known of the memory at those nodes.
struct memory_facts {
  // What a line costs that is read, or written, over each class of distance, in any unit; empty: as many as the class,
  // and to write what it costs to read.
  std::vector<std::uint64_t> read_line{}, write_line{};
  std::uint64_t unit_bytes = 4096;  // of which each is whole on one node
  // Asks where the page of that address is; nullptr where there is nobody to ask.
  std::optional<unsigned> (*node_of)(const void*) = nullptr;
};

class tree {
 public:
  // One worker per core, in this order; more workers than cores wrap around. Needs at least one core. `apart` has the
  // class of distance between two memory nodes, 1 for the nearest others; empty: all others are equally far.
  tree(std::vector<core> cores, unsigned workers, std::vector<std::vector<unsigned>> apart = {},
       memory_facts facts = {});

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
  // What a line of one node's memory costs a core of another, by memory_facts.
  [[nodiscard]] std::uint64_t read_cost(unsigned node, unsigned memory) const noexcept {
    return cost(facts_.read_line, node, memory);
  }
  [[nodiscard]] std::uint64_t write_cost(unsigned node, unsigned memory) const noexcept {
    return cost(facts_.write_line.empty() ? facts_.read_line : facts_.write_line, node, memory);
  }
  [[nodiscard]] std::uint64_t unit_bytes() const noexcept { return facts_.unit_bytes; }
  // The node that has the page of p, if that is known to anybody. Cost: a system call.
  [[nodiscard]] std::optional<unsigned> node_of_page(const void* p) const {
    return facts_.node_of == nullptr ? std::nullopt : facts_.node_of(p);
  }
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
  [[nodiscard]] std::uint64_t cost(const std::vector<std::uint64_t>& by_class, unsigned node,
                                   unsigned memory) const noexcept;

  std::vector<core> seat_;
  unsigned nodes_ = 0;
  std::vector<std::vector<unsigned>> apart_;
  memory_facts facts_;
  std::vector<std::vector<std::uint16_t>> near_;
  std::vector<unsigned> served_by_;
  std::vector<unsigned> leaf_;
  std::vector<std::vector<std::uint16_t>> leaf_workers_;
};

// The same cores in the same cyclic order, beginning with `cpu` if it is among them.
[[nodiscard]] std::vector<core> starting_at(std::vector<core> cores, unsigned cpu);

}  // namespace weft::place
