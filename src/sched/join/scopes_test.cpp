// The scope of a finish: what is submitted in it is its child, and it is over when they are; in a body it is a child of
// that body, on the main thread a task like others.
#include "sched/join/scopes.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "running_engine.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct fixture {
  notes machine;
  testing::running_engine s{machine, 2};
  struct runner final : child_runner<notes> {
    testing::running_engine& s;
    explicit runner(testing::running_engine& of) : s(of) {}
    void run_child(worker<notes>&, detail::record* x) override { s.run(reinterpret_cast<task&>(*x)); }
  } on_stack{s};
  waits<notes> w{nullptr, on_stack, s, s.stacks, s.registrar, s.suspension, s.stall, s.events};
  scopes<notes> all{w, s.stall, s.quiescence};
};

}  // namespace

TEST_CASE("scopes: in a body: a child of it that takes in what is submitted, and is gone when that is done") {
  fixture f;
  task body(detail::record_state::running), before, a, b;
  f.s.quiescence.created(f.s.w, body.r);
  f.s.w.current = &body.r;
  body.r.trace_id() = 17;
  body.r.name = "body";
  f.s.submit(0, before);
  detail::scope s;
  f.all.open(f.s.w, s);
  CHECK((f.s.w.current == s.r && s.r->parent == &body.r && s.r->order == 1));
  CHECK((s.r->trace_id() == 17 && s.r->name == body.r.name));
  CHECK(detail::body_around(s.r) == &body.r);
  f.s.submit(0, a);
  f.s.submit(0, b);
  CHECK((a.r.parent == s.r && a.r.order == 0 && b.r.order == 1));
  f.all.close(f.s.w, s);
  CHECK((a.called == 1 && b.called == 1));
  CHECK(f.s.w.current == &body.r);
  CHECK(body.r.running.children == 2);
  f.s.w.current = nullptr;
}

TEST_CASE("scopes: one in another, and each throws what its own children threw") {
  fixture f;
  task body(detail::record_state::running), a, b;
  f.s.quiescence.created(f.s.w, body.r);
  f.s.w.current = &body.r;
  detail::scope outer, inner;
  f.all.open(f.s.w, outer);
  f.s.submit(0, a);
  f.all.open(f.s.w, inner);
  f.s.submit(0, b);
  CHECK((inner.r->parent == outer.r && b.r.parent == inner.r));
  CHECK(detail::body_around(inner.r) == &body.r);
  f.s.poison.fail(b.r, std::make_exception_ptr(std::runtime_error("b")));
  f.s.poison.fail(a.r, std::make_exception_ptr(std::logic_error("a")));
  CHECK_THROWS_AS(f.all.close(f.s.w, inner), std::runtime_error);
  CHECK(f.s.w.current == outer.r);
  CHECK_THROWS_AS(f.all.close(f.s.w, outer), std::logic_error);
  CHECK(f.s.w.current == &body.r);
  f.s.w.current = nullptr;
}

TEST_CASE("scopes: of the main thread: a task of the program until it is closed") {
  fixture f;
  task a;
  f.s.w.where->on = &f.s.w;
  detail::scope s;
  f.all.open(f.s.w, s);
  CHECK((s.r->parent == nullptr && s.r->order == 1 && detail::body_around(s.r) == nullptr));
  CHECK(!f.s.quiescence.reached());
  f.s.submit(0, a);
  CHECK(f.s.quiescence.live() == 1);  // a is its scope's
  f.all.close(f.s.w, s);
  CHECK((a.called == 1 && f.s.w.current == nullptr));
  CHECK(f.s.quiescence.reached());
  f.s.w.where->on = nullptr;
}

TEST_CASE("scopes: of the main thread: if nothing can run any more it is closed, and its tasks are the program's") {
  fixture f;
  task never;
  f.s.w.where->on = &f.s.w;
  detail::scope s;
  f.all.open(f.s.w, s);
  f.s.quiescence.created(f.s.w, never.r);  // and it goes nowhere
  CHECK_THROWS_AS(f.all.close(f.s.w, s), error);
  CHECK(f.s.w.current == nullptr);
  f.s.w.where->on = nullptr;
}

}  // namespace weft::sched
