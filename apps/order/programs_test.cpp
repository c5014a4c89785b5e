// The programs on ordered sections, small: the results of their serial references under every executor there is, from
// other seeds and at the smallest sizes; and that their checks see what they are there to see.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../programs_test.hpp"
#include "section.hpp"
#include "threads_test.hpp"

namespace weft::apps {
namespace {

result run_by(std::string_view name, const settings& all, const char* executor, unsigned workers = 2,
              std::uint64_t seed = 1) {
  return run(name, with(all, {{"executor", executor}}), {.workers = workers, .seed = seed});
}

double number(const result& r, std::string_view name) {
  for (const field& f : r.fields)
    if (f.name == name)
      return std::holds_alternative<double>(f.value) ? std::get<double>(f.value)
                                                     : static_cast<double>(std::get<std::uint64_t>(f.value));
  FAIL("no field " << name);
  return 0;
}

// Not levels and relaxed: these are for programs that promise more.
constexpr const char* executors[] = {"speculative", "serial", "oracle", "swarm"};

struct sized {
  const char* name;
  settings small, least;
};
const std::vector<sized>& programs() {
  static const std::vector<sized> all = {
      {"bfs", {{"width", 30}, {"height", 17}}, {{"width", 2}, {"height", 1}}},
      {"bfs", {{"width", 21}, {"height", 20}, {"shuffled", true}}, {{"width", 3}, {"height", 2}, {"shuffled", true}}},
      {"sssp", {{"width", 14}, {"height", 9}}, {{"width", 2}, {"height", 2}, {"rivers", 0}, {"bends", 0}}},
      {"astar", {{"width", 30}, {"height", 8}}, {{"width", 2}, {"height", 2}}},
      {"astar", {{"width", 20}, {"height", 8}, {"bends", 100}, {"more", 40}}, {{"width", 3}, {"height", 2}}},
      {"msf", {{"scale", 7}, {"edges", 700}}, {{"scale", 1}, {"edges", 1}}},
      {"msf", {{"scale", 7}, {"edges", 700}, {"link", "size"}}, {{"scale", 2}, {"edges", 9}, {"link", "size"}}},
      {"msf", {{"scale", 6}, {"edges", 300}, {"sorted", true}}, {{"scale", 1}, {"edges", 2}, {"sorted", true}}},
      {"msf",
       {{"scale", 7}, {"edges", 700}, {"lengths", "random"}},
       {{"scale", 1}, {"edges", 1}, {"lengths", "random"}}},
      {"des", {{"adders", 1}, {"bits", 6}, {"toggles", 6}}, {{"adders", 1}, {"bits", 1}, {"toggles", 1}}},
      {"des",
       {{"adds", "save"}, {"adders", 3}, {"bits", 1}, {"toggles", 12}},
       {{"adds", "save"}, {"adders", 1}, {"bits", 1}, {"toggles", 1}}},
      {"silo",
       {{"warehouses", 2}, {"items", 40}, {"customers", 5}, {"transactions", 60}},
       {{"warehouses", 1}, {"items", 1}, {"customers", 1}, {"transactions", 1}}},
      {"network", {{"side", 4}, {"packets", 300}, {"queue", 2}}, {{"side", 1}, {"packets", 1}}},
      {"ledger",
       {{"accounts", 30}, {"transfers", 400}, {"hot", 20}, {"rounds", 5}},
       {{"accounts", 2}, {"transfers", 1}, {"rounds", 0}}},
      {"colouring", {{"scale", 7}, {"edges", 500}}, {{"scale", 1}, {"edges", 1}}},
  };
  return all;
}

}  // namespace

TEST_CASE("order: every program is as its serial reference under every executor, from several seeds") {
  for (const std::string executor : executors)
    for (const sized& p : programs())
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const std::string name = p.name;
        CAPTURE(executor);
        CAPTURE(name);
        CAPTURE(seed);
        const result r = run_by(p.name, p.small, executor.c_str(), 2, seed);
        CHECK(r.ok());
        CHECK(r.checks.size() >= 2);
        CHECK(number(r, "calls_committed") > 30);
        CHECK(run_by(p.name, p.least, executor.c_str(), 2, seed).ok());
      }
}

TEST_CASE("order: with one worker and with seven, and with the executor that is taken if none is named") {
  for (const sized& p : programs())
    for (const unsigned workers : {1u, 7u}) {
      CAPTURE(std::string(p.name));
      CAPTURE(workers);
      CHECK(run_by(p.name, p.small, "", workers).ok());
    }
}

TEST_CASE("order: searches may have bodies of one timestamp at the same time, and still visit each node once") {
  for (const char* const name : {"bfs", "sssp"})
    for (const unsigned workers : {1u, 2u, 4u}) {
      CAPTURE(name);
      CAPTURE(workers);
      CHECK(run_by(name, {{"width", 120}, {"height", 70}}, "levels", workers).ok());
    }
}

TEST_CASE("order: the oracle tells of every program how far it could go") {
  for (const sized& p : programs()) {
    CAPTURE(std::string(p.name));
    const result r = run_by(p.name, p.small, "oracle");
    CHECK(number(r, "calls_started") == number(r, "calls_committed"));
    CHECK(number(r, "parallelism") > 1.2);
    CHECK(number(r, "parallelism") + 1e-9 >= number(r, "parallelism_in_flight_64"));
    CHECK(number(r, "parallelism_in_flight_64") + 1e-9 >= number(r, "parallelism_window_64"));
    CHECK(number(r, "parallelism_window_64") <= 64);
    CHECK(number(r, "size_mean") * number(r, "calls_committed") == doctest::Approx(number(r, "instructions")));
  }
}

TEST_CASE("order: bodies are as large as those of the paper's Table 1") {
  const auto near = [](const result& r, double mean, double percentile_90) {
    CHECK(number(r, "size_mean") == doctest::Approx(mean).epsilon(0.05));
    CHECK(number(r, "size_90th") == doctest::Approx(percentile_90).epsilon(0.05));
  };
  near(run_by("bfs", {{"width", 120}, {"height", 64}}, "oracle"), 22, 47);
  near(run_by("sssp", {{"width", 60}, {"height", 60}}, "oracle"), 32, 70);
  near(run_by("astar", {{"width", 200}, {"height", 60}}, "oracle"), 195, 508);
  near(run_by("msf", {{"scale", 10}, {"edges", 40'000}}, "oracle"), 40, 40);
  near(run_by("des", {{"adders", 1}, {"toggles", 30}}, "oracle"), 296, 338);
}

// Catches: helpers end while their children have no place, so that more and more edges are under way at once.
TEST_CASE("order: msf's helpers stall until edges have places") {
  const chip_of chip(16);
  const result r = run_by("msf", {{"scale", 10}, {"edges", 25'000}}, "swarm");
  CHECK(r.ok());
  CHECK(number(r, "under_way_max") <= 16 * 8);  // of each core's task; 327 if nobody stalls
}

TEST_CASE("order: what cannot be meant is refused in words") {
  CHECK_THROWS_WITH_AS(run_by("msf", {{"link", "luck"}}, "serial"), "--link luck is none: number or size", error);
  CHECK_THROWS_WITH_AS(run_by("msf", {{"lengths", "odd"}}, "serial"), "--lengths odd are none: drawn or random", error);
  CHECK_THROWS_WITH_AS(run_by("des", {{"adds", "up"}}, "serial"), "--adds up is none: select or save", error);
  CHECK_THROWS_WITH_AS(run_by("bfs", {}, "swram"), doctest::Contains("there is no executor 'swram'"), error);
  CHECK_THROWS_WITH_AS(run_by("bfs", {{"width", 100'000}, {"height", 100'000}}, "serial"),
                       doctest::Contains("a mesh of 100000 x 100000 needs"), error);
}

TEST_CASE("order: a value that differs and a call that is missing are seen") {
  const std::vector<int> is{1, 2, 3}, other{1, 5, 3}, shorter{1, 2};
  CHECK(order::as_serial("x", is, is).passed);
  CHECK(!order::as_serial("x", is, other).passed);
  CHECK(order::as_serial("x", is, other).detail == "3 values; number 1 is the first that differs");
  CHECK(!order::as_serial("x", is, shorter).passed);
  runtime rt({.workers = 1});
  ordered q(rt, {.executor = "serial"});
  q.at(0, [](ordered_context&, std::uint64_t) {});
  q.run();
  CHECK(order::each_call_once(q, 1).passed);
  CHECK(!order::each_call_once(q, 0).passed);
  CHECK(!order::each_call_once(q, 2).passed);
}

}  // namespace weft::apps
