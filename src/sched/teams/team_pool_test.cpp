// Where the state of a team comes from: a worker has the same again and again, and two teams never share one.
#include "sched/teams/team_pool.hpp"

#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using machine::host;
using pool = team_pool<host>;

}  // namespace

TEST_CASE("team pool: a worker's next team has what its last one had") {
  pool all;
  worker<host> a, b;
  team<host>& first = all.take(a);
  all.give_back(first);
  CHECK(&all.take(a) == &first);
  team<host>& other = all.take(b);
  CHECK(&other != &first);
  all.give_back(other);
  all.give_back(first);
  CHECK(&all.take(b) == &other);  // not what lies nearest, but its own
  CHECK(&all.take(a) == &first);
}

TEST_CASE("team pool: who has a team and makes another one gets what nobody keeps, again and again") {
  pool all;
  worker<host> w;
  std::set<team<host>*> seen;
  for (int round = 0; round < 3; ++round) {
    team<host>& outer = all.take(w);
    team<host>& inner = all.take(w);
    team<host>& innermost = all.take(w);
    CHECK(&outer != &inner);
    CHECK(&inner != &innermost);
    CHECK(&outer != &innermost);
    seen.insert({&outer, &inner, &innermost});
    for (team<host>* t : {&outer, &innermost, &inner}) all.give_back(*t);
  }
  CHECK(seen.size() == 3);
}

TEST_CASE("team pool: what another worker, the last member, gives back has all that it wrote") {
  pool all;
  worker<host> w;
  for (std::uint64_t round = 1; round <= 1000; ++round) {
    team<host>& t = all.take(w);
    t.width = static_cast<std::uint32_t>(round);
    std::thread last([&] {
      t.course.since_ps = round;
      all.give_back(t);
    });
    team<host>* next = &all.take(w);  // its own, or another one if that is not over
    if (next == &t) CHECK(t.course.since_ps == round);
    last.join();
    all.give_back(*next);
  }
}

}  // namespace weft::sched
