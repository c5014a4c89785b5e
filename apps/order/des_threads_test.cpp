// The conservative simulation by threads: as the plain event loop has it, with any number of cores; and what it takes.
#include "des_threads.hpp"

#include <doctest/doctest.h>

#include <string>

#include "threads_test.hpp"

namespace weft::apps {
namespace {

result simulate(unsigned cores, const settings& circuit, int toggles, std::uint64_t seed = 1,
                const char* nulls = "each") {
  const chip_of chip(cores);
  return run("des", with(circuit, {{"toggles", toggles}, {"nulls", nulls}, {"executor", "threads"}}),
             {.workers = 1, .seed = seed});
}

// Carry-save adders.
result simulate(unsigned cores, int adders, int toggles, std::uint64_t seed = 1, const char* nulls = "each") {
  return simulate(cores, settings{{"adds", "save"}, {"bits", 1}, {"adders", adders}}, toggles, seed, nulls);
}

}  // namespace

TEST_CASE("order, des by threads: every gate is as in the plain event loop, with any number of cores") {
  for (const std::string nulls : {"each", "lazy"})
    for (const unsigned cores : {1u, 2u, 4u, 8u, 16u, 64u})
      for (const std::uint64_t seed : {1u, 2u}) {
        CAPTURE(nulls);
        CAPTURE(cores);
        CAPTURE(seed);
        const result r = simulate(cores, 4, 35, seed, nulls.c_str());
        CHECK(r.ok());
        CHECK(r.checks.size() == 2);
        CHECK(count_in(r, "cores") == cores);
        CHECK(simulate(cores, 1, 1, seed, nulls.c_str()).ok());
        CHECK(simulate(cores, settings{{"adders", 1}, {"bits", 9}}, 5, seed, nulls.c_str()).ok());
      }
}

TEST_CASE("order, des by threads: the same input takes the same cycles") {
  for (const unsigned cores : {1u, 16u, 64u}) {
    const result once = simulate(cores, 6, 50), again = simulate(cores, 6, 50);
    CHECK(count_in(once, "cycles") == count_in(again, "cycles"));
    CHECK(count_in(once, "conflicts") == count_in(again, "conflicts"));
  }
}

TEST_CASE("order, des by threads: more cores are faster") {
  const result one = simulate(1, 20, 50), sixteen = simulate(16, 20, 50);
  CHECK(count_in(sixteen, "cycles") * 10 < count_in(one, "cycles"));
  CHECK(count_in(one, "conflicts") == 0);
  CHECK(count_in(one, "activations") * 10 < count_in(one, "signals"));
}

TEST_CASE("order, des by threads: null messages are about as many as signals, unless they are lazy") {
  const result each = simulate(4, 20, 50), lazy = simulate(4, 20, 50, 1, "lazy");
  CHECK(count_in(each, "null_messages") * 2 > count_in(each, "signals"));
  CHECK(count_in(lazy, "null_messages") * 10 < count_in(lazy, "signals"));
  CHECK(count_in(lazy, "cycles") < count_in(each, "cycles"));
  CHECK_THROWS_WITH_AS(simulate(1, 1, 1, 1, "few"), "--nulls few are none: each or lazy", error);
}

TEST_CASE("order, des by threads: what a gate drives has higher numbers, in order, so that locks cannot block all") {
  const order::circuit c = order::carry_save_adders(3, 1, 1);
  for (std::uint64_t i = 0; i < c.gates.size(); ++i) {
    std::uint64_t before = i;
    for (std::uint64_t f = c.gates[i].first; f < c.gates[i].last; ++f) {
      CHECK(c.fanouts[f].gate > before);
      before = c.fanouts[f].gate;
    }
  }
}

}  // namespace weft::apps
