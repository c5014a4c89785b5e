// How long bodies are, from few looks at the clock: when they count as tiny, when a worker keeps everything within
// reach of thieves, and which bodies are timed.
#include "sched/balance/tempo.hpp"

#include <doctest/doctest.h>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using host_tempo = tempo<machine::host>;
constexpr std::uint64_t ns = 1000;  // in ps
const std::uint64_t tiny_ps = (rules::usual()[by::tiny] / 2) * ns;

}  // namespace

TEST_CASE("tempo: bodies of unknown length are not tiny, the first that is timed says what they are") {
  host_tempo t;
  pace p;
  CHECK(!t.tiny());
  t.ran(p, tiny_ps);
  CHECK(t.tiny());
}

TEST_CASE("tempo: the mean follows in eighths and arrives") {
  host_tempo t;
  pace p;
  t.ran(p, 1'000'000 * ns);
  unsigned bodies = 0;
  for (; !t.tiny() && bodies < 1000; ++bodies) t.ran(p, (rules::usual()[by::tiny] - 1) * ns);
  CHECK(bodies > 8);    // one short body says little
  CHECK(bodies < 200);  // and a step never rounds to nothing
  for (bodies = 0; t.tiny() && bodies < 1000; ++bodies) t.ran(p, rules::usual()[by::tiny] * ns);
  CHECK(!t.tiny());
}

TEST_CASE("tempo: a body beyond what the mean can hold counts as very long, not as unknown") {
  host_tempo t;
  pace p;
  t.ran(p, ~std::uint64_t{0});
  CHECK(!t.tiny());
  unsigned bodies = 0;
  for (; !t.tiny() && bodies < 1000; ++bodies) t.ran(p, 0);
  CHECK(bodies > 8);  // of unknown length the first body alone would have said it
  CHECK(t.tiny());
}

TEST_CASE("tempo: where bodies wait short ones are not tiny, until none has waited for a while") {
  host_tempo t;
  pace p;
  t.ran(p, tiny_ps);
  CHECK(t.tiny());
  t.waited(p);
  CHECK(!t.tiny());
  unsigned bodies = 0;
  for (; !t.tiny() && bodies < 1000; ++bodies) t.ran(p, tiny_ps);
  CHECK((bodies > 8 && bodies < 1000));
}

TEST_CASE("tempo: a body is left to others for the way's sake where one was long lately, or none has run") {
  host_tempo t;
  pace p;
  CHECK(t.worth_the_way());  // nobody knows
  t.ran(p, 5'000'000);
  CHECK_FALSE(t.worth_the_way());
  t.ran(p, rules::usual().ps(by::worth_the_way) - 1);
  CHECK_FALSE(t.worth_the_way());
  t.ran(p, rules::usual().ps(by::worth_the_way));
  CHECK(t.worth_the_way());
  for (int i = 0; i < 63; ++i) t.ran(p, 5'000'000);
  CHECK(t.worth_the_way());
  t.ran(p, 5'000'000);
  CHECK_FALSE(t.worth_the_way());
}

TEST_CASE("tempo: a worker is coarse until enough short bodies came in a row") {
  host_tempo t;
  pace p;
  CHECK((p.coarse && p.timed && p.watched));
  for (unsigned i = 1; i < rules::usual()[by::fine_after]; ++i) t.ran(p, tiny_ps);
  CHECK((p.coarse && p.timed));
  t.ran(p, rules::usual().ps(by::coarse));  // the row begins anew
  for (unsigned i = 1; i < rules::usual()[by::fine_after]; ++i) t.ran(p, tiny_ps);
  CHECK(p.coarse);
  t.ran(p, tiny_ps);
  CHECK((!p.coarse && !p.timed && !p.watched));
}

TEST_CASE("tempo: one long body makes a worker coarse again") {
  host_tempo t;
  pace p;
  for (unsigned i = 0; i < rules::usual()[by::fine_after]; ++i) t.ran(p, tiny_ps);
  t.ran(p, rules::usual().ps(by::coarse) - 1);
  CHECK(!p.coarse);
  t.ran(p, rules::usual().ps(by::coarse));
  CHECK((p.coarse && p.timed && p.watched));
}

TEST_CASE("tempo: while bodies are short one is timed now and then, with a trace each is watched") {
  host_tempo t;
  pace p;
  for (unsigned i = 0; i < rules::usual()[by::fine_after]; ++i) t.ran(p, tiny_ps);
  p.time_next();
  CHECK((p.timed && p.watched && !p.coarse));
  t.ran(p, tiny_ps);
  CHECK((!p.timed && !p.watched));
  p.always = true;
  t.ran(p, tiny_ps);
  CHECK((!p.timed && p.watched));
}

TEST_CASE("tempo: what the clock takes is no part of a body") {
  host_tempo t;
  pace p;
  t.open(rules::usual()[by::tiny] * ns);
  t.ran(p, rules::usual()[by::tiny] * ns + tiny_ps);
  CHECK(t.tiny());
  t.ran(p, 0);  // less than the clock takes at other times
  CHECK(t.tiny());
  for (unsigned i = 0; i < 100; ++i) t.ran(p, 2 * rules::usual()[by::tiny] * ns);
  CHECK(!t.tiny());
}

TEST_CASE("tempo: whether the body timed last was of a nested task") {
  host_tempo t;
  pace p;
  t.ran(p, tiny_ps, true);
  CHECK(p.runs_nested);
  t.ran(p, tiny_ps);
  CHECK(!p.runs_nested);
}

TEST_CASE("tempo: the mean is everybody's, the pace a worker's own") {
  host_tempo t;
  pace a, b;
  for (unsigned i = 0; i < rules::usual()[by::fine_after]; ++i) t.ran(a, tiny_ps);
  CHECK((!a.coarse && b.coarse && t.tiny()));
}

}  // namespace weft::sched
