// The board of a runtime's events: what it counts as outstanding, who is told of an end, and the words of reports.
#include "sched/idle/events.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::task;

[[nodiscard]] bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// A wait of `body` for an event, or for a version of h.
struct wait : event_wait {
  explicit wait(event_state& s, const detail::record* of = nullptr) {
    event = &s;
    body = of;
  }
  wait(detail::handle_state& h, std::uint64_t of_h) {
    handle = &h;
    version = of_h;
  }
};

struct fixture {
  event_board board;
  event_state e;
  fixture() { e.name = "e"; }
};

}  // namespace

TEST_CASE("events: a wait is outstanding from when it is listed until it is taken out") {
  fixture f;
  wait one(f.e), two(f.e);
  CHECK(f.board.list(one));
  CHECK(f.board.list(two));
  CHECK(f.board.outstanding() == 2);
  CHECK(f.e.waits == &one);
  CHECK(f.board.delist(one));
  CHECK(!f.board.delist(one));  // somebody was quicker
  CHECK(f.board.outstanding() == 1);
  CHECK(f.e.waits == &two);
  CHECK(f.board.delist(two));
  CHECK(f.board.outstanding() == 0);
  CHECK(f.e.waits == nullptr);
}

TEST_CASE("events: an event that is over takes no more waits, and ends once") {
  fixture f;
  wait first(f.e), late(f.e);
  CHECK(f.board.list(first));
  const event_end end = f.board.end(f.e);
  CHECK(end.waits == &first);
  CHECK(end.task == nullptr);
  CHECK(f.e.over.raw);
  CHECK(f.e.waits == nullptr);
  CHECK(!f.board.list(late));
  CHECK(!f.board.delist(first));
  const event_end again = f.board.end(f.e);
  CHECK((again.waits == nullptr && again.count == 0));
}

TEST_CASE("events: what was counted stays so until it is settled") {
  fixture f;
  detail::handle_state h;
  wait ahead(h, 3);
  CHECK(f.board.list(ahead));
  CHECK(f.board.outstanding() == 1);
  f.board.settled(1);
  CHECK(f.board.outstanding() == 0);
}

TEST_CASE("events: the words for a body that waits, and none for one that does not") {
  fixture f;
  detail::handle_state h;
  detail::set_name(h, "total");
  task waits, other;
  waits.r.name = "reader";
  wait of_task(f.e, &waits.r), of_main(h, 5);
  CHECK(f.board.list(of_task));
  CHECK(f.board.list(of_main));
  CHECK(f.board.awaited_by(&waits.r) == " for event 'e'");
  CHECK(f.board.awaited_by(&other.r).empty());
  CHECK(has(f.board.awaited_by(nullptr), "version 5 of handle 'total', which is at 0"));
  const std::string lines = f.board.lines();
  CHECK(has(lines, "task 'reader' waits for event 'e'"));
  CHECK(has(lines, "a thread outside of tasks waits for version 5"));
  CHECK(f.board.delist(of_task));
  CHECK(f.board.delist(of_main));
  CHECK(f.board.lines().empty());
}

TEST_CASE("events: of many lines the first eight are given and the others counted") {
  fixture f;
  std::vector<wait> all(11, wait(f.e));
  for (wait& x : all) CHECK(f.board.list(x));
  CHECK(has(f.board.lines(), "and 3 more"));
  for (wait& x : all) CHECK(f.board.delist(x));
}

TEST_CASE("events: a task that no event is tied to abandons none") {
  fixture f;
  task t;
  const event_end end = f.board.abandon(t.r, std::make_exception_ptr(std::runtime_error("x")));
  CHECK((end.task == nullptr && end.waits == nullptr && end.count == 0));
  CHECK(f.board.event_of(t.r) == "an event that is over");
}

TEST_CASE("events: the runtime's end is known to wait for who is still settling one") {
  fixture f;
  CHECK(!f.board.calls_under_way());
  f.board.begin_call();
  f.board.begin_call();
  f.board.end_call();
  CHECK(f.board.calls_under_way());
  f.board.end_call();
  CHECK(!f.board.calls_under_way());
}

}  // namespace weft::sched
