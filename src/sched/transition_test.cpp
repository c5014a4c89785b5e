// The phases of a record: every pair of them, allowed or not. The table is written out, so that a change of the rule
// shows up here as a change of what a record may do.
#include "sched/transition.hpp"

#include <doctest/doctest.h>

namespace weft::sched {
namespace {

using enum detail::record_state;
using detail::record_state;

constexpr record_state states[] = {free, filling, blocked, ready, running, draining};
// Row: from. Column: to, in the same order.
constexpr bool allowed[6][6] = {
    // free filling blocked ready running draining
    {false, true, false, true, false, false},  // free: the inline path fills in a record that still says it is free
    {true, true, true, true, false, false},    // filling: discarded, filled on, listed, nothing to wait for
    {true, false, true, true, false, false},   // blocked: abandoned after a stall, the next condition, the last one
    {true, false, false, true, true, false},   // ready: put back, run
    {true, false, true, false, false, true},   // running: done, a stack that waits, children left
    {true, false, false, false, false, false}  // draining: wholly done
};

}  // namespace

TEST_CASE("transition: each pair of states, as the table says") {
  for (unsigned from = 0; from < 6; ++from)
    for (unsigned to = 0; to < 6; ++to) {
      INFO(from << " -> " << to);
      CHECK(may_become(states[from], states[to]) == allowed[from][to]);
    }
}

TEST_CASE("transition: no record is freed twice, run twice, or run before it is ready") {
  CHECK(!may_become(free, free));
  CHECK(!may_become(running, running));
  for (const record_state from : states) CHECK(may_become(from, running) == (from == ready));
}

TEST_CASE("transition: a life from a magazine to a magazine") {
  detail::record r{};
  constexpr record_state life[] = {filling, blocked, blocked, ready, ready, running, draining, free};
  for (const record_state to : life) {
    transition(r, to);
    CHECK(r.state == to);
  }
}

}  // namespace weft::sched
