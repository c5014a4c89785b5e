#include "lab/swarm/order_queue.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "base/random.hpp"

namespace {

struct item {
  std::uint64_t timestamp, age;
  std::uint32_t heap_place = 0;
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> key() const { return {timestamp, age}; }
};

}  // namespace

TEST_CASE("swarm order queue: always the first by timestamp and age, with any taken out between") {
  weft::base::random draw(9);
  std::vector<item> items;
  for (std::uint64_t i = 0; i < 3000; ++i) items.push_back({draw.below(300), i});
  weft::swarm::order_queue<item> q;
  std::set<std::pair<std::pair<std::uint64_t, std::uint64_t>, item*>> in;
  std::size_t next = 0;
  while (next < items.size() || !in.empty()) {
    const std::uint32_t what = draw.below(4);
    if (what < 2 && next < items.size()) {
      in.insert({items[next].key(), &items[next]});
      q.push(&items[next++]);
    } else if (what == 2 && !in.empty()) {
      item* const any = q.all()[draw.below(static_cast<std::uint32_t>(q.size()))].who;
      q.erase(any);
      in.erase({any->key(), any});
    } else if (!in.empty()) {
      REQUIRE(q.first() == in.begin()->second);
      REQUIRE(q.pop() == in.begin()->second);
      in.erase(in.begin());
    }
    REQUIRE(q.size() == in.size());
  }
  CHECK(q.empty());
  CHECK(q.first() == nullptr);
}
