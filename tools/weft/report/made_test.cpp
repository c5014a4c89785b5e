// Random runs (made.hpp), by a simulation with workers without number and delays of chance.
#include "made.hpp"

#include <doctest/doctest.h>

#include <array>

#include "graph.hpp"

namespace weft::tool::report {

class random_run {
 public:
  explicit random_run(unsigned seed) : chance_(seed), run_(4) {}

  trace::file make() {
    for (int h = 0; h < 4; ++h) run_.handle();
    const int steps = upto(25) + 2;
    for (int i = 0; i < steps; ++i) {
      now_ += upto(20) + 1;
      const int what = upto(10);
      if (what == 0)
        wait_all();
      else if (what == 1)
        wait_handle(static_cast<std::uint32_t>(upto(4)));
      else
        submit();
    }
    now_ += 1;
    wait_all();
    return run_.take();
  }

 private:
  struct handle_state {
    ns before = 0, now = 0, add = 0;  // when the group before, the open one, its last add was done
    std::string kind;
  };

  int upto(int n) { return static_cast<int>(chance_() % static_cast<unsigned>(n)); }

  void submit() {
    const std::uint32_t t = run_.task(now_, 0, 0, {});
    ns ready = now_;
    std::vector<std::pair<std::uint32_t, std::string>> uses;
    for (std::uint32_t h = 0; h < 4; ++h) {
      if (upto(3) != 0) continue;
      const char* kind = std::array{"read", "write", "add", "concurrent"}[static_cast<std::size_t>(upto(4))];
      handle_state& s = handles_[h];
      if (s.kind != kind || s.kind == "write") {
        s.before = std::max(s.before, s.now);
        s.kind = kind;
      }
      ready = std::max(ready, s.before);
      if (s.kind == "add") ready = std::max(ready, s.now);
      run_.access(t, {kind, h});
      uses.emplace_back(h, kind);
    }
    const bool subtasks = upto(2) == 0;
    const ns whole = body(t, ready + upto(10) + 1, 2);
    const ns released = subtasks ? whole : run_.end_of(t);
    last_ = std::max(last_, whole);
    for (const auto& [h, kind] : uses) handles_[h].now = std::max(handles_[h].now, released);
  }

  // Gives when all below it is done.
  ns body(std::uint32_t t, ns start, int depth) {
    ns now = start, whole = 0;
    for (int i = upto(4); i > 0 && depth > 0; --i) {
      now += upto(15) + 1;
      if (upto(3) == 0) {
        const ns over = std::max(now, whole) + upto(5) + 1;
        run_.wait(t, trace::wait_reason::children, now, over);
        now = over;
      } else {
        const std::uint32_t c = run_.child(t, now, 0, 0);
        whole = std::max(whole, body(c, now + upto(30) + 1, depth - 1));
      }
    }
    now += upto(60) + 1;
    run_.file_.tasks[t].started_ns = start;
    run_.file_.tasks[t].finished_ns = now;
    return std::max(whole, now);
  }

  void wait_all() {
    const ns over = std::max(now_, last_) + 1;
    run_.wait_all(now_, over);
    now_ = over;
  }
  void wait_handle(std::uint32_t h) {
    const ns over = std::max({now_, handles_[h].before, handles_[h].now}) + 1;
    run_.wait_handle(now_, over, h);
    now_ = over;
  }

  std::minstd_rand chance_;
  made run_;
  ns now_ = 5;
  ns last_ = 0;
  std::map<std::uint32_t, handle_state> handles_;
};

trace::file made::random(unsigned seed) { return random_run(seed * 7919 + 1).make(); }

TEST_CASE("report/made: random runs keep the order that their versions ask for") {
  std::size_t children = 0, waits = 0, steps = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const trace::file f = made::random(seed);
    for (const trace::access& a : f.accesses)
      for (const trace::access& b : f.accesses)
        if (a.handle == b.handle && b.next_version == a.version)
          REQUIRE(f.tasks[b.task].finished_ns < f.tasks[a.task].started_ns);
    for (const trace::task& t : f.tasks) children += t.parent != none;
    waits += f.waits.size();
    steps += f.tasks.size();
  }
  CHECK(children > 1000);  // or the comparison with the reference would say little
  CHECK(waits > 1000);
  CHECK(steps > 4000);
}

}  // namespace weft::tool::report
