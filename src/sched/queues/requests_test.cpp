// Requests come out in the order in which they were handed over, by whom ever, one after the other; the ring takes so
// many and no more; and what is looked at says whether any are left.
#include "sched/queues/requests.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::modelled_notes;
using testing::notes;

struct task : testing::task {
  task() : testing::task(detail::record_state::requested) {}
};
// A machine whose system has no barrier on all threads.
struct without_barrier : notes {
  static bool barrier_everywhere() noexcept { return false; }
  static bool offers_barrier() noexcept { return false; }
};

template <class M, std::uint32_t Capacity = 8> struct fixture {
  requests<M, Capacity> q;
  fixture() { q.open(); }
  // Everything there is, in order.
  std::vector<detail::record*> created() {
    std::vector<detail::record*> all;
    while (detail::record* r = q.pop()) {
      all.push_back(r);
      static_cast<void>(q.has_created());
    }
    return all;
  }
};

}  // namespace

TEST_CASE("requests: a ring only where threads are real and can be told to pass a barrier") {
  CHECK(fixture<notes>().q.has_ring());
  CHECK(!fixture<without_barrier>().q.has_ring());
  CHECK(!fixture<modelled_notes>().q.has_ring());
}

TEST_CASE("requests: without a ring first come, first created") {
  fixture<modelled_notes> f;
  task a, b;
  CHECK((f.q.empty() && f.q.none() && !f.q.any_for_sure()));
  f.q.push(&a.r);
  f.q.push(&b.r);
  CHECK((f.q.any_for_sure() && !f.q.none() && f.q.so_far().others == 2));
  CHECK(f.created() == std::vector{&a.r, &b.r});
  CHECK(f.q.empty());
}

TEST_CASE("requests: the main thread's in order, round the ring") {
  fixture<notes> f;
  std::vector<task> tasks(3);
  for (int round = 0; round < 10; ++round) {
    for (task& t : tasks) CHECK(f.q.put(&t.r));
    CHECK((!f.q.empty() && !f.q.none() && f.q.any_for_sure()));
    const auto mark = f.q.so_far();
    CHECK(!f.q.is_created(mark));
    CHECK(f.created() == std::vector{&tasks[0].r, &tasks[1].r, &tasks[2].r});
    CHECK((f.q.is_created(mark) && f.q.empty() && f.q.none()));
  }
  CHECK(f.q.created_of_ring() == 30);
}

TEST_CASE("requests: a full ring takes no more, until one is created") {
  fixture<notes> f;
  std::vector<task> tasks(9);
  for (unsigned i = 0; i < 8; ++i) CHECK(f.q.put(&tasks[i].r));
  CHECK(!f.q.put(&tasks[8].r));
  CHECK(f.q.pop() == &tasks[0].r);
  CHECK(!f.q.put(&tasks[8].r));  // it is taken and not created: the slot is still its own
  CHECK(f.q.has_created());
  CHECK(f.q.put(&tasks[8].r));
  CHECK(f.created().size() == 8);
}

TEST_CASE("requests: what is being created counts as there") {
  fixture<notes> f;
  task a;
  CHECK(f.q.put(&a.r));
  const auto mark = f.q.so_far();
  CHECK(f.q.pop() == &a.r);
  CHECK((!f.q.empty() && !f.q.is_created(mark)));
  CHECK(f.q.has_created());
  CHECK((f.q.empty() && f.q.is_created(mark)));
  CHECK(!f.q.has_created());
}

TEST_CASE("requests: others' come behind what the main thread had handed over, and before what it does after") {
  fixture<notes> f;
  task a, b, c, x, y;
  f.q.push(&x.r);
  CHECK(f.q.put(&a.r));
  CHECK(f.q.put(&b.r));
  f.q.push(&y.r);
  CHECK(f.q.put(&c.r));
  CHECK(f.created() == std::vector{&x.r, &a.r, &b.r, &y.r, &c.r});
}

TEST_CASE("requests: one that is held back is neither lost nor overtaken by its like") {
  fixture<notes> f;
  task a, b, x, y;
  CHECK(f.q.put(&a.r));
  f.q.push(&x.r);
  CHECK(f.q.pop() == &a.r);  // x was taken from the inbox for that
  CHECK(!f.q.empty());
  f.q.push(&y.r);
  CHECK(f.q.put(&b.r));
  CHECK(f.q.has_created());
  CHECK(f.created() == std::vector{&x.r, &y.r, &b.r});
}

TEST_CASE("requests: one that is held back is there when the ring has come to it") {
  fixture<notes> f;
  task a, x;
  CHECK(f.q.put(&a.r));
  f.q.push(&x.r);
  CHECK(f.q.pop() == &a.r);
  CHECK(f.q.has_created());
  CHECK((!f.q.empty() && f.q.any_for_sure()));
  CHECK(f.q.so_far().others == 1);
  CHECK(f.created() == std::vector{&x.r});
}

TEST_CASE("requests: counts wrap") {
  fixture<notes, 1024> f;
  std::vector<task> tasks(1000);
  task x;
  for (std::uint32_t i = 0; i < 100; ++i) {
    for (task& t : tasks) CHECK_MESSAGE(f.q.put(&t.r), i);
    f.q.push(&x.r);
    const std::vector<detail::record*> all = f.created();
    CHECK((all.size() == 1001 && all.back() == &x.r));
  }
}

TEST_CASE("requests: two threads, and all arrive once and in order") {
  fixture<machine::host, 64> f;
  REQUIRE(f.q.has_ring());
  std::vector<task> tasks(20000);
  for (std::uint32_t i = 0; i < tasks.size(); ++i) tasks[i].r.order = i;
  std::thread main([&] {
    for (task& t : tasks)
      for (unsigned spins = 0; !f.q.put(&t.r);) machine::host::relax(++spins);
  });
  std::uint64_t next = 0;
  bool in_order = true;
  for (unsigned spins = 0; next < tasks.size();) {
    detail::record* r = f.q.pop();
    if (r == nullptr) {
      machine::host::relax(++spins);
      continue;
    }
    in_order &= r->order == next++ && f.q.has_created();
  }
  main.join();
  CHECK(in_order);
  CHECK(f.q.empty());
}

}  // namespace weft::sched
