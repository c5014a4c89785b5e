#include "ordered/commit_order.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "base/random.hpp"
#include "ordered/pending_calls.hpp"

using namespace weft::speculative;

namespace {

task& make(std::vector<std::unique_ptr<task>>& all, std::uint64_t timestamp, std::uint64_t number) {
  all.push_back(std::make_unique<task>());
  all.back()->call.timestamp = timestamp;
  all.back()->number = number;
  return *all.back();
}
task& child(std::vector<std::unique_ptr<task>>& all, task& parent, std::uint32_t which, std::uint64_t timestamp) {
  task& t = make(all, timestamp, unborn);
  t.parent = &parent;
  t.child = which;
  return t;
}
[[nodiscard]] bool labels_grow(const admitted_tasks& all) {
  for (const task* t = all.first(); t != nullptr && t->next != nullptr; t = t->next)
    if (!precedes(*t, *t->next) || precedes(*t->next, *t)) return false;
  return true;
}

}  // namespace

TEST_CASE("ordered, order: timestamp, then creation; of those unborn the one whose parent is first, then by child") {
  std::vector<std::unique_ptr<task>> all;
  admitted_tasks list;
  task& a = make(all, 1, 5);
  task& b = make(all, 1, 9);
  task& a2 = child(all, a, 1, 7);
  task& a1 = child(all, a, 0, 7);
  task& b1 = child(all, b, 0, 7);
  task& known = make(all, 7, 100);
  task& early = child(all, b, 1, 2);
  for (task* t : {&b, &a}) list.insert(*t);
  for (task* t : {&b1, &a2, &known, &a1, &early}) list.insert(*t);
  std::vector<const task*> order;
  for (const task* t = list.first(); t != nullptr; t = t->next) order.push_back(t);
  const std::vector<const task*> expected{&a, &b, &early, &known, &a1, &a2, &b1};
  CHECK(order == expected);
  CHECK(labels_grow(list));
}
TEST_CASE("ordered, order: there is always a label between two, however many came between them") {
  std::vector<std::unique_ptr<task>> all;
  admitted_tasks list;
  list.insert(make(all, 1, 0));
  list.insert(make(all, 1000, 1));
  SUBCASE("each before the last one") {
    for (std::uint64_t n = 0; n < 300; ++n) list.insert(make(all, 900 - n, n + 2));
  }
  SUBCASE("each behind the last one") {
    for (std::uint64_t n = 0; n < 300; ++n) list.insert(make(all, n + 2, n + 2));
  }
  SUBCASE("anywhere, while others leave") {
    weft::base::random r(7);
    std::vector<task*> in;
    for (std::uint64_t n = 0; n < 5000; ++n) {
      in.push_back(&make(all, 1 + r.next() % 1000, n + 2));
      list.insert(*in.back());
      if (in.size() > 40) {
        const std::size_t out = r.next() % in.size();
        list.remove(*in[out]);
        in.erase(in.begin() + static_cast<std::ptrdiff_t>(out));
      }
      if (n % 100 == 0) REQUIRE(labels_grow(list));
    }
  }
  CHECK(labels_grow(list));
  for (const task* t = list.first(); t->next != nullptr; t = t->next) CHECK(before(*t, *t->next));
}
TEST_CASE("ordered, order: a heap gives the earliest, whatever was taken out of it") {
  std::vector<std::unique_ptr<task>> all;
  task_heap heap;
  weft::base::random r(3);
  for (std::uint64_t n = 0; n < 200; ++n) heap.push(make(all, r.next() % 50, n));
  for (std::size_t i = 0; i < all.size(); i += 3) heap.remove(*all[i]);
  const task* last = nullptr;
  std::size_t count = 0;
  for (; !heap.empty(); ++count) {
    task& t = *heap.first();
    heap.remove(t);
    if (last != nullptr) CHECK(before(*last, t));
    last = &t;
  }
  CHECK(count == 133);
}
TEST_CASE("ordered, pending calls: numbered and unborn ones come out in one order") {
  std::vector<std::unique_ptr<task>> all;
  task_pool pool;
  pending_calls calls;
  admitted_tasks list;
  task& parent = make(all, 0, 0);
  list.insert(parent);
  weft::detail::ordered_call c{};
  for (const std::uint64_t t : {9u, 4u, 4u, 6u}) {
    c.timestamp = t;
    calls.create(c);
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    task& t = pool.take();
    t.call.timestamp = 4 + i;
    t.parent = &parent;
    t.child = i;
    calls.push_unborn(t);
  }
  CHECK(!calls.any_before(parent));
  const std::vector<std::pair<std::uint64_t, bool>> expected{{4, true}, {4, true},  {4, false}, {5, false},
                                                             {6, true}, {6, false}, {9, true}};
  std::vector<std::pair<std::uint64_t, bool>> got;
  while (!calls.empty()) {
    const task& t = calls.take_first(pool);
    got.emplace_back(t.call.timestamp, t.number != unborn);
  }
  CHECK(got == expected);
}
