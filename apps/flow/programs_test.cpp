// OpenStream's programs: the bits of plain loops on any number of workers, in every form and by both control programs,
// on both machines; at odd sizes; on modelled machines as large as the paper's; and with bodies that only cost.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../programs_test.hpp"

namespace weft::apps {
namespace {

constexpr const char* forms[] = {"serial", "shm", "dsa"};

struct sized {
  const char* name;
  settings small, odd, one_block, modelled;
};
const std::vector<sized>& programs() {
  static const std::vector<sized> all = {
      {"jacobi-1d",
       {{"nx", 300}, {"bx", 32}, {"iterations", 7}},
       {{"nx", 97}, {"bx", 7}},
       {{"nx", 5}, {"bx", 9}},
       {{"nx", 1 << 20}, {"bx", 1 << 14}, {"iterations", 4}}},
      {"jacobi-2d",
       {{"nx", 24}, {"ny", 20}, {"bx", 8}, {"by", 4}, {"iterations", 7}},
       {{"nx", 23}, {"ny", 17}, {"bx", 5}, {"by", 3}},
       {{"nx", 1}, {"ny", 9}},
       {{"nx", 1 << 10}, {"ny", 1 << 10}, {"bx", 1 << 7}, {"by", 1 << 7}, {"iterations", 4}}},
      {"jacobi-3d",
       {{"nx", 12}, {"ny", 8}, {"nz", 10}, {"bx", 4}, {"by", 4}, {"bz", 5}, {"iterations", 5}},
       {{"nx", 11}, {"ny", 7}, {"nz", 5}, {"bx", 3}, {"by", 2}, {"bz", 2}},
       {{"nx", 2}, {"ny", 1}, {"nz", 3}},
       {{"nx", 1 << 7}, {"ny", 1 << 7}, {"nz", 1 << 6}, {"bx", 32}, {"by", 32}, {"bz", 16}, {"iterations", 4}}},
      {"seidel-1d",
       {{"nx", 300}, {"bx", 32}, {"iterations", 7}},
       {{"nx", 97}, {"bx", 7}},
       {{"nx", 5}, {"bx", 9}},
       {{"nx", 1 << 20}, {"bx", 1 << 14}, {"iterations", 4}}},
      {"seidel-2d",
       {{"nx", 24}, {"ny", 20}, {"bx", 8}, {"by", 4}, {"iterations", 7}},
       {{"nx", 23}, {"ny", 17}, {"bx", 5}, {"by", 3}},
       {{"nx", 1}, {"ny", 9}},
       {{"nx", 1 << 10}, {"ny", 1 << 10}, {"bx", 1 << 7}, {"by", 1 << 7}, {"iterations", 4}}},
      {"seidel-3d",
       {{"nx", 12}, {"ny", 8}, {"nz", 10}, {"bx", 4}, {"by", 4}, {"bz", 5}, {"iterations", 5}},
       {{"nx", 11}, {"ny", 7}, {"nz", 5}, {"bx", 3}, {"by", 2}, {"bz", 2}},
       {{"nx", 2}, {"ny", 1}, {"nz", 3}},
       {{"nx", 1 << 7}, {"ny", 1 << 7}, {"nz", 1 << 6}, {"bx", 32}, {"by", 32}, {"bz", 16}, {"iterations", 4}}},
      {"kmeans",
       {{"points", 500}, {"block", 50}, {"iterations", 4}},
       {{"points", 331}, {"block", 20}, {"dimensions", 3}, {"clusters", 5}, {"iterations", 3}},
       {{"points", 1}, {"clusters", 1}, {"block", 1}, {"dimensions", 1}},
       {{"points", 1 << 18}, {"block", 1 << 11}, {"iterations", 2}}},
      {"blur-roberts",
       {{"nx", 40}, {"ny", 30}, {"bx", 8}, {"by", 6}},
       {{"nx", 37}, {"ny", 23}, {"bx", 5}, {"by", 7}},
       {{"nx", 1}, {"ny", 1}},
       {{"nx", 1 << 11}, {"ny", 1 << 10}, {"bx", 1 << 7}, {"by", 1 << 6}}},
      {"bitonic",
       {{"count", 512}, {"block", 32}},
       {{"count", 355}, {"block", 17}},
       {{"count", 3}, {"block", 8}},
       {{"count", 1 << 20}, {"block", 1 << 13}}},
      {"block-cholesky",
       {{"n", 60}, {"block", 12}},
       {{"n", 47}, {"block", 9}},
       {{"n", 5}, {"block", 9}},
       {{"n", 1 << 10}, {"block", 1 << 7}}},
  };
  return all;
}

}  // namespace

TEST_CASE("flow: the bits of plain loops, on any number of workers") {
  for (const sized& p : programs())
    for (const char* form : forms)
      for (const char* control : {"sequential", "parallel"})
        for (const char* machine : {"host", "opteron-6220-interlagos-16"})
          for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
            CAPTURE(std::string(p.name));
            CAPTURE(std::string(form));
            CAPTURE(std::string(control));
            CAPTURE(std::string(machine));
            CAPTURE(workers);
            CHECK(run(p.name, with(p.small, {{"form", form}, {"control", control}}), machine, workers).ok());
          }
}

TEST_CASE("flow: memory taken on submission: the same bits, and more of it at a time") {
  for (const sized& p : programs())
    for (const char* control : {"sequential", "parallel"}) {
      CAPTURE(std::string(p.name));
      CAPTURE(std::string(control));
      const settings how = {{"form", "dsa"}, {"control", control}, {"allocation", "immediate"}};
      CHECK(run(p.name, with(p.small, how), "host", 4).ok());
      CHECK(run(p.name, with(p.odd, how), "opteron-6282-64", 0).ok());
    }
}

TEST_CASE("flow: stencils whose tasks submit each other: the same bits, and no more than three buffers of a block") {
  for (const sized& p : programs()) {
    CAPTURE(std::string(p.name));
    const settings how = {{"form", "dsa"}, {"control", "chained"}};
    if (!std::string_view(p.name).starts_with("jacobi") && !std::string_view(p.name).starts_with("seidel")) {
      CHECK_THROWS_WITH_AS(run(p.name, how, "virtual", 2), doctest::Contains("is for stencils"), weft::error);
      continue;
    }
    CHECK_THROWS_AS(run(p.name, {{"form", "shm"}, {"control", "chained"}}, "virtual", 2), weft::error);
    for (const char* machine : {"host", "opteron-6282-64"})
      for (const char* allocation : {"deferred", "immediate"})
        for (const unsigned workers : {1u, 3u, 16u}) {
          const settings all = with(how, {{"allocation", allocation}});
          CHECK(run(p.name, with(p.small, all), machine, workers).ok());
          CHECK(run(p.name, with(p.odd, all), machine, workers).ok());
          CHECK(run(p.name, with(p.one_block, all), machine, workers).ok());
        }
  }
  const settings many = {{"nx", 1 << 16},       {"bx", 1 << 12},      {"iterations", 50},
                         {"form", "dsa"},       {"model-only", true}, {"allocation", "immediate"},
                         {"control", "chained"}};
  for (const field& f : run("jacobi-1d", many, "opteron-6282-64", 16).fields)
    if (f.name == "buffers_peak_bytes") CHECK(std::get<std::uint64_t>(f.value) < 4u * 8 * (1 << 16));
}

// The tables' cores wait for each line before they ask for the next.
struct one_line_in_flight {
  one_line_in_flight() { REQUIRE(::setenv("WEFT_CHANGE", "memory.lines_in_flight.count = 1", 1) == 0); }
  ~one_line_in_flight() { ::unsetenv("WEFT_CHANGE"); }
};

TEST_CASE("flow: a buffer's lines cost what its node is away, as Tables 1 and 2 of the paper have them") {
  const auto ms = [](const char* machine, int node, bool adds) {
    const one_line_in_flight here;
    const result r = run("traverse", {{"mib", 64}, {"node", node}, {"adds", adds}, {"model-only", true}}, machine, 0);
    CHECK(r.ok());
    return std::get<double>(r.fields.front().value);
  };
  CHECK(ms("opteron-6282-64", 0, false) == doctest::Approx(1288.5).epsilon(0.01));
  CHECK(ms("opteron-6282-64", 3, true) == doctest::Approx(5601.3).epsilon(0.01));
  CHECK(ms("sgi-uv2000-192", 1, false) == doctest::Approx(4563.1).epsilon(0.01));
  CHECK(ms("sgi-uv2000-192", 16, true) == doctest::Approx(7673.1).epsilon(0.01));
  for (const bool adds : {false, true})
    CHECK(run("traverse", {{"mib", 1}, {"threads", 2}, {"sets", 3}, {"passes", 2}, {"adds", adds}}, "host", 2).ok());
  CHECK_THROWS_AS(run("traverse", {{"threads", 3}}, "virtual", 2), weft::error);
}

TEST_CASE(
    "flow: a system that moves pages pays for it at first, and wins where threads go through the same long enough") {
  const auto seconds = [](int passes, const settings& pages) {
    const one_line_in_flight here;
    const settings s = {{"mib", 16}, {"threads", 64}, {"passes", passes}, {"adds", true}, {"model-only", true}};
    const result r = run("traverse", with(s, pages), "opteron-6282-64", 0);
    CHECK(r.ok());
    return r.seconds;
  };
  const settings stay = {{"pages", 2048}}, move = {{"pages", 2048}, {"migrate", true}};
  const settings small = {{"pages", 4}, {"migrate", true}};
  CHECK(seconds(4, stay) == doctest::Approx(seconds(4, {})).epsilon(1e-6));
  CHECK(seconds(4, move) > 1.2 * seconds(4, stay));
  CHECK(seconds(40, move) < 0.7 * seconds(40, stay));
  CHECK(seconds(40, small) > 1.1 * seconds(40, stay));
  for (const sized& p : programs()) {
    CAPTURE(std::string(p.name));
    const settings how = {{"form", "shm"}, {"pages", 64}, {"migrate", true}};
    CHECK(run(p.name, with(p.odd, how), "opteron-6282-64", 0).ok());
    const settings modelled = with(with(p.modelled, how), {{"model-only", true}});
    const result first = run(p.name, modelled, "opteron-6282-64", 0),
                 again = run(p.name, modelled, "opteron-6282-64", 0);
    CHECK(first.seconds == again.seconds);
    CHECK_THROWS_WITH_AS(run(p.name, {{"migrate", true}}, "opteron-6282-64", 0), doctest::Contains("--pages KIB"),
                         weft::error);
    CHECK_THROWS_WITH_AS(run(p.name, {{"pages", 4}}, "host", 1), doctest::Contains("needs a modelled machine"),
                         weft::error);
    CHECK_THROWS_WITH_AS(run(p.name, {{"pages", 4}, {"migrate", true}}, "sgi-uv2000-192", 0),
                         doctest::Contains("need the key"), weft::error);
  }
}

TEST_CASE("flow: odd sizes, blocks that are not whole, one block, any number of creators") {
  for (const sized& p : programs())
    for (const char* form : forms)
      for (const int creators : {1, 2, 5, 100}) {
        CAPTURE(std::string(p.name));
        CAPTURE(std::string(form));
        CAPTURE(creators);
        const settings how = {{"form", form}, {"creators", creators}};
        CHECK(run(p.name, with(p.odd, how), "virtual", 3).ok());
        CHECK(run(p.name, with(p.one_block, how), "virtual", 2).ok());
      }
}

TEST_CASE("flow: the paper's machines, with every layout, and bodies that only cost") {
  for (const sized& p : programs())
    for (const char* form : forms)
      for (const char* machine : {"opteron-6282-64", "sgi-uv2000-192"})
        for (const char* layout : {"interleaved", "first-touch", "blocked"}) {
          CAPTURE(std::string(p.name));
          CAPTURE(std::string(form));
          CAPTURE(std::string(machine));
          CAPTURE(std::string(layout));
          const settings how = {{"form", form}, {"layout", layout}};
          CHECK(run(p.name, with(p.odd, how), machine, 0, "local").ok());
          const result r = run(p.name, with(with(p.modelled, how), {{"model-only", true}}), machine, 0, "local");
          CHECK(r.ok());
          CHECK(r.counts.local_bytes + r.counts.remote_bytes > 0);
        }
}

TEST_CASE("flow: options that cannot be meant are refused in words") {
  for (const sized& p : programs()) {
    CAPTURE(std::string(p.name));
    for (const char* option : {"form", "layout", "control", "allocation"})
      CHECK_THROWS_WITH_AS(run(p.name, {{option, "sideways"}}, "virtual", 1), doctest::Contains("sideways is none"),
                           weft::error);
    CHECK_THROWS_WITH_AS(run(p.name, {{"form", "shm"}, {"model-only", true}}, "host", 1),
                         doctest::Contains("needs a modelled machine"), weft::error);
  }
  CHECK_THROWS_AS(run("kmeans", {{"points", 3}, {"clusters", 4}}, "virtual", 1), weft::error);
}

TEST_CASE("flow: fewer workers move the same cells, and cycles cost what the machine says") {
  // One cell after the other, of one cycle each, is what the serial form costs where memory costs nothing.
  const settings s = {{"nx", 1'000}, {"bx", 1'000}, {"iterations", 10}, {"form", "serial"}, {"cycles", 50}};
  CHECK(run("jacobi-1d", s, "virtual", 1).seconds == doctest::Approx(1'000 * 10 * 50e-9).epsilon(0.02));
  CHECK(run("jacobi-1d", s, "opteron-6282-64", 1).seconds == doctest::Approx(1'000 * 10 * 50e-9 / 2.6).epsilon(0.05));
}

}  // namespace weft::apps
