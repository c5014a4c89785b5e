// Two ways in turns: the faster one is kept, the other is tried again more and more seldom and not for long, and what
// is done first after a change does not count.
#include "sched/balance/turns.hpp"

#include <doctest/doctest.h>

namespace weft::sched {
namespace {

constexpr std::uint64_t length = 100;

// Things are done one by one, by either way in so long a time, and in another right after a change.
struct race {
  turns t{length};
  std::uint64_t now_ps = 1'000'000;
  std::uint64_t done = 0;
  std::uint64_t first_ps = 1000, second_ps = 1000, settling_ps = 0;
  std::uint64_t since_change = length;
  decisions told;
  std::uint64_t firsts = 0, seconds = 0, in_a_row = 0, longest_first = 0;

  race() { t.begin_anew(now_ps, done, done); }
  void run(std::uint64_t n) {
    firsts = seconds = longest_first = 0;
    for (; n > 0; --n) {
      const bool settles = 2 * since_change < length && settling_ps != 0;
      now_ps += settles ? settling_ps : t.second() ? second_ps : first_ps;
      ++(t.second() ? seconds : firsts);
      in_a_row = t.second() ? 0 : in_a_row + 1;
      longest_first = longest_first > in_a_row ? longest_first : in_a_row;
      since_change = t.look(
                         now_ps, ++done, [this] { return done; }, &told)
                         ? 0
                         : since_change + 1;
    }
  }
};

}  // namespace

TEST_CASE("turns: the second way is tried after some turns of the first, and kept if it is faster") {
  race r;
  r.second_ps = 500;
  r.run(base::turns_min * length - 1);
  CHECK(!r.t.second());
  r.run(1);
  CHECK(r.t.second());
  r.run(2 * length);
  CHECK(r.t.second());
  r.run(1000 * length);
  CHECK(r.firsts < 40 * length);
}

TEST_CASE("turns: the first way is kept unless the second is clearly faster") {
  race r;
  r.second_ps = 950;
  r.run(1000 * length);
  CHECK(r.seconds < 50 * length);
  CHECK(r.seconds > 10 * length);  // it is tried again
  std::uint64_t told[rules::count] = {};
  r.told.add_to(told);
  CHECK(told[static_cast<std::size_t>(by::turn_gain)] > 0);
}

TEST_CASE("turns: a slower way is left as soon as it has taken as long as the other would, and tried seldom") {
  race r;
  r.second_ps = 50'000;
  r.run(base::turns_min * length);
  CHECK(r.t.second());
  r.run(length / 2 + 3);  // the first half of a turn does not count
  CHECK(!r.t.second());
  r.run(1000 * length);
  CHECK(r.seconds < 20 * length);
  CHECK(r.longest_first >= base::turns_max * length);
  CHECK(r.longest_first <= (base::turns_max + 1) * length);
}

TEST_CASE("turns: if what was slower becomes faster it is found out") {
  race r;
  r.second_ps = 10'000;
  r.run(500 * length);
  r.second_ps = 100;
  r.run(2 * base::turns_max * length);
  CHECK(r.t.second());
  r.second_ps = 5'000;
  r.run(2 * base::turns_max * length);
  CHECK(r.firsts > base::turns_max * length);
}

TEST_CASE("turns: if the better way gets much slower the other is tried at once") {
  race r;
  r.second_ps = 100;
  r.run(1000 * length);
  CHECK(r.t.second());
  r.second_ps = 20'000;  // something else is done, at which the first way is better
  r.run(3 * length);
  CHECK(!r.t.second());
  r.run(200 * length);
  CHECK(r.seconds < 20 * length);
}

TEST_CASE("turns: what is done right after a change says nothing") {
  race r;
  r.second_ps = 10'000;
  r.settling_ps = 1;
  r.run(500 * length);
  CHECK(r.seconds < 20 * length);
  race other;
  other.second_ps = 100;
  other.settling_ps = 1'500;
  other.run(500 * length);
  CHECK(other.seconds > 450 * length);
}

TEST_CASE("turns: steps alone are not enough, something must be done") {
  turns t(length);
  t.begin_anew(0, 0, 0);
  std::uint64_t steps = 0, now_ps = 0;
  for (; !t.second(); now_ps += 1000) static_cast<void>(t.look(now_ps, ++steps, [&] { return steps; }));
  const std::uint64_t done = steps;
  for (unsigned i = 0; i < 2 * length && t.second(); ++i, now_ps += 100)
    static_cast<void>(t.look(now_ps, ++steps, [done] { return done; }));
  CHECK(!t.second());  // it was ten times as fast, and none was run
}

TEST_CASE("turns: begun anew they keep the way and forget what they knew") {
  race r;
  r.second_ps = 500;
  r.run((base::turns_min + 2) * length);
  r.t.stop();
  CHECK((!r.t.under_way() && r.t.second()));
  r.t.begin_anew(r.now_ps, r.done, r.done);
  CHECK((r.t.under_way() && r.t.second()));
  r.run(base::turns_min * length);
  CHECK(!r.t.second());  // the other is tried
  r.run(2 * length);
  CHECK(r.t.second());
}

}  // namespace weft::sched
