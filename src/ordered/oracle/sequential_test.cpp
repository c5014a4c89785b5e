#include "ordered/oracle/sequential.hpp"

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

TEST_CASE("oracle, sequential: a loop over roots is one only if they come one after the other") {
  loop_program nested;
  CHECK(nested.next(1, true, 0) == 0);
  nested.ended(50);
  CHECK(nested.next(1, false, 0) == 50);
  nested.ended(70);
  CHECK(nested.next(2, true, 0) == 0);
  nested.ended(10);
  CHECK(nested.is_program());
  loop_program mixed;
  static_cast<void>(mixed.next(1, true, 0));
  static_cast<void>(mixed.next(2, true, 0));
  CHECK(mixed.is_program());
  static_cast<void>(mixed.next(1, false, 0));
  CHECK(!mixed.is_program());
}

}  // namespace weft::ordered_run
