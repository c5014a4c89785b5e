// The workers of a runtime: how many there are with and without a reserve, what each is called, and who is who.
#include "sched/workers/crew.hpp"

#include <doctest/doctest.h>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using host_crew = crew<machine::host>;
using host_worker = worker<machine::host>;

}  // namespace

TEST_CASE("crew: without a reserve there are as many seats as workers, by their numbers") {
  host_crew all;
  CHECK(!all.is_open());
  all.open(3, false);
  CHECK(all.is_open());
  CHECK((all.workers() == 3 && all.seats() == 3));
  for (unsigned id = 0; id < 3; ++id) {
    CHECK(all[id].id == id);
    CHECK(detail::peek(all[id].shown_id) == id);
    CHECK(all[id].role == role::ordinary);
    CHECK(detail::peek(all[id].tick_limit) == ticks_between_looks);
  }
  CHECK(&all.main() == &all[0]);
}

TEST_CASE("crew: the reserve has a seat of its own, and shows no number") {
  host_crew all;
  all.open(2, true);
  CHECK((all.workers() == 2 && all.seats() == 3));
  CHECK(&all.reserve() == &all[2]);
  CHECK(all.reserve().role == role::reserve);
  CHECK(all.reserve().is_special());
  CHECK(all.reserve().id == 2);
  CHECK(detail::peek(all.reserve().shown_id) == host_worker::no_id);
  CHECK(!all[1].is_special());
}

TEST_CASE("crew: who goes through it meets every seat once, in order") {
  host_crew all;
  all.open(5, true);
  unsigned next = 0;
  for (const auto& w : all) CHECK(w->id == next++);
  CHECK(next == all.seats());
}

TEST_CASE("crew: bodies that have begun are those of all seats, the reserve's too") {
  host_crew all;
  all.open(2, true);
  CHECK(all.tasks_begun() == 0);
  count_one(all[0].tasks);
  count_one(all[1].tasks);
  count_one(all.reserve().tasks);
  count_one(all.reserve().tasks);
  CHECK(all.tasks_begun() == 4);
}

TEST_CASE("crew: workers do not share cache lines") {
  host_crew all;
  all.open(4, false);
  for (unsigned id = 0; id < 4; ++id) CHECK(reinterpret_cast<std::uintptr_t>(&all[id]) % 64 == 0);
}

}  // namespace weft::sched
