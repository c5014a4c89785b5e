#include "sched/workers/looking.hpp"

#include <doctest/doctest.h>

namespace weft::sched {

TEST_CASE("looking: what stands in the own deque stays known until somebody says that nothing does") {
  looking l;
  CHECK(!l.has_own());
  l.left_own();
  l.begins();
  CHECK(l.has_own());
  l.nothing_own();
  CHECK(!l.has_own());
}

TEST_CASE("looking: a search forgets the member that the one before it found") {
  looking l;
  l.found_member();
  CHECK(l.has_found_member());
  l.begins();
  CHECK(!l.has_found_member());
}

TEST_CASE("looking: the box is passed over once") {
  looking l;
  CHECK(!l.passes_box_over());
  l.pass_box_over();
  l.pass_box_over();  // a second body yields before anybody has looked there
  CHECK(l.passes_box_over());
  CHECK(!l.passes_box_over());
}

TEST_CASE("looking: everywhere and guarded hold for one look") {
  looking l;
  {
    const looking::everywhere all(l);
    CHECK(l.is_everywhere());
  }
  CHECK(!l.is_everywhere());
  l.guarded(true);
  CHECK(l.is_guarded());
  l.guarded(false);
  CHECK(!l.is_guarded());
}

}  // namespace weft::sched
