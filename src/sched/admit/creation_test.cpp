// Decoupled creation: requests are created in the order in which they were handed over, one at a time, by the creator
// or while it is away by whoever has nothing else to do; and what is refused is a failure of the task.
#include "sched/admit/creation.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "capture.hpp"
#include "little_engine.hpp"

namespace weft::sched {
namespace {

using detail::kind_read;
using detail::kind_write;
using testing::notes;
using testing::task;

struct fixture {
  notes machine;
  testing::little_engine<notes> s;
  creation<notes> creates{nullptr, s, s.registrar, s.place.stealing, s.place.own};
  explicit fixture(unsigned workers, unsigned creator = 0) : s(machine, workers) {
    s.open();
    opened = creates.open(creator);
  }
  // As the engine does it.
  void submit(unsigned id, task& t) {
    s.quiescence.created(s.crew[id], t.r);
    creates.request(s.crew[id], &t.r);
  }
  bool opened = false;
};

}  // namespace

TEST_CASE("creation: the last worker creates, or the one that was asked for") {
  fixture last(4), second(4, 2), none_such(4, 9);
  CHECK((last.opened && last.creates.creator() == 3));
  CHECK(second.creates.creator() == 2);
  CHECK(none_such.creates.creator() == 3);
  CHECK(last.s.crew[3].role == role::creator);
  for (const auto& w : last.s.crew) CHECK(w->creates_for == nullptr);
}

TEST_CASE("creation: with one worker there is nobody to do it, and that is said") {
  notes machine;
  bool on = true;
  const std::string said = stderr_of([&on] { on = fixture(1).creates.on(); });
  CHECK(!on);
  CHECK(said.find("created inline") != std::string::npos);
}

TEST_CASE("creation: with two nobody can be spared, and whoever is idle creates") {
  fixture f(2);
  CHECK((f.creates.on() && f.s.crew[1].role == role::ordinary));
  task t;
  f.submit(0, t);
  CHECK(f.creates.visible(f.s.crew[0]));
  CHECK(f.creates.take(f.s.crew[0]) == &t.r);
  CHECK(f.creates.all_created());
}

TEST_CASE("creation: a request is counted by who submits it and has no versions until it is created") {
  fixture f(3);
  detail::handle_state h;
  task t;
  f.submit(0, t.uses(h, kind_write));
  CHECK(f.s.quiescence.live() == 1);
  CHECK(h.registered == 0);
  CHECK(!f.creates.all_created());
  CHECK(f.creates.all_requests().take(f.s.crew[2]) == nullptr);  // the creator runs nothing
  CHECK(h.registered == 1);
  CHECK(f.creates.all_created());
  CHECK(f.s.own(2).size() == 1);
  access::woken list;
  access::settle<notes>(t.r, list);
}

TEST_CASE("creation: requests get their versions in the order in which they were handed over") {
  fixture f(3);
  detail::handle_state h;
  std::vector<task> tasks(20);
  for (task& t : tasks) f.submit(static_cast<unsigned>(&t - tasks.data()) % 2, t.uses(h, kind_write));
  static_cast<void>(f.creates.all_requests().take(f.s.crew[2]));
  CHECK(f.creates.created_so_far() == 20);
  for (std::size_t i = 0; i < tasks.size(); ++i) CHECK(tasks[i].a[0].required == i);
  access::woken list;
  for (task& t : tasks) access::settle<notes>(t.r, list);
}

TEST_CASE("creation: the creator looks elsewhere from time to time, with requests left") {
  fixture f(3);
  std::vector<task> tasks(ticks_between_looks + 5);
  for (task& t : tasks) f.submit(0, t);
  static_cast<void>(f.creates.all_requests().take(f.s.crew[2]));
  CHECK(f.creates.created_so_far() == ticks_between_looks);
  CHECK(!deque<notes>::has_private(f.s.crew[2]));  // all that it made is there for others
  CHECK(f.creates.all_requests().visible(f.s.crew[2]));
  static_cast<void>(f.creates.all_requests().take(f.s.crew[2]));
  CHECK(f.creates.created_so_far() == tasks.size());
}

TEST_CASE("creation: while the creator is there only it is asked, when it is away anybody") {
  fixture f(3);
  task a, b;
  f.submit(0, a);
  CHECK(!f.creates.visible(f.s.crew[0]));
  CHECK(f.creates.all_requests().visible(f.s.crew[2]));
  CHECK(f.creates.take(f.s.crew[0]) == nullptr);
  for (unsigned id = 0; id < 2; ++id) static_cast<void>(f.s.sleep.announce(id));
  f.creates.leaves();
  CHECK(f.machine.take_woken().size() == 1);  // a request is left for somebody
  CHECK(f.creates.visible(f.s.crew[0]));
  CHECK(f.creates.take(f.s.crew[0]) == &a.r);
  f.creates.is_back();
  f.submit(0, b);
  CHECK(f.creates.take(f.s.crew[0]) == nullptr);
  static_cast<void>(f.creates.all_requests().take(f.s.crew[2]));
  CHECK(f.s.own(2).size() == 1);
}

TEST_CASE("creation: a sleeping creator is woken for a request") {
  fixture f(3);
  static_cast<void>(f.s.sleep.announce(0));
  static_cast<void>(f.s.sleep.announce(2));
  task t;
  f.submit(1, t);
  CHECK(f.machine.take_woken() == std::vector<unsigned>{2});
}

TEST_CASE("creation: what the creator made ready is a source of its own for the others") {
  fixture f(3);
  task t;
  source<notes>& made = f.creates.made();
  CHECK(!made.visible(f.s.crew[0]));
  f.submit(0, t);
  static_cast<void>(f.creates.all_requests().take(f.s.crew[2]));
  CHECK(made.visible(f.s.crew[0]));
  CHECK(made.take(f.s.crew[0]) == &t.r);
  CHECK(made.take(f.s.crew[0]) == nullptr);
}

TEST_CASE("creation: who waits for its requests creates them itself") {
  fixture f(3);
  task a, b;
  f.submit(0, a);
  f.submit(0, b);
  f.creates.await(f.s.crew[0]);
  CHECK(f.creates.all_created());
  CHECK(f.s.own(0).size() == 2);
  f.creates.await(f.s.crew[0]);  // nothing is left: at once
}

TEST_CASE("creation: who finds no room for its request creates the oldest, where nobody is there for that") {
  fixture f(2);
  std::vector<task> tasks(base::requests_max + 3);
  for (task& t : tasks) f.submit(0, t);
  CHECK(f.creates.created_so_far() == 3);
  CHECK(tasks[2].r.state == detail::record_state::ready);
  CHECK(tasks[3].r.state == detail::record_state::requested);
  CHECK(f.s.own(0).size() == 3);
}

TEST_CASE("creation: while paused tasks are created and not run") {
  fixture f(2);
  task t;
  f.s.attention.pause();
  f.submit(0, t);
  CHECK(f.creates.is().while_paused);
  CHECK(f.creates.take(f.s.crew[0]) == nullptr);
  CHECK(f.creates.all_created());
  CHECK(f.s.own(0).size() == 1);
}

TEST_CASE("creation: what registration refuses is a failure of the task, which is still placed to be destroyed") {
  fixture f(2);
  detail::handle_state h;
  h.engine = reinterpret_cast<detail::engine_base*>(std::uintptr_t{64});  // another runtime, which is not done with it
  h.registered = 1;
  task t;
  f.submit(0, t.uses(h, kind_read));
  CHECK(f.creates.take(f.s.crew[0]) == &t.r);
  CHECK(f.s.failures.any());
  CHECK(f.s.poison.concerns(t.r));
  CHECK_THROWS_AS(f.s.poison.rethrow_below(nullptr), error);
  h.registered = 0;
  h.engine = nullptr;
}

TEST_CASE("creation: after a stall what was never created is destroyed") {
  fixture f(3);
  task a, b;
  f.submit(0, a);
  f.submit(0, b);
  f.creates.abandon();
  CHECK((a.dropped == 1 && b.dropped == 1 && a.called == 0));
  CHECK(f.creates.all_created());
}

}  // namespace weft::sched
