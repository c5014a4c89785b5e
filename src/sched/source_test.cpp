// The one list of places where work can be, and the folds over it: asked in order, the first that has something ends
// the search, and what a source says of itself decides whether it is asked while paused or now and then.
#include "sched/source.hpp"

#include <doctest/doctest.h>

#include <string>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using M = machine::host;
using traits = source<M>::traits;

// Has as many tasks as it is told, and notes in `asked` each time somebody wants one.
class shelf final : public source<M> {
 public:
  shelf(const char* name, traits t, std::string& asked) : source<M>(name, t), asked_(asked) {}
  [[nodiscard]] detail::record* take(worker<M>&) override {
    asked_ += name();
    if (left == 0) return nullptr;
    --left;
    return &task;
  }
  [[nodiscard]] bool visible(worker<M>&) noexcept override { return left != 0; }

  unsigned left = 0;
  detail::record task{};

 private:
  std::string& asked_;
};

struct three {
  std::string asked;
  shelf a{"a", {}, asked};
  shelf b{"b", {.shared = true, .while_paused = true}, asked};
  shelf c{"c", {.now_and_then = true}, asked};
  worker<M> w;
  three() { w.sources = {&a, &b, &c}; }
};

}  // namespace

TEST_CASE("source: what it says of itself") {
  three t;
  CHECK(std::string(t.b.name()) == "b");
  CHECK((t.b.is().shared && t.b.is().while_paused && !t.b.is().now_and_then));
  CHECK((!t.a.is().shared && !t.a.is().while_paused && !t.a.is().now_and_then));
}

TEST_CASE("source: a search asks each in order and stops at the first that has something") {
  three t;
  CHECK(take_any(t.w, false) == nullptr);
  CHECK(t.asked == "abc");
  t.asked.clear();
  t.b.left = t.c.left = 1;
  CHECK(take_any(t.w, false) == &t.b.task);
  CHECK(t.asked == "ab");
  CHECK(take_any(t.w, false) == &t.c.task);
}

TEST_CASE("source: while paused only those are asked that are for then") {
  three t;
  t.a.left = t.b.left = t.c.left = 1;
  CHECK(take_any(t.w, true) == &t.b.task);
  CHECK(t.asked == "b");
  CHECK(take_any(t.w, true) == nullptr);
  CHECK(t.a.left == 1);
}

TEST_CASE("source: now and then a busy worker asks only those that want it") {
  three t;
  t.a.left = t.b.left = t.c.left = 1;
  CHECK(take_now_and_then(t.w) == &t.c.task);
  CHECK(take_now_and_then(t.w) == nullptr);
  CHECK(t.asked == "cc");
}

TEST_CASE("source: the look before sleep sees any of them, and while paused those that are asked then") {
  three t;
  CHECK(!any_visible(t.w, false));
  t.c.left = 1;
  CHECK(any_visible(t.w, false));
  CHECK(!any_visible(t.w, true));
  t.b.left = 1;
  CHECK(any_visible(t.w, true));
  CHECK(t.asked.empty());  // a look takes nothing
}

TEST_CASE("source: a worker without sources finds nothing") {
  worker<M> w;
  CHECK(take_any(w, false) == nullptr);
  CHECK(take_now_and_then(w) == nullptr);
  CHECK(!any_visible(w, false));
}

}  // namespace weft::sched
