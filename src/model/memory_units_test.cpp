// Cores that share the units of a physical core: what each gets done while siblings come and go.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/memory.hpp"

namespace weft::model {
namespace {

// Two physical cores with `threads` cores each, on one node without limits.
machine shared_units(unsigned threads, double speed) {
  machine m;
  for (unsigned i = 0; i < 2 * threads; ++i) m.cores.push_back({{i, 0, 0}, i / threads, 0, i / threads});
  m.apart = {{0}};
  m.speed_when_shared = speed;
  return m;
}

}  // namespace

TEST_CASE("memory: the units of a physical core are divided among those of its cores that compute") {
  constexpr std::uint64_t us = 1'000'000;
  // together: how much of their work two, three and four get done that one would do alone
  const struct {
    double speed, two, three, four;
  } cases[] = {{0.25, 1, 1, 1}, {0.5, 2, 2, 2}, {0.3, 1.2, 1.2, 1.2}, {0.9, 2, 3, 3.6}, {1, 2, 3, 4}};
  for (const auto& c : cases) {
    INFO("speed " << c.speed);
    for (const auto& [n, together] : {std::pair{1u, 1.0}, {2u, c.two}, {3u, c.three}, {4u, c.four}}) {
      memory m(shared_units(4, c.speed));
      std::vector<change> changed;
      std::vector<std::uint64_t> ends(8);
      for (unsigned core = 0; core < n; ++core) {
        ends[core] = m.begin(core, {}, 0, 100 * us, changed, m.of_units(core, nullptr));
        for (const change& x : changed) ends[x.core] = x.end_ps;
        changed.clear();
      }
      // One on the other physical core changes nothing for them, nor they for it.
      CHECK(m.begin(4, {}, 0, 100 * us, changed, m.of_units(4, nullptr)) == 100 * us);
      CHECK(changed.empty());
      for (unsigned core = 0; core < n; ++core)
        CHECK(static_cast<double>(ends[core]) == doctest::Approx(static_cast<double>(100 * us) * n / together));
    }
  }
}

TEST_CASE("memory: siblings that come and go change a body's pace while it runs") {
  constexpr std::uint64_t us = 1'000'000;
  memory m(shared_units(2, 0.5));
  std::vector<change> changed;
  CHECK(m.begin(0, {}, 0, 100 * us, changed, 1) == 100 * us);
  CHECK(m.begin(1, {}, 40 * us, 20 * us, changed, 1) == 80 * us);  // at half its pace
  REQUIRE(changed.size() == 1);
  CHECK((changed[0].core == 0 && changed[0].end_ps == 160 * us));
  changed.clear();
  m.end(1, 80 * us, changed);
  REQUIRE(changed.size() == 1);
  CHECK((changed[0].core == 0 && changed[0].end_ps == 120 * us));  // 40 alone, 40 beside for 20, 40 alone
  m.end(0, 120 * us, changed);
  CHECK(m.moved().units_ps == 20 * us + 20 * us);
  CHECK(m.moved().bandwidth_ps == 0);
}

TEST_CASE("memory: work that does not need what siblings compete for is not slowed down, and slows nobody") {
  constexpr std::uint64_t us = 1'000'000;
  machine description = shared_units(2, 0.6);
  description.shared_speed_of = {{"clock", 1}, {"vector", 0.5}};
  CHECK(memory(description).of_units(0, "clock") == 0);
  CHECK(memory(description).of_units(0, "other") == 1);
  CHECK(memory(description).of_units(0, "vector") == 1.2);
  const auto both = [&](const char* a, const char* b) {
    memory m(description);
    std::vector<change> changed;
    std::uint64_t first = m.begin(0, {}, 0, 60 * us, changed, m.of_units(0, a));
    const std::uint64_t second = m.begin(1, {}, 0, 60 * us, changed, m.of_units(1, b));
    for (const change& x : changed) first = x.end_ps;
    return std::pair(first / us, second / us);
  };
  CHECK(both("clock", "clock") == std::pair(std::uint64_t{60}, std::uint64_t{60}));
  CHECK(both("vector", "vector") == std::pair(std::uint64_t{120}, std::uint64_t{120}));
  CHECK(both("other", "other") == std::pair(std::uint64_t{100}, std::uint64_t{100}));
  CHECK(both("clock", "other") == std::pair(std::uint64_t{60}, std::uint64_t{60}));
}

TEST_CASE("memory: all cores together take from each other, beside what siblings do") {
  constexpr std::uint64_t us = 1'000'000;
  // After how many us cores 0 to n - 1 have computed for 90.
  const auto ends_of = [](const machine& description, unsigned n, const char* task) {
    memory m(description);
    std::vector<change> changed;
    std::vector<std::uint64_t> ends(n);
    for (unsigned core = 0; core < n; ++core) {
      ends[core] = m.begin(core, {}, 0, 90 * us, changed, m.of_units(core, task));
      for (const change& x : changed) ends[x.core] = x.end_ps;
      changed.clear();
    }
    return ends;
  };
  using all = std::vector<std::uint64_t>;
  machine apart = shared_units(1, 1);  // two cores that share no units
  apart.speed_when_busy = 0.9;
  CHECK(ends_of(apart, 1, nullptr) == all{90 * us});
  CHECK(ends_of(apart, 2, nullptr) == all{100 * us, 100 * us});
  apart.shared_speed_of = {{"clock", 1}};
  CHECK(ends_of(apart, 2, "clock") == all{90 * us, 90 * us});
  // Four, two by two: what binds is the narrower of both.
  machine threads = shared_units(2, 0.6);
  threads.speed_when_busy = 0.5;
  CHECK(ends_of(threads, 2, nullptr) == all(2, 150 * us));  // the siblings at 0.6; 1.2 of the 2 that are there
  CHECK(ends_of(threads, 4, nullptr) == all(4, 180 * us));
  threads.speed_when_busy = 0.9;
  CHECK(ends_of(threads, 4, nullptr) == all(4, 150 * us));
}

TEST_CASE("memory: a body that moves more than it computes leaves units to its sibling") {
  constexpr std::uint64_t us = 1'000'000;
  machine description = shared_units(2, 0.5);
  description.memory.read_line_ps = {640'000};  // ten lines at a time: a byte per ns
  memory m(description);
  std::vector<change> changed;
  const std::vector<use> data{{0, 100'000, true, false}};
  CHECK(m.begin(0, data, 0, 20 * us, changed, 1) == 100 * us);
  CHECK(m.begin(1, {}, 0, 40 * us, changed, 1) == 50 * us);  // a fifth of the units is taken
  CHECK(changed.empty());
  m.end(1, 50 * us, changed);
  m.end(0, 100 * us, changed);
  CHECK(m.moved().bandwidth_ps == 0);
  CHECK(m.moved().units_ps == 10 * us);
}

}  // namespace weft::model
