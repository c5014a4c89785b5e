// A main thread that submits while thieves starve: when it shares, and what makes it begin anew.
#include "sched/place/collecting.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "scheduler.hpp"

namespace weft::sched {
namespace {

using testing::notes;

// Thieves starve all the time: each submission asks.
struct fixture {
  notes machine;
  testing::scheduler<notes> s{machine, 5, true};
  collecting<notes> rule{machine, s.sleep, s.crew};
  worker<notes>& main = s.crew.main();
  std::uint64_t now_ps = 0;

  fixture() {
    s.open();
    detail::poke(main.away, true);
  }
  [[nodiscard]] bool submit(std::uint64_t takes_ps = 100'000) {
    now_ps += takes_ps;
    machine.clock_ps = now_ps - 1'000'000;  // what a look adds
    detail::poke(main.created, detail::peek(main.created) + 1);
    return rule.keeps(main);
  }
  // How many submissions until it shares, that one included.
  unsigned until_shared(std::uint64_t takes_ps = 100'000) {
    unsigned n = 1;
    while (submit(takes_ps)) ++n;
    return n;
  }
};

}  // namespace

TEST_CASE("collecting: it shares after one submission, two, four, and no fewer than once in 64") {
  fixture f;
  f.until_shared();
  for (const unsigned n : {2, 4, 8, 16, 32, 64, 64, 64}) CHECK(f.until_shared() == n);
}

TEST_CASE("collecting: after a wait, or where thieves did not starve for long, it shares at once again") {
  fixture f;
  for (int i = 0; i < 4; ++i) f.until_shared();
  f.rule.begins_anew();
  CHECK(f.until_shared() == 1);
  CHECK(f.until_shared() == 2);
  detail::poke(f.main.created, detail::peek(f.main.created) + rules::usual()[by::together]);  // nobody asked
  CHECK(!f.submit());
  CHECK(f.until_shared() == 1);
}

TEST_CASE("collecting: what became ready without a submission is shared at once") {
  fixture f;
  CHECK(f.until_shared() == 1);
  f.rule.begins_anew();
  CHECK(!f.rule.keeps(f.main));
}

TEST_CASE("collecting: who submits slowly keeps nothing") {
  fixture f;
  for (int i = 0; i < 20; ++i) CHECK(f.until_shared(2 * rules::usual().ps(by::brisk)) == 1);
}

TEST_CASE("collecting: it keeps only while somebody searches or nobody sleeps") {
  fixture f;
  for (int i = 0; i < 5; ++i) f.until_shared();
  CHECK(f.submit());
  static_cast<void>(f.s.sleep.announce(1));
  CHECK(!f.submit());
  REQUIRE(f.s.sleep.begin_search());
  CHECK(f.submit());
  f.s.sleep.give_up();
  CHECK(!f.submit());
  REQUIRE(f.s.sleep.retract(1));
  CHECK(f.submit());
}

TEST_CASE("collecting: few workers are in nobody's way") {
  notes machine;
  testing::scheduler<notes> s{machine, 4, true};
  collecting<notes> rule{machine, s.sleep, s.crew};
  detail::poke(s.crew.main().away, true);
  for (int i = 0; i < 20; ++i) CHECK(!rule.keeps(s.crew.main()));
}

TEST_CASE("collecting: nothing is kept where no thief could come for it") {
  fixture f;
  detail::poke(f.main.away, false);  // as in a wait
  for (int i = 0; i < 20; ++i) CHECK(f.until_shared() == 1);
}

}  // namespace weft::sched
