// One theft step by step, on one thread. Among others: deque_model_test.cpp.
#include "sched/queues/theft.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "machine/host/host.hpp"
#include "sched/queues/deque.hpp"

namespace weft::sched {
namespace {

using thieves = theft<machine::host>;
using owner = deque<machine::host>;

// A worker with n tasks within reach.
struct shared_tasks {
  detail::worker w;
  std::vector<record> tasks;
  explicit shared_tasks(std::size_t n) : tasks(n) {
    owner::open(w, true);
    for (record& r : tasks) owner::push(w, &r);
    static_cast<void>(owner::expose(w));
  }
  ~shared_tasks() { owner::close(w); }
  shared_tasks(const shared_tasks&) = delete;
  shared_tasks& operator=(const shared_tasks&) = delete;
};

constexpr auto all = [](std::uint32_t n) { return n; };

}  // namespace

TEST_CASE("theft: nothing, some, the rest, and then the owner is told") {
  shared_tasks none(0), five(5);
  loot got;
  CHECK(thieves::steal(none.w, got, all) == steal_result::empty);
  CHECK(thieves::steal(five.w, got, [](std::uint32_t) { return 2u; }) == steal_result::taken);
  REQUIRE(got.count == 2);
  CHECK(got.tasks[0] == &five.tasks[0]);
  CHECK(got.tasks[1] == &five.tasks[1]);
  CHECK((!owner::starved(five.w) && detail::peek(five.w.asked) == 0));
  CHECK(thieves::steal(five.w, got, all) == steal_result::taken);
  CHECK(got.count == 3);
  CHECK((owner::starved(five.w) && detail::peek(five.w.asked) == 1));
  CHECK(!thieves::stealable(five.w));
  CHECK(thieves::steal(five.w, got, all) == steal_result::empty);
}

TEST_CASE("theft: a thief that is there sends others away, unless they insist; it is gone when it has done") {
  shared_tasks five(5);
  loot got;
  five.w.robbed.raw = 1;
  CHECK(thieves::steal(five.w, got, all) == steal_result::sent_away);
  CHECK(thieves::stealable(five.w));  // the others may not sleep beside it
  CHECK(thieves::steal(
            five.w, got, [](std::uint32_t) { return 1u; }, true) == steal_result::taken);
  CHECK(five.w.robbed.raw == 1);  // not its own
  five.w.robbed.raw = 0;
  CHECK(thieves::steal(five.w, got, [](std::uint32_t) { return 1u; }) == steal_result::taken);
  CHECK(five.w.robbed.raw == 0);
  CHECK(got.tasks[0] == &five.tasks[1]);
}

TEST_CASE("theft: no more than fit what the thief has to carry them in") {
  shared_tasks many(base::steal_max + 10);
  loot got;
  CHECK(thieves::steal(many.w, got, all) == steal_result::taken);
  CHECK(got.count == base::steal_max);
  CHECK(thieves::steal(many.w, got, all) == steal_result::taken);
  CHECK(got.count == 10);
}

}  // namespace weft::sched
