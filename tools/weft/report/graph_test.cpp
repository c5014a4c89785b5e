// The critical path and what tasks waited for: small graphs worked out by hand, and random runs against a reference
// that follows the definitions, pair by pair.
#include "graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis.hpp"
#include "made.hpp"

namespace weft::tool::report {
namespace {

struct solved {
  moments order;
  std::vector<std::uint32_t> adds;
  std::vector<ns> wholly;
  std::vector<bool> holds;
  std::vector<ns> ready;
  pieces parts;
  chain path;

  explicit solved(const trace::file& r)
      : order(find_moments(r)), adds(add_before(r)), wholly(wholly_done(r, parents_first(r))),
        holds(holds_back(r, order, adds, wholly)), ready(ready_times(r, order, adds, holds, wholly)),
        parts(make_pieces(r)), path(longest_chain(r, parts, order, adds, holds)) {}

  [[nodiscard]] std::vector<std::pair<std::uint32_t, ns>> steps() const {  // task and time
    std::vector<std::pair<std::uint32_t, ns>> out;
    for (const step& s : path.steps) out.emplace_back(parts.all[s.piece].task, s.time);
    return out;
  }
};

using steps = std::vector<std::pair<std::uint32_t, ns>>;

// Follows the definitions of graph.hpp with no thought of cost.
class reference {
 public:
  reference(const trace::file& r, const std::vector<bool>& holds) : run_(r), holds_(holds) {}

  ns span() {
    ns most = at(none, INT64_MAX);
    for (std::uint32_t t = 0; t < run_.tasks.size(); ++t) most = std::max(most, end(t));
    return most;
  }

  ns ready(std::uint32_t t) {
    ns time = run_.tasks[t].submitted_ns;
    for (const std::uint32_t b : before(t)) {
      time = std::max(time, run_.tasks[b].finished_ns);
      if (holds_[b]) time = std::max(time, last_below(b));
    }
    return time;
  }

 private:
  using task_list = std::vector<std::uint32_t>;

  task_list before(std::uint32_t t) const {
    task_list all;
    for (const trace::access& a : run_.accesses) {
      if (a.task != t) continue;
      for (const trace::access& b : run_.accesses) {
        if (b.handle != a.handle || b.task == t) continue;
        if (a.version != trace::no_version && b.next_version == a.version) all.push_back(b.task);
        const bool both_add = run_.kinds[a.kind] == "add" && run_.kinds[b.kind] == "add" && a.version == b.version;
        if (both_add && run_.tasks[b.task].finished_ns <= run_.tasks[t].started_ns) all.push_back(b.task);
      }
    }
    return all;
  }

  ns last_below(std::uint32_t t) const {
    ns time = run_.tasks[t].finished_ns;
    for (std::uint32_t c = 0; c < run_.tasks.size(); ++c)
      if (run_.tasks[c].parent == t) time = std::max(time, last_below(c));
    return time;
  }

  ns begin(std::uint32_t t) {
    if (const auto known = begins_.find(t); known != begins_.end()) return known->second;
    const trace::task& x = run_.tasks[t];
    ns time = x.parent == none && x.submitter == none ? 0 : at(x.parent, x.submitted_ns);
    for (const std::uint32_t b : before(t)) time = std::max(time, release(b));
    return begins_[t] = time;
  }

  ns end(std::uint32_t t) { return at(t, INT64_MAX); }
  ns whole(std::uint32_t t) {
    ns time = end(t);
    for (std::uint32_t c = 0; c < run_.tasks.size(); ++c)
      if (run_.tasks[c].parent == t) time = std::max(time, whole(c));
    return time;
  }
  ns release(std::uint32_t t) { return holds_[t] ? whole(t) : end(t); }

  // The model's time at which that stack comes to where it was at `actual`.
  ns at(std::uint32_t t, ns actual) {
    ns now = 0, from = 0, until = 0;
    if (t == none) {
      from = INT64_MAX;
      for (const trace::task& x : run_.tasks) {
        from = std::min(from, x.submitted_ns);
        if (x.parent == none) until = std::max(until, x.submitted_ns);
      }
      for (const trace::wait& w : run_.waits)
        if (w.task == none) until = std::max(until, w.to_ns);
    } else {
      now = begin(t);
      from = run_.tasks[t].started_ns;
      until = run_.tasks[t].finished_ns;
    }
    for (const trace::wait& w : run_.waits) {
      if (w.task != t || w.from_ns >= actual || w.from_ns < from) continue;  // nothing was submitted yet
      now += w.from_ns - from;
      from = w.to_ns;
      for (const std::uint32_t x : awaited(w))
        now = std::max(now, w.why == trace::wait_reason::handle ? release(x) : whole(x));
    }
    return now + std::min(actual, until) - from;
  }

  task_list awaited(const trace::wait& w) const {
    task_list all;
    for (std::uint32_t t = 0; t < run_.tasks.size(); ++t) {
      if (run_.tasks[t].submitted_ns > w.from_ns) continue;
      bool counts = w.why == trace::wait_reason::all;
      if (w.why == trace::wait_reason::children) counts = run_.tasks[t].parent == w.task;
      if (w.why == trace::wait_reason::handle)
        counts = std::any_of(run_.accesses.begin(), run_.accesses.end(),
                             [&](const trace::access& a) { return a.task == t && a.handle == w.handle; });
      if (counts) all.push_back(t);
    }
    return all;
  }

  const trace::file& run_;
  const std::vector<bool>& holds_;
  std::map<std::uint32_t, ns> begins_;
};

}  // namespace

TEST_CASE("report/graph: a diamond") {
  made m(2);
  const auto a = m.handle(), b = m.handle();
  m.task(10, 20, 50, {{"write", a}, {"write", b}});  // 30
  m.task(11, 50, 90, {{"write", a}});                // 40, the longer side
  m.task(12, 55, 65, {{"write", b}});                // 10
  m.task(13, 100, 105, {{"read", a}, {"read", b}});  // 5
  m.wait_all(14, 110);
  const trace::file f = m.take();
  const solved s(f);
  CHECK(s.path.span == 75);
  CHECK(s.steps() == steps{{0, 30}, {1, 40}, {3, 5}});
  CHECK(s.ready == std::vector<ns>{10, 50, 50, 90});
  CHECK(s.path.circles == 0);
}

TEST_CASE("report/graph: readers run side by side, adds one after the other") {
  made m(4);
  const auto a = m.handle();
  m.task(0, 1, 11, {{"write", a}});
  for (int i = 0; i < 3; ++i) m.task(0, 11, 21 + i, {{"read", a}});
  m.task(0, 30, 40, {{"add", a}});
  m.task(0, 40, 50, {{"add", a}});
  m.task(0, 50, 70, {{"add", a}});
  m.wait_all(0, 80);
  const trace::file f = m.take();
  const solved s(f);
  CHECK(s.path.span == 10 + 12 + 10 + 10 + 20);
  CHECK(s.steps() == steps{{0, 10}, {3, 12}, {4, 10}, {5, 10}, {6, 20}});
  CHECK(s.ready == std::vector<ns>{0, 11, 11, 11, 23, 40, 50});
}

TEST_CASE("report/graph: a child begins when its parent has come that far") {
  made m(2);
  const auto parent = m.task(0, 10, 100, {});
  m.child(parent, 40, 45, 95);  // submitted after 30 of the parent's 90
  m.wait_all(0, 100);
  const trace::file f = m.take();
  const solved s(f);
  CHECK(s.path.span == 90);
  made n(2);
  const auto longer = n.task(0, 10, 50, {});
  n.child(longer, 40, 60, 160);
  n.wait_all(0, 160);
  const trace::file g = n.take();
  const solved z(g);
  CHECK(z.path.span == 130);
  CHECK(z.steps() == steps{{longer, 30}, {1, 100}});
}

TEST_CASE("report/graph: a parent that waits goes on after the last of its children") {
  made m(2);
  const auto parent = m.task(0, 10, 200, {});
  m.child(parent, 20, 30, 130);
  m.child(parent, 25, 130, 140);
  m.wait(parent, trace::wait_reason::children, 30, 150);
  m.wait_all(0, 200);
  const trace::file f = m.take();
  const solved s(f);
  CHECK(s.path.span == 10 + 100 + 50);
  CHECK(s.steps() == steps{{parent, 10}, {1, 100}, {parent, 50}});
}

TEST_CASE("report/graph: the main program goes on after a finish, and a body while what it submitted runs first") {
  made m(2);
  m.task(0, 0, 40, {});
  m.wait(none, trace::wait_reason::children, 10, 40);
  m.task(50, 50, 80, {});  // of the next finish
  m.wait(none, trace::wait_reason::children, 60, 80);
  CHECK(solved(m.take()).path.span == 40 + 10 + 30);

  made n(2);
  const auto parent = n.task(0, 0, 100, {});
  n.child(parent, 10, 10, 70);
  n.wait(parent, trace::wait_reason::spawn, 10, 70);
  n.wait_all(0, 100);
  CHECK(solved(n.take()).path.span == 10 + 60);  // the child; its parent's 30 that are left could run beside it
}

TEST_CASE("report/graph: subtasks hold versions back, if nobody began before") {
  for (const ns second : {50, 100}) {
    made m(2);
    const auto a = m.handle();
    const auto parent = m.task(0, 10, 30, {{"write", a}});
    m.child(parent, 20, 40, 90);
    m.task(0, second, second + 10, {{"read", a}});
    m.wait_all(0, 120);
    const trace::file f = m.take();
    const solved s(f);
    CHECK(s.holds[0] == (second == 100));
    CHECK(s.ready[2] == (second == 100 ? 90 : 30));
    CHECK(s.path.span == (second == 100 ? 10 + 50 + 10 : 60));
  }
}

TEST_CASE("report/graph: the main program's own time is on the path, its waits for a handle too") {
  made m(2);
  const auto a = m.handle(), b = m.handle();
  m.task(100, 110, 160, {{"write", a}});
  m.task(110, 115, 615, {{"write", b}});
  m.wait_handle(120, 170, a);
  m.task(200, 210, 260, {{"write", a}});
  m.wait_all(205, 700);
  const trace::file f = m.take();
  const solved s(f);
  CHECK(s.path.span == 510);  // b: 10 of the main program, then 500
  CHECK(s.steps() == steps{{none, 10}, {1, 500}});
  made n(2);
  const auto c = n.handle();
  n.task(100, 110, 160, {{"write", c}});
  n.wait_handle(120, 170, c);
  n.task(200, 210, 260, {{"write", c}});
  n.wait_all(205, 300);
  const trace::file g = n.take();
  const solved z(g);
  CHECK(z.path.span == 50 + 30 + 50);
  CHECK(z.steps() == steps{{0, 50}, {none, 30}, {1, 50}});
}

TEST_CASE("report/graph: a trace that contradicts itself gives a path, and says so") {
  made m(1);
  const auto a = m.handle();
  m.task(0, 1, 2, {{"write", a}});
  m.task(0, 2, 3, {{"write", a}});
  trace::file f = m.take();
  f.accesses[0] = {0, 0, f.accesses[0].kind, 0, 1, 2};
  f.accesses[1] = {1, 0, f.accesses[1].kind, 0, 2, 1};
  const solved s(f);
  CHECK(s.path.circles > 0);
  CHECK(s.path.span > 0);
}

TEST_CASE("report/graph: nothing ran") {
  const trace::file f = made(2).take();
  CHECK(solved(f).path.span == 0);
}

TEST_CASE("report/graph: random runs, as the reference has them") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const trace::file f = made::random(seed);
    const solved s(f);
    reference r(f, s.holds);
    REQUIRE(s.path.span == r.span());
    for (std::uint32_t t = 0; t < f.tasks.size(); ++t) REQUIRE(s.ready[t] == r.ready(t));
    ns sum = 0;
    for (const step& x : s.path.steps) sum += x.time;
    CHECK(sum == s.path.span);
    CHECK(s.path.circles == 0);
  }
}

TEST_CASE("report/graph: a group of readers before a group of adds costs their sum") {
  made m(2);
  const auto a = m.handle();
  const int n = 20000;  // as pairs these would be 400 million
  ns last = 0;
  for (int i = 0; i < n; ++i) m.task(0, 10, 20, {{"read", a}});
  for (int i = 0; i < n; ++i) last = m.end_of(m.task(0, 20 + i, 21 + i, {{"add", a}}));
  m.wait_all(0, last);
  const trace::file f = m.take();
  const solved s(f);
  CHECK(s.path.span == 10 + n);
}

}  // namespace weft::tool::report
