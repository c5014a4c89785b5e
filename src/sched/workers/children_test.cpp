// The count of children, as a body and those who run its children elsewhere see it.
#include "sched/workers/children.hpp"

#include <doctest/doctest.h>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;
using count = children<notes>;
using detail::record;
constexpr auto running = detail::record_state::running;

[[nodiscard]] std::uint32_t word(const task& t) { return detail::peek(t.r.pending); }

}  // namespace

TEST_CASE("children: numbered as they are submitted; those that end on the stack touch no shared word") {
  task parent(running);
  CHECK(!count::any(parent.r));
  CHECK(count::added(parent.r) == 0);
  CHECK(count::added(parent.r) == 1);
  CHECK((count::any(parent.r) && parent.r.has_children));
  count::ended_here(parent.r);
  CHECK(count::any(parent.r));
  count::ended_here(parent.r);
  CHECK(!count::any(parent.r));
  CHECK(word(parent) == record::body_share);
  CHECK(count::body_over(parent.r));
}

TEST_CASE("children: one that ends elsewhere is not the last while the body runs") {
  task parent(running);
  static_cast<void>(count::added(parent.r));
  CHECK(!count::ended(parent.r));
  CHECK(!count::any(parent.r));
  static_cast<void>(count::added(parent.r));
  CHECK(count::any(parent.r));
  CHECK(!count::body_over(parent.r));
  CHECK(parent.r.running.awaits_children == nullptr);
  CHECK(count::ended(parent.r));
  CHECK(word(parent) == 0);
}

TEST_CASE("children: the last that ends hands on to the body that waits, which may submit and wait again") {
  task parent(running), body;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) static_cast<void>(count::added(parent.r));
    count::ended_here(parent.r);
    CHECK(!count::ended(parent.r));
    CHECK(!count::awaited(parent.r, &body.r));
    CHECK(parent.r.running.awaits_children == &body.r);
    CHECK(count::ended(parent.r));
    count::goes_on(parent.r);
    CHECK(!count::any(parent.r));
    CHECK(word(parent) == record::body_share);
  }
  static_cast<void>(count::added(parent.r));
  CHECK(!count::ended(parent.r));
  CHECK(count::awaited(parent.r, &body.r));  // they are done by the time it says that it waits
}

TEST_CASE("children: withdrawn, or added by others beside a child that lives") {
  task parent(running);
  static_cast<void>(count::added(parent.r));
  static_cast<void>(count::added(parent.r));
  count::withdrawn(parent.r);
  CHECK(count::any(parent.r));
  count::added_elsewhere(parent.r);
  CHECK(!count::ended(parent.r));
  CHECK(count::any(parent.r));
  CHECK(!count::ended(parent.r));
  CHECK(!count::any(parent.r));
  CHECK(count::body_over(parent.r));
}

TEST_CASE("children: an event is none of them, and neither ends the task before the other") {
  task parent(running), body;
  detail::poke(parent.r.pending, record::body_share | record::body_bit | record::event_bit);
  parent.r.has_children = true;
  CHECK(!count::any(parent.r));
  static_cast<void>(count::added(parent.r));
  CHECK(count::any(parent.r));
  CHECK(!count::awaited(parent.r, &body.r));
  CHECK(count::ended(parent.r));  // the body waits for children, not for the event
  count::goes_on(parent.r);
  CHECK(word(parent) == (record::body_share | record::body_bit | record::event_bit));
  static_cast<void>(count::added(parent.r));
  CHECK(!count::body_over(parent.r));
  CHECK(!count::ended(parent.r));  // the event is left
  CHECK(word(parent) == record::event_bit);
}

TEST_CASE("children: more in the life of one body than the word could count") {
  task parent(running);
  parent.r.running.children = record::renew_every - 2;  // all of them have ended elsewhere
  detail::poke(parent.r.pending, record::body_share - (record::renew_every - 2));
  parent.r.has_children = true;
  for (int i = 0; i < 5; ++i) {
    CHECK(!count::any(parent.r));
    static_cast<void>(count::added(parent.r));
    CHECK(count::any(parent.r));
    CHECK(!count::ended(parent.r));
  }
  CHECK(word(parent) == record::body_share - 3);
  CHECK(count::body_over(parent.r));
}

}  // namespace weft::sched
