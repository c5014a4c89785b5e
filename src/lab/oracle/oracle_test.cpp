// Sections whose graphs of bodies are small enough to be computed by hand.
#include "weft/lab/oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "weft/weft.hpp"

namespace weft {

namespace {

struct section {
  runtime rt{options{.workers = 1}};
  ordered q{rt, {.executor = "oracle"}};
  oracle_statistics run() {
    q.run();
    return oracle_of(q);
  }
};

// Loads a word, stores another, and takes so many instructions in all.
void step(ordered_context& x, std::uint64_t, const std::uint64_t* from, std::uint64_t* to, std::uint64_t size) {
  std::uint64_t value = 1, used = 0;
  if (from != nullptr) value += x.load(*from), ++used;
  if (to != nullptr) x.store(*to, value), ++used;
  x.work(size - used);
}
constexpr std::uint64_t* none = nullptr;

}  // namespace

TEST_CASE("oracle: bodies that share nothing all run at a time, in any window as many as it holds") {
  section s;
  for (std::uint64_t i = 0; i < 2048; ++i) s.q.at(i, step, none, none, std::uint64_t{10});
  const oracle_statistics o = s.run();
  CHECK(o.tasks == 2048);
  CHECK(o.instructions == 20'480);
  CHECK(o.critical_path == 10);
  CHECK(o.parallelism.unlimited == 2048);
  CHECK(o.parallelism.window_1024 == 1024);
  CHECK(o.parallelism.window_64 == 64);
  CHECK(o.parallelism.in_flight_1024 == 1024);
  CHECK(o.parallelism.in_flight_64 == 64);
  CHECK(o.is_loop);
  CHECK(o.parallelism.sequential == 2048);
  CHECK((o.size.mean == 10 && o.size.percentile_90 == 10 && o.reads.mean == 0 && o.writes.mean == 0));
}

TEST_CASE("oracle: who reads waits for who wrote, and who overwrites waits for nobody") {
  section s;
  std::uint64_t a = 0, b = 0, c = 0;
  s.q.at(1, step, none, &a, std::uint64_t{10});  // 0 to 10
  s.q.at(2, step, &a, &b, std::uint64_t{20});    // 10 to 30
  s.q.at(3, step, none, &a, std::uint64_t{5});   // 0 to 5: a name used again is no reason to wait
  s.q.at(4, step, &a, &c, std::uint64_t{7});     // 5 to 12
  s.q.at(5, step, &b, none, std::uint64_t{4});   // 30 to 34
  const oracle_statistics o = s.run();
  CHECK(o.critical_path == 34);
  CHECK(o.instructions == 46);
  CHECK(o.parallelism.unlimited == doctest::Approx(46.0 / 34));
  CHECK((o.reads.mean == 0.6 && o.writes.mean == 0.8 && o.reads.percentile_90 == 1));
  CHECK((a == 1 && b == 2 && c == 2));
}

TEST_CASE("oracle: a body waits for the one that created it, and not for one that only stands before it") {
  section s;
  s.q.at(0, [](ordered_context& x, std::uint64_t) {
    x.work(10);
    for (std::uint64_t i = 0; i < 4; ++i) x.at(5, step, none, none, std::uint64_t{i + 1});
  });
  s.q.at(3, step, none, none, std::uint64_t{12});
  const oracle_statistics o = s.run();
  CHECK(o.critical_path == 14);
  CHECK(o.instructions == 32);
  CHECK(!o.is_loop);  // the second root comes before what the first has created
}

TEST_CASE("oracle: words have 64 bits: halves of one are one, and what a body stored itself it need not wait for") {
  section s;
  alignas(8) std::uint32_t halves[2] = {};
  alignas(8) std::uint64_t other = 0;
  s.q.at(1, [&](ordered_context& x, std::uint64_t) {
    x.work(9);
    x.store(halves[0], 1);
  });
  s.q.at(2, [&](ordered_context& x, std::uint64_t) {  // waits for the word until 10, is there at 20
    static_cast<void>(x.load(halves[1]));
    static_cast<void>(x.load(halves[0]));
    x.work(8);
  });
  s.q.at(3, [&](ordered_context& x, std::uint64_t) {  // 0 to 2: has written what it reads
    x.store(other, 3);
    static_cast<void>(x.load(other));
  });
  const oracle_statistics o = s.run();
  CHECK(o.critical_path == 20);
  CHECK(o.instructions == 22);
  CHECK(o.reads.mean == doctest::Approx(2.0 / 3));  // each word once
  CHECK(o.writes.mean == doctest::Approx(2.0 / 3));
}

TEST_CASE("oracle: an object of several words counts as these, and what is read only as well") {
  section s;
  struct pair {
    std::uint64_t first, second;
  };
  pair p{1, 2};
  const pair fixed{3, 4};
  s.q.at(1, [&](ordered_context& x, std::uint64_t) { x.store(p, x.read(fixed)); });
  const oracle_statistics o = s.run();
  CHECK((o.instructions == 4 && o.reads.mean == 2 && o.writes.mean == 2));
  CHECK((p.first == 3 && p.second == 4));
}

TEST_CASE("oracle: a window is in the way of what comes late in order") {
  // A chain of 100 bodies of 10, each before 99 bodies of 10 that wait for nothing.
  section s;
  std::uint64_t chain = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const bool link = i % 100 == 0;
    s.q.at(i, step, link ? &chain : none, link ? &chain : none, std::uint64_t{10});
  }
  const oracle_statistics o = s.run();
  CHECK(o.critical_path == 1000);
  CHECK(o.parallelism.unlimited == 100);
  CHECK(o.parallelism.window_1024 == doctest::Approx(100));
  CHECK(o.parallelism.window_64 <= 64);
  CHECK(o.parallelism.in_flight_64 <= 64);
  CHECK(o.parallelism.sequential == 100);
}

TEST_CASE("oracle: the sequential program is the better one of a queue and a loop over roots") {
  // One root with everything behind it: rounds of 100, each of which creates the next at its end. Nothing overlaps but
  // nothing is slower, either.
  section s;
  struct link {
    static void go(ordered_context& x, std::uint64_t now) {
      x.work(100);
      if (now < 99) x.at(now + 1, go);
    }
  };
  s.q.at(0, link::go);
  CHECK(s.run().is_loop == false);
  CHECK(oracle_of(s.q).parallelism.sequential == doctest::Approx(1));
  // Rounds that create at their beginning, and then work: the rest overlaps with the next round.
  section early;
  struct early_link {
    static void go(ordered_context& x, std::uint64_t now) {
      if (now < 99) x.at(now + 1, go);
      x.work(82);
    }
  };
  early.q.at(0, early_link::go);
  const oracle_statistics o = early.run();
  CHECK(o.parallelism.unlimited == 1);  // a child begins when its parent has ended
  constexpr double round = 6 + 12;      // take and put
  CHECK(o.parallelism.sequential == doctest::Approx((99 * (round + 82) + 88) / (99 * round + 88)));
  // Roots with three bodies each, one after the other: a loop.
  section loop;
  struct unit {
    static void go(ordered_context& x, std::uint64_t now, std::uint64_t left) {
      x.work(10);
      if (left > 0) x.at(now, go, left - 1);
      if (left == 2) x.at(now, go, std::uint64_t{0});
    }
  };
  for (std::uint64_t i = 0; i < 16; ++i) loop.q.at(i, unit::go, std::uint64_t{2});
  const oracle_statistics l = loop.run();
  CHECK(l.is_loop);
  CHECK(l.tasks == 64);
  CHECK(l.critical_path == 30);
  CHECK(l.parallelism.sequential == 16);
}

TEST_CASE("oracle: what a second run is given begins when the first has ended") {
  section s;
  s.q.at(0, step, none, none, std::uint64_t{10});
  CHECK(s.run().critical_path == 10);
  s.q.at(0, step, none, none, std::uint64_t{5});
  CHECK(s.run().critical_path == 15);
}

TEST_CASE("oracle: it runs what the serial executor runs, and ends where a body throws") {
  section s;
  int stored = 0;
  const auto put = [&stored](ordered_context& x, std::uint64_t now) {
    x.store(stored, static_cast<int>(now));
    if (now == 5) throw std::runtime_error("five");
  };
  for (const std::uint64_t t : {9u, 5u, 2u}) s.q.at(t, put);
  CHECK_THROWS_WITH(s.q.run(), "five");
  CHECK(stored == 5);
  CHECK(s.q.counts().committed == 1);
  s.q.run();
  CHECK(stored == 5);
  ordered serial(s.rt, {.executor = "serial"});
  CHECK_THROWS_WITH_AS(static_cast<void>(oracle_of(serial)), doctest::Contains("{.executor = \"oracle\"}"), error);
}

}  // namespace weft
