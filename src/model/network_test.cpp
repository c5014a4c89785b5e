#include "model/network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace weft::model {
namespace {

constexpr std::uint64_t us = 1'000'000;

// 1 us, links of 10 GB/s: a byte takes 100 ps.
network_costs plain(unsigned nodes) {
  network_costs c;
  c.nodes = nodes;
  c.latency_ps = us;
  c.link_bytes_per_ns = c.trunk_bytes_per_ns = 10;
  return c;
}

struct message {
  unsigned from, to;
  std::uint64_t bytes, at_ps;
};

// When each arrives.
std::vector<std::uint64_t> arrivals(const network_costs& c, const std::vector<message>& all) {
  network n(c);
  std::vector<std::uint64_t> at(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) n.send(i, all[i].from, all[i].to, all[i].bytes, all[i].at_ps);
  std::vector<network::arrival> come;
  n.advance(network::never, come);
  CHECK(n.next_ps() == network::never);
  CHECK(come.size() == all.size());
  for (const network::arrival& a : come) at[a.message] = a.at_ps;
  return at;
}

}  // namespace

TEST_CASE("network: a message alone takes latency and bytes over rate") {
  CHECK(arrivals(plain(2), {{0, 1, 0, 5 * us}}) == std::vector<std::uint64_t>{6 * us});
  CHECK(arrivals(plain(2), {{0, 1, 1, 0}}) == std::vector<std::uint64_t>{us + 100});
  CHECK(arrivals(plain(2), {{0, 1, 1'000'000, 3}}) == std::vector<std::uint64_t>{3 + us + 100 * us});
}

TEST_CASE("network: two messages share the sender's link, or the receiver's, and not both directions") {
  const auto both = [](message a, message b) { return arrivals(plain(3), {a, b}); };
  using at = std::vector<std::uint64_t>;
  CHECK(both({0, 1, 10'000, 0}, {0, 2, 10'000, 0}) == at{3 * us, 3 * us});
  CHECK(both({0, 2, 10'000, 0}, {1, 2, 10'000, 0}) == at{3 * us, 3 * us});
  CHECK(both({0, 1, 10'000, 0}, {1, 0, 10'000, 0}) == at{2 * us, 2 * us});
  // Half of the first is through when the second comes; then both have half; then the second has all.
  CHECK(both({0, 1, 10'000, 0}, {0, 2, 10'000, us / 2}) == at{5 * us / 2, 3 * us});
}

TEST_CASE("network: max-min, by hand") {
  // 0 to 1, 0 to 2 and 3 to 2: the links out of 0 and into 2 have two each, so all go at half. The first two end after
  // 3 us; the third has moved as much and goes on at full rate.
  const auto at = arrivals(plain(4), {{0, 1, 10'000, 0}, {0, 2, 10'000, 0}, {3, 2, 20'000, 0}});
  CHECK(at == std::vector<std::uint64_t>{3 * us, 3 * us, 4 * us});
  // Three into 3, of which 0's other message has what they leave of its link: 10 - 10/3.
  const auto rest = arrivals(plain(5), {{0, 3, 10'000, 0}, {1, 3, 10'000, 0}, {2, 3, 10'000, 0}, {0, 4, 20'000, 0}});
  CHECK(rest[0] == 4 * us);
  CHECK(rest[3] == 4 * us);
}

TEST_CASE("network: a node's messages are a gap apart") {
  network_costs c = plain(3);
  c.gap_ps = 50'000;
  using at = std::vector<std::uint64_t>;
  CHECK(arrivals(c, {{0, 1, 0, 0}, {0, 2, 0, 0}, {1, 2, 0, 0}}) == at{us, us + 50'000, us});
  CHECK(arrivals(c, {{0, 1, 0, 0}, {0, 2, 0, 70'000}}) == at{us, us + 70'000});
  CHECK(arrivals(c, {{0, 1, 0, 70'000}, {0, 2, 0, 0}}) == at{us + 70'000, us});  // whichever is told first
}

TEST_CASE("network: two that meet above the leaves of a fat tree share a trunk") {
  network_costs c = plain(8);
  c.shape = network_costs::form::fat_tree;
  c.per_leaf = 4;
  c.spines = 2;
  c.hop_ps = 100'000;
  c.trunk_bytes_per_ns = 5;
  using at = std::vector<std::uint64_t>;
  // To one spine: the trunk of 5 GB/s gives 2.5 to each. To two: 5 to each.
  CHECK(arrivals(c, {{0, 4, 10'000, 0}, {1, 6, 10'000, 0}}) == at{1'200'000 + 4 * us, 1'200'000 + 4 * us});
  CHECK(arrivals(c, {{0, 4, 10'000, 0}, {1, 5, 10'000, 0}}) == at{1'200'000 + 2 * us, 1'200'000 + 2 * us});
}

TEST_CASE("network: what is asked for in steps comes as at once, and nothing before it leaves") {
  base::random draw(7);
  network_costs c = plain(6);
  c.gap_ps = 1000;
  std::vector<message> all;
  std::uint64_t now = 0;
  for (int i = 0; i < 300; ++i) {
    const unsigned from = draw.below(6);
    all.push_back({from, (from + 1 + draw.below(5)) % 6, draw.below(50'000), now += draw.below(400'000)});
  }
  // Within less than the lookahead they are told in any order.
  for (std::size_t i = 0; i + 1 < all.size(); i += 2)
    if (all[i + 1].at_ps - all[i].at_ps < us / 2) std::swap(all[i], all[i + 1]);
  const std::vector<std::uint64_t> whole = arrivals(c, all);
  network n(c);
  std::vector<network::arrival> come;
  std::vector<std::uint64_t> steps(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    n.advance(all[i].at_ps - std::min(all[i].at_ps, us / 2) + n.lookahead_ps(), come);
    n.send(i, all[i].from, all[i].to, all[i].bytes, all[i].at_ps);
  }
  while (n.next_ps() != network::never) n.advance(n.next_ps() + 1, come);
  std::uint64_t last = 0;
  for (const network::arrival& a : come) {
    CHECK(a.at_ps >= last);
    last = a.at_ps;
    steps[a.message] = a.at_ps;
  }
  CHECK(steps == whole);
}

}  // namespace weft::model
