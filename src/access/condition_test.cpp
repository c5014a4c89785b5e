// The kinds of condition one by one, versions that advance by more than one, and what is said about who waits.
#include "access/condition.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "access_program.hpp"
#include "base/random.hpp"
#include "machine/host/host.hpp"

namespace weft::access {
namespace {

using accesses::task;
using M = machine::host;
using tasks = std::vector<task*>;

constexpr std::uint8_t R = detail::kind_read;
constexpr std::uint8_t W = detail::kind_write;
constexpr std::uint8_t A = detail::kind_add;

accesses::identity engine;

tasks submit(task& t) {
  tasks ready;
  accesses::submit<M>(t, engine, [&](task& x) { ready.push_back(&x); });
  return ready;
}
tasks finish(task& t) {
  tasks ready;
  accesses::finish<M>(t, [&](task& x) { ready.push_back(&x); });
  return ready;
}

// Lists t for a version of h, as a wait for h does.
bool list_for(task& t, handle_state& h, std::uint64_t version) {
  t.use(h, R).a[0].required = version;
  base::locked<M> guard(h.lock);
  return wait_unless_available<M>(h, &t.r);
}

void registered_by_hand(handle_state& h, std::uint64_t amount) {
  base::locked<M> guard(h.lock);
  static_cast<void>(register_access(h, W, amount));
}

}  // namespace

TEST_CASE("condition: what each kind of access waits for") {
  CHECK(condition_of_kind(R) == condition::version);
  CHECK(condition_of_kind(W) == condition::version);
  CHECK(condition_of_kind(detail::kind_concurrent) == condition::version);
  CHECK(condition_of_kind(detail::kind_reduce) == condition::version);
  CHECK(condition_of_kind(A) == condition::exclusive);
  CHECK(condition_of_kind(A | detail::kind_readonly) == condition::exclusive);
  CHECK(condition_of_kind(detail::kind_resource) == condition::units);
  CHECK(condition_of_kind(A | detail::kind_repeated) == condition::none);
  CHECK((!is_held(condition::none) && !is_held(condition::version)));
  CHECK((is_held(condition::exclusive) && is_held(condition::units)));
}

TEST_CASE("condition: an add waits for version and handle together if it is the only one, else first for the version") {
  handle_state h, k;
  task one, two;
  one.use(h, A);
  two.use(h, A).use(k, A).use(k, R);
  CHECK(first_condition(one.r, one.a[0]) == condition::none);
  CHECK(first_condition(two.r, two.a[0]) == condition::version);
  CHECK(first_condition(two.r, two.a[2]) == condition::version);
  one.r.waiting.cursor = 2;
  CHECK(awaited_condition(&one.r) == condition::exclusive);
}

TEST_CASE("condition: amounts count in what later accesses require, and repetitions have none") {
  handle_state h;
  task w, r1, r2, a, last;
  w.use(h, W, 3);
  r1.use(h, R, 2);
  r2.use(h, R).use(h, R);
  r2.a[1].required = 77;  // what a recycled record holds there
  a.use(h, A, 4);
  last.use(h, W);
  CHECK(submit(w) == tasks{&w});
  for (task* t : {&r1, &r2, &a, &last}) CHECK(submit(*t).empty());
  CHECK((w.a[0].required == 0 && r1.a[0].required == 3 && r2.a[0].required == 3));
  CHECK((a.a[0].required == 6 && last.a[0].required == 10));
  CHECK(h.registered == 11);
  CHECK((amount_of(w.r, 0) == 3 && amount_of(r2.r, 0) == 1 && amount_of(last.r, 0) == 1));
  CHECK(finish(w) == tasks{&r1, &r2});
  CHECK(finish(r2).empty());
  CHECK(version_in(h.word.raw) == 4);
  CHECK(finish(r1) == tasks{&a});
  CHECK(h.exclusive_taken);
  CHECK(finish(a) == tasks{&last});
  CHECK(!h.exclusive_taken);
  CHECK(finish(last).empty());
  CHECK(accesses::is_done(h));
}

TEST_CASE(
    "condition: who waits for a version that nobody has submitted stands behind those who come later and wait less") {
  for (const std::uint64_t start : {std::uint64_t{0}, version_mask - 2}) {
    handle_state h;
    accesses::age(h, start);
    task first, waits, second, read;
    first.use(h, W);
    second.use(h, W);
    read.use(h, R);
    CHECK(submit(first) == tasks{&first});
    waits.r.name = ahead_mark;
    CHECK(list_for(waits, h, start + 3));
    CHECK(alarm_in(h.word.raw) == 2);  // set for it alone, so what is registered now must not rely on it
    CHECK(submit(second).empty());
    CHECK(submit(read).empty());
    CHECK((h.waiters_head == &second.r && h.waiters_tail == &waits.r));
    CHECK(finish(first) == tasks{&second});
    CHECK(finish(second) == tasks{&read});
    CHECK(finish(read) == tasks{&waits});
    CHECK(h.waiters_head == nullptr);
  }
}

TEST_CASE("condition: a step wakes all whose versions it passes, and sets the alarm for the next") {
  for (const std::uint64_t start : {std::uint64_t{0}, version_mask - 2}) {  // there the step wraps the versions
    handle_state h;
    accesses::age(h, start);
    registered_by_hand(h, 20);
    task waits[7];
    const std::uint64_t ahead[] = {9, 2, 5, 1, 6, 6, 20};
    for (int i = 0; i < 7; ++i) CHECK(list_for(waits[i], h, start + ahead[i]));
    CHECK(alarm_in(h.word.raw) == 0);
    tasks woken_now;
    const auto step = [&](std::uint64_t amount) {
      woken list;
      version_condition::settle<M>(waits[0].a[0], amount, list);
      woken_now.clear();
      while (record* r = list.take()) woken_now.push_back(&task::of(r));
    };
    step(6);
    CHECK(woken_now == tasks{&waits[3], &waits[1], &waits[2], &waits[4], &waits[5]});
    CHECK(h.word.raw == word_at(start + 6, 2));  // two more may finish, the third brings version 9
    step(2);
    CHECK(woken_now.empty());
    CHECK(h.word.raw == word_at(start + 8, 0));
    step(5);  // over the alarm
    CHECK(woken_now == tasks{&waits[0]});
    CHECK(alarm_in(h.word.raw) == 6);
    step(7);  // the alarm is not at 0, and too low
    CHECK(woken_now == tasks{&waits[6]});
    CHECK(accesses::is_done(h));
    CHECK(alarm_in(h.word.raw) == alarm_max);
  }
}

TEST_CASE("condition: steps longer than an alarm can say, and versions that wrap many times") {
  base::random rng(5);
  handle_state h;
  const auto longest = static_cast<std::uint32_t>(versions_are_narrow ? outstanding_max / 2 : 1000);
  std::uint64_t sum = 0;
  for (int round = 0; round < 2000; ++round) {
    task first, second;
    const std::uint64_t a = 1 + rng.below(longest), b = 1 + rng.below(longest);
    first.use(h, W, a);
    second.use(h, W, b);
    REQUIRE(submit(first) == tasks{&first});
    REQUIRE(submit(second).empty());
    REQUIRE(finish(first) == tasks{&second});
    REQUIRE(finish(second).empty());
    sum += a + b;
    REQUIRE(version_in(h.word.raw) == (sum & version_mask));
  }
}

TEST_CASE("condition: what would advance a narrow version too far is refused, with nothing registered") {
  if (!versions_are_narrow) return;
  handle_state h, k;
  accesses::age(h, 200);
  task all, more;
  all.use(h, R, outstanding_max);
  more.use(k, R).use(h, R, 2);
  CHECK(submit(all) == tasks{&all});
  CHECK_THROWS_AS(submit(more), error);
  CHECK((h.registered == 200 + outstanding_max && k.registered == 0 && h.lock.raw == 0 && k.lock.raw == 0));
  CHECK(finish(all).empty());
  task again;
  again.use(h, R, 2);
  CHECK(submit(again) == tasks{&again});
  CHECK(finish(again).empty());
}

TEST_CASE("condition: an access joins a group that would become too long for narrow versions as a group of its own") {
  handle_state h;
  base::locked<M> guard(h.lock);
  CHECK(register_access(h, R, 20) == 0);
  CHECK(register_access(h, R, versions_are_narrow ? group_max - 20 : 1000) == 0);
  CHECK(register_access(h, R, 1) == (versions_are_narrow ? group_max : 0));
  h.registered = 0;
}

TEST_CASE("condition: units are given in order of arrival, and by one wait list with whole waits") {
  handle_state h;
  h.group_start = 2;  // units
  task one, both, late, waits, later_wait;
  one.use_units(h, 1);
  both.use_units(h, 2);
  late.use_units(h, 1);
  CHECK(submit(one) == tasks{&one});
  CHECK(submit(both).empty());
  CHECK(submit(late).empty());  // a unit is free, and `both` waits for it
  CHECK(list_for(waits, h, 1));
  CHECK(list_for(later_wait, h, h.registered));
  CHECK(finish(one) == tasks{&waits, &both});
  CHECK(h.group_start == 0);
  CHECK(finish(both) == tasks{&late});
  CHECK(finish(late) == tasks{&later_wait});
  CHECK((h.group_start == 2 && accesses::is_done(h)));
}

TEST_CASE("condition: who waits for all tasks on a resource stands in the way of none of them") {
  handle_state x, h;
  h.group_start = 1;
  task writes, uses, waits;
  writes.use(x, W);
  uses.use(x, R).use_units(h, 1);
  CHECK(submit(writes) == tasks{&writes});
  CHECK(submit(uses).empty());  // on x
  CHECK(list_for(waits, h, h.registered));
  CHECK(finish(writes) == tasks{&uses});
  CHECK(finish(uses) == tasks{&waits});
}

TEST_CASE("condition: what a record that is listed waits for, in words") {
  handle_state h, k, units;
  detail::set_name(h, "forces");
  detail::set_name(units, "disks");
  units.group_start = 1;
  task w, r, a, b, uses, too;
  w.use(h, W);
  r.use(h, R);
  a.use(k, A);
  b.use(k, A);
  uses.use_units(units, 1);
  too.use_units(units, 1);
  for (task* t : {&w, &a, &uses}) CHECK(submit(*t) == tasks{t});
  for (task* t : {&r, &b, &too}) CHECK(submit(*t).empty());
  CHECK(describe(r.r) == "waits for version 1 of handle 'forces', which is at 0");
  CHECK(describe(b.r) == "waits for version 0 of handle #" + std::to_string(k.id) + ", which is at 0");
  CHECK(describe(too.r) == "waits for 1 units of resource 'disks'");
  CHECK(finish(w) == tasks{&r});
  CHECK(describe_version(h, 7) == "version 7 of handle 'forces', which is at 1");
  CHECK(finish(r).empty());
  CHECK(finish(a) == tasks{&b});
  CHECK(finish(b).empty());
  CHECK(finish(uses) == tasks{&too});
  CHECK(finish(too).empty());
  r.a[0].handle_and_kind = detail::kind_repeated;  // what is left of a handle that died under a task that cannot run
  r.r.waiting.cursor = 0;
  CHECK(describe(r.r) == "waits for a handle that is gone");
  r.a[0].handle_and_kind |= detail::kind_resource;  // or of a stream
  CHECK(describe(r.r) == "waits for a stream that is gone");
}

}  // namespace weft::access
