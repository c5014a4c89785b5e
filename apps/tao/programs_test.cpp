// The graph of three kernels, heat and sparse LU: on any number of workers and with any width, on both machines, and at
// their smallest sizes.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../app.hpp"

namespace weft::apps {
namespace {

struct setting {
  const char* name;
  std::size_t value;
};

void set(app& a, const setting& s) {
  for (const option& o : a.options)
    if (std::string_view(o.name) == s.name) {
      *std::get<std::size_t*>(o.target) = s.value;
      return;
    }
  FAIL("no such option");
}

void learn(app& a) {
  for (const option& o : a.options)
    if (std::string_view(o.name) == "learned") {
      *std::get<bool*>(o.target) = true;
      return;
    }
  FAIL("no such option");
}

using program = app (*)();
void check_everywhere(program make, const std::vector<setting>& settings) {
  progress silent("test");
  for (const char* machine : {"host", "opteron-6220-interlagos-16"})
    for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u})
      for (const std::size_t width : {0u, 1u, 2u, 5u}) {  // 0: learned
        CAPTURE(std::string(machine));
        CAPTURE(workers);
        CAPTURE(width);
        app a = make();
        for (const setting& s : settings) set(a, s);
        width == 0 ? learn(a) : set(a, {"width", width});
        CHECK(a.run({.workers = workers, .machine = machine, .policy = "random"}, silent).ok());
      }
}
void check_small(program make, const std::vector<std::vector<setting>>& cases) {
  progress silent("test");
  for (const auto& settings : cases) {
    app a = make();
    for (const setting& s : settings) set(a, s);
    CHECK(a.run({.workers = 2, .machine = "virtual"}, silent).ok());
  }
}

}  // namespace

TEST_CASE("tao_dag: the bits of one thread, everywhere") {
  check_everywhere(tao_dag_app, {{"size", 16}, {"multiplies", 40}, {"copies", 20}, {"stencils", 20}});
  check_small(tao_dag_app, {{{"size", 1}, {"multiplies", 3}, {"copies", 3}, {"stencils", 3}, {"lanes", 1}},
                            {{"size", 3}, {"multiplies", 0}, {"copies", 0}, {"stencils", 9}, {"lanes", 20}},
                            {{"size", 2}, {"multiplies", 0}, {"copies", 0}, {"stencils", 0}}});
}

TEST_CASE("heat: the bits of one thread, everywhere") {
  check_everywhere(heat_app, {{"size", 40}, {"steps", 12}, {"bands", 5}});
  check_small(heat_app, {{{"size", 1}, {"bands", 1}},
                         {{"size", 3}, {"bands", 1}},
                         {{"size", 8}, {"bands", 8}},
                         {{"size", 9}, {"bands", 2}, {"width", 16}}});
  progress silent("test");
  app a = heat_app();
  set(a, {"size", 4});
  CHECK_THROWS_AS(a.run({.workers = 1}, silent), weft::error);
}

TEST_CASE("sparse_lu: the bits of one thread, and a product that is the matrix, everywhere") {
  check_everywhere(sparse_lu_app, {{"blocks", 6}, {"size", 8}});
  check_small(sparse_lu_app, {{{"blocks", 1}, {"size", 1}},
                              {{"blocks", 1}, {"size", 9}},
                              {{"blocks", 7}, {"size", 1}},
                              {{"blocks", 20}, {"size", 4}}});
}

}  // namespace weft::apps
