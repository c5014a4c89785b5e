// The phases of a record: every pair of them, allowed or not. The table is written out, so that a change of the rule
// shows up here as a change of what a record may do. What is not allowed ends the process, so that is tried in another.
#include "weft/detail/record_state.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "sanitized.hpp"
#include "weft/detail/record.hpp"

namespace weft::detail {
namespace {

using enum record_state;

// In the order of a life.
constexpr record_state states[] = {free, filling, requested, blocked, ready, running, draining};
constexpr unsigned count = record_state_count;
static_assert(sizeof states == count);

// Row: from. Column: to, in the same order.
constexpr bool allowed[count][count] = {
    // free filling requested blocked ready running draining
    {false, true, false, false, false, false, false},  // free: taken
    {true, false, true, true, true, false, false},     // filling: discarded, handed over, listed, nothing to wait for
    {false, true, false, false, false, false, false},  // requested: its creator has it
    {false, false, false, true, true, false, false},   // blocked: the next condition, the last one
    {false, false, false, true, true, true, false},    // ready: its handle is taken after all, put back, run
    {true, false, false, true, false, false, true},    // running: done, a node that rests, children left
    {true, false, false, true, false, false, false}    // draining: wholly done, a node that rests
};

// A record in that phase, by a way that it may go.
[[nodiscard]] record in(record_state at) {
  record r{};
  if (at == requested || at == blocked) {
    begin(r, filling);
    transition(r, filling, at);
  } else {
    begin(r, at == draining ? running : at);
    if (at == draining) transition(r, running, draining);
  }
  return r;
}

// What the process says that does it: one of its own, so that it may end.
template <class What> [[nodiscard]] std::string said_by_who_aborts(What what) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // not the test's own report of it
    ::dup2(ends[1], STDERR_FILENO);
    what();
    ::_exit(0);
  }
  REQUIRE(child > 0);
  ::close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t n; (n = ::read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : "";
}

}  // namespace

TEST_CASE("record_state: each pair of phases, as the table says") {
  for (unsigned from = 0; from < count; ++from)
    for (unsigned to = 0; to < count; ++to) {
      INFO(from << " -> " << to);
      CHECK(may_precede(states[to]).has(states[from]) == allowed[from][to]);
    }
}

TEST_CASE("record_state: a record goes each way that is allowed, and no other" * doctest::skip(sanitized)) {
  for (unsigned from = 0; from < count; ++from)
    for (unsigned to = 0; to < count; ++to) {
      INFO(from << " -> " << to);
      record r = in(states[from]);
      if (allowed[from][to]) {
        transition(r, states[from], states[to]);
        CHECK(r.state == states[to]);
      } else {
        CHECK(said_by_who_aborts([&] { transition(r, states[from], states[to]); }) != "");
      }
    }
}

TEST_CASE("record_state: who is wrong about the phase is found there and then" * doctest::skip(sanitized)) {
  record r = in(running);
  r.name = "solve";
  const std::string said = said_by_who_aborts([&] { transition(r, {filling, blocked}, ready); });
  CHECK(said.find("a record comes from blocked or filling to ready") != said.npos);
  CHECK(said.find("it is running, \"solve\"") != said.npos);
  CHECK(said.find("record_state_test.cpp") != said.npos);
  for (const record_state from : states)
    for (const record_state is : states) {
      record x = in(is);
      if (!may_precede(ready).has(from) || from == is) continue;
      INFO(static_cast<unsigned>(is) << " is not " << static_cast<unsigned>(from));
      CHECK(said_by_who_aborts([&] { transition(x, from, ready); }) != "");
    }
}

TEST_CASE("record_state: of several phases all must be allowed") {
  CHECK(record_states{filling, blocked}.are_in(may_precede(ready)));
  CHECK(!record_states{filling, running}.are_in(may_precede(ready)));
  for (unsigned bits = 1; bits < 1u << count; ++bits) {
    record_states some(free);
    some.bits = bits;
    for (unsigned i = 0; i < count; ++i) CHECK(some.has(static_cast<record_state>(i)) == ((bits >> i & 1) != 0));
  }
}

TEST_CASE("record_state: where a record begins" * doctest::skip(sanitized)) {
  for (const record_state first : states) {
    record r{};
    if (may_be_first().has(first)) {
      begin(r, first);
      CHECK(r.state == first);
    } else {
      CHECK(said_by_who_aborts([&] { begin(r, first); }) != "");
    }
  }
}

TEST_CASE("record_state: no record is freed twice, run twice, or run before it is ready") {
  CHECK(!may_precede(free).has(free));
  CHECK(!may_precede(running).has(running));
  for (const record_state from : states) CHECK(may_precede(running).has(from) == (from == ready));
}

TEST_CASE("record_state: a life from a magazine to a magazine") {
  record r{};
  begin(r, filling);
  constexpr record_state life[] = {requested, filling, blocked, blocked, ready, ready, running, draining, free};
  record_state before = filling;
  for (const record_state to : life) {
    transition(r, before, to);
    CHECK(r.state == to);
    before = to;
  }
}

TEST_CASE("record: what two parts of a life have in common is kept from one to the next") {
  record r = in(filling), other{};
  r.trace_id() = 17;
  r.waiting.next = &other;
  transition(r, filling, ready);
  transition(r, ready, running);
  r.running.ended_here = 3;
  r.running.children = 4;
  r.running.waits_in = nullptr;
  CHECK(r.trace_id() == 17);
  CHECK(r.running.trace_id == 17);
  record q = in(filling);
  q.request = {&other, 12, 2, 5};
  CHECK(q.waiting.next == &other);
}

}  // namespace weft::detail
