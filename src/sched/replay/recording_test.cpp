// What goes into a trace: without one no clock is read and nothing is written down; with one each step of a task's life
// leaves its event, and who traces changes nothing that the scheduler decides by.
#include "sched/replay/recording.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;
using trace::event_kind;

// A crew of two and its trace, in a folder of its own.
struct traced {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("weft_recording_test_" + std::to_string(::getpid()));
  notes machine;
  crew<notes> all;
  recording<notes> r{machine};
  traced() {
    std::filesystem::create_directory(folder);
    r.begin(std::make_unique<trace::session>((folder / "t.weft").c_str(), 1, nullptr));
    all.open(2, false);
    r.open(all);
  }
  ~traced() { std::filesystem::remove_all(folder); }
  // What worker `id` has written down.
  [[nodiscard]] std::vector<trace::event> of(unsigned id) {
    std::vector<trace::event> found;
    all[id].trace.book->read([&found](const trace::event& e) { found.push_back(e); });
    return found;
  }
};

}  // namespace

TEST_CASE("recording: off, it reads no clock and leaves no mark") {
  notes machine;
  crew<notes> all;
  recording<notes> r(machine);
  all.open(2, false);
  r.open(all);
  worker<notes>& w = all[0];
  task t, other;
  CHECK(!r.on());
  CHECK(r.path() == nullptr);
  CHECK(!w.pace.always);
  const detail::record before = t.r;
  r.of_submission(w)(t.r);
  r.requested(w, t.r);
  r.creates(w, t.r);
  CHECK(!w.trace.creates_request);
  r.creation_over(w);
  const auto from = r.waits(w, &t.r);
  r.goes_on(w, &t.r, {trace::why::children}, from);
  r.passed(w, {trace::why::all});
  r.stolen(w, all[1], other.r);
  r.park(w);
  CHECK(machine.clock_ps == 0);
  CHECK((t.r.request.made_ps == before.request.made_ps && t.r.request.made_by == before.request.made_by &&
         t.r.trace_id() == before.trace_id()));
  CHECK(detail::peek(w.counted.sleeps) == 1);  // statistics count all the same
  CHECK(machine.parked == 1);
  CHECK_THROWS_AS(r.write({}, 0), error);
  r.write_or_say({}, 0);
}

TEST_CASE("recording: on, each worker has a recorder and watches all its bodies") {
  traced t;
  CHECK(t.r.on());
  CHECK(t.all[0].trace.book != t.all[1].trace.book);
  CHECK((t.all[0].pace.always && t.all[1].pace.always));
}

TEST_CASE("recording: a task is written where it was submitted and where it ran") {
  traced t;
  task x;
  t.r.of_submission(t.all[0])(x.r);
  CHECK(x.r.trace_id() != 0);
  t.r.ran(t.all[1], x.r,
          {.start_ps = 5, .end_ps = 9, .first_worker = 0, .outer = nullptr, .outcome = trace::outcome::failed});
  const auto submitted = t.of(0);
  const auto ran = t.of(1);
  REQUIRE((submitted.size() == 1 && ran.size() == 1));
  CHECK((submitted[0].kind == event_kind::submitted && submitted[0].task == x.r.trace_id()));
  CHECK((ran[0].kind == event_kind::ran && ran[0].task == x.r.trace_id()));
  CHECK((ran[0].time == 5 && ran[0].value == 9 && ran[0].worker == 0));
  CHECK(ran[0].detail == static_cast<std::uint8_t>(trace::outcome::failed));
}

TEST_CASE("recording: a wait says from when to when, where, and for what; one that found nothing to wait for, too") {
  traced t;
  worker<notes>& w = t.all[1];
  task x;
  x.r.trace_id() = 77;
  const auto from = t.r.waits(w, &x.r);
  t.r.goes_on(t.all[0], &x.r, {trace::why::handle, 12}, from);
  w.current = &x.r;
  t.r.passed(w, {trace::why::children});
  w.current = nullptr;
  const auto waited = t.of(0);
  REQUIRE(waited.size() == 1);
  CHECK((waited[0].kind == event_kind::waited && waited[0].worker == 1 && waited[0].task == 77));
  CHECK((waited[0].other == 12 && waited[0].time == from.ps && waited[0].value > waited[0].time));
  const auto passed = t.of(1);
  REQUIRE(passed.size() == 1);
  CHECK((passed[0].kind == event_kind::passed && passed[0].task == 77));
}

TEST_CASE("recording: what a taken branch waits for is no wait of its task, which runs elsewhere meanwhile") {
  traced t;
  worker<notes>& w = t.all[1];
  detail::record half{}, scope{};
  half.kind = detail::record_kind::branch;
  half.trace_id() = 77;
  scope.kind = detail::record_kind::scope;
  scope.parent = &half;
  for (detail::record* const r : {&half, &scope}) {
    const auto from = t.r.waits(w, r);
    t.r.goes_on(t.all[0], r, {trace::why::join}, from);
    w.current = r;
    t.r.passed(w, {trace::why::children});
    w.current = nullptr;
  }
  CHECK(t.of(0).empty());
  CHECK(t.of(1).empty());
}

TEST_CASE("recording: a request carries when and by whom it was handed over to where it is created") {
  traced t;
  worker<notes> guest;
  guest.role = role::guest;
  task inside, outside;
  t.r.requested(t.all[1], inside.r);
  const auto when = inside.r.request.made_ps;
  CHECK(inside.r.waiting.cursor == 2);
  t.r.requested(guest, outside.r);
  CHECK(outside.r.waiting.cursor == trace::by_outside);
  worker<notes>& creator = t.all[0];
  transition(inside.r, detail::record_state::filling, detail::record_state::requested);
  t.r.creates(creator, inside.r);
  CHECK((creator.trace.creates_request && creator.trace.requested_ps == when && creator.trace.requested_by == 2));
  t.r.submitted(creator, inside.r);
  t.r.creation_over(creator);
  CHECK(!creator.trace.creates_request);
  const auto events = t.of(0);
  REQUIRE(events.size() == 1);
  CHECK((events[0].time == when && events[0].worker == 2));
}

TEST_CASE("recording: what was stolen, and from whom; and sleep") {
  traced t;
  task x;
  waiter stack;
  x.r.trace_id() = 5;
  stack.r.kind = detail::record_kind::resume;
  t.r.stolen(t.all[0], t.all[1], x.r);
  t.r.stolen(t.all[0], t.all[1], stack.r);
  detail::record half{};
  half.kind = detail::record_kind::branch;
  t.r.stolen(t.all[0], t.all[1], half);
  t.r.park(t.all[0]);
  const auto events = t.of(0);
  REQUIRE(events.size() == 4);
  CHECK((events[0].kind == event_kind::stolen && events[0].task == 5 && events[0].worker == 1));
  CHECK((events[0].detail == 0 && events[1].detail == 1 && events[2].detail == 2));
  CHECK((events[1].task == 0 && events[2].task == 0));
  CHECK((events[3].kind == event_kind::slept && events[3].value > events[3].time));
}

TEST_CASE("recording: at the end the trace is written only if there is something new since the last time") {
  traced t;
  const place::tree places = testing::places_of(2);
  const trace::facts about{.program = "test",
                           .machine = "notes",
                           .policy = "none",
                           .creation = "inline",
                           .schedule = "time",
                           .counters = {},
                           .places = &places};
  task x, later;
  const auto run = [&t](task& one) {
    t.r.of_submission(t.all[0])(one.r);
    t.r.ran(t.all[0], one.r,
            {.start_ps = 5, .end_ps = 9, .first_worker = 0, .outer = nullptr, .outcome = trace::outcome::done});
  };
  run(x);
  t.r.write(about, 0);
  CHECK(std::filesystem::file_size(t.r.path()) > trace::header_bytes);
  std::filesystem::remove(t.r.path());
  t.r.write_or_say(about, 0);
  CHECK(!std::filesystem::exists(t.r.path()));
  run(later);
  t.r.write_or_say(about, 0);
  CHECK(std::filesystem::exists(t.r.path()));
}

}  // namespace weft::sched
