// Which stack has a strand, and what of it goes into the trace: without a trace nothing; with one a body that forks,
// each branch that somebody else runs, and the main program for as long as it forks.
#include "sched/replay/strands.hpp"

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
struct forking {
  notes machine;
  crew<notes> all;
  strands<notes> s{machine};
  trace::shared_state shared{std::size_t{1} << 20};
  trace::recorder book{shared};
  task t;
  explicit forking(bool traced = true) {
    all.open(2, false);
    t.r.trace_id() = 7;
    for (const auto& w : all) w->trace.book = traced ? &book : nullptr;
    at().current = &t.r;
  }
  ~forking() { at().current = nullptr; }
  [[nodiscard]] worker<notes>& at() { return all[0]; }
  [[nodiscard]] std::vector<trace::event> told() {
    std::vector<trace::event> found;
    book.read([&found](const trace::event& e) { found.push_back(e); });
    return found;
  }
  [[nodiscard]] std::vector<step_kind> steps() {
    std::vector<step_kind> found;
    for (const trace::event& e : told())
      if (e.kind == event_kind::step) found.push_back(static_cast<step_kind>(e.detail));
    return found;
  }
};

}  // namespace

TEST_CASE("strands: without a trace no clock is read and nothing is made") {
  forking f(false);
  CHECK(f.s.forks(f.at()) == 0);
  f.s.forked(f.at(), true);
  f.s.first_is_over(f.at());
  f.s.second_ran_elsewhere(f.at());
  f.s.looks_in_loop(f.at(), 10, true);
  f.s.loop_is_over(f.at());
  f.s.ends(f.at());
  CHECK(f.at().trace.strand == nullptr);
  CHECK(f.machine.clock_ps == 0);
  CHECK(detail::peek(f.at().counted.forks) == 0);
}

TEST_CASE("strands: a body has one from its first fork on, and its end tells it") {
  forking f;
  CHECK(f.at().trace.strand == nullptr);
  const std::uint32_t branch = f.s.forks(f.at());
  CHECK(branch != 0);
  f.s.forked(f.at(), true);
  REQUIRE(f.at().trace.strand != nullptr);
  CHECK(f.at().trace.strand->of() == trace::strand_of::body);
  f.s.first_is_over(f.at());
  f.s.second_ran_elsewhere(f.at());
  CHECK(f.told().empty());
  f.s.ends(f.at());
  CHECK(f.at().trace.strand == nullptr);
  const std::vector<trace::event> all = f.told();
  REQUIRE(all.size() == 5);
  CHECK(all[0].kind == event_kind::strand);
  CHECK(all[0].task == 7);
  CHECK(f.steps() == std::vector{step_kind::fork, step_kind::taken, step_kind::over, step_kind::end});
  CHECK(all[2].value == branch);
  CHECK(detail::peek(f.at().counted.forks) == 1);
}

TEST_CASE("strands: a branch has the number that its fork gave it, and tells where it was") {
  forking f;
  f.s.begins_branch(f.at(), 33);
  f.s.waits(f.at(), 4'000'000);
  f.s.goes_on(f.at(), {trace::why::children});
  f.s.ends(f.at());
  std::vector<std::uint64_t> stays;
  for (const trace::event& e : f.told())
    if (e.kind == event_kind::stay) {
      CHECK(e.other == 33);
      stays.insert(stays.end(), {e.time, e.value});
    }
  CHECK(stays == std::vector<std::uint64_t>{1'000'000, 4'000'000, 2'000'000, 3'000'000});
  CHECK(f.steps() == std::vector{step_kind::waits_children, step_kind::end});
  CHECK(detail::peek(f.at().counted.elsewhere) == 1);
}

TEST_CASE("strands: a fork that does not begin leaves no step, and a second body that is left off an empty one") {
  forking f;
  static_cast<void>(f.s.forks(f.at()));
  f.s.forked(f.at(), false);
  static_cast<void>(f.s.forks(f.at()));
  f.s.forked(f.at(), true);
  f.s.first_is_over(f.at());
  f.s.does_not_begin_second(f.at());
  f.s.ends(f.at());
  CHECK(f.steps() == std::vector{step_kind::fork, step_kind::join, step_kind::over, step_kind::end});
}

TEST_CASE("strands: the main program outside of tasks has one only where that is said") {
  forking f;
  f.at().current = nullptr;
  CHECK(f.s.forks(f.at()) == 0);
  CHECK(f.at().trace.strand == nullptr);
  f.s.begins(f.at(), trace::strand_of::program, 0, 9'000);
  f.s.looks_in_loop(f.at(), 10, true);
  f.s.looks_in_loop(f.at(), 5, false);
  f.s.loop_is_over(f.at());
  f.s.ends(f.at());
  CHECK(f.steps() == std::vector{step_kind::loop, step_kind::look, step_kind::looped, step_kind::end});
  CHECK(f.told()[0].kind == event_kind::stay);
  CHECK(trace::unpacked_ns(f.told()[1].position) == 9);
}

}  // namespace weft::sched
