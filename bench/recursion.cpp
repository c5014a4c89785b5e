// What must come out of the recursions, by other means: closed forms, the known numbers of queens, a walk of the
// unbalanced tree with a stack of its own, a product by three loops.
#include "recursion.hpp"

#include <array>
#include <cassert>
#include <utility>

namespace weft::bench {

namespace {

value fib_by_adding(value n) {
  value a = 0, b = 1;
  for (; n > 0; --n) {
    a += b;
    std::swap(a, b);
  }
  return a;
}

value walk_unbalanced(value children_of_root) {
  using namespace unbalanced;
  std::vector<value> open;
  for (value i = 0; i < children_of_root; ++i) open.push_back(child(root, i));
  value found = counted(root);
  while (!open.empty()) {
    const value node = open.back();
    open.pop_back();
    found += counted(node);
    for (value i = 0; is_inner(node) && i < children; ++i) open.push_back(child(node, i));
  }
  return found;
}

// Of boards with 0, 1, 2, ... columns: how many solutions there are (OEIS A000170).
constexpr std::array<value, 16> solutions = {1,  1,   0,   0,    2,      10,     4,       40,
                                             92, 352, 724, 2680, 14'200, 73'712, 365'596, 2'279'184};

// Boards with their first rows filled and no threat, the empty one among them.
std::uint64_t count_boards(value columns) {
  struct board {
    std::uint32_t taken, left, right;
  };
  const std::uint32_t all = (1U << columns) - 1;
  std::vector<board> open = {{0, 0, 0}};
  std::uint64_t boards = 0;
  while (!open.empty()) {
    const board b = open.back();
    open.pop_back();
    ++boards;
    for (std::uint32_t free = all & ~(b.taken | b.left | b.right); free != 0; free &= free - 1) {
      const std::uint32_t queen = free & -free;
      open.push_back({b.taken | queen, (b.left | queen) << 1 & all, (b.right | queen) >> 1});
    }
  }
  return boards;
}

std::uint64_t tree_nodes(value levels) { return (std::uint64_t{1} << levels) - 1; }

// Numbers the nodes 0, 1, 2, ... depth first.
std::unique_ptr<tree_node> make_tree(value levels, value& next) {
  auto node = std::make_unique<tree_node>();
  node->number = next++;
  if (levels == 1) return node;
  node->left = make_tree(levels - 1, next);
  node->right = make_tree(levels - 1, next);
  return node;
}

value sum_below(value n) { return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n; }

std::uint64_t leaf_products(std::uint64_t side) {
  const std::uint64_t parts = side / product::leaf;
  return parts * parts * parts;
}

value answer_of(const problem& p) {
  const value size = p.length;
  switch (p.form) {
  case shape::fib: return fib_by_adding(size);
  case shape::uts: return walk_unbalanced(size);
  case shape::queens: assert(size < solutions.size()); return solutions[size] * one_solution + count_boards(size);
  case shape::skynet: return sum_below(size);
  case shape::matmul: return leaf_products(size);
  case shape::tree: return sum_below(tree_nodes(size));
  default: return 0;
  }
}

}  // namespace

// Vectors are spelled out, as compilers find them or not: g++ 12 took twice as long as clang 16 for three loops.
void product::compute() const noexcept {
  using two = double __attribute__((vector_size(16), aligned(8), may_alias));
  constexpr std::size_t twos = leaf / 2;
  for (std::size_t i = 0; i < leaf; ++i) {
    two* const to = reinterpret_cast<two*>(c + i * stride);
    two row[twos];
    for (std::size_t j = 0; j < twos; ++j) row[j] = to[j];
    for (std::size_t k = 0; k < leaf; ++k) {
      const two* const factors = reinterpret_cast<const two*>(b + k * stride);
      const double x = a[i * stride + k];
      for (std::size_t j = 0; j < twos; ++j) row[j] += x * factors[j];
    }
    for (std::size_t j = 0; j < twos; ++j) to[j] = row[j];
  }
}

recursion::recursion(const problem& p) : p_(p), expected_(answer_of(p)) {
  if (p.form == shape::tree) {
    value next = 0;
    tree_ = make_tree(p.length, next);
  }
  if (p.form != shape::matmul) return;
  const std::size_t items = std::size_t{p.length} * p.length;
  a_.resize(items);
  b_.resize(items);
  c_.assign(items, 0.0);
  for (std::size_t i = 0; i < items; ++i) {  // small integers, so that every sum is exact
    a_[i] = static_cast<double>(unbalanced::mixed(i) % 4 + 1);
    b_[i] = static_cast<double>(unbalanced::mixed(items + i) % 4 + 1);
  }
}

bool recursion::left_right(std::uint64_t passes) const {
  if (p_.form != shape::matmul) return true;
  const std::size_t n = p_.length;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row(n);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) row[j] += a_[i * n + k] * b_[k * n + j];
    for (std::size_t j = 0; j < n; ++j)
      if (c_[i * n + j] != row[j] * static_cast<double>(passes)) return false;
  }
  return true;
}

std::uint64_t recursion_tasks(const problem& p) {
  const std::uint64_t size = p.length;
  switch (p.form) {
  case shape::fib: return fib_by_adding(size + 1) - 1;
  case shape::uts: return static_cast<std::uint32_t>(walk_unbalanced(size));
  case shape::queens: return count_boards(size);
  case shape::skynet: return size;
  case shape::matmul: return leaf_products(size);
  case shape::tree: return tree_nodes(size);
  default: return 0;
  }
}

}  // namespace weft::bench
