// One width for teams of several kinds: what is found, what is put off, and what trials cost.
#include "sched/balance/joint_table.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>

#include "base/random.hpp"

namespace weft::sched {
namespace {

// What a unit of work takes, by width; 0 is each by its own table.
using law = std::function<double(std::uint32_t width)>;

struct outcome {
  std::map<std::uint32_t, unsigned> teams;  // by width
  double loss = 0;                          // over the best choice, as a part
};

[[nodiscard]] outcome run(joint_table& t, joint_table::batch& b, const law& takes, unsigned batches, double best,
                          double noise = 0, std::uint64_t seed = 1) {
  base::random rng(seed);
  outcome out;
  double took = 0, teams = 0;
  for (unsigned i = 0; i < batches; ++i) {
    const double off = 1 + noise * (static_cast<double>(rng.next() % 1000) / 500 - 1);
    out.teams[b.width] += b.teams;
    took += takes(b.width) * b.teams;
    teams += b.teams;
    b = t.next(static_cast<std::uint64_t>(1e6 * takes(b.width) * off * b.teams), 1000u * b.teams, 8);
  }
  out.loss = took / (best * teams) - 1;
  return out;
}

}  // namespace

TEST_CASE("joint_table: finds the best width, and trials cost little from then on") {
  const std::pair<law, std::uint32_t> laws[] = {
      {[](std::uint32_t w) { return w == 0 ? 0.1 : 1.0 / w; }, 16},
      {[](std::uint32_t w) { return w == 0 ? 1.2 : 1 + 0.2 * w; }, 1},
      {[](std::uint32_t w) { return w == 0   ? 1.0
                                    : w == 4 ? 0.5
                                             : 0.8; }, 4},
  };
  for (const auto& [takes, best] : laws) {
    joint_table t;
    joint_table::batch b = t.open(16, 8);
    static_cast<void>(run(t, b, takes, 20, takes(best)));
    CHECK(t.in_use() == best);
    CHECK(run(t, b, takes, 2000, takes(best)).loss < 0.04);
    CHECK(t.in_use() == best);
    CHECK(run(t, b, takes, 2000, takes(best), 0.2, best).loss < 0.06);
  }
}

// Behind a change of width a batch settles (s). The first trials are from narrow to wide, of what is near the best two;
// then the one that was tried longest ago, as often as what all save pays for.
TEST_CASE("joint_table: batch by batch, and which trial comes when") {
  joint_table t;
  joint_table::batch b = t.open(4, 8);
  std::string all;
  for (unsigned i = 0; i < 52; ++i) {
    all += std::to_string(b.width) + (b.settles ? "s " : " ");
    CHECK(b.teams == 8);
    b = t.next((b.width == 1 ? 100u : 102u) * 1000, 1000, 8);
  }
  CHECK(all ==
        "1s 1 2s 2 4s 4 4 1s 1 2s 2 1s 1 1 1 1 1 1 1 1 4s 4 1s 1 1 1 1 1 2s 2 1s 1 1 1 1 1 4s 4 1s 1 1 1 1 1 2s 2 1s "
        "1 1 1 1 1 ");
}

TEST_CASE("joint_table: each by its own is a choice, and is taken where it is the best") {
  joint_table t;
  joint_table::batch b = t.open(16, 8);
  const law takes = [](std::uint32_t w) { return w == joint_table::own ? 0.5 : 1 + 0.01 * w; };
  static_cast<void>(run(t, b, takes, 3000, 1));
  CHECK((t.in_use() == joint_table::own && t.expected(joint_table::own) > 0));
}

TEST_CASE("joint_table: wide ones behind two that are worse are put off, and tried in the end") {
  joint_table t;
  joint_table::batch b = t.open(16, 8);
  const law takes = [](std::uint32_t w) { return w == 0 ? 2 : 1 + 0.05 * w; };
  const outcome first = run(t, b, takes, 100, takes(1));
  CHECK(!first.teams.contains(8));
  CHECK(!first.teams.contains(16));
  CHECK(t.expected(16) == 0);
  const outcome later = run(t, b, takes, 5000, takes(1));
  CHECK(later.teams.contains(0));
  CHECK(later.teams.contains(16));
  CHECK(later.loss < 0.03);
}

TEST_CASE("joint_table: follows a load that changes") {
  const law narrow = [](std::uint32_t w) { return 1 + 0.3 * w; }, wide = [](std::uint32_t w) { return 8.0 / (w + 1); };
  joint_table t;
  joint_table::batch b = t.open(16, 8);
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(run(t, b, narrow, 300, 1));
    CHECK(t.in_use() == 1);
    static_cast<void>(run(t, b, wide, 300, 1));
    CHECK(t.in_use() == 16);
  }
}

TEST_CASE("joint_table: where times scatter so much that the load seems to change again and again, not all is trials") {
  const law wide = [](std::uint32_t w) { return w == 0 ? 1.5 : 8.0 / (w + 1) + 0.1 * w; };  // 8 is the best
  double loss = 0;
  constexpr unsigned seeds = 20;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    joint_table t;
    joint_table::batch b = t.open(64, 8);
    loss += run(t, b, wide, 3000, wide(8), 0.95, seed).loss / seeds;
  }
  CHECK(loss < 0.3);
}

TEST_CASE("joint_table: a batch without work, or without time, says nothing that breaks it") {
  joint_table t;
  joint_table::batch b = t.open(3, 1);
  for (unsigned i = 0; i < 100; ++i) {
    b = t.next(i % 3 == 0 ? 0 : 1000, i % 4 == 0 ? 0 : 10, 1 + i % 40);
    CHECK(b.teams >= 1);
    CHECK((b.width == joint_table::own || b.width == 1 || b.width == 2 || b.width == 3));
  }
}

}  // namespace weft::sched
