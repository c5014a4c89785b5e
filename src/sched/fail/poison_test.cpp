// What a failure does to other tasks: what the failed one would have written is poisoned, who would use that is skipped
// and poisons in turn, and when the program has been told all is well again.
#include "sched/fail/poison.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct program {
  failures<notes> all;
  poison<notes> p{all};
  detail::handle_state a, b, c;
};

[[nodiscard]] std::exception_ptr thrown(const char* what) { return std::make_exception_ptr(std::runtime_error(what)); }

// What `wait` throws, or "nothing".
template <class Wait> [[nodiscard]] std::string told(Wait wait) {
  try {
    wait();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("poison: while nothing has failed no task is concerned") {
  program g;
  task t;
  t.uses(g.a, detail::kind_write);
  CHECK(!g.p.concerns(t.r));
  CHECK(told([&] { g.p.rethrow_for(g.a); }) == "nothing");
  CHECK(told([&] { g.p.rethrow_below(nullptr); }) == "nothing");
}

TEST_CASE("poison: a failure poisons what would have been written, and nothing that was only read") {
  program g;
  task t;
  t.uses(g.a, detail::kind_write).uses(g.b, detail::kind_read).uses(g.c, detail::kind_add);
  g.p.fail(t.r, thrown("x"));
  CHECK((detail::peek(g.a.poisoned) && !detail::peek(g.b.poisoned) && detail::peek(g.c.poisoned)));
  CHECK(told([&] { g.p.rethrow_for(g.a); }) == "x");
  CHECK(told([&] { g.p.rethrow_for(g.b); }) == "nothing");
}

TEST_CASE("poison: no units of a resource are poisoned") {
  program g;
  task t;
  t.uses(g.a, detail::kind_resource);
  g.p.fail(t.r, thrown("x"));
  CHECK(!detail::peek(g.a.poisoned));
}

TEST_CASE("poison: who uses what is poisoned is skipped, destroyed, and poisons on with the same exception") {
  program g;
  task fails, reads, other, third;
  fails.uses(g.a, detail::kind_write);
  reads.uses(g.a, detail::kind_read).uses(g.b, detail::kind_write);
  third.uses(g.b, detail::kind_write);
  other.uses(g.c, detail::kind_write);
  g.p.fail(fails.r, thrown("x"));
  CHECK(!g.p.concerns(other.r));
  CHECK(g.p.concerns(reads.r));
  CHECK(g.p.skip(reads.r));
  CHECK((reads.called == 0 && reads.dropped == 1));
  CHECK(g.p.concerns(third.r));
  CHECK(told([&] { g.p.rethrow_for(g.b); }) == "x");
}

TEST_CASE("poison: a task whose handles were healed since it was asked is called after all") {
  program g;
  task fails, reads;
  fails.uses(g.a, detail::kind_write);
  reads.uses(g.a, detail::kind_read);
  g.p.fail(fails.r, thrown("x"));
  CHECK(g.p.concerns(reads.r));
  CHECK(told([&] { g.p.rethrow_below(nullptr); }) == "x");
  CHECK(!detail::peek(g.a.poisoned));
  CHECK(!g.p.skip(reads.r));
  CHECK((reads.called == 1 && reads.dropped == 0));
}

TEST_CASE("poison: what children threw and nobody waited for is their parent's; with subtasks its data is bad, too") {
  for (const bool subtasks : {false, true}) {
    program g;
    task parent, child;
    parent.uses(g.a, detail::kind_write);
    parent.r.subtasks = subtasks;
    parent.r.order = 1;
    child.r.parent = &parent.r;
    g.p.fail(child.r, thrown("x"));
    g.p.hand_up(parent.r);
    CHECK(detail::peek(g.a.poisoned) == subtasks);
    CHECK(told([&] { g.p.rethrow_below(&parent.r); }) == "nothing");
    CHECK(told([&] { g.p.rethrow_below(nullptr); }) == "x");
  }
}

TEST_CASE("poison: a parent of children that did not fail hands nothing up") {
  program g;
  task parent, other;
  parent.uses(g.a, detail::kind_write);
  parent.r.subtasks = true;
  other.r.order = 9;
  g.p.fail(other.r, thrown("x"));
  g.p.hand_up(parent.r);
  CHECK(!detail::peek(g.a.poisoned));
}

// The engine's address tells whose handle it is; it is never called here.
TEST_CASE("poison: a refused task forgets its accesses, poisons only what is this runtime's, and is only destroyed") {
  program g;
  auto* const ours = reinterpret_cast<detail::engine_base*>(std::uintptr_t{64});
  auto* const theirs = reinterpret_cast<detail::engine_base*>(std::uintptr_t{128});
  task t;
  t.uses(g.a, detail::kind_write).uses(g.b, detail::kind_write).uses(g.c, detail::kind_write);
  t.r.plain = true;
  g.a.engine = ours;  // b is nobody's yet, as before a first access that is refused
  g.c.engine = theirs;
  g.c.registered = 1;  // and not done
  g.p.refuse(t.r, ours, thrown("refused"));
  CHECK((detail::peek(g.a.poisoned) && detail::peek(g.b.poisoned) && !detail::peek(g.c.poisoned)));
  CHECK((g.b.engine == ours && g.c.engine == theirs));
  CHECK(!t.r.plain);
  for (unsigned i = 0; i < 3; ++i) CHECK(t.a[i].handle_and_kind == detail::kind_repeated);
  CHECK(g.p.concerns(t.r));
  CHECK(g.p.skip(t.r));
  CHECK((t.called == 0 && t.dropped == 1));
  CHECK(told([&] { g.p.rethrow_below(nullptr); }) == "refused");
  g.c.registered = 0;
  for (detail::handle_state* h : {&g.a, &g.b, &g.c}) h->engine = nullptr;
}

}  // namespace weft::sched
