// Which width the next team gets, from what others took: found within 50 runs, followed within 50 more, and what trials
// cost.
#include "sched/balance/width_table.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/random.hpp"

namespace weft::sched {
namespace {

using option = width_table::option;
using aim = width_table::aim;
using place = width_table::place;

const std::vector<option> widths{
    {1, place::leaf}, {2, place::leaf}, {4, place::leaf}, {8, place::node}, {16, place::machine}};

// How long a team of so many takes, in picoseconds.
using law = std::function<double(unsigned width)>;

[[nodiscard]] law amdahl(double serial, double per_member = 0) {
  return [=](unsigned w) { return 1e8 * (serial + (1 - serial) / w + per_member * w); };
}
[[nodiscard]] unsigned best_of(const law& takes, aim a) {
  unsigned best = 1;
  for (const option& o : widths)
    if (takes(o.width) * (a == aim::cost ? o.width : 1) < takes(best) * (a == aim::cost ? best : 1)) best = o.width;
  return best;
}

struct outcome {
  unsigned found_after = 0;  // runs until the best width, or one as good within 5 %, was taken but for trials
  double loss = 0;           // what all runs took above those of the best width, as a part of these
  unsigned chosen = 0;       // how often one as good as the best was, of the last 100
};

[[nodiscard]] outcome run(width_table& t, const law& takes, aim a, unsigned runs, double noise = 0,
                          std::uint64_t seed = 1) {
  base::random rng(seed);
  const unsigned best = best_of(takes, a);
  const double best_takes = takes(best) * (a == aim::cost ? best : 1);
  outcome out;
  double all = 0;
  unsigned missed = 0;
  for (unsigned i = 0; i < runs; ++i) {
    const width_table::choice c = t.choose(widths, a);
    const option o = c.of;
    const double off = 1 + noise * (static_cast<double>(rng.next() % 1000) / 500 - 1);
    const double elapsed = takes(o.width) * off;
    t.measured(c, static_cast<std::uint64_t>(elapsed), static_cast<std::uint64_t>(elapsed * o.width));
    all += takes(o.width) * (a == aim::cost ? o.width : 1);
    const double takes_now = takes(o.width) * (a == aim::cost ? o.width : 1);
    missed = takes_now <= 1.05 * best_takes ? 0 : missed + 1;
    if (missed >= 3) out.found_after = i + 1;  // trials stand alone, or are two
    if (i + 100 >= runs && takes_now <= (a == aim::cost ? 1.125 : 1.05) * best_takes) ++out.chosen;
  }
  out.loss = all / (best_takes * runs) - 1;
  return out;
}

}  // namespace

TEST_CASE("width_table: finds the best width within 50 runs, and trials cost little") {
  const law laws[] = {amdahl(0), amdahl(1), amdahl(0.3, 0.02), amdahl(0.05, 0.01), amdahl(0.5, 0.2)};
  for (const law& takes : laws)
    for (const aim a : {aim::time, aim::cost}) {
      width_table t;
      const outcome first = run(t, takes, a, 50);
      CHECK(first.found_after < 50);
      const outcome later = run(t, takes, a, 1000);
      CAPTURE(best_of(takes, a));
      CHECK(later.loss < 0.05);
      CHECK(later.chosen >= 75);
    }
}

TEST_CASE("width_table: follows a load that changes within 50 runs") {
  const law laws[] = {amdahl(0), amdahl(1, 0.001), amdahl(0.3, 0.02), amdahl(0.05, 0.01), amdahl(0.5, 0.2)};
  for (const law& before : laws)
    for (const law& after : laws) {
      width_table t;
      static_cast<void>(run(t, before, aim::time, 300));
      const outcome changed = run(t, after, aim::time, 50);
      CAPTURE(best_of(before, aim::time));
      CAPTURE(best_of(after, aim::time));
      CHECK(changed.found_after < 50);
      CHECK(run(t, after, aim::time, 300).loss < 0.05);
    }
}

TEST_CASE("width_table: times that scatter by a tenth, and single ones far off, change little") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    width_table t;
    const law takes = amdahl(0.05, 0.01);  // 8 is the best by a tenth, and 4 and 16 are near
    static_cast<void>(run(t, takes, aim::time, 50, 0.1, seed));
    CHECK(run(t, takes, aim::time, 1000, 0.1, seed + 100).loss < 0.05);
  }
  width_table t;
  const law takes = amdahl(0);
  static_cast<void>(run(t, takes, aim::time, 100));
  t.measured({{16, place::machine}, aim::time, true}, 4'000'000'000, 4'000'000'000);  // the thread had lost its core
  CHECK(run(t, takes, aim::time, 50).found_after == 0);
}

TEST_CASE("width_table: it never stops trying, and a dear width is tried seldom") {
  width_table t;
  std::vector<unsigned> tried(17);
  const law takes = amdahl(0);
  for (unsigned i = 0; i < 20'000; ++i) {
    const width_table::choice c = t.choose(widths, aim::time);
    const option o = c.of;
    ++tried[o.width];
    t.measured(c, static_cast<std::uint64_t>(takes(o.width)), 1);
  }
  for (const option& o : widths) CHECK(tried[o.width] >= 4);
  CHECK(tried[1] < tried[8]);
  CHECK(tried[16] > 18'000);
}

TEST_CASE("width_table: the aim decides: shortest time where nothing waits, fewest core-seconds where something does") {
  width_table t;
  const law takes = amdahl(0.3, 0.001);
  static_cast<void>(run(t, takes, aim::time, 60));
  static_cast<void>(run(t, takes, aim::cost, 60));
  CHECK(run(t, takes, aim::time, 100).chosen > 80);
  CHECK(run(t, takes, aim::cost, 100).chosen > 80);
  CHECK(best_of(takes, aim::time) == 16);
  CHECK(best_of(takes, aim::cost) == 1);
}

TEST_CASE("width_table: choices that overlap, and nothing measured yet") {
  width_table t;
  std::vector<unsigned> tried(17);
  for (unsigned i = 0; i < 20; ++i) ++tried[t.choose(widths, aim::time).of.width];
  for (const option& o : widths) CHECK(tried[o.width] >= 2);  // all are tried, though none is back
  CHECK(t.expected_ps({8, place::node}, aim::time) == 0);
  CHECK(t.expected_ps({3, place::node}, aim::time) == 0);  // nor is one that is no choice
  t.measured({{8, place::node}, aim::cost, true}, 10, 90);
  t.measured({{8, place::node}, aim::cost, true}, 10, 80);
  CHECK(t.expected_ps({8, place::node}, aim::time) == 0);
  CHECK(t.expected_ps({8, place::node}, aim::cost) == 80);  // the better of the two of a trial
  t.measured({{8, place::node}, aim::time, true}, 10, 60);
  CHECK(t.expected_ps({8, place::node}, aim::time) == 0);
  t.measured({{8, place::node}, aim::time, true}, 12, 70);
  CHECK(t.expected_ps({8, place::node}, aim::time) == 10);
  CHECK(t.expected_ps({8, place::node}, aim::cost) == 60);
  CHECK(t.choose(std::vector<option>{{3, place::leaf}}, aim::cost).of.width == 3);
}

}  // namespace weft::sched
