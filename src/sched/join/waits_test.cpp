// The program's waits: each ends when what it is for is done, at once if that is so already, and hears of what failed;
// one that could never end says so.
#include "sched/join/waits.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "running_engine.hpp"

namespace weft::sched {
namespace {

using detail::kind_read;
using detail::kind_write;
using testing::notes;
using testing::task;

struct fixture {
  notes machine;
  testing::running_engine s{machine, 2};
  // As an engine runs what a waiting body finds to be its own child.
  struct runner final : child_runner<notes> {
    testing::running_engine& s;
    unsigned children = 0;
    explicit runner(testing::running_engine& of) : s(of) {}
    void run_child(worker<notes>&, detail::record* x) override {
      ++children;
      s.run(reinterpret_cast<task&>(*x));
    }
  } on_stack{s};
  waits<notes> w{nullptr, on_stack, s, s.stacks, s.registrar, s.suspension, s.stall, s.events};
  [[nodiscard]] std::uint64_t set_aside() const { return detail::peek(s.w.counted.suspends); }
};

}  // namespace

TEST_CASE("waits: for all tasks: at once when there are none, else until they have run") {
  fixture f;
  CHECK(f.w.for_all(f.s.w));
  CHECK(f.set_aside() == 0);
  detail::handle_state h;
  task a, b, c;
  f.s.submit(0, a.uses(h, kind_write));
  f.s.submit(0, b.uses(h, kind_write));
  f.s.submit(0, c);
  CHECK(f.w.for_all(f.s.w));
  CHECK((a.called == 1 && b.called == 1 && c.called == 1));
  CHECK(f.set_aside() == 1);
  CHECK(f.s.quiescence.reached());
}

TEST_CASE("waits: for all tasks: what failed is thrown, once") {
  fixture f;
  task a;
  f.s.poison.fail(a.r, std::make_exception_ptr(std::runtime_error("x")));
  CHECK_THROWS_AS(static_cast<void>(f.w.for_all(f.s.w)), std::runtime_error);
  CHECK(f.w.for_all(f.s.w));
}

TEST_CASE("waits: for all tasks: false if nothing can run any more") {
  fixture f;
  task never;
  f.s.quiescence.created(f.s.w, never.r);
  CHECK(!f.w.for_all(f.s.w));
  CHECK(f.s.w.on_program_stack());
}

TEST_CASE("waits: for its children: the body goes on when the last is done, and only hears of theirs") {
  fixture f;
  task parent(detail::record_state::running), a, b, other;
  f.s.quiescence.created(f.s.w, parent.r);
  f.s.w.current = &parent.r;
  f.w.for_children(f.s.w);  // it has none
  CHECK(f.set_aside() == 0);
  f.s.submit(0, a);
  f.s.submit(0, b);
  f.s.poison.fail(other.r, std::make_exception_ptr(std::runtime_error("not a child")));
  f.w.for_children(f.s.w);
  CHECK((a.called == 1 && b.called == 1));
  CHECK(f.s.w.current == &parent.r);
  CHECK(!children<notes>::any(parent.r));
  f.w.for_children(f.s.w);  // they are done: not once more
  CHECK(f.set_aside() == 1);
  f.s.poison.fail(a.r, std::make_exception_ptr(std::logic_error("a child")));
  CHECK_THROWS_AS(f.w.for_children(f.s.w), std::logic_error);
  f.s.w.current = nullptr;
}

TEST_CASE("waits: for a handle: until what was submitted on it so far is done, and no longer") {
  fixture f;
  detail::handle_state h, k;
  task a, other;
  f.s.submit(0, other.uses(k, kind_write));
  CHECK(f.w.for_handle(f.s.w, h, nullptr));
  CHECK(f.set_aside() == 0);
  f.s.submit(0, a.uses(h, kind_write));
  CHECK(f.w.for_handle(f.s.w, h, nullptr));
  CHECK(a.called == 1);
  CHECK(f.set_aside() == 1);
  CHECK(f.w.for_all(f.s.w));
  CHECK(other.called == 1);
}

TEST_CASE("waits: a task may not wait for a handle that it uses itself") {
  fixture f;
  detail::handle_state h;
  task body(detail::record_state::running);
  body.uses(h, kind_read);
  f.s.w.current = &body.r;
  CHECK_THROWS_AS(static_cast<void>(f.w.concerns(f.s.w, h)), error);
  f.s.w.current = nullptr;
  CHECK(!f.w.concerns(f.s.w, h));  // nobody has used it
}

TEST_CASE("waits: a handle of another runtime is an error while that uses it, and nothing to wait for later") {
  fixture f;
  detail::handle_state h;
  h.engine = reinterpret_cast<detail::engine_base*>(std::uintptr_t{64});  // its address is all that is looked at
  h.registered = 1;
  CHECK_THROWS_AS(static_cast<void>(f.w.concerns(f.s.w, h)), error);
  h.registered = 0;
  CHECK(!f.w.concerns(f.s.w, h));
  h.engine = nullptr;
}

TEST_CASE("waits: a thread outside waits for what there is and leaves no trace of itself") {
  fixture f;
  detail::handle_state h;
  task a;
  worker<notes>& g = f.s.guests.enter(nullptr);
  f.w.for_all_outside(g);
  CHECK(f.w.for_handle_outside(g, h, nullptr));
  f.s.poison.fail(a.r, std::make_exception_ptr(std::runtime_error("x")));
  CHECK_THROWS_AS(f.w.for_all_outside(g), std::runtime_error);
  f.s.guests.leave(g);
  const base::locked<notes> hold(f.s.guests.waits_lock());
  CHECK(f.s.guests.waits().empty());
  CHECK(!f.s.guests.calls_under_way());
}

}  // namespace weft::sched
