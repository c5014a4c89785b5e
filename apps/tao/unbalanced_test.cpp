// Trees: as many nodes as others have counted, and the words that name a tree.
#include "unbalanced.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "weft/error.hpp"

namespace weft::apps::tao {
namespace {

// Nodes at each depth.
std::vector<std::size_t> levels(const tree& t) {
  std::vector<std::size_t> count;
  for (std::vector<node> level = {t.root()}; !level.empty();) {
    count.push_back(level.size());
    std::vector<node> next;
    for (const node& n : level)
      for (std::size_t i = 0; i < t.children_of(n); ++i) next.push_back(child_of(n, i));
    level.swap(next);
  }
  return count;
}

}  // namespace

TEST_CASE("unbalanced: the trees that others have counted") {
  for (const known_tree& k : known_trees()) {
    CAPTURE(std::string(k.name));
    CHECK(text_of(search_serially(parse_tree(k.name))) == text_of(k.expected));
  }
}

TEST_CASE("unbalanced: level by level") {
  const std::vector<std::size_t> tao = levels(parse_tree("tao"));
  CHECK(std::vector<std::size_t>(tao.begin(), tao.begin() + 4) == std::vector<std::size_t>{1, 800, 992, 984});
  CHECK(*std::max_element(tao.begin(), tao.end()) == 2072);
  const std::vector<std::size_t> small = levels(parse_tree("small"));
  CHECK(std::vector<std::size_t>(small.begin(), small.begin() + 4) == std::vector<std::size_t>{1, 5, 59, 189});
  CHECK(levels(parse_tree("t3 d4 b3")) == std::vector<std::size_t>{1, 3, 9, 27, 81});
}

TEST_CASE("unbalanced: hashing more often is work and no other tree") {
  const tree t = parse_tree("small");
  CHECK(search_serially(t, 3) == search_serially(t));
}

TEST_CASE("unbalanced: a lost node and one found twice are seen") {
  const tree t = parse_tree("small");
  const found whole = search_serially(t);
  found less = whole, more = whole;
  const node n = child_of(t.root(), 0);
  more.add(n, t.children_of(n));
  CHECK(whole != more);
  less.nodes -= 1;
  CHECK(whole != less);
}

TEST_CASE("unbalanced: shapes at their ends") {
  CHECK(levels(parse_tree("t3 d0 b9")).size() == 1);
  CHECK(levels(parse_tree("t0 b3 q0")) == std::vector<std::size_t>{1, 3});
  CHECK(levels(parse_tree("t1 a3 d0 b0")).size() == 1);
  CHECK(levels(parse_tree("t1 a1 d1 b1")).size() < 100);
  CHECK(levels(parse_tree("t1 a0 d1 b4")).size() <= 2);
}

TEST_CASE("unbalanced: what is no tree is refused") {
  CHECK(parse_tree("-t 0 -b 800 -q 0.1249999 -m 8 -r 3").children == 8);
  for (const char* wrong :
       {"", " ", "T9", "t4", "t0 b-1", "q2", "m1.5", "t", "x3", "r3 qnan", "t0 b1e99", "t0 q0.5 m2"}) {
    CAPTURE(std::string(wrong));
    CHECK_THROWS_AS(static_cast<void>(parse_tree(wrong)), error);
  }
}

}  // namespace weft::apps::tao
