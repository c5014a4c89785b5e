// The list of runtimes in which others create: whoever waits for all comes to each that is listed, and to none that is
// not any more.
#include "sched/admit/decoupled.hpp"

#include <doctest/doctest.h>

namespace weft::sched {
namespace {

// A runtime, as the list sees it.
struct entry final : decoupled {
  explicit entry(bool listed) : listed_(listed) {
    if (listed_) enlist();
  }
  ~entry() override { leave(); }
  void leave() {
    if (listed_) strike(false);
    listed_ = false;
  }
  void await_creation() noexcept override {
    ++awaited;
    created = true;
  }
  [[nodiscard]] bool all_created() noexcept override { return created; }

  unsigned awaited = 0;
  bool created = false;

 private:
  bool listed_;
};

}  // namespace

TEST_CASE("decoupled: a runtime that is not listed is waited for by nobody") {
  entry e(false);
  CHECK(decoupled::none_pending());
  decoupled::await_all();
  CHECK(e.awaited == 0);
}

TEST_CASE("decoupled: who waits for all comes to each that is listed, and then nothing is left") {
  entry a(true), b(true);
  CHECK(decoupled::any());
  CHECK(!decoupled::none_pending());
  a.created = true;
  CHECK(!decoupled::none_pending());
  decoupled::await_all();
  CHECK((a.awaited == 1 && b.awaited == 1));
  CHECK(decoupled::none_pending());
}

TEST_CASE("decoupled: whoever has left is not asked, and its place is used again") {
  const bool others = decoupled::any();
  {
    entry a(true), b(true);
    a.leave();
    CHECK(!decoupled::none_pending());
    entry c(true);
    decoupled::await_all();
    CHECK((a.awaited == 0 && b.awaited == 1 && c.awaited == 1));
  }
  CHECK(decoupled::any() == others);
}

}  // namespace weft::sched
