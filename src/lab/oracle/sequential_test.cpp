#include "lab/oracle/sequential.hpp"

#include <doctest/doctest.h>

namespace weft::ordered_run {

TEST_CASE("oracle, sequential: rounds follow each other from the last use of the queue") {
  queue_program q;
  constexpr std::uint64_t put = queue_program::put_instructions;
  CHECK(q.take(1) == 6);
  CHECK(q.put(106) == 106 + put);
  CHECK(q.put(206) == 206 + put);
  CHECK(q.take(2) == 206 + put + 12);  // as if its body went on for ever
  CHECK(q.take(1) == 206 + put + 18);  // the one before put nothing
  CHECK(q.spent() == 6 + 12 + 6 + 2 * put);
}

TEST_CASE("oracle, sequential: rounds of a loop over roots wait for the whole rounds they read from") {
  loop_program l;
  l.enter(1, true);
  CHECK(l.round() == 1);
  l.ran(50);
  l.enter(1, false);
  l.reads_from(1);  // itself
  l.ran(20);        // the first ends at 70
  l.enter(2, true);
  CHECK(l.round() == 2);
  l.ran(10);  // at 10
  l.enter(3, true);
  l.ran(5);
  l.reads_from(2);
  l.reads_from(0);  // nobody
  l.ran(5);         // from 10 to 20
  l.enter(4, true);
  l.reads_from(1);
  l.reads_from(3);
  l.ran(1);  // from 70
  l.run_ended();
  CHECK(l.longest() == 71);
  CHECK(l.is_program());
  l.enter(5, true);
  l.ran(4);
  l.run_ended();
  CHECK(l.longest() == 75);
}

TEST_CASE("oracle, sequential: a loop over roots is one only if they come one after the other") {
  loop_program mixed;
  mixed.enter(1, true);
  mixed.enter(2, true);
  CHECK(mixed.is_program());
  mixed.enter(1, false);
  CHECK(!mixed.is_program());
}

}  // namespace weft::ordered_run
