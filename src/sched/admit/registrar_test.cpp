// Step 1 of a task's life: each access gets the version it requires, by the short way or the long one, with the same
// result; and a group of reduces is closed before anything that could look.
#include "sched/admit/registrar.hpp"

#include <doctest/doctest.h>

#include <new>
#include <vector>

#include "little_engine.hpp"
#include "weft/reduction.hpp"

namespace weft::sched {
namespace {

using detail::kind_add;
using detail::kind_read;
using detail::kind_reduce;
using detail::kind_write;
using testing::notes;
using testing::task;
using records = std::vector<detail::record*>;

struct fixture {
  notes machine;
  testing::little_engine<notes> s{machine, 2};
  fixture() { s.open(); }
  // Runs what waits in worker 0's deque; internal tasks are given back to nobody. Returns how many there were.
  unsigned run_internal() {
    unsigned n = 0;
    for (detail::record* r : s.own(0)) {
      CHECK(bool{r->internal});
      transition(*r, detail::record_state::ready, detail::record_state::running);
      r->invoke(*r, detail::errand::run);
      access::woken list;
      access::settle<notes>(*r, list);
      CHECK(s.pool.recycle(s.crew[0], r) == false);
      s.quiescence.finished(s.crew[0]);
      s.readiness.all(s.crew[0], list);
      ++n;
    }
    return n;
  }
};

// A datum to which reduces are applied; counts that.
struct datum {
  detail::handle_state h;
  static inline unsigned applied = 0;
  datum() {
    detail::register_reduction(h, [](detail::handle_state&) { ++applied; });
  }
  ~datum() { detail::forget_reduction(h); }
};

}  // namespace

TEST_CASE("registrar: a task without accesses is ready") {
  fixture f;
  task t;
  CHECK(f.s.submit(0, t));
  CHECK(f.s.own(0) == records{&t.r});
}

TEST_CASE("registrar: readers share a version, a writer needs all before it, by either way") {
  for (const bool long_way : {false, true}) {
    fixture f;
    detail::handle_state h;
    task first, a, b, second;
    std::vector<task*> all = {&first.uses(h, kind_write), &a.uses(h, kind_read), &b.uses(h, kind_read),
                              &second.uses(h, kind_write)};
    for (task* t : all) {
      if (long_way) t->r.urgent = true;  // such a task is never plain
      static_cast<void>(f.s.submit(0, *t));
    }
    CHECK((first.a[0].required == 0 && a.a[0].required == 1 && b.a[0].required == 1 && second.a[0].required == 3));
    CHECK(first.r.state == detail::record_state::ready);
    for (task* t : {&a, &b, &second}) CHECK(t->r.state == detail::record_state::blocked);
    access::woken list;
    for (task* t : all) access::settle<notes>(t->r, list);
  }
}

TEST_CASE("registrar: the short way is left where a lock is taken, and then nothing is registered") {
  fixture f;
  detail::handle_state h;
  task t;
  t.uses(h, kind_read);
  h.lock.raw = 1;  // somebody is at it: whoever finds the lock taken gives up the short way
  t.r.plain = true;
  CHECK(f.s.registrar.plain(f.s.crew[0], &t.r) == access::short_outcome::long_way);
  CHECK(h.registered == 0);
  h.lock.raw = 0;
  CHECK(f.s.registrar.plain(f.s.crew[0], &t.r) == access::short_outcome::ready);
  CHECK(h.registered == 1);
  access::woken list;
  access::settle<notes>(t.r, list);
}

TEST_CASE("registrar: what another access follows closes the group of reduces, once, and is counted") {
  fixture f;
  datum d;
  datum::applied = 0;
  task a, b, look;
  CHECK(f.s.submit(0, a.uses(d.h, kind_reduce)));
  CHECK(f.s.submit(0, b.uses(d.h, kind_reduce)));
  CHECK(f.s.registrar.any_open());
  const std::uint64_t live = f.s.quiescence.live();
  CHECK(!f.s.submit(0, look.uses(d.h, kind_read)));
  CHECK(!f.s.registrar.any_open());
  CHECK(f.s.quiescence.live() == live + 2);  // the look, and what applies
  CHECK(f.s.own(0).size() == 2);
  f.s.finish(0, a);
  CHECK(datum::applied == 0);
  detail::record* const apply = f.s.finish(0, b);
  REQUIRE(apply != nullptr);
  f.s.placement.push_own(f.s.crew[0], apply);
  CHECK(f.run_internal() == 1);
  CHECK(datum::applied == 1);
  CHECK(look.r.state == detail::record_state::ready);
  CHECK(f.s.own(0) == records{&look.r});
  f.s.finish(0, look);
}

TEST_CASE("registrar: a wait closes every group that is open, or the one of its handle") {
  fixture f;
  datum d, e;
  datum::applied = 0;
  task a, b;
  f.s.submit(0, a.uses(d.h, kind_reduce));
  f.s.submit(0, b.uses(e.h, kind_reduce));
  CHECK(f.s.own(0).size() == 2);
  f.s.finish(0, a);
  f.s.finish(0, b);
  f.s.registrar.close_if_open(f.s.crew[0], d.h);
  CHECK(f.run_internal() == 1);
  f.s.registrar.close_if_open(f.s.crew[0], d.h);
  CHECK(f.run_internal() == 0);  // it is closed
  CHECK(f.s.registrar.any_open());
  f.s.registrar.close_all(f.s.crew[0]);
  CHECK(f.run_internal() == 1);
  CHECK(!f.s.registrar.any_open());
  CHECK(datum::applied == 2);
  CHECK(f.s.quiescence.reached());
}

// Who waits for everything closes what strangers opened. One who destroys its reduction meanwhile finds no closer, and
// nobody else who could come to it.
TEST_CASE("registrar: the right to close a group is one's, until it is closed") {
  access::open_reductions<notes> all;
  access::closers spare;
  detail::handle_state h, other;
  detail::record first, second;
  spare.add([&] { return &first; });
  spare.add([&] { return &second; });
  CHECK_THROWS_AS(spare.add([]() -> detail::record* { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(spare.count() == 2);
  CHECK(!all.any());
  CHECK(all.take_first().closer == nullptr);
  all.add(other, spare);
  all.add(h, spare);
  CHECK(spare.count() == 0);
  const auto oldest = all.take_first();
  CHECK(oldest.h == &h);  // in the order in which they were made
  CHECK(all.take(h).closer == nullptr);
  const auto its = all.take(other);
  CHECK((its.h == &other && its.closer != nullptr && its.closer != oldest.closer));
  CHECK(all.any());
  all.closed();
  CHECK((all.any() && all.any_closing()));
  all.closed();
  CHECK(!all.any());
}

TEST_CASE("registrar: after a stall nobody applies what was left over") {
  fixture f;
  datum d;
  task a;
  f.s.submit(0, a.uses(d.h, kind_reduce));
  CHECK(f.s.own(0).size() == 1);
  f.s.finish(0, a);
  f.s.registrar.forget_all();
  CHECK(!f.s.registrar.any_open());
  CHECK(!access::reduction_open(d.h));
}

TEST_CASE("registrar: a handle that another runtime is using is refused, and nothing is registered") {
  fixture f;
  detail::handle_state h, k;
  task t;
  h.engine = reinterpret_cast<detail::engine_base*>(std::uintptr_t{64});  // its address is all that is looked at
  h.registered = 1;                                                       // and one access is outstanding
  t.uses(k, kind_write).uses(h, kind_write);
  CHECK_THROWS_AS(static_cast<void>(f.s.submit(0, t)), error);
  CHECK(k.registered == 0);
  h.registered = 0;
  h.engine = nullptr;
}

struct paid : testing::notes {
  struct touched {
    const void* begin;
    std::size_t bytes;
    bool writes;
  };
  static void touch(const void* begin, std::size_t bytes, bool writes) { last = {begin, bytes, writes}; }
  static inline touched last{};
};
TEST_CASE("registrar: who creates a task pays for what it fills in, or reads what its submitter did") {
  task t;
  for (const bool here : {true, false}) {
    paid::last = {};
    pay_creation<paid>(t.r, here);
    CHECK((paid::last.begin == &t.r && paid::last.bytes == bytes_in_use(t.r) && paid::last.writes == here));
  }
}

TEST_CASE("registrar: what a record occupies is what is used of it") {
  task t;
  t.r.size_class = detail::record_classes;
  const std::size_t none = bytes_in_use(t.r);
  t.r.access_count = 2;
  CHECK(bytes_in_use(t.r) == none + 2 * sizeof(detail::access));
  t.r.access_count = 1000;
  t.r.size_class = 0;
  CHECK(bytes_in_use(t.r) == detail::record_bytes[0]);  // never what lies behind it
}

}  // namespace weft::sched
