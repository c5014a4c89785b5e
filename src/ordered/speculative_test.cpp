#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "ordered/random_program.hpp"
#include "weft/weft.hpp"

using weft::speculative::random_program;

namespace {

const weft::ordered_options ahead{.executor = "speculative", .always_ahead = true};

// A random program of some kind, by seed.
random_program program(std::uint64_t seed) {
  random_program p;
  p.seed = seed;
  p.words = std::uint64_t{1} << seed % 8;
  p.roots = static_cast<unsigned>(5 + seed % 40);
  p.later = seed % 4;
  p.children = static_cast<unsigned>(1 + seed % 3);
  p.spin = seed % 3 == 0 ? 300 : 0;
  return p;
}

void compare(weft::runtime& rt, std::uint64_t seed, const weft::ordered_options& o) {
  random_program p = program(seed);
  const auto expected = p.serially();
  p.charge_ns = 100;
  const auto got = p.run(rt, o);
  INFO("seed " << seed << ", " << rt.workers() << " workers, " << rt.machine() << ", window " << o.window);
  CHECK(got.memory == expected.memory);
  CHECK(got.committed == expected.committed);
}

}  // namespace

TEST_CASE("ordered, speculative: random programs leave what the serial run leaves, on any number of workers") {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 7u, 16u}) {
    weft::runtime rt({.workers = workers});
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      compare(rt, seed, ahead);
      compare(rt, seed, {.executor = "speculative"});
    }
    for (const std::size_t window : {1u, 2u, 5u})
      compare(rt, 7, {.executor = "speculative", .window = window, .always_ahead = true});
  }
}
TEST_CASE("ordered, speculative: random programs on modelled machines, in time and in random order") {
  for (const unsigned workers : {1u, 8u, 64u})
    for (const char* schedule : {"time", "random"})
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        weft::runtime rt({.workers = workers, .machine = "virtual", .seed = seed, .model = {.schedule = schedule}});
        compare(rt, seed, ahead);
      }
}
