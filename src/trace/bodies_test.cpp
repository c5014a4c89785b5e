#include "trace/bodies.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace weft::trace {
namespace {

section_row run_of(std::uint32_t id, std::uint32_t section) {
  section_row s;
  s.id = id;
  s.section = section;
  return s;
}

body_row body_of(std::uint32_t run, std::uint64_t timestamp, std::uint32_t number, std::uint32_t first,
                 std::uint32_t last) {
  body_row b{};
  b.section = run;
  b.timestamp = timestamp;
  b.number = number;
  b.first = first;
  b.last = last;
  return b;
}

bool is(const touch_row& t, std::uint32_t word, std::uint32_t reads, std::uint32_t writes) {
  return t.word == word && t.reads == reads && t.writes == writes;
}

}  // namespace

TEST_CASE("bodies: in the order of the serial run, with words and values by numbers, and no address") {
  contents c;
  c.sections = {{.id = 70, .section = 70, .executor = "speculative"},
                {.id = 90, .section = 70, .executor = "speculative"}};
  c.crews = {{5, 90, true}, {2, 70, true}, {3, 70, false}};
  c.bodies = {body_of(70, 20, 1, 0, 2), body_of(70, 10, 2, 2, 4), body_of(70, 20, 0, 4, 5), body_of(33, 0, 0, 5, 5)};
  std::vector<touched> all = {
      {0x1000, 7, 250, 0xff, false}, {0x1000, 9, 0, 0xff, true},  // the last
      {0x2000, 5, 0, 0xff, true},    {0x1000, 7, 0, 0xff, true},  // the first
      {0x2000, 5, 0, 0xff, false},
  };
  number_bodies(c, all);
  REQUIRE((c.crews.size() == 3 && c.crews[0].task == 2 && c.crews[0].section == 1 && c.crews[2].section == 2));
  CHECK((c.sections[0].section == 1 && c.sections[1].section == 1));
  REQUIRE(c.bodies.size() == 3);  // one was of no section
  CHECK((c.bodies[0].number == 2 && c.bodies[1].number == 0 && c.bodies[2].number == 1));
  REQUIRE(c.touches.size() == 4);
  CHECK((is(c.touches[0], 1, 0, 1) && is(c.touches[1], 2, 0, 1)));  // words in the order of their first touch
  CHECK(is(c.touches[2], 1, 1, 0));                                 // what the first wrote
  CHECK((is(c.touches[3], 2, 1, 2) && c.touches[3].before_ps == 250));
  CHECK((c.bodies[0].first == 0 && c.bodies[0].last == 2 && c.bodies[2].first == 3 && c.bodies[2].last == 4));
}

TEST_CASE("bodies: parts of 8 bytes that are not always touched together are words of their own") {
  contents c;
  c.sections = {run_of(1, 1)};
  c.bodies = {body_of(1, 0, 0, 0, 1), body_of(1, 0, 1, 1, 2), body_of(1, 0, 2, 2, 3)};
  std::vector<touched> all = {{0x1000, 0x1111222233334444, 0, 0xff, true},
                              {0x1000, 0x33334444, 0, 0x0f, false},
                              {0x1000, 0x1111000000000000, 0, 0xc0, false}};
  number_bodies(c, all);
  REQUIRE(c.touches.size() == 5);
  CHECK((is(c.touches[0], 1, 0, 1) && is(c.touches[1], 2, 0, 1) && is(c.touches[2], 3, 0, 1)));
  CHECK(is(c.touches[3], 1, 1, 0));
  CHECK(is(c.touches[4], 3, 1, 0));
}

TEST_CASE("bodies: what is read and nobody wrote is another word; a value that was there before has its old number") {
  contents c;
  c.sections = {run_of(1, 1)};
  for (std::uint32_t i = 0; i < 5; ++i) c.bodies.push_back(body_of(1, i, i, i, i + 1));
  std::vector<touched> all = {{64, 1, 0, 0xff, true},
                              {64, 2, 0, 0xff, true},
                              {64, 1, 0, 0xff, true},
                              {64, 1, 0, 0xff, false},
                              {64, 3, 0, 0xff, false}};
  number_bodies(c, all);
  REQUIRE(c.touches.size() == 5);
  CHECK((is(c.touches[1], 1, 0, 2) && is(c.touches[2], 1, 0, 1) && is(c.touches[3], 1, 1, 0)));
  CHECK(is(c.touches[4], 2, 1, 0));
}

}  // namespace weft::trace
