// Unbalanced trees (Olivier et al., UTS, LCPC 2006): a node is the SHA-1 of its parent's and of its number among the
// children, and from the last word of that follows how many children it has. So a tree is a few parameters, any node
// can be made from its parent alone, and how large a subtree is nobody knows before it was searched.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sha1.hpp"

namespace weft::apps::tao {

struct node {
  sha1_words state;
  std::uint32_t depth = 0;

  // 31 bits.
  [[nodiscard]] std::uint32_t random() const noexcept { return state[4] & 0x7fffffffu; }
};

struct tree {
  enum class kind : std::uint8_t { binomial, geometric, hybrid, balanced };
  enum class shape : std::uint8_t { linear, polynomial, cyclic, fixed };  // how branching changes with depth
  kind type = kind::binomial;
  shape form = shape::linear;
  std::uint32_t depth = 6;     // of a geometric or balanced tree, roughly or just so
  double branching = 4;        // children of the root, or expected ones of a geometric node
  double chance = 0.234375;    // of a binomial node to have children
  std::uint32_t children = 4;  // if it has
  std::uint32_t seed = 0;

  [[nodiscard]] node root() const noexcept;
  [[nodiscard]] std::size_t children_of(const node& n) const noexcept;
};
// Cost: `rounds` hashes; more than one is nothing but work.
[[nodiscard]] node child_of(const node& parent, std::size_t i, std::size_t rounds = 1) noexcept;

// What was found in a search, in whatever order: a node that is lost or found twice changes random_sum.
struct found {
  std::uint64_t nodes = 0;
  std::uint64_t leaves = 0;
  std::uint32_t depth = 0;
  std::uint64_t random_sum = 0;  // of node::random()
  std::uint32_t first_xor = 0;   // of the first words

  void add(const node& n, std::size_t children) noexcept;
  void add(const found& other) noexcept;
  [[nodiscard]] bool operator==(const found&) const = default;
};
// All of the tree, by one loop.
[[nodiscard]] found search_serially(const tree& t, std::size_t rounds = 1);
[[nodiscard]] std::string text_of(const found& f);

// Trees whose nodes, leaves and depth others have counted.
struct known_tree {
  const char* name;
  const char* parameters;
  found expected;
};
[[nodiscard]] std::span<const known_tree> known_trees() noexcept;
// The known tree of that name, or nullptr.
[[nodiscard]] const known_tree* find_known(std::string_view name) noexcept;
// A known tree's name, or parameters as UTS has them, "t0 b800 q0.1249999 m8 r3": t kind, a shape, d depth, b
// branching, q chance, m children, r seed; a minus before a letter and a space behind are as good. Errors: weft::error.
[[nodiscard]] tree parse_tree(const std::string& text);

}  // namespace weft::apps::tao
