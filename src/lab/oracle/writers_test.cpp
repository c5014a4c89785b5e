#include "lab/oracle/writers.hpp"

#include <doctest/doctest.h>

namespace weft::ordered_run {

namespace {

moments all_at(std::uint64_t when) {
  moments m;
  m.at.fill(when);
  return m;
}

}  // namespace

TEST_CASE("oracle, writers: the last one of each word, near and far") {
  writers w;
  CHECK(w.find(7) == nullptr);
  w.stored(7, all_at(3), true);
  w.stored(8, all_at(4), true);
  w.stored(std::uint64_t{1} << 44, all_at(5), true);
  CHECK(*w.find(7) == all_at(3));
  CHECK(*w.find(8) == all_at(4));
  CHECK(*w.find(std::uint64_t{1} << 44) == all_at(5));
  CHECK(w.find(9) == nullptr);
  CHECK(w.find((std::uint64_t{1} << 44) + 1) == nullptr);
  w.stored(7, all_at(2), true);  // later in order, and earlier in time: its readers need not wait for who was before
  CHECK(*w.find(7) == all_at(2));
  CHECK(w.words() == 3);
}

TEST_CASE("oracle, writers: of a word stored in parts each part counts") {
  writers w;
  w.stored(1, all_at(9), true);
  w.stored(1, all_at(4), false);
  CHECK(*w.find(1) == all_at(9));
  w.stored(1, all_at(11), false);
  CHECK(*w.find(1) == all_at(11));
  w.stored(1, all_at(5), true);
  CHECK(*w.find(1) == all_at(5));
}

}  // namespace weft::ordered_run
