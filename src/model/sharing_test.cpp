// Max-min sharing: examples with known answers, then for any flows what makes an allocation max-min.
#include "model/sharing.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.hpp"

namespace weft::model {
namespace {

constexpr double no_cap = std::numeric_limits<double>::infinity();
using demands = std::vector<sharing::demand>;

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

// Every flow and resource in the open, to check what `sharing` says.
struct world {
  struct flow {
    double cap = 0;
    demands uses;
    std::uint64_t end_ps = 0;  // as told
    bool active = false;
  };
  std::vector<double> capacities;
  std::vector<flow> flows;
  sharing s;
  std::uint64_t now = 0;
  std::vector<change> changed;
  std::vector<double> before;  // rates before the last step
  bool whole_story = true;     // each end that moved was told, and no end moved but by another rate

  world(std::size_t n, std::vector<double> all) : capacities(std::move(all)), flows(n), s(n), before(n) {
    for (const double c : capacities) s.add_resource(c);
  }
  void listen() {
    for (const change& c : changed) {
      whole_story = whole_story && flows[c.core].end_ps != c.end_ps && flows[c.core].active;
      whole_story = whole_story && !close(before[c.core], s.rate(c.core));
      flows[c.core].end_ps = c.end_ps;
    }
    changed.clear();
    for (unsigned f = 0; f < flows.size(); ++f)
      if (flows[f].active) whole_story = whole_story && flows[f].end_ps == s.end_ps(f);
    for (unsigned f = 0; f < flows.size(); ++f) before[f] = s.rate(f);
  }
  void start(unsigned f, double bytes, double cap, demands uses) {
    const std::uint64_t end = s.start(f, bytes, cap, uses, now, changed);
    flows[f] = {cap, std::move(uses), end, true};
    listen();
  }
  void stop(unsigned f) {
    flows[f].active = false;
    s.stop(f, now, changed);
    listen();
  }
  [[nodiscard]] double load(std::uint32_t resource) const {
    double sum = 0;
    for (unsigned f = 0; f < flows.size(); ++f)
      for (const sharing::demand& d : flows[f].uses)
        if (flows[f].active && d.resource == resource) sum += d.part * s.rate(f);
    return sum;
  }
  [[nodiscard]] bool greatest(unsigned f, std::uint32_t resource) const {
    for (unsigned g = 0; g < flows.size(); ++g)
      for (const sharing::demand& d : flows[g].uses)
        if (flows[g].active && d.resource == resource && s.rate(g) > s.rate(f) * (1 + 1e-9)) return false;
    return true;
  }
  // No resource gives more than it has; each flow is at its cap or passes a full resource where none is faster.
  [[nodiscard]] bool max_min() const {
    for (std::uint32_t r = 0; r < capacities.size(); ++r)
      if (load(r) > capacities[r] * (1 + 1e-9)) return false;
    for (unsigned f = 0; f < flows.size(); ++f) {
      if (!flows[f].active || close(s.rate(f), flows[f].cap)) continue;
      if (std::none_of(flows[f].uses.begin(), flows[f].uses.end(), [&](const sharing::demand& d) {
            return close(load(d.resource), capacities[d.resource]) && greatest(f, d.resource);
          }))
        return false;
    }
    return true;
  }
  // Rates of the active flows if they all came now, in another order, to a fresh world.
  [[nodiscard]] std::vector<double> afresh() const {
    world w(flows.size(), capacities);
    for (auto f = static_cast<unsigned>(flows.size()); f-- > 0;)
      if (flows[f].active) w.start(f, 1e6, flows[f].cap, flows[f].uses);
    std::vector<double> rates;
    for (unsigned f = 0; f < flows.size(); ++f) rates.push_back(flows[f].active ? w.s.rate(f) : 0);
    return rates;
  }
};

// Some flows come and go; after each step `check` looks.
template <class Check> void churn(std::uint64_t seed, std::size_t flows, std::size_t resources, Check check) {
  base::random draw(seed);
  std::vector<double> capacities;
  for (std::size_t r = 0; r < resources; ++r) capacities.push_back(1 + draw.below(20));
  world w(flows, capacities);
  for (int step = 0; step < 60; ++step) {
    w.now += draw.below(50'000);
    const unsigned f = draw.below(static_cast<std::uint32_t>(flows));
    if (w.flows[f].active) {
      w.stop(f);
    } else {
      demands uses;
      for (std::uint32_t r = 0; r < resources; ++r)
        if (draw.below(3) == 0) uses.push_back({r, draw.below(2) == 0 ? 1 : 0.25 * (1 + draw.below(4))});
      if (uses.empty()) uses.push_back({draw.below(static_cast<std::uint32_t>(resources)), 1});
      w.start(f, 1 + draw.below(1'000'000), draw.below(4) == 0 ? no_cap : 1 + draw.below(12), uses);
    }
    check(w, f);
  }
}

}  // namespace

TEST_CASE("sharing: equal flows get equal parts of one resource") {
  for (const unsigned n : {1u, 2u, 3u, 7u, 64u}) {
    world w(n, {10});
    for (unsigned f = 0; f < n; ++f) w.start(f, 1000, no_cap, {{0, 1}});
    for (unsigned f = 0; f < n; ++f) CHECK(close(w.s.rate(f), 10.0 / n));
    CHECK(w.flows[0].end_ps == 100'000 * n);
  }
}

TEST_CASE("sharing: what a capped flow leaves goes to the others") {
  world w(3, {12});
  w.start(0, 1000, 2, {{0, 1}});
  w.start(1, 1000, no_cap, {{0, 1}});
  w.start(2, 1000, 6, {{0, 1}});
  CHECK(w.s.rate(0) == 2);
  CHECK(w.s.rate(1) == 5);
  CHECK(w.s.rate(2) == 5);
}

// Links A of 10 and B of 4. The long flow passes both, two more pass one each: B's fair half binds the long one.
TEST_CASE("sharing: a bottleneck elsewhere leaves more for the others here") {
  world w(4, {10, 4});
  w.start(0, 1000, no_cap, {{0, 1}, {1, 1}});
  w.start(1, 1000, no_cap, {{0, 1}});
  w.start(2, 1000, no_cap, {{1, 1}});
  CHECK(w.s.rate(0) == 2);
  CHECK(w.s.rate(1) == 8);
  CHECK(w.s.rate(2) == 2);
  w.start(3, 1000, no_cap, {{0, 1}});
  CHECK(w.s.rate(0) == 2);
  CHECK(w.s.rate(1) == 4);
  CHECK(w.s.rate(3) == 4);
  w.stop(2);
  for (const unsigned f : {0u, 1u, 3u}) CHECK(close(w.s.rate(f), 10.0 / 3));
}

TEST_CASE("sharing: a flow with a part of its bytes here weighs that part") {
  world w(2, {12, 12});
  w.start(0, 1000, no_cap, {{0, 0.5}, {1, 0.5}});
  CHECK(w.s.rate(0) == 24);  // both resources in full
  w.start(1, 1000, no_cap, {{0, 1}});
  CHECK(w.s.rate(0) == 8);
  CHECK(w.s.rate(1) == 8);
}

TEST_CASE("sharing: a flow that starts and stops in the middle of another") {
  world w(2, {10});
  w.start(0, 1000, no_cap, {{0, 1}});
  CHECK(w.flows[0].end_ps == 100'000);
  w.now = 40'000;
  w.start(1, 10'000, no_cap, {{0, 1}});
  CHECK(w.flows[0].end_ps == 160'000);  // 600 left at 5
  w.now = 60'000;
  w.stop(1);
  CHECK(w.flows[0].end_ps == 110'000);  // 500 left at 10
  CHECK(w.whole_story);
  w.now = 110'000;
  w.stop(0);
  CHECK(w.s.times(0, 200'000).busy_ps == 110'000);
  CHECK(w.s.times(0, 200'000).full_ps == 110'000);
}

TEST_CASE("sharing: a flow that is due stays due, whatever comes before its stop") {
  world w(3, {10});
  w.start(0, 1000, no_cap, {{0, 1}});
  w.now = 100'000;
  w.start(1, 1000, no_cap, {{0, 1}});
  CHECK(w.flows[0].end_ps == 100'000);
  w.now = 120'000;  // its stop comes late, and until then it has its half
  w.start(2, 1000, no_cap, {{0, 1}});
  CHECK(w.flows[0].end_ps == 100'000);
  w.stop(0);
  CHECK(w.flows[1].end_ps == 300'000);  // 900 left at 5
  CHECK(w.flows[2].end_ps == 320'000);
}

TEST_CASE("sharing: busy is not full") {
  world w(2, {10});
  w.now = 5;
  w.start(0, 1000, 4, {{0, 1}});
  w.now = 1005;
  CHECK(w.s.times(0, w.now).busy_ps == 1000);
  CHECK(w.s.times(0, w.now).full_ps == 0);
  w.start(1, 1000, 8, {{0, 1}});
  w.now = 2005;
  w.stop(1);
  CHECK(w.s.times(0, 3005).busy_ps == 3000);
  CHECK(w.s.times(0, 3005).full_ps == 1000);
}

TEST_CASE("sharing: max-min after every start and stop") {
  CHECK(rc::check("max-min", [](std::uint64_t seed) {
    churn(seed, 2 + seed % 11, 1 + seed % 7, [](const world& w, unsigned) {
      RC_ASSERT(w.max_min());
      RC_ASSERT(w.whole_story);
    });
  }));
}

TEST_CASE("sharing: what is changed step by step is what comes out afresh") {
  CHECK(rc::check("incremental", [](std::uint64_t seed) {
    churn(seed, 2 + seed % 11, 1 + seed % 7, [](const world& w, unsigned) {
      const std::vector<double> rates = w.afresh();
      for (unsigned f = 0; f < rates.size(); ++f)
        if (w.flows[f].active) RC_ASSERT(close(rates[f], w.s.rate(f)));
    });
  }));
}

TEST_CASE("sharing: who has nothing in common with a change is left alone, to the bit") {
  world w(4, {10, 10});
  w.start(0, 1000, no_cap, {{0, 1}});
  w.start(1, 1000, no_cap, {{0, 1}});
  const double before = w.s.rate(0);
  const std::uint64_t end = w.s.end_ps(0);
  w.now = 33'333;
  w.start(2, 777, no_cap, {{1, 1}});
  w.start(3, 777, no_cap, {{1, 1}});
  CHECK(w.s.rate(0) == before);
  CHECK(w.s.end_ps(0) == end);
}

// The work that rates and times make is the work that was asked for: nothing is lost when rates change.
TEST_CASE("sharing: each flow moves its bytes by the end it was told") {
  CHECK(rc::check("conservation", [](std::uint64_t seed) {
    base::random draw(seed);
    world w(6, {7, 11});
    std::vector<double> left(6), moved(6);
    for (int step = 0; step < 100; ++step) {
      std::optional<unsigned> first;
      for (unsigned f = 0; f < 6; ++f)
        if (w.flows[f].active && (!first || w.flows[f].end_ps < w.flows[*first].end_ps)) first = f;
      std::uint64_t next = w.now + draw.below(100'000);
      const bool ends = first && w.flows[*first].end_ps <= next;
      if (ends) next = w.flows[*first].end_ps;
      for (unsigned f = 0; f < 6; ++f)
        if (w.flows[f].active) moved[f] += w.s.rate(f) * static_cast<double>(next - w.now) / 1000;
      w.now = next;
      const unsigned f = ends ? *first : draw.below(6);
      if (ends) {
        RC_ASSERT(std::abs(moved[f] - left[f]) < 0.1);  // ends are whole picoseconds
        w.stop(f);
      } else if (!w.flows[f].active) {
        left[f] = 1 + draw.below(10'000);
        moved[f] = 0;
        w.start(f, left[f], 1 + draw.below(9), {{draw.below(2), 1}});
      }
    }
  }));
}

}  // namespace weft::model
