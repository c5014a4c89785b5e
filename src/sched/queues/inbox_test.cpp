// The inbox: oldest first, nothing lost and nothing twice, also under random schedules.
#include "sched/queues/inbox.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "interleave.hpp"
#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using detail::record;
using M = interleave::unsteady;

// Two pushers with ten records each, two poppers. The records of one pusher must come out in its order.
const char* tried(std::uint64_t seed) {
  constexpr std::size_t each = 10;
  interleave::play<M> play(seed);
  inbox<M> box;
  std::vector<record> records(2 * each);
  std::vector<int> times(2 * each);
  std::size_t popped = 0;
  const char* wrong = nullptr;
  const auto push = [&](std::size_t which) {
    for (std::size_t i = 0; i < each && wrong == nullptr; ++i) box.push(&records[which * each + i]);
  };
  const auto pop = [&] {
    std::size_t next[2] = {};
    while (popped < records.size() && wrong == nullptr && !play.over()) {
      record* r = box.pop();
      if (r == nullptr) {
        M::relax(1);
        continue;
      }
      const auto i = static_cast<std::size_t>(r - records.data());
      if (++times[i] != 1) wrong = "a record came out twice";
      if (i % each < next[i / each]) wrong = "a newer record came out first";
      next[i / each] = i % each + 1;
      ++popped;
    }
  };
  const auto body = [&](unsigned id) { id <= 2 ? push(id - 1) : pop(); };
  if (!play.run(4, body, [&] { return play.all_left() || wrong != nullptr; }) && wrong == nullptr)
    wrong = "a record is lost";
  return wrong;
}

}  // namespace

namespace {
// Three push as long as there is room for two, one pops.
const char* tried_bounded(std::uint64_t seed) {
  constexpr std::uint32_t most = 2, each = 6;
  interleave::play<M> play(seed);
  inbox<M> box;
  record records[3 * each] = {};
  unsigned pushed = 0, refused = 0, popped = 0;
  const char* wrong = nullptr;
  const auto body = [&](unsigned id) {
    for (unsigned i = 0; id <= 3 && i < each; ++i)
      box.push_if_room(&records[(id - 1) * each + i], most) ? ++pushed : ++refused;
    while (id == 4 && (pushed + refused < 3 * each || popped < pushed) && !play.over()) {
      if (box.size() > most) wrong = "more wait than there is room for";
      box.pop() != nullptr ? static_cast<void>(++popped) : M::relax(1);
    }
  };
  if (!play.run(4, body, [&] { return play.all_left(); })) wrong = "a record is lost";
  return wrong;
}
}  // namespace

TEST_CASE("inbox: a bounded push refuses what there is no room for") {
  inbox<machine::host> box;
  record r[3] = {};
  CHECK((box.push_if_room(&r[0], 2) && box.push_if_room(&r[1], 2) && !box.push_if_room(&r[2], 2)));
  CHECK((box.pop() == &r[0] && box.push_if_room(&r[2], 2) && box.size() == 2));
  CHECK(!box.push_if_room(&r[0], 0));
  interleave::all_seeds(300, tried_bounded);
}

TEST_CASE("inbox: gives the oldest, and nothing when it is empty") {
  inbox<machine::host> box;
  record r[3] = {};
  CHECK(box.empty());
  CHECK(box.pop() == nullptr);
  for (int round = 0; round < 2; ++round) {
    for (record& x : r) box.push(&x);
    CHECK(!box.empty());
    CHECK(box.pop() == &r[0]);
    CHECK(box.pop() == &r[1]);
    box.push(&r[0]);
    CHECK(box.pop() == &r[2]);
    CHECK(!box.empty());
    CHECK(box.pop() == &r[0]);
    CHECK(box.empty());
    CHECK(box.pop() == nullptr);
  }
}

TEST_CASE("inbox: several go in at once, and half of them at most come out at once, the oldest first") {
  inbox<machine::host> box;
  record r[9] = {};
  const auto linked = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i + 1 < to; ++i) r[i].waiting.next = &r[i + 1];
    box.push_all(&r[from], &r[to - 1], static_cast<std::uint32_t>(to - from));
  };
  const auto numbers = [&](record* first) {
    std::vector<long> n;
    for (; first != nullptr; first = first->waiting.next) n.push_back(first - r);
    return n;
  };
  CHECK(box.pop_some(3) == nullptr);
  linked(0, 4);
  box.push(&r[4]);
  linked(5, 9);
  CHECK(box.size() == 9);
  CHECK(numbers(box.pop_some(2)) == std::vector<long>{0, 1});
  CHECK(numbers(box.pop_some(100)) == std::vector<long>{2, 3, 4, 5});
  CHECK(box.size() == 3);
  CHECK(box.pop() == &r[6]);
  CHECK(numbers(box.pop_some(1)) == std::vector<long>{7});
  CHECK(numbers(box.pop_some(1)) == std::vector<long>{8});
  CHECK((box.empty() && box.pop_some(1) == nullptr));
  linked(0, 2);
  CHECK(numbers(box.pop_some(5)) == std::vector<long>{0});  // half
  CHECK((box.pop() == &r[1] && box.empty()));
  linked(0, 1);
  CHECK((box.pop() == &r[0] && box.empty()));
}

TEST_CASE("inbox: each record comes out once and in order under random schedules") {
  interleave::all_seeds(1000, &tried);
}

// What the lock guards is plain memory, which the virtual machine takes no turns on: that needs threads.
TEST_CASE("inbox: two threads put in, two take out") {
  constexpr std::size_t each = 5000;
  inbox<machine::host> box;
  std::vector<record> records(2 * each);
  std::vector<int> times(2 * each);  // a record is popped once, so each element has one writer
  std::atomic<std::size_t> popped{0};
  const auto push = [&](std::size_t from) {
    for (std::size_t i = from; i < from + each; ++i) box.push(&records[i]);
  };
  const auto pop = [&] {
    for (unsigned spins = 1; popped < records.size(); ++spins) {
      if (record* r = box.pop()) {
        ++times[static_cast<std::size_t>(r - records.data())];
        ++popped;
      } else {
        machine::host::relax(spins);
      }
    }
  };
  std::thread threads[] = {std::thread(push, 0), std::thread(push, each), std::thread(pop), std::thread(pop)};
  for (std::thread& t : threads) t.join();
  CHECK(std::count(times.begin(), times.end(), 1) == 2 * each);
  CHECK(box.empty());
}

}  // namespace weft::sched
