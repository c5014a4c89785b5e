// The reference itself: its rules against tables written by hand, and its judgement shown broken executions. A judge
// that cannot say no proves nothing.
#include "reference.hpp"

#include <doctest/doctest.h>

#include "execute.hpp"

using namespace reference;

namespace {

constexpr kind R = kind::read, W = kind::write, A = kind::add, C = kind::concurrent;

program on_one_handle(std::initializer_list<kind> kinds) {
  program p{1, {}};
  for (kind k : kinds) p.tasks.push_back({{0, k}});
  return p;
}

order pair(kind a, kind b) {
  const program p = on_one_handle({a, b});
  return rules(p).between(0, 1);
}

// A log in which the tasks run one after the other in the order given.
std::vector<interval> log_of(const program& p, std::initializer_list<std::size_t> sequence) {
  std::vector<interval> log(p.tasks.size());
  std::uint64_t now = 1;
  for (std::size_t i : sequence)
    log[i] = {.begin = now, .end = now + 1, .seen = sequential(p).seen[i], .runs = 1}, now += 2;
  return log;
}

}  // namespace

TEST_CASE("reference: two accesses of one handle") {
  for (kind a : {R, W, A, C})
    for (kind b : {R, W, A, C})
      if (a != b || a == W) CHECK(pair(a, b) == order::before);
  CHECK(pair(R, R) == order::free);
  CHECK(pair(A, A) == order::apart);
  CHECK(pair(C, C) == order::free);
}

TEST_CASE("reference: another kind in between makes a new group") {
  for (kind k : {R, A, C}) {
    const program p = on_one_handle({k, k, W, k});
    const rules r(p);
    CHECK(r.between(0, 1) != order::before);
    CHECK(r.between(0, 3) == order::before);
    CHECK(r.between(1, 2) == order::before);
  }
}

TEST_CASE("reference: the strictest handle decides, no shared handle means free") {
  const program p{2, {{{0, A}, {1, R}}, {{0, A}}, {{1, R}}, {{0, A}, {1, W}}}};
  const rules r(p);
  CHECK(r.between(0, 1) == order::apart);
  CHECK(r.between(0, 2) == order::free);
  CHECK(r.between(1, 2) == order::free);
  CHECK(r.between(0, 3) == order::before);
  CHECK(r.between(1, 3) == order::apart);
}

TEST_CASE("reference: naming a handle twice counts once") {
  const program p{1, {{{0, W}}, {{0, W}, {0, W}}, {{0, A}}, {{0, A}, {0, A}}}};
  const rules r(p);
  CHECK(r.between(0, 1) == order::before);
  CHECK(r.between(2, 3) == order::apart);
}

TEST_CASE("reference: the judge says no") {
  const program p = on_one_handle({W, R, R, A, A});
  const rules r(p);
  CHECK(r.judge(log_of(p, {0, 1, 2, 3, 4})) == "");
  CHECK(r.judge(log_of(p, {0, 2, 1, 4, 3})) == "");
  CHECK(r.judge(log_of(p, {1, 0, 2, 3, 4})) == "t1 (read h0) began before t0 (write h0) had ended");
  CHECK(r.judge(log_of(p, {0, 1, 3, 2, 4})) == "t3 (add h0) began before t2 (read h0) had ended");

  std::vector<interval> log = log_of(p, {0, 1, 2, 3, 4});
  log[2].begin = log[1].begin;  // reads may overlap
  CHECK(r.judge(log) == "");
  log[4].begin = log[3].begin;  // adds may not
  CHECK(r.judge(log) == "t3 (add h0) and t4 (add h0) add at the same time");

  log = log_of(p, {0, 1, 2, 3, 4});
  log[3].runs = 0;
  CHECK(r.judge(log) == "t3 (add h0) ran 0 times");
  log[3].runs = 2;
  CHECK(r.judge(log) == "t3 (add h0) ran 2 times");
}

TEST_CASE("reference: the judge looks at the data") {
  const program p = on_one_handle({W, R, A});
  const rules r(p);
  std::vector<interval> log = log_of(p, {0, 1, 2});
  std::vector<std::uint64_t> data = sequential(p).data;
  CHECK(r.judge(log, data) == "");
  data[0] += 1;
  CHECK(r.judge(log, data) == "h0 ends with other data than in a sequential run");
  data[0] -= 1;
  log[1].seen ^= 1;
  CHECK(r.judge(log, data) == "t1 (read h0) saw other data than in a sequential run");
}

TEST_CASE("reference: writes do not commute, adds do") {
  const program writes = on_one_handle({W, W});
  program swapped{1, {}};
  std::uint64_t x = 0, y = 0;
  step(writes.tasks[0], 0, {&x}, [] {});
  step(writes.tasks[1], 1, {&x}, [] {});
  step(writes.tasks[1], 1, {&y}, [] {});
  step(writes.tasks[0], 0, {&y}, [] {});
  CHECK(x != y);
  const program adds = on_one_handle({A, A});
  x = y = 0;
  step(adds.tasks[0], 0, {&x}, [] {});
  step(adds.tasks[1], 1, {&x}, [] {});
  step(adds.tasks[1], 1, {&y}, [] {});
  step(adds.tasks[0], 0, {&y}, [] {});
  CHECK(x == y);
}

// End to end: a program that declares less than it does must be caught on some schedule. `lies` is what is submitted,
// the reference judges by what should have been.
TEST_CASE("reference: an undeclared dependence is found by random schedules") {
  const program truth{2, {{{0, W}}, {{1, W}, {0, R}}, {{0, W}}}};
  const program lies{2, {{{0, W}}, {{1, W}}, {{0, W}}}};  // t1 forgets that it reads h0
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    weft::runtime rt({.workers = 3, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}});
    std::vector<interval> log(3);
    std::deque<weft::handle<int>> h(2);
    auto body = [&log](std::size_t i) {
      log[i].begin = stamps++;
      weft::charge(200);
      log[i].end = stamps++;
      log[i].runs = 1;
    };
    rt.submit(weft::write(h[0]), [&](int&) { body(0); });
    rt.submit(weft::write(h[1]), [&](int&) { body(1); });
    rt.submit(weft::write(h[0]), [&](int&) { body(2); });
    rt.wait();
    caught += rules(truth).judge(log).empty() ? 0 : 1;
    CHECK(rules(lies).judge(log) == "");
  }
  CHECK(caught > 0);
}
