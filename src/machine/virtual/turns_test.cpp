// Whose turn it is: draws, priorities, moments, and that those who stand still stand still.
#include "machine/virtual/turns.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace weft::machine {
namespace {

struct core {
  unsigned id;
};
const std::vector<core> four{{0}, {1}, {2}, {3}};

std::string order_of(const turns::setup& s, unsigned n) {
  turns t(s);
  t.open(4);
  std::string order;
  for (unsigned i = 0; i < n; ++i) order += static_cast<char>('0' + four[t.next(four)].id);
  return order;
}

}  // namespace

TEST_CASE("turns: without moments the same core goes on for ever, and seeds choose it") {
  std::set<char> first;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string order = order_of({.seed = seed, .by_priority = true, .depth = 0}, 20);
    CHECK(order == std::string(20, order[0]));
    first.insert(order[0]);
  }
  CHECK(first.size() == 4);
}

TEST_CASE("turns: each moment makes the first the last, once") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string order = order_of({.seed = seed, .by_priority = true, .depth = 2, .length = 30}, 40);
    unsigned changes = 0;
    for (std::size_t i = 1; i < order.size(); ++i) changes += order[i] != order[i - 1] ? 1 : 0;
    CHECK(changes <= 2);
    CHECK(order == order_of({.seed = seed, .by_priority = true, .depth = 2, .length = 30}, 40));
    orders.insert(order);
  }
  CHECK(orders.size() > 40);
}

TEST_CASE("turns: who waits in a loop lets all others go first") {
  turns t({.by_priority = true, .depth = 0});
  t.open(4);
  std::set<unsigned> seen;
  for (int i = 0; i < 4; ++i) {
    const unsigned id = four[t.next(four)].id;
    seen.insert(id);
    t.waits(id);
  }
  CHECK(seen.size() == 4);
}

TEST_CASE("turns: a woken core may stand still while others move, but not for ever and not alone") {
  turns t({.seed = 3, .disturbed = {.late_wake = 1, .turns_max = 10}});
  t.open(4);
  t.woken(2);
  std::string order;
  for (int i = 0; i < 200; ++i) order += static_cast<char>('0' + four[t.next(four)].id);
  CHECK(order.find('2') >= 1);
  CHECK(order.find('2') < 100);
  turns alone({.disturbed = {.stall = 1, .late_wake = 1}});
  alone.open(4);
  const std::vector<core> one{{3}};
  alone.woken(3);
  for (int i = 0; i < 10; ++i) CHECK(alone.next(one) == 0);
}

TEST_CASE("turns: disturbances come as often as asked for") {
  turns never({});
  turns always({.disturbed = {.lost_steal = 1}});
  turns sometimes({.disturbed = {.lost_steal = 4}});
  unsigned lost = 0;
  for (int i = 0; i < 1000; ++i) {
    CHECK(!never.loses_steal());
    CHECK(always.loses_steal());
    lost += sometimes.loses_steal() ? 1 : 0;
  }
  CHECK(lost > 200);
  CHECK(lost < 300);
}

}  // namespace weft::machine
