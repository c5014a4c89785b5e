// TAO's sort: any number of workers, each private scheduler and width, with and without stealing, on both machines; and
// what it refuses.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "../app.hpp"
#include "assemblies.hpp"

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
app sort_of(std::size_t n, std::size_t sorts, const char* levels) {
  app a = tao_sort_app();
  set(a, "n", n);
  set(a, "sorts", sorts);
  set(a, "levels", std::string(levels));
  return a;
}
std::string refusal(app a) {
  progress silent("test");
  try {
    static_cast<void>(a.run({.workers = 1, .machine = "host"}, silent));
  } catch (const weft::error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("tao_sort: in order and nothing lost, whatever the scheduler, the width and the number of workers") {
  progress silent("test");
  for (const char* machine : {"host", "opteron-6220-interlagos-16"})
    for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u})
      for (const char* levels : {"dep-1", "dep-2", "tab-2,dep-4", "tab-3", "dep-5,tab-8"})
        for (const bool stealing : {true, false}) {
          CAPTURE(std::string(machine));
          CAPTURE(workers);
          CAPTURE(std::string(levels));
          app a = sort_of(4096, 64, levels);
          set(a, "no-stealing", !stealing);
          set(a, "awake", !stealing && machine[0] == 'o');
          const result r = a.run({.workers = workers, .machine = machine, .policy = "random"}, silent);
          CHECK(r.ok());
          CHECK(r.checks.size() == 2);
        }
}

TEST_CASE("tao_sort: a unit that runs twice, or before what it needs, is not counted") {
  using namespace tao;
  for (const planted wrong : {planted::nothing, planted::twice, planted::early}) {
    runtime rt({.workers = 1, .machine = "opteron-6220-interlagos-16"});
    numa_array<integer> values(4096, memory_placement::blocked()), room(4096, memory_placement::blocked());
    assembly a({&values, &room, 0, 4096}, true, doing::only_charging, wrong);
    rt.submit(team(1), [&a](team_context& t) { a.by_graph(t); });
    rt.wait();
    CHECK(a.units_done() == assembly::units_with_sorts - (wrong == planted::nothing ? 0 : 1));
  }
}

TEST_CASE("tao_sort: by tasks, under each policy") {
  progress silent("test");
  for (const choice& policy : policies())
    for (const char* machine : {"host", "opteron-6220-interlagos-16"}) {
      app a = sort_of(4096, 64, "dep-1");
      set(a, "tasks", true);
      CHECK(a.run({.workers = 3, .machine = machine, .policy = policy.name}, silent).ok());
    }
}

TEST_CASE("tao_sort: the least there is, and values that are not worth a part each") {
  progress silent("test");
  for (const auto& [n, sorts] : {std::pair{4, 4}, {16, 16}, {64, 4}, {1024, 256}}) {
    app a = sort_of(static_cast<std::size_t>(n), static_cast<std::size_t>(sorts), "dep-2");
    CHECK(a.run({.workers = 2, .machine = "virtual"}, silent).ok());
  }
}

TEST_CASE("tao_sort: charges alone take as long as real sorting, and have done each unit") {
  progress silent("test");
  const auto seconds = [&](bool modelled) {
    app a = sort_of(std::size_t{1} << 18, 64, "dep-2,dep-2,tab-4");
    set(a, "modelled", modelled);
    set(a, "no-stealing", true);
    const result r = a.run({.machine = "opteron-6220-interlagos-16"}, silent);
    CHECK(r.ok());
    return r.seconds;
  };
  const double real = seconds(false);
  CHECK(seconds(true) <= 1.03 * real);
  CHECK(seconds(true) >= 0.97 * real);
}

TEST_CASE("tao_sort: what cannot be is refused in words") {
  CHECK(refusal(sort_of(4096, 32, "dep-2")).find("no power of 4") != std::string::npos);
  CHECK(refusal(sort_of(4097, 64, "dep-2")).find("no multiple") != std::string::npos);
  CHECK(refusal(sort_of(4096, 64, "dep-0")).find("write dep-2, tab-4 or dep-learned") != std::string::npos);
  CHECK(refusal(sort_of(4096, 64, "x")).find("'x' is none") != std::string::npos);
  CHECK(refusal(sort_of(4096, 64, "dep-2,,")).find("'' is none") != std::string::npos);
  CHECK(refusal(sort_of(4096, 64, "dep-2,dep-2,dep-2,dep-2")).find("names 4 levels; there are 3") != std::string::npos);
  app modelled = sort_of(4096, 64, "dep-2");
  set(modelled, "modelled", true);
  CHECK(refusal(modelled).find("needs a modelled machine") != std::string::npos);
  app layout = sort_of(4096, 64, "dep-2");
  set(layout, "layout", std::string("here"));
  CHECK(refusal(layout).find("--layout here is none") != std::string::npos);
}

}  // namespace weft::apps
