// The gate of a team, step by step: who comes last, who opens, what is left to whom. Random schedules:
// gate_model_test.cpp.
#include "sched/teams/gate.hpp"

#include <doctest/doctest.h>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using g = gate<machine::host>;
using departure = g::departure;

struct three {
  detail::team_state t{};
  three() { g::make(t, 3); }
};

}  // namespace

TEST_CASE("gate: the last to come opens it, and the next barrier is another one") {
  three x;
  for (int barrier = 0; barrier < 5; ++barrier) {
    const std::uint32_t now = g::phase(x.t);
    CHECK(!g::comes(x.t));
    CHECK(!g::comes(x.t));
    CHECK(!g::is_over(x.t, now));
    CHECK(g::comes(x.t));
    CHECK(g::opens(x.t) == nullptr);
    CHECK((g::is_over(x.t, now) && !g::had_failed(x.t)));
  }
}

TEST_CASE("gate: who is set aside is given to who opens it; who lists itself too late is told") {
  three x;
  detail::record a{}, b{};
  const std::uint32_t now = g::phase(x.t);
  CHECK((!g::comes(x.t) && g::lists(x.t, &a, now)));
  CHECK((!g::comes(x.t) && g::lists(x.t, &b, now)));
  CHECK(g::phase(x.t) == now);
  CHECK(g::comes(x.t));
  CHECK((g::opens(x.t) == &b && b.waiting.next == &a && a.waiting.next == nullptr));
  CHECK(!g::lists(x.t, &a, now));
  CHECK(x.t.aside == nullptr);
}

TEST_CASE("gate: one that leaves counts as having come, to this barrier and to those after") {
  three x;
  const std::uint32_t now = g::phase(x.t);
  CHECK(g::leaves(x.t, false) == departure::others_go_on);
  CHECK(!g::comes(x.t));
  CHECK(g::comes(x.t));
  CHECK((g::opens(x.t) == nullptr && g::is_over(x.t, now)));
  CHECK(!g::comes(x.t));
  CHECK(g::leaves(x.t, false) == departure::opens);
  CHECK(g::opens(x.t) == nullptr);
  CHECK(g::comes(x.t));  // alone
  CHECK(g::opens(x.t) == nullptr);
  CHECK(g::leaves(x.t, false) == departure::was_last);
}

TEST_CASE("gate: that one has thrown is known from the next barrier on, and the same to all") {
  three x;
  CHECK(!g::comes(x.t));
  CHECK(!g::comes(x.t));
  CHECK((g::comes(x.t) && g::opens(x.t) == nullptr));
  CHECK(g::leaves(x.t, true) == departure::others_go_on);
  CHECK(!g::had_failed(x.t));  // of the barrier that is over
  CHECK(!g::comes(x.t));
  CHECK((g::comes(x.t) && g::opens(x.t) == nullptr));
  CHECK(g::had_failed(x.t));
  CHECK(g::leaves(x.t, true) == departure::others_go_on);
  CHECK(g::leaves(x.t, false) == departure::was_last);
}

}  // namespace weft::sched
