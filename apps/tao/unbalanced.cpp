#include "unbalanced.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "weft/error.hpp"

namespace weft::apps::tao {

namespace {

constexpr double geometric_most = 100;  // children of a geometric node
constexpr double hybrid_share = 0.5;    // of the depth a hybrid tree is geometric

constexpr known_tree known[] = {
    {"tao", "t0 b800 q0.1249999 m8 r3", {148817, 130314, 208, 159972347771987, 0x81a3843e}},
    {"small", "t1 a3 d5 b4 r19", {3987, 3232, 5, 4264043641846, 0xac808e9a}},
    {"T1", "t1 a3 d10 b4 r19", {4130071, 3305118, 10, 4436077632225031, 0x281a25b2}},
    {"T2", "t1 a2 d16 b6 r502", {4117769, 2342762, 81, 4422253537039407, 0x17323a93}},
    {"T3", "t0 b2000 q0.124875 m8 r42", {4112897, 3599034, 1572, 4416054493022871, 0xc9e20dc1}},
    {"T4", "t2 a0 d16 b6 q0.234375 m4 r1", {4132453, 3108986, 134, 4436352729628432, 0x22be24a4}},
    {"T5", "t1 a0 d20 b4 r34", {4147582, 2181318, 20, 4453745380946719, 0x8b75418e}},
};

double uniform(const node& n) noexcept { return n.random() * 0x1p-31; }

// Children that a geometric node has in the mean, by the shape.
double expected_children(const tree& t, double at) noexcept {
  const double most = t.branching, depth = t.depth;
  if (at == 0) return most;
  switch (t.form) {
  case tree::shape::linear: return most * (1 - at / depth);
  case tree::shape::polynomial: return most * std::pow(at, -std::log(most) / std::log(depth));
  case tree::shape::cyclic: return at > 5 * depth ? 0 : std::pow(most, std::sin(2 * std::numbers::pi * at / depth));
  case tree::shape::fixed: return at < depth ? most : 0;
  }
  return 0;
}

std::size_t geometric_children(const tree& t, const node& n) noexcept {
  const double mean = expected_children(t, n.depth);
  if (!(mean > 0)) return 0;  // also where the shape says nothing, as a polynomial of depth 1
  const double p = 1 / (1 + mean);
  return static_cast<std::size_t>(std::min(std::floor(std::log(1 - uniform(n)) / std::log(1 - p)), geometric_most));
}

std::size_t binomial_children(const tree& t, const node& n) noexcept {
  if (n.depth == 0) return static_cast<std::size_t>(t.branching);
  return uniform(n) < t.chance ? t.children : 0;
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  std::string names;
  for (const known_tree& k : known) names += std::string(names.empty() ? "" : ", ") + k.name;
  throw error("--tree " + text + ": " + why + "; it is one of " + names +
              ", or parameters like t0 b800 q0.1249999 m8 r3");
}

void set(tree& t, char letter, double value, const std::string& text) {
  const auto whole = [&](double most) {
    if (!(value >= 0 && value <= most) || value != std::floor(value))
      refuse(text, std::string(1, letter) + " is a whole number up to " + std::to_string(static_cast<long>(most)));
    return static_cast<std::uint32_t>(value);
  };
  switch (letter) {
  case 't': t.type = static_cast<tree::kind>(whole(3)); return;
  case 'a': t.form = static_cast<tree::shape>(whole(3)); return;
  case 'd': t.depth = whole(1e6); return;
  case 'm': t.children = whole(1e6); return;
  case 'r': t.seed = whole(2147483647); return;
  case 'b':
    if (!(value >= 0 && value <= 1e6)) refuse(text, "b is a number up to 1000000");
    t.branching = value;
    return;
  case 'q':
    if (!(value >= 0 && value <= 1)) refuse(text, "q is a number from 0 to 1");
    t.chance = value;
    return;
  default: refuse(text, std::string("there is no parameter ") + letter);
  }
}

}  // namespace

node tree::root() const noexcept {
  const std::uint32_t message[] = {0, 0, 0, 0, seed};
  return {sha1(message), 0};
}

std::size_t tree::children_of(const node& n) const noexcept {
  switch (type) {
  case kind::binomial: return binomial_children(*this, n);
  case kind::geometric: return geometric_children(*this, n);
  case kind::hybrid: return n.depth < hybrid_share * depth ? geometric_children(*this, n) : binomial_children(*this, n);
  case kind::balanced: return n.depth < depth ? static_cast<std::size_t>(branching) : 0;
  }
  return 0;
}

node child_of(const node& parent, std::size_t i, std::size_t rounds) noexcept {
  const sha1_words& s = parent.state;
  const std::uint32_t message[] = {s[0], s[1], s[2], s[3], s[4], static_cast<std::uint32_t>(i)};
  node child{sha1(message), parent.depth + 1};
  for (std::size_t round = 1; round < rounds; ++round) {
    asm volatile("" ::: "memory");  // work that is asked for is done
    child.state = sha1(message);
  }
  return child;
}

void found::add(const node& n, std::size_t children) noexcept {
  ++nodes;
  leaves += children == 0;
  depth = std::max(depth, n.depth);
  random_sum += n.random();
  first_xor ^= n.state[0];
}

void found::add(const found& other) noexcept {
  nodes += other.nodes;
  leaves += other.leaves;
  depth = std::max(depth, other.depth);
  random_sum += other.random_sum;
  first_xor ^= other.first_xor;
}

found search_serially(const tree& t, std::size_t rounds) {
  found all;
  std::vector<node> left = {t.root()};
  while (!left.empty()) {
    const node n = left.back();
    left.pop_back();
    const std::size_t children = t.children_of(n);
    all.add(n, children);
    for (std::size_t i = 0; i < children; ++i) left.push_back(child_of(n, i, rounds));
  }
  return all;
}

std::string text_of(const found& f) {
  char text[160];
  std::snprintf(text, sizeof text, "%llu nodes, %llu leaves, depth %u, sum %llu, xor %08x",
                static_cast<unsigned long long>(f.nodes), static_cast<unsigned long long>(f.leaves), f.depth,
                static_cast<unsigned long long>(f.random_sum), f.first_xor);
  return text;
}

std::span<const known_tree> known_trees() noexcept { return known; }

const known_tree* find_known(std::string_view name) noexcept {
  for (const known_tree& k : known)
    if (name == k.name) return &k;
  return nullptr;
}

tree parse_tree(const std::string& text) {
  const known_tree* const named = find_known(text);
  tree t;
  const std::string given = named != nullptr ? named->parameters : text;
  for (const char* at = given.c_str(); *at != '\0';) {
    if (*at == ' ' || *at == '-') {
      ++at;
      continue;
    }
    const char letter = *at++;
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) refuse(text, std::string("there is no number behind ") + letter);
    set(t, letter, value, text);
    at = end;
  }
  if (given.find_first_not_of(" -") == std::string::npos) refuse(text, "it says nothing");
  if ((t.type == tree::kind::binomial || t.type == tree::kind::hybrid) && t.chance * t.children >= 1)
    refuse(text, "with q times m of 1 or more it has no end");
  return t;
}

}  // namespace weft::apps::tao
