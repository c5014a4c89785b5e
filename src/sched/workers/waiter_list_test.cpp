#include "sched/workers/waiter_list.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace weft::sched {
namespace {

using list = waiter_list<&waiter::next_outside>;

[[nodiscard]] std::vector<const waiter*> in(const list& l) {
  std::vector<const waiter*> all;
  for (const waiter* x = l.first(); x != nullptr; x = list::after(*x)) all.push_back(x);
  CHECK(all.size() == l.size());
  CHECK(all.empty() == l.empty());
  return all;
}

}  // namespace

TEST_CASE("waiter_list: the oldest first; whoever is taken out can come again") {
  waiter a, b, c;
  for (waiter* out : {&a, &b, &c}) {
    list l;
    for (waiter* x : {&a, &b, &c}) l.push(*x);
    CHECK(in(l) == std::vector<const waiter*>{&a, &b, &c});
    CHECK(l.erase(*out));
    CHECK(!l.erase(*out));
    l.push(*out);
    std::vector<const waiter*> order = {&a, &b, &c};
    std::erase(order, out);
    order.push_back(out);
    CHECK(in(l) == order);
    for (const waiter* x : order) CHECK(l.pop() == x);
    CHECK(l.pop() == nullptr);
    CHECK(in(l).empty());
  }
}

}  // namespace weft::sched
