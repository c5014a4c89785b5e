// What can be asked of a record's body and closure.
#include "weft/detail/record.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <stdexcept>

#include "weft/detail/submit.hpp"

namespace weft::detail {
namespace {

// A task without accesses in memory of its own; its body counts, and holds something that shows when it is destroyed.
struct made {
  int called = 0;
  bool throws = false;
  std::shared_ptr<int> held = std::make_shared<int>(0);
  alignas(64) std::byte memory[256];
  record& r;

  made() : r(*new(memory) record{}) {
    const auto body = [this, kept = held] {
      ++called;
      if (throws) throw std::runtime_error("a body");
    };
    using kept = closure<std::remove_const_t<decltype(body)>, 0>;
    new (r.closure()) kept(body);
    r.invoke = &invoke<kept>;
  }
  [[nodiscard]] bool is_destroyed() const { return held.use_count() == 1; }
};

}  // namespace

TEST_CASE("record: a body runs and its closure is gone, also when it throws") {
  made a, b;
  a.r.invoke(a.r, errand::run);
  CHECK((a.called == 1 && a.is_destroyed()));
  b.throws = true;
  CHECK_THROWS_AS(b.r.invoke(b.r, errand::run), std::runtime_error);
  CHECK((b.called == 1 && b.is_destroyed()));
}

TEST_CASE("record: a body can be called again, also after it threw, until its closure is destroyed") {
  made t;
  t.r.invoke(t.r, errand::call);
  t.throws = true;
  CHECK_THROWS_AS(t.r.invoke(t.r, errand::call), std::runtime_error);
  t.throws = false;
  t.r.invoke(t.r, errand::call);
  CHECK((t.called == 3 && !t.is_destroyed()));
  t.r.invoke(t.r, errand::destroy);
  CHECK((t.called == 3 && t.is_destroyed()));
}

TEST_CASE("record: a body that is not wanted is destroyed without a call") {
  made t;
  t.r.invoke(t.r, errand::destroy);
  CHECK((t.called == 0 && t.is_destroyed()));
}

}  // namespace weft::detail
