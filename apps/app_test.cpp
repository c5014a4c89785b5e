// What the tool relies on for every app, and the small apps at their smallest sizes.
#include "app.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>

namespace weft::apps {
namespace {

template <class Value> void set(app& a, std::string_view name, Value value) {
  for (const option& o : a.options)
    if (o.name == name) {
      *std::get<Value*>(o.target) = value;
      return;
    }
  FAIL("no such option");
}

}  // namespace

TEST_CASE("apps: names and options are unique and described") {
  std::set<std::string> names;
  const std::set<std::string> taken = {"workers", "machine", "policy", "seed", "json", "help"};
  for (const app& a : all_apps()) {
    CHECK(names.insert(a.name).second);
    CHECK(std::string_view(a.summary).size() > 10);
    CHECK(std::string_view(a.example).starts_with(a.name));
    std::set<std::string> options = taken;
    for (const option& o : a.options) CHECK(options.insert(o.name).second);
  }
}

TEST_CASE("result: good only if something was checked and all of it passed") {
  result r;
  CHECK(!r.ok());
  r.checks.push_back({"a", true, ""});
  CHECK(r.ok());
  r.checks.push_back({"b", false, ""});
  CHECK(!r.ok());
}

TEST_CASE("require_memory: refuses what cannot be") {
  CHECK_NOTHROW(require_memory("x", 1));
  CHECK_THROWS_AS(require_memory("x", 1e18), weft::error);
}

TEST_CASE("independent: any number of tasks, with and without work, on both machines") {
  progress silent("test");
  for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{5000}})
    for (std::size_t grain : {std::size_t{0}, std::size_t{300}})
      for (const char* machine : {"host", "virtual"}) {
        CAPTURE(n);
        CAPTURE(grain);
        CAPTURE(std::string(machine));
        app a = independent_app();
        set(a, "n", n);
        set(a, "grain-ns", grain);
        const result r = a.run({.workers = 2, .machine = machine}, silent);
        CHECK(r.ok());
        CHECK(r.counts.tasks == n);
        CHECK(r.machine == machine);
      }
}

TEST_CASE("stencil: rings down to one block of one cell") {
  progress silent("test");
  struct {
    std::size_t width, steps, cells;
  } const cases[] = {{1, 1, 1}, {1, 9, 4}, {2, 10, 1}, {3, 7, 5}, {4, 50, 3}, {32, 20, 10}};
  for (const auto& c : cases)
    for (const char* machine : {"host", "virtual"}) {
      CAPTURE(c.width);
      CAPTURE(c.steps);
      CAPTURE(std::string(machine));
      app a = stencil_app();
      set(a, "width", c.width);
      set(a, "steps", c.steps);
      set(a, "cells", c.cells);
      const result r = a.run({.workers = 2, .machine = machine}, silent);
      CHECK(r.ok());
      CHECK(r.counts.tasks == c.width * c.steps);
    }
}

TEST_CASE("near: sweeps down to nothing, regular and irregular, under each policy, layout and machine") {
  progress silent("test");
  for (const auto& make : {sor_app, srad_app})
    for (const std::size_t size : {2, 3, 9, 64})
      for (const choice& policy : policies())
        for (const char* machine : {"host", "epyc-7551-32"}) {
          CAPTURE(size);
          CAPTURE(std::string(policy.name));
          CAPTURE(std::string(machine));
          app a = make();
          set(a, "size", size);
          set(a, "iterations", std::size_t{3});
          set(a, "tile", std::size_t{size % 3 + 1});
          set(a, "irregular", size % 2 == 1);
          set(a, "no-hints", size == 9);
          set(a, "layout", std::string(size == 64 ? "interleaved" : size == 9 ? "first-touch" : "blocked"));
          const result r = a.run({.workers = 3, .machine = machine, .policy = policy.name}, silent);
          CHECK(r.ok());
        }
  app a = sor_app();
  set(a, "layout", std::string("heap"));
  CHECK_THROWS_WITH_AS(a.run({.workers = 1}, silent), "--layout heap is none: blocked, interleaved or first-touch",
                       error);
}

TEST_CASE("near: shock hydrodynamics of any size, under each policy, layout, way to fill, and machine") {
  progress silent("test");
  const char* const layouts[] = {"blocked", "interleaved", "first-touch"};
  const char* const fillings[] = {"tree", "blocks", "serial"};
  std::size_t turn = 0;
  for (const std::size_t size : {1, 2, 5})
    for (const choice& policy : policies())
      for (const char* machine : {"host", "epyc-7551-32"}) {
        CAPTURE(size);
        CAPTURE(std::string(policy.name));
        CAPTURE(std::string(machine));
        app a = lulesh_app();
        set(a, "size", size);
        set(a, "steps",
            size == 5 ? std::size_t{0} : std::size_t{3});  // a size of 5 to the end: LULESH prints the energy
        set(a, "tile", turn % 2 == 0 ? std::size_t{3} : std::size_t{20});
        set(a, "irregular", turn % 4 < 2);
        set(a, "no-hints", turn % 5 == 0);
        set(a, "layout", std::string(layouts[turn % 3]));
        set(a, "fill", std::string(fillings[turn / 2 % 3]));
        ++turn;
        const result r = a.run({.workers = 3, .machine = machine, .policy = policy.name}, silent);
        CHECK(r.ok());
        CHECK(r.checks.size() == (size == 5 ? 4 : 3));
      }
  app a = lulesh_app();
  set(a, "fill", std::string("somehow"));
  CHECK_THROWS_WITH_AS(a.run({.workers = 1}, silent), "--fill somehow is none: tree, blocks or serial", error);
}

TEST_CASE("near: each way to fill, with each program") {
  progress silent("test");
  for (const char* fill : {"tree", "blocks", "serial"})
    for (const auto& make : {sor_app, srad_app, cilksort_app})
      for (const char* machine : {"host", "epyc-7551-32"}) {
        CAPTURE(std::string(fill));
        CAPTURE(std::string(machine));
        app a = make();
        if (make == cilksort_app)
          set(a, "count", std::size_t{20'000});
        else
          set(a, "size", std::size_t{40});
        set(a, "fill", std::string(fill));
        set(a, "layout", std::string("first-touch"));
        CHECK(a.run({.workers = 3, .machine = machine, .policy = "random"}, silent).ok());
      }
}

TEST_CASE("near: a sort of any length, one value a task and many") {
  progress silent("test");
  for (const std::size_t count : {1, 2, 5, 1000, 40'000})
    for (const std::size_t tile : {1, 50, 1024})
      for (const char* machine : {"host", "epyc-7551-32"}) {
        CAPTURE(count);
        CAPTURE(tile);
        app a = cilksort_app();
        set(a, "count", count);
        set(a, "tile", tile);
        const result r = a.run({.workers = 4, .machine = machine, .policy = "pufferfish"}, silent);
        CHECK(r.ok());
      }
}

}  // namespace weft::apps
