// Each benchmark in every order a machine may choose, and its check against a lost task and a missing dependency.
#include "micro.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "dependencies.hpp"
#include "graph.hpp"
#include "independent_tasks.hpp"

namespace weft::apps::micro {
namespace {

template <class Check> void on_every_machine(Check check) {
  std::vector<options> all;
  for (unsigned workers : {1u, 2u, 3u, 7u}) all.push_back({.workers = workers});
  for (unsigned workers : {1u, 4u, 16u}) {
    all.push_back({.workers = workers, .machine = "virtual"});
    for (std::uint64_t seed : {1u, 2u, 3u, 4u})
      all.push_back({.workers = workers, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}});
  }
  for (const options& opt : all) {
    INFO("WEFT_WORKERS=" << opt.workers << " WEFT_MACHINE=" << std::string(opt.machine ? opt.machine : "host")
                         << " WEFT_SCHEDULE=" << std::string(opt.model.schedule ? opt.model.schedule : "time")
                         << " WEFT_SEED=" << opt.seed);
    check(opt);
  }
}

// Whether the benchmark notices the mistake on at least one of these schedules.
template <class Run> bool found_on_some_schedule(Run run) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    runtime rt({.workers = 4, .machine = "virtual", .seed = seed, .model = {.schedule = "random"}});
    if (run(rt).wrong > 0) return true;
  }
  return false;
}

void shrink(app& a) {
  for (const option& o : a.options) {
    const std::string_view name = o.name;
    if (name == "accesses") *std::get<std::size_t*>(o.target) = 20'000;
    if (name == "tasks") *std::get<std::size_t*>(o.target) = 1100;
    if (name == "tiles") *std::get<std::size_t*>(o.target) = 8;
    if (name == "grain-to") *std::get<std::size_t*>(o.target) = 1000;
    if (name == "grain-ns") *std::get<std::size_t*>(o.target) = 200;
    if (name == "repeat") *std::get<std::size_t*>(o.target) = 3;
  }
}

}  // namespace

TEST_CASE("micro: independent tasks, created before or while others run") {
  on_every_machine([](const options& opt) {
    for (const creation when : {creation::timed, creation::before})
      for (const std::size_t tasks : {std::size_t{1}, std::size_t{64}, std::size_t{500}}) {
        runtime rt(opt);
        const sample s = run_independent(rt, tasks, 100, when);
        CHECK(s.wrong == 0);
        CHECK(s.seconds > 0);
        CHECK(rt.statistics().tasks == tasks);
        CHECK(run_independent(rt, tasks, 0, when).wrong == 0);  // the same runtime again
      }
  });
}

TEST_CASE("micro: the graph of a factorization") {
  CHECK(graph_tasks(20) == 1540);
  CHECK(graph_tasks(50) == 22100);
  on_every_machine([](const options& opt) {
    for (const std::size_t tiles : {std::size_t{1}, std::size_t{2}, std::size_t{9}}) {
      runtime rt(opt);
      CHECK(run_graph(rt, tiles, alike(100)).wrong == 0);
      CHECK(rt.statistics().tasks == graph_tasks(tiles));
    }
  });
}

TEST_CASE("micro: the longest path is how long the graph takes with workers to spare") {
  runtime rt({.workers = 64, .machine = "virtual"});
  const sample s = run_graph(rt, 10, alike(1'000'000));
  CHECK(s.seconds >= static_cast<double>(graph_depth(10)) * 1e-3);
  CHECK(s.seconds < static_cast<double>(graph_depth(10)) * 1.01e-3);
}

TEST_CASE("micro: kernels take their share, move their bytes, and the diagonal may go first") {
  const kernels k = kernels_of(256, 2350);
  const double n = 256.0;
  CHECK(k.gemm_ns == doctest::Approx(2 * n * n * n / 2.35));
  CHECK(k.potrf_ns == doctest::Approx(k.gemm_ns / 6));
  CHECK(k.tile_bytes == 512 * 1024);
  // A factorization of that order: a third of its cube, and what the tiled one does for nothing in its triangles.
  CHECK(graph_ns(64, k) == doctest::Approx(16384.0 * 16384 * 16384 / 3 / 2.35).epsilon(0.02));
  for (const bool first : {false, true}) {
    kernels small = kernels_of(16, 1000);
    small.diagonal_first = first;
    on_every_machine([&](const options& opt) {
      runtime rt(opt);
      CHECK(run_graph(rt, 9, small).wrong == 0);
      CHECK(rt.statistics().tasks == graph_tasks(9));
    });
  }
  runtime alone({.workers = 1, .machine = "virtual"}), two({.workers = 2, .machine = "i7-2600k-4"});
  CHECK(run_graph(alone, 10, alike(k.gemm_ns)).seconds == doctest::Approx(220 * k.gemm_ns * 1e-9).epsilon(0.01));
  CHECK(run_graph(two, 10, alike(k.gemm_ns)).wrong == 0);
  CHECK(two.statistics().local_bytes == 0);
  CHECK(run_graph(two, 10, k).wrong == 0);
  CHECK(two.statistics().local_bytes >= 55 * k.tile_bytes);  // each tile was first touched
}

TEST_CASE("micro: any number of dependencies") {
  on_every_machine([](const options& opt) {
    for (const std::size_t dependencies : dependency_counts()) {
      if (dependencies > 100) continue;
      CAPTURE(dependencies);
      runtime rt(opt);
      CHECK(run_dependencies(rt, dependencies, 40, 100).wrong == 0);
      CHECK(rt.statistics().tasks == 40 + (dependencies > clauses_max ? 2 : 2 * dependencies));
    }
  });
  for (const char* machine : {"host", "virtual"}) {
    runtime rt({.workers = 3, .machine = machine});
    for (const std::size_t dependencies : {3u, 33u, 1000u, 10'000u})
      CHECK(run_dependencies(rt, dependencies, 10, 100).wrong == 0);
  }
}

TEST_CASE("micro: a lost task is found") {
  runtime rt({.workers = 2});
  CHECK(run_independent(rt, 100, 0, creation::timed, {.omitted = 7}).wrong == 1);
  CHECK(run_independent(rt, 100, 0, creation::before, {.omitted = 99}).wrong == 1);
  for (const std::size_t task : {std::size_t{0}, std::size_t{1}, std::size_t{30}, graph_tasks(6) - 1})
    CHECK(run_graph(rt, 6, alike(0), {.omitted = task}).wrong > 0);
  for (const std::size_t dependencies : {0u, 1u, 2u, 8u, 32u, 100u})
    CHECK(run_dependencies(rt, dependencies, 50, 0, {.omitted = 20}).wrong > 0);
}

TEST_CASE("micro: a dependency that was not declared is found on some schedule") {
  const std::size_t last_syrk = graph_tasks(6) - 2;  // its tile was ready a task before the one it forgets to name
  CHECK(found_on_some_schedule([&](runtime& rt) { return run_graph(rt, 6, alike(100), {.undeclared = last_syrk}); }));
  for (const std::size_t dependencies : {2u, 50u})
    CHECK(found_on_some_schedule(
        [=](runtime& rt) { return run_dependencies(rt, dependencies, 20, 100, {.undeclared = 10}); }));
  CHECK(!found_on_some_schedule([](runtime& rt) { return run_graph(rt, 6, alike(100)); }));
}

TEST_CASE("micro: median, quartiles, efficiency, overhead and slope") {
  series s;
  for (const double seconds : {5.0, 1.0, 4.0, 2.0, 3.0}) s.note({seconds, 1});
  CHECK(s.seconds(0.5) == 3);
  CHECK(s.seconds(0.25) == 2);
  CHECK(s.seconds(0.75) == 4);
  CHECK(s.seconds(0.375) == doctest::Approx(2.5));
  CHECK(s.total() == 15);
  CHECK(s.wrong() == 5);
  CHECK(series().seconds(0.5) == 0);
  CHECK(efficiency(1000, 2000, 4, 0.001) == doctest::Approx(0.5));
  CHECK(overhead_ns(1000, 2000, 4, 0.001) == doctest::Approx(2000));
  const std::size_t at[] = {0, 1, 2, 8};
  const double values[] = {5, 8, 11, 29};
  CHECK(slope(at, values) == doctest::Approx(3));
  CHECK(doubled(250, 1000) == std::vector<std::size_t>{250, 500, 1000});
}

TEST_CASE("micro: a check with wrong tasks fails") {
  CHECK(tasks_in_order(0, 10).passed);
  CHECK(!tasks_in_order(1, 10).passed);
}

TEST_CASE("micro apps: all four run on both machines and give a row each, with quartiles from three repeats on") {
  progress silent("test");
  for (app a : {micro_grain_app(), micro_graph_app(), micro_dependencies_app(), micro_count_app()}) {
    CAPTURE(a.name);
    shrink(a);
    for (const char* machine : {"host", "virtual"}) {
      const result r = a.run({.workers = 2, .machine = machine}, silent);
      for (const check& c : r.checks) CHECK_MESSAGE(c.passed, c.name << ": " << c.detail);
      CHECK(r.ok());
      std::size_t quartiles = 0;
      for (const field& f : r.fields) quartiles += f.name.ends_with("_q3") ? 1 : 0;
      CHECK(quartiles >= 2);
    }
  }
}

TEST_CASE("micro apps: the graph with kernels says how many flops it did, and one worker does them at the rate given") {
  progress silent("test");
  app a = micro_graph_app();
  shrink(a);
  for (const option& o : a.options) {
    if (std::string_view(o.name) == "tile") *std::get<std::size_t*>(o.target) = 128;
    if (std::string_view(o.name) == "mflops") *std::get<std::size_t*>(o.target) = 500;
  }
  const result r = a.run({.workers = 1, .machine = "virtual"}, silent);
  CHECK(r.ok());
  for (const field& f : r.fields)
    if (f.name == "gflops") CHECK(std::get<double>(f.value) == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("micro apps: rows that are not there are refused, and one row has no slope") {
  progress silent("test");
  const auto fields = [&](std::size_t from, std::size_t to) {
    app a = micro_dependencies_app();
    shrink(a);
    for (const option& o : a.options) {
      if (std::string_view(o.name) == "from") *std::get<std::size_t*>(o.target) = from;
      if (std::string_view(o.name) == "to") *std::get<std::size_t*>(o.target) = to;
    }
    std::size_t rows = 0, slopes = 0;
    for (const field& f : a.run({.workers = 1}, silent).fields) {
      rows += f.name.ends_with("_dependencies") ? 1 : 0;
      slopes += f.name == "ns_per_dependency" ? 1 : 0;
    }
    return std::pair(rows, slopes);
  };
  CHECK(fields(2, 8) == std::pair<std::size_t, std::size_t>(3, 1));
  CHECK(fields(100, 100) == std::pair<std::size_t, std::size_t>(1, 0));
  CHECK_THROWS_AS(fields(33, 99), weft::error);
  CHECK_THROWS_AS(fields(8, 2), weft::error);
}

TEST_CASE("micro apps: lengths that make no range are refused") {
  app a = micro_grain_app();
  progress silent("test");
  for (const option& o : a.options)
    if (std::string_view(o.name) == "grain-to") *std::get<std::size_t*>(o.target) = 1;
  CHECK_THROWS_AS(a.run({.workers = 1}, silent), weft::error);
}

}  // namespace weft::apps::micro
