// A reservation step by step, on one thread: who begins one, what it has by then, and what it waits for. Interleavings:
// reservation_model_test.cpp.
#include "access/reservation.hpp"

#include <doctest/doctest.h>

#include "access_program.hpp"
#include "machine/host/host.hpp"

namespace weft::access {
namespace {

using accesses::task;
using M = machine::host;

struct fixture {
  handle_state h[3];
  accesses::identity engine;
  reservations<M> all;
  open_reductions<M> none;
  closers no_closers;

  ~fixture() { accesses::forget_uses(h); }
  // Whether t is ready.
  bool submit(task& t) {
    woken list;
    return register_task<M>(&t.r, engine.get(), none, no_closers, list).what == outcome::ready;
  }
  // The one whom the end of t wakes, which tries again; nullptr: it is listed anew.
  record* finish(task& t) {
    woken list;
    settle<M>(t.r, list);
    record* r = list.take();
    REQUIRE(r != nullptr);
    const bool is_ready = all.advance(r, list);
    return is_ready ? r : nullptr;
  }
};

}  // namespace

// Others take one of its handles each time that it is told of the other, until it has been told in vain often enough.
TEST_CASE(
    "reservation: who was told in vain keeps what it gets, and waits for what it has not, as a report would say") {
  fixture f;
  task wants, others[base::denials_max + 1];
  for (handle_state& h : f.h) wants.use(h, detail::kind_add);
  for (unsigned i = 0; i < 2; ++i) REQUIRE(f.submit(others[i].use(f.h[1 + i], detail::kind_add)));
  REQUIRE(!f.submit(wants));
  unsigned next = 2;
  std::uint32_t busy = 1;  // which handle it does not wait for
  while (wants.r.denied < base::denials_max) {
    const handle_state* const on = &handle_of(awaited(&wants.r));
    busy = on == &f.h[1] ? 2 : 1;
    task* holder = nullptr;
    for (unsigned i = 0; i < next; ++i)
      if (others[i].r.access_count != 0 && &handle_of(others[i].a[0]) == on) holder = &others[i];
    REQUIRE(holder != nullptr);
    CHECK(f.finish(*holder) == nullptr);
    holder->r.access_count = 0;
    if (wants.r.denied == base::denials_max) break;
    REQUIRE(f.submit(others[next++].use(f.h[3 - busy], detail::kind_add)));
  }
  CHECK((f.h[0].exclusive_taken && f.h[3 - busy].exclusive_taken));  // it has these
  CHECK(&handle_of(awaited(&wants.r)) == &f.h[busy]);
  task later;
  CHECK(!f.submit(later.use(f.h[0], detail::kind_add)));
  for (task& t : others)
    if (t.r.access_count != 0) CHECK(f.finish(t) == &wants.r);
  CHECK(f.finish(wants) == &later.r);
  woken nobody;
  settle<M>(later.r, nobody);
  CHECK(nobody.take() == nullptr);
}

}  // namespace weft::access
