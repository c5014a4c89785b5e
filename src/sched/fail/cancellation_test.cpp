// Cancelled scopes: which of them a task is in, who is told, and what is counted where.
#include "sched/fail/cancellation.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>

#include "running_engine.hpp"
#include "weft/cancellation.hpp"
#include "weft/runtime.hpp"

namespace weft::sched {
namespace {

using detail::cancel_scope;
using detail::cancellation_state;
using detail::record;
using detail::record_kind;

// A chain of records, each the parent of the next: a task, and scopes and tasks below it.
struct chain {
  record task[3]{};
  record scope[2]{};
  chain() {
    for (record& s : scope) s.kind = record_kind::scope;
    scope[0].parent = &task[0];
    task[1].parent = &scope[0];
    scope[1].parent = &task[1];
    task[2].parent = &scope[1];
  }
};

// A runtime that is told of cancelled scopes.
struct fixture {
  weft::runtime rt{{.workers = 1, .machine = "virtual"}};
  detail::engine_base* engine = nullptr;
  fixture() {
    rt.submit([this] { engine = detail::self()->engine; });
    rt.wait();
  }
  [[nodiscard]] bool told() { return detail::peek(*detail::self()->attention) != 0; }
};

}  // namespace

TEST_CASE("cancellation: of records in no scope that can be cancelled there is nothing to say") {
  chain c;
  CHECK((cancellable_above(&c.task[2]) == nullptr && cancellable_above(nullptr) == nullptr));
  CHECK((cancelled_above(&c.task[2]) == nullptr && !is_cancelled(&c.scope[1]) && !is_cancelled(nullptr)));
  cancel_around(c.task[2], std::make_exception_ptr(std::runtime_error("x")));
  count_skipped(cancellable_above(&c.task[2]));
}

TEST_CASE("cancellation: the innermost scope that is cancelled, and each counts once") {
  fixture f;
  chain c;
  cancellation_state outer, inner;
  {
    const cancel_scope a(outer, c.scope[0], *f.engine);
    const cancel_scope b(inner, c.scope[1], *f.engine);
    CHECK((cancellable_above(&c.task[2]) == &b && cancellable_around(b) == &a && cancellable_around(a) == nullptr));
    CHECK((cancelled_above(&c.task[2]) == nullptr && !f.told()));
    detail::cancel(outer, nullptr);
    CHECK((cancelled_above(&c.task[2]) == &outer && is_cancelled(&c.scope[0]) && !is_cancelled(&c.scope[1])));
    CHECK((cancelled_above(&c.task[0]) == nullptr && f.told()));
    cancel_around(c.task[2], std::make_exception_ptr(std::runtime_error("x")));
    CHECK((cancelled_above(&c.task[2]) == &inner && detail::is_cancelled_error(outer.why)));
    CHECK(!detail::is_cancelled_error(inner.why));
    count_skipped(cancellable_above(&c.task[2]));
    count_skipped(cancellable_above(c.task[1].parent));
    CHECK((detail::peek(outer.skipped) == 2 && detail::peek(inner.skipped) == 1));
  }
  CHECK(!f.told());
}

TEST_CASE("cancellation: scopes of one cancellation in one another count and tell once; who comes late is told") {
  fixture f;
  chain c;
  cancellation_state same;
  std::optional<cancel_scope> a(std::in_place, same, c.scope[0], *f.engine);
  std::optional<cancel_scope> b(std::in_place, same, c.scope[1], *f.engine);
  CHECK((a->is_outermost && !b->is_outermost && same.scopes == &*a));
  detail::cancel(same, nullptr);
  const std::exception_ptr why = same.why;
  detail::cancel(same, std::make_exception_ptr(std::runtime_error("late")));
  CHECK(same.why == why);
  count_skipped(cancellable_above(&c.task[2]));
  CHECK(detail::peek(same.skipped) == 1);
  b.reset();
  CHECK(f.told());
  a.reset();
  CHECK((!f.told() && same.scopes == nullptr));
  c.scope[0].kind = record_kind::scope;
  a.emplace(same, c.scope[0], *f.engine);
  CHECK(f.told());
  a.reset();
  CHECK(!f.told());
}

}  // namespace weft::sched
