// The app: every node once, with any number of workers, any width, on both machines and under each policy.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "../app.hpp"

namespace weft::apps {
namespace {

result searched(const std::string& tree, const std::map<std::string, std::size_t>& numbers, bool together,
                const weft::options& opt) {
  progress silent("test");
  app a = uts_app();
  for (option& o : a.options) {
    if (o.name == std::string("tree")) *std::get<std::string*>(o.target) = tree;
    if (o.name == std::string("together")) *std::get<bool*>(o.target) = together;
    if (const auto n = numbers.find(o.name); n != numbers.end()) *std::get<std::size_t*>(o.target) = n->second;
  }
  return a.run(opt, silent);
}

}  // namespace

TEST_CASE("uts: every node once, whatever the width and the number of workers, on both machines") {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u})
    for (const char* machine : {"host", "virtual", "opteron-6220-interlagos-16"})
      for (const std::size_t width : {0, 1, 2, 4, 8}) {
        CAPTURE(workers);
        CAPTURE(std::string(machine));
        CAPTURE(width);
        const bool together = width > 1 && workers % 2 == 0;
        const result r = searched("small", {{"width", width}}, together, {.workers = workers, .machine = machine});
        CHECK(r.ok());
        CHECK(r.checks.size() == 2);
      }
}

TEST_CASE("uts: under each policy, on trees of every kind, in groups of any size") {
  const char* const trees[] = {"t0 b50 q0.12 m8 r3", "t1 a0 d6 b4 r34",        "t1 a1 d5 b3 r1",
                               "t1 a2 d3 b4 r2",     "t2 a0 d4 b4 q0.2 m4 r1", "t3 d6 b3"};
  std::size_t turn = 0;
  for (const choice& policy : policies())
    for (const std::size_t width : {0, 1, 2, 4})
      for (const char* machine : {"host", "opteron-6220-interlagos-16"}) {
        CAPTURE(std::string(policy.name));
        CAPTURE(width);
        CAPTURE(std::string(trees[turn % 6]));
        const result r = searched(trees[turn % 6], {{"width", width}, {"group", turn % 4 + 1}, {"rounds", 2}}, false,
                                  {.workers = 4, .machine = machine, .policy = policy.name});
        ++turn;
        CHECK(r.ok());
      }
}

TEST_CASE("uts: a tree of one node, and what cannot be searched") {
  for (const std::size_t width : {0, 3}) CHECK(searched("t3 d0 b1", {{"width", width}}, true, {.workers = 2}).ok());
  CHECK_THROWS_AS(searched("T7", {}, false, {.workers = 1}), error);
  CHECK_THROWS_WITH_AS(searched("small", {{"group", 0}}, false, {.workers = 1}),
                       "--group 0: an assembly has at least one child", error);
}

TEST_CASE("uts: on a modelled machine one worker takes as long as the program without tasks") {
  const result r = searched("small", {{"width", 1}}, false, {.workers = 1, .machine = "virtual"});
  REQUIRE(r.ok());
  CHECK(r.seconds > 3986 * 3e-6);
  CHECK(r.seconds < 3986 * 3.3e-6);
}

}  // namespace weft::apps
