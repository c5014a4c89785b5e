// The one list of places where work can be, and the folds over it: asked in order, the first that has something ends
// the search, and what a source says of itself decides whether it is asked while paused or now and then.
#include "sched/workers/source.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

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

// A crew of three, who do not all look at the same places: the last has none of those that are for all.
struct crew_of_three {
  struct asks final : source<M> {
    explicit asks(bool shared) : source<M>("asks", {.shared = shared}) {}
    [[nodiscard]] detail::record* take(worker<M>&) override { return nullptr; }
    [[nodiscard]] bool visible(worker<M>& w) noexcept override {
      asked += static_cast<char>('0' + w.id);
      return has_some;
    }
    bool has_some = false;
    std::string asked;
  };
  asks for_all{true}, own{false}, of_last{false};
  std::vector<std::unique_ptr<worker<M>>> all;
  everywhere<M> look;
  crew_of_three() {
    for (std::uint16_t id = 0; id < 3; ++id) {
      all.push_back(std::make_unique<worker<M>>());
      all.back()->id = id;
      all.back()->sources = {&for_all, &own};
    }
    all[2]->sources = {&of_last};
    look.open(all);
  }
};

TEST_CASE("source: everywhere, each queue of all is asked once, and those of each worker") {
  crew_of_three t;
  CHECK(!t.look.any(*t.all[0], t.all));
  CHECK(t.for_all.asked == "0");
  CHECK(t.own.asked == "01");
  CHECK(t.of_last.asked == "2");
}

TEST_CASE("source: everywhere, also in a queue of all at which the one who looks has no place") {
  crew_of_three t;
  t.for_all.has_some = true;
  CHECK(!any_visible(*t.all[2], false));
  CHECK(t.look.any(*t.all[2], t.all));
  CHECK(t.for_all.asked == "0");  // about one that has it
  t.for_all.has_some = false;
  t.of_last.has_some = true;
  CHECK(t.look.any(*t.all[0], t.all));
}

TEST_CASE("source: a worker without sources finds nothing") {
  worker<M> w;
  CHECK(take_any(w, false) == nullptr);
  CHECK(take_now_and_then(w) == nullptr);
  CHECK(!any_visible(w, false));
}

}  // namespace weft::sched
