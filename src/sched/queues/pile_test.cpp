// A queue that its own workers use as a stack and others as a queue: which record comes out at which end, and that each
// comes out once, whoever takes it.
#include "sched/queues/pile.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <vector>

#include "base/random.hpp"
#include "interleave.hpp"
#include "machine/host/host.hpp"

namespace weft::sched {
namespace {

using detail::record;
using P = pile<machine::host>;

[[nodiscard]] std::vector<const record*> taken(P& p, std::uint32_t most) {
  std::vector<const record*> all;
  for (const record* r = p.take_oldest(most); r != nullptr; r = r->waiting.next) all.push_back(r);
  return all;
}

}  // namespace

TEST_CASE("pile: the newest at the top, the oldest at the bottom, at most half of them at once") {
  P p;
  record r[8] = {};
  CHECK((p.empty() && p.pop() == nullptr && p.take_oldest(3) == nullptr));
  for (record& x : r) p.push(&x);
  CHECK(p.size() == 8);
  CHECK(p.pop() == &r[7]);
  CHECK(taken(p, 2) == std::vector<const record*>{&r[0], &r[1]});
  CHECK(taken(p, 9) == std::vector<const record*>{&r[2], &r[3], &r[4]});
  CHECK(p.pop() == &r[6]);
  CHECK(taken(p, 9) == std::vector<const record*>{&r[5]});
  CHECK((p.empty() && p.pop() == nullptr && p.take_oldest(3) == nullptr));
}

TEST_CASE("pile: as a deque of the standard library, whatever is put and taken") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    base::random rng(seed);
    std::vector<record> records(400);
    std::deque<const record*> expected;
    P p;
    std::size_t used = 0;
    for (int step = 0; step < 900; ++step) {
      const auto what = rng.below(8);
      if (what < 4 && used < records.size()) {
        expected.push_back(&records[used]);
        p.push(&records[used++]);
      } else if (what < 6) {
        const record* const r = p.pop();
        CHECK(r == (expected.empty() ? nullptr : expected.back()));
        if (r != nullptr) expected.pop_back();
      } else {
        const std::size_t least = expected.empty() ? 0 : 1;
        const std::size_t count = std::max(least, std::min<std::size_t>(3, (expected.size() + 1) / 2));
        const auto got = taken(p, 3);
        REQUIRE(got.size() == count);
        for (const record* r : got) {
          CHECK(r == expected.front());
          expected.pop_front();
        }
      }
      REQUIRE(p.size() == expected.size());
    }
  }
}

namespace {

using M = interleave::unsteady;

// Two put and take at the top, one takes at the bottom.
const char* tried(std::uint64_t seed) {
  constexpr unsigned each = 8;
  interleave::play<M> play(seed);
  pile<M> p;
  std::vector<record> records(2 * each);
  std::vector<unsigned> times(records.size());
  unsigned come = 0;
  const char* wrong = nullptr;
  const auto note = [&](const record* r) {
    if (++times[static_cast<std::size_t>(r - records.data())] != 1) wrong = "a record came out twice";
    ++come;
  };
  const auto body = [&](unsigned id) {
    for (unsigned i = 0; id <= 2 && i < each; ++i) {
      p.push(&records[(id - 1) * each + i]);
      if (i % 3 == 2)
        if (const record* r = p.pop()) note(r);
    }
    while (id == 3 && come < records.size() && !play.over()) {
      for (record *r = p.take_oldest(3), *next; r != nullptr; r = next) {
        next = r->waiting.next;
        note(r);
      }
      M::relax(1);
    }
  };
  if (!play.run(3, body, [&] { return play.all_left() || wrong != nullptr; }) && wrong == nullptr)
    wrong = "a record is lost";
  return wrong;
}

}  // namespace

TEST_CASE("pile: each comes out once, from whichever end") { interleave::all_seeds(3000, tried); }

}  // namespace weft::sched
