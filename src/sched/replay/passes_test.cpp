// What of a pipeline goes into a trace: passes with their times, those that did more than compute as strands, and in
// the body that called it one step, which takes no time.
#include "sched/replay/passes.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "scheduler.hpp"
#include "trace/recorder.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;
using trace::event_kind;
using trace::step_kind;

// A worker in the body of task 7, whose clock goes on by a microsecond at each look.
struct carrying {
  notes machine;
  crew<notes> all;
  strands<notes> s{machine};
  passes<notes> p{machine, s};
  trace::shared_state shared{std::size_t{1} << 20};
  trace::recorder book{shared};
  task t;
  detail::worker* const before = current_worker();
  explicit carrying(bool traced = true) {
    all.open(2, false);
    t.r.trace_id() = 7;
    for (const auto& w : all) w->trace.book = traced ? &book : nullptr;
    at().current = &t.r;
    set_current_worker(&at());
  }
  ~carrying() {
    set_current_worker(before);
    at().current = nullptr;
  }
  [[nodiscard]] worker<notes>& at() { return all[0]; }
  [[nodiscard]] std::vector<trace::event> told(event_kind kind) {
    std::vector<trace::event> found;
    book.read([&](const trace::event& e) {
      if (e.kind == kind) found.push_back(e);
    });
    return found;
  }
};

}  // namespace

TEST_CASE("passes: without a trace there is no pipeline to tell of") {
  carrying c(false);
  CHECK(c.p.begins(1, 3, 0) == 0);
  CHECK(c.at().trace.strand == nullptr);
  CHECK(c.machine.clock_ps == 0);
}

TEST_CASE("passes: a pipeline of more stages than a word has bits is none, and its body has no strand for it") {
  carrying c;
  CHECK(c.p.begins(1, passes<notes>::stages_max + 1, 0) == 0);
  CHECK(c.at().trace.strand == nullptr);
}

TEST_CASE("passes: a pass that only computed is its begin and end; of several items it says how many") {
  carrying c;
  const std::uint32_t id = c.p.begins(0b101, 3, 9);
  REQUIRE(id != 0);
  const std::uint64_t item = (std::uint64_t{3} << 32) + 5;
  c.p.leaves(c.p.enters(), id, {2, 1, item});
  c.p.leaves(c.p.enters(), id, {detail::pipeline_pass::all_stages, 40, 6});
  c.p.ends();
  const auto pipelines = c.told(event_kind::pipeline), passes = c.told(event_kind::pass),
             more = c.told(event_kind::more);
  REQUIRE((pipelines.size() == 1 && passes.size() == 2 && more.size() == 1));
  CHECK((pipelines[0].task == 7 && pipelines[0].other == id && pipelines[0].value == 0b101));
  CHECK((pipelines[0].position == 9 && pipelines[0].detail == 3));
  CHECK((passes[0].task == 7 && passes[0].other == id && passes[0].detail == 2));
  CHECK((passes[0].position == 5 && passes[0].worker == 3 && passes[0].value == passes[0].time + 1'000'000));
  CHECK((passes[1].detail == 255 && passes[1].position == 6 && more[0].value == 40 && more[0].other == 0));
  CHECK(c.told(event_kind::strand).empty());
  c.s.ends(c.at());
  const auto steps = c.told(event_kind::step);
  REQUIRE(steps.size() == 2);
  CHECK((static_cast<step_kind>(steps[0].detail) == step_kind::pipeline && steps[0].value == id));
  CHECK(steps[0].time == 1'000'000);  // from the begin of the strand until then
  CHECK(static_cast<step_kind>(steps[1].detail) == step_kind::end);
}

TEST_CASE("passes: what a stage does is its own; what the pipeline does between them is nobody's") {
  carrying c;
  const std::uint32_t id = c.p.begins(1, 2, 0);
  c.s.does(c.at(), 0, step_kind::submits, 90);  // a helper
  void* const outer = c.p.enters();
  CHECK(c.at().trace.strand->of() == trace::strand_of::pass);
  c.s.does(c.at(), 2'500'000, step_kind::submits, 91);
  c.p.leaves(outer, id, {1, 1, 0});
  c.s.passed(c.at(), 0, {trace::why::children});  // its end
  c.p.ends();
  c.s.does(c.at(), 60'000'000, step_kind::submits, 92);
  c.s.ends(c.at());
  const auto strands = c.told(event_kind::strand), more = c.told(event_kind::more);
  REQUIRE((strands.size() == 2 && more.size() == 1));
  CHECK((static_cast<trace::strand_of>(strands[0].detail) == trace::strand_of::pass &&
         strands[0].other == more[0].other));
  std::vector<std::uint64_t> of_pass, of_body;
  for (const trace::event& e : c.told(event_kind::step))
    if (e.value != 0) (e.other == more[0].other ? of_pass : of_body).push_back(e.value);
  CHECK(of_pass == std::vector<std::uint64_t>{91});
  CHECK(of_body == std::vector<std::uint64_t>{id, 92});
}

TEST_CASE("passes: in a branch that is elsewhere a wait of a stage ends the stay of the branch") {
  carrying c;
  c.s.begins_branch(c.at(), 33);
  const std::uint32_t id = c.p.begins(1, 2, 0);
  void* const outer = c.p.enters();
  c.s.waits(c.at(), 9'000'000);
  c.s.goes_on(c.at(), {trace::why::children});
  c.p.leaves(outer, id, {1, 1, 0});
  c.p.ends();
  c.s.ends(c.at());
  const auto stays = c.told(event_kind::stay);
  REQUIRE(stays.size() == 2);
  CHECK((stays[0].other == 33 && stays[0].value == 9'000'000 && stays[1].other == 33 && stays[1].time < 9'000'000));
}

TEST_CASE("passes: who helps says so") {
  carrying c;
  c.p.helps(12);
  const auto all = c.told(event_kind::helper);
  REQUIRE(all.size() == 1);
  CHECK((all[0].task == 7 && all[0].other == 12));
}

}  // namespace weft::sched
