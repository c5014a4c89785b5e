// What can be asked of a record's body and closure.
#include "weft/detail/record.hpp"

#include <doctest/doctest.h>

#include <cstring>
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

// Its memory was another task's, or a thief's line, and is not read: what is not written has any value.
TEST_CASE("record: whatever its memory held, a task begins with what is said of it and nothing else") {
  for (const int stale : {0x00, 0xff}) {
    alignas(64) std::byte memory[sizeof(record)];
    std::memset(memory, stale, sizeof memory);
    record& r = *reinterpret_cast<record*>(memory);
    const auto body = [](record&, errand) {};
    prepare(r, body, 300, 7, 2, true);
    CHECK((r.invoke == +body && r.name == nullptr && r.cost_ps == 0 && r.access_count == 7));
    CHECK((r.pin == record::unpinned && r.kind == record_kind::task && r.state == record_state::filling));
    CHECK((r.size_class == 2 && r.exclusives == 2 && r.waiting.cursor == 0 && peek(r.pending) == record::body_share));
    CHECK((!r.urgent && !r.subtasks && !r.waits_exclusive && !r.has_children && !r.internal && r.plain));
    CHECK((r.denied == 0 && !r.has_waited && !r.is_call && r.near == 0));
    prepare(r, body, 100, 0, 0, false);
    CHECK((!r.plain && r.exclusives == 0 && r.size_class == 0));
  }
}

}  // namespace weft::detail
