// Bodies that are measured on a modelled machine: what counts, and what does not. Times are this computer's, so that is
// bounds: what must be in them, and what cannot.
#include <doctest/doctest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "weft/weft.hpp"

namespace {

std::uint64_t own_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}
// By the thread's own clock: whoever else wants the core.
void compute(std::uint64_t ns) {
  for (const std::uint64_t until = own_ns() + ns; own_ns() < until;) {
  }
}

const weft::options measured{.workers = 2, .machine = "virtual", .model = {.body = "measured"}};

}  // namespace

TEST_CASE("measured: the clock knows what the program has computed since its last call") {
  weft::runtime rt(measured);
  compute(3'000'000);
  const double before = rt.now_ns();
  CHECK(before >= 2'900'000);
  rt.submit([] {});
  rt.wait();
  CHECK(rt.now_ns() >= before);
  CHECK(rt.now_ns() - before < 2'000'000);  // those 3 ms count once, and before
}

TEST_CASE("measured: bodies take what they compute, and side by side") {
  double least = 1e18, most = 0;
  for (int round = 0; round < 5; ++round) {
    weft::runtime rt(measured);
    const double from = rt.now_ns();
    for (int i = 0; i < 4; ++i) rt.submit([] { compute(2'000'000); });
    rt.wait();
    least = std::min(least, rt.now_ns() - from);
    most = std::max(most, rt.now_ns() - from);
  }
  CHECK(least >= 3'900'000);
  CHECK(least < 7'000'000);
  CHECK(most < 1e9);
}

// With a clock that takes half a microsecond each would have taken that.
TEST_CASE("measured: a body that does nothing takes next to nothing") {
  double least = 1e18;
  for (int round = 0; round < 9; ++round) {
    weft::runtime rt({.workers = 1, .machine = "virtual", .model = {.body = "measured"}});
    weft::handle<void> chain;
    for (int i = 0; i < 1000; ++i) rt.submit(weft::write(chain), [] {});
    const double from = rt.now_ns();
    rt.wait();
    least = std::min(least, rt.now_ns() - from);
  }
  CHECK(least / 1000 < 150);
}
