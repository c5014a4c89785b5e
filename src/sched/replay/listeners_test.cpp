// Who is told what, by which worker, and that a callback's thread is known while it is in one. Whole programs:
// src/runtime/listeners_test.cpp.
#include "sched/replay/listeners.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;
using testing::task;

struct fixture {
  notes machine;
  testing::scheduler<notes> s{machine, 2};
  listeners<notes> all{machine};
  std::vector<std::string> heard_lines;
  bool was_inside = false;

  fixture() {
    listener l{.data = this};
    l.ready = [](void* self, const heard& at, const heard_task& t) noexcept {
      static_cast<fixture*>(self)->say("ready", at, t);
    };
    l.stolen = [](void* self, const heard& at, const heard_task& t, unsigned victim) noexcept {
      static_cast<fixture*>(self)->say("stolen from " + std::to_string(victim), at, t);
    };
    l.waits = [](void* self, const heard& at, const heard_task& t) noexcept {
      static_cast<fixture*>(self)->say("waits", at, t);
    };
    all.open({l, listener{}}, 7);
  }
  void say(const std::string& what, const heard& at, const heard_task& t) {
    was_inside = s.crew[1].hearing.inside;
    heard_lines.push_back(what + " " + std::to_string(at.runtime) + "/" + std::to_string(at.worker) + " " +
                          std::to_string(t.id) + " " + (t.name != nullptr ? t.name : "-"));
  }
};

}  // namespace

TEST_CASE("listeners: a table's functions are called, with the worker, the runtime and the task") {
  fixture f;
  task t;
  t.r.trace_id() = 12;
  t.r.name = "gemm";
  f.all.ready(f.s.crew[1], t.r);
  CHECK(f.was_inside);
  CHECK(!f.s.crew[1].hearing.inside);
  f.all.begins(f.s.crew[1], t.r);  // there is no such function
  f.all.stolen(f.s.crew[0], t.r, 1);
  f.all.waits(f.s.crew[1], nullptr);
  CHECK(f.heard_lines == std::vector<std::string>{"ready 7/1 12 gemm", "stolen from 1 7/0 12 gemm", "waits 7/1 0 -"});
}

TEST_CASE("listeners: what stands for no task is not ready, and is stolen without a number") {
  fixture f;
  task t;
  f.all.ready(f.s.crew[1], t.r);  // without a number it was there before anybody could hear of it
  t.r.trace_id() = 12;
  t.r.kind = detail::record_kind::resume;
  f.all.ready(f.s.crew[1], t.r);
  f.all.stolen(f.s.crew[1], t.r, 0);
  CHECK(f.heard_lines == std::vector<std::string>{"stolen from 0 7/1 0 -"});
}

TEST_CASE("listeners: nobody listens, and the clock is not looked at") {
  fixture f;
  listeners<notes> none(f.machine);
  const std::uint64_t before = f.machine.clock_ps;
  task t;
  none.submitted(f.s.crew[1], t.r);
  none.ready(f.s.crew[1], t.r);
  none.sleeps(f.s.crew[1]);
  CHECK(!none.any());
  CHECK(f.machine.clock_ps == before);
}

}  // namespace weft::sched
