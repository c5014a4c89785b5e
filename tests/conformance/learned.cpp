// Learned widths: teams find the width that is best for them, follow a load that changes, and stay correct.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sanitized.hpp"
#include "weft/weft.hpp"

namespace {

using law = std::function<double(unsigned width)>;  // how long each member computes, in nanoseconds

[[nodiscard]] law amdahl(double serial, double per_member) {
  return [=](unsigned w) { return 1e5 * (serial + (1 - serial) / w + per_member * w); };
}
// A chain of teams, so that nothing else waits. Returns nanoseconds for each.
double chain(weft::runtime& rt, unsigned runs, weft::detail::team_clause wish, const law& takes,
             std::map<unsigned, unsigned>* widths = nullptr) {
  weft::handle<int> order(0);
  const double since = rt.now_ns();
  for (unsigned i = 0; i < runs; ++i)
    rt.submit(wish, weft::write(order), weft::named("chain"), [&](weft::team_context& t, int&) {
      if (t.rank() == 0 && widths != nullptr) ++(*widths)[t.width()];
      weft::charge(takes(t.width()));
    });
  rt.wait();
  return (rt.now_ns() - since) / runs;
}
[[nodiscard]] double best_fixed(const char* machine, const law& takes) {
  double best = 1e18;
  for (const unsigned width : {1u, 2u, 4u, 8u, 16u}) {
    weft::runtime rt({.workers = 16, .machine = machine});
    static_cast<void>(chain(rt, 50, weft::team(width), takes));
    best = std::min(best, chain(rt, 300, weft::team(width), takes));
  }
  return best;
}

}  // namespace

// As a rule: where cache lines lie decides which trial is disturbed, and of chains that were disturbed in 320 ways 17
// missed it (decision 0044).
TEST_CASE("learned: within 50 runs as good as the best fixed width, and again 50 after a change" *
          doctest::skip(sanitized)) {
  const law laws[] = {amdahl(0, 0), amdahl(1, 0.001), amdahl(0.3, 0.02), amdahl(0.05, 0.01)};
  int missed = 0;
  for (const char* machine : {"virtual", "opteron-6220-interlagos-16"}) {
    weft::runtime rt({.workers = 16, .machine = machine});
    for (const law& takes : laws) {
      static_cast<void>(chain(rt, 50, weft::team(weft::learned), takes));
      const double ours = chain(rt, 300, weft::team(weft::learned), takes), best = best_fixed(machine, takes);
      INFO(std::string(machine) << ": " << ours << " ns, the best fixed width takes " << best);
      constexpr double counted_ns = 200;  // by the lines that teams which learn are counted on (decision 0044)
      CHECK(ours < best * 1.25);
      missed += ours < best * 1.05 + counted_ns ? 0 : 1;
    }
  }
  CHECK(missed <= 1);
}

TEST_CASE("learned: while other tasks wait, as few core-seconds as can be" * doctest::skip(real_threads_only)) {
  weft::runtime rt({.workers = 8, .machine = "virtual"});
  const law takes = amdahl(0.3, 0);
  const auto flat = [&](weft::detail::team_clause wish) {
    const double since = rt.now_ns();
    for (int i = 0; i < 1000; ++i)
      rt.submit(wish, weft::named("flat"), [&](weft::team_context& t) { weft::charge(takes(t.width())); });
    rt.wait();
    return rt.now_ns() - since;
  };
  const double narrow = flat(weft::team(1)), wide = flat(weft::team(8)), ours = flat(weft::team(weft::learned));
  INFO(narrow << " " << wide << " " << ours);
  CHECK(narrow < wide / 2);
  CHECK(ours < narrow * 1.1);
}

TEST_CASE("learned: by name and by size, and within bounds" * doctest::skip(real_threads_only)) {
  weft::runtime rt({.workers = 8, .machine = "virtual"});
  weft::handle<int> order(0);
  std::map<unsigned, unsigned> small, large, bounded;
  for (int i = 0; i < 200; ++i) {
    const auto submit = [&](weft::detail::team_clause wish, std::map<unsigned, unsigned>& widths, double ns) {
      rt.submit(wish, weft::write(order), weft::named("both"), [&widths, ns](weft::team_context& t, int&) {
        if (t.rank() == 0) ++widths[t.width()];
        weft::charge(ns / t.width());
      });
    };
    submit(weft::team(weft::learned).sized(100), small, 500);  // less than it takes to come together
    submit(weft::team(weft::learned).sized(100'000), large, 200'000);
    submit(weft::team(2, 5).learned().sized(1'000'000'000), bounded, 200'000);
  }
  rt.wait();
  CHECK(small[1] > 150);
  CHECK(large[8] > 150);
  INFO(bounded[2] << " " << bounded[4] << " " << bounded[5]);
  CHECK((bounded[2] + bounded[4] + bounded[5] == 200 && bounded[5] > 150));
}

TEST_CASE("learned: on real threads each member once, from all workers, with waits and exceptions among them") {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
    weft::runtime rt({.workers = workers});
    std::atomic<unsigned> members = 0, expected = 0;
    for (int i = 0; i < 300; ++i)
      rt.submit(weft::team(weft::learned), weft::named(i % 2 == 0 ? "even" : "odd"), [&](weft::team_context& t) {
        if (t.rank() == 0) expected += t.width();
        t.barrier();
        ++members;
        if (t.rank() == 0) weft::finish([&] { weft::async([&] { ++members, ++expected; }); });
      });
    rt.wait();
    CHECK(members == expected);
    rt.submit(weft::team(weft::learned), weft::named("even"), [](weft::team_context& t) {
      if (t.rank() == 0) throw std::runtime_error("one of them");
      t.barrier();
    });
    CHECK_THROWS_WITH(rt.wait(), "one of them");
  }
}
