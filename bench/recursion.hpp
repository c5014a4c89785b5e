// The recursive problems of the benchmark, each written once over a place that can fork:
//
//   at.fork(first, second)   calls first(place) and second(place), perhaps at the same time; a pair of their results
//
// A place is small and passed by value: weft::here in an envelope, or nothing at all. So every system runs the same
// calls in the same tree, and what differs is the fork alone. Nobody has a cut-off. A node with many children halves
// them by forks (sum_range): a fork has two branches in all systems, also where one could create eight tasks and wait
// once.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "problem.hpp"

namespace weft::bench {

// Keeps a compiler from seeing where a number comes from: a serial recursion would become a loop, or a call of a result
// it knows.
[[nodiscard]] inline value opaque(value x) noexcept {
  asm("" : "+r"(x));
  return x;
}

// leaf(place, i) for each i from first to last - 1, added up.
template <class Place, class Leaf> value sum_range(Place at, value first, value last, const Leaf& leaf) {
  if (last - first == 1) return leaf(at, first);
  const value middle = first + (last - first) / 2;
  const auto [a, b] = at.fork([first, middle, &leaf](Place p) { return sum_range(p, first, middle, leaf); },
                              [middle, last, &leaf](Place p) { return sum_range(p, middle, last, leaf); });
  return opaque(a) + opaque(b);
}

template <class Place> value fib(Place at, value n) {
  if (n < 2) return n;
  const auto [a, b] = at.fork([n](Place p) { return fib(p, n - 1); }, [n](Place p) { return fib(p, n - 2); });
  return opaque(a) + opaque(b);
}

// Unbalanced tree search. A node is a hash (SplitMix64) and has 8 children with a probability just below 1/8, else
// none: nobody can foresee where the tree is deep. The root has as many as the problem says.
namespace unbalanced {
inline constexpr value children = 8;
inline constexpr value seed = 12;
inline constexpr double probability = 0.1245;
[[nodiscard]] constexpr value mixed(value z) noexcept {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}
inline constexpr value root = mixed(seed);
inline constexpr auto threshold = static_cast<value>(probability * 18446744073709551616.0);
[[nodiscard]] constexpr bool is_inner(value node) noexcept { return node < threshold; }
[[nodiscard]] constexpr value child(value node, value i) noexcept { return mixed(node * 31 + i + 1); }

// What a node adds to the answer: 1 to the count of nodes in the low half, its hash to a sum in the high half.
[[nodiscard]] constexpr value counted(value node) noexcept { return (node >> 32 << 32) + 1; }

template <class Place> value search(Place at, value node) {
  if (!is_inner(node)) return counted(node);
  return counted(node) + sum_range(at, 0, children, [node](Place p, value i) { return search(p, child(node, i)); });
}
template <class Place> value search_all(Place at, value children_of_root) {
  return counted(root) + sum_range(at, 0, children_of_root, [](Place p, value i) { return search(p, child(root, i)); });
}
}  // namespace unbalanced

// Queens that do not threaten each other, a row after the other. The bits are columns: of the board, taken by a queen
// above, threatened from the upper left and from the upper right. The answer has the boards on the way in its low half
// and the solutions in its high half, so a branch without any solution cannot be lost unnoticed.
inline constexpr value one_solution = value{1} << 32;
template <class Place>
value queens(Place at, std::uint32_t all, std::uint32_t taken, std::uint32_t left, std::uint32_t right);

// The queen of the next row stands on one of the columns `open`: on the first of them, or on one of the rest.
template <class Place> value queens_on(Place at, std::uint32_t all, std::uint32_t taken, std::uint32_t left,
                                       std::uint32_t right, std::uint32_t open) {
  const std::uint32_t first = open & -open;
  const std::uint32_t rest = open ^ first;
  const auto on_first = [=](Place p) {
    return queens(p, all, taken | first, (left | first) << 1 & all, (right | first) >> 1);
  };
  if (rest == 0) return on_first(at);
  const auto [a, b] = at.fork(on_first, [=](Place p) { return queens_on(p, all, taken, left, right, rest); });
  return opaque(a) + opaque(b);
}
template <class Place>
value queens(Place at, std::uint32_t all, std::uint32_t taken, std::uint32_t left, std::uint32_t right) {
  if (taken == all) return one_solution + 1;
  const std::uint32_t open = all & ~(taken | left | right);
  return open == 0 ? 1 : 1 + queens_on(at, all, taken, left, right, open);
}

// A tree with ten children a node; the leaves have numbers, which are added up.
template <class Place> value skynet(Place at, value first, value leaves) {
  constexpr value ways = 10;
  if (leaves == 1) return first;
  const value part = leaves / ways;
  return sum_range(at, 0, ways, [first, part](Place p, value i) { return skynet(p, first + i * part, part); });
}

// C += A B by quarters of C; the two products that make a quarter come one after the other. The only recursion here
// whose leaves take longer than a fork.
struct product {
  const double* a;
  const double* b;
  double* c;
  std::size_t side, stride;
  static constexpr std::size_t leaf = 16;
  [[nodiscard]] product part(std::size_t row, std::size_t column, std::size_t inner) const noexcept {
    const std::size_t h = side / 2;
    return {a + (row * stride + inner) * h, b + (inner * stride + column) * h, c + (row * stride + column) * h, h,
            stride};
  }
  void compute() const noexcept;
};
// Returns the number of leaves.
template <class Place> value multiply(Place at, product x) {
  if (x.side == product::leaf) return x.compute(), 1;
  value leaves = 0;
  for (std::size_t inner = 0; inner < 2; ++inner)
    leaves += sum_range(
        at, 0, 4, [&x, inner](Place p, value quarter) { return multiply(p, x.part(quarter / 2, quarter % 2, inner)); });
  return leaves;
}

// A tree on the heap, made depth first; the sum of its numbers.
struct tree_node {
  value number = 0;
  std::unique_ptr<tree_node> left, right;
};
template <class Place> value tree_sum(Place at, const tree_node& n) {
  if (n.left == nullptr) return n.number;
  const auto [a, b] =
      at.fork([&n](Place p) { return tree_sum(p, *n.left); }, [&n](Place p) { return tree_sum(p, *n.right); });
  return n.number + opaque(a) + opaque(b);
}

// A recursive problem with its data and what must come out.
class recursion {
 public:
  explicit recursion(const problem& p);

  // One pass, from the root.
  template <class Place> [[nodiscard]] value run(Place at) {
    const value size = opaque(p_.length);
    switch (p_.form) {
    case shape::fib: return fib(at, size);
    case shape::uts: return unbalanced::search_all(at, size);
    case shape::queens: return queens(at, (1U << size) - 1, 0, 0, 0);
    case shape::skynet: return skynet(at, 0, size);
    case shape::matmul: return multiply(at, product{a_.data(), b_.data(), c_.data(), size, size});
    case shape::tree: return tree_sum(at, *tree_);
    default: return 0;
    }
  }
  [[nodiscard]] value expected() const noexcept { return expected_; }
  // Whether the data are what so many passes leave behind.
  [[nodiscard]] bool left_right(std::uint64_t passes) const;

 private:
  problem p_;
  value expected_;
  std::vector<double> a_, b_, c_;
  std::unique_ptr<tree_node> tree_;
};

// What the figure of a recursion is divided by, found without the recursions above.
[[nodiscard]] std::uint64_t recursion_tasks(const problem& p);

}  // namespace weft::bench
