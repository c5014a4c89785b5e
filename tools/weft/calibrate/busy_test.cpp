// Loops that cores do at once: what they measure must see cores that take from each other, and tell them from cores
// that do not.
#include "busy.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <memory>

namespace weft::tool::calibrate {

namespace {

std::vector<unsigned> usable() {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  std::vector<unsigned> all;
  for (unsigned i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) all.push_back(i);
  return all;
}

constexpr effort little{0.05, 7};

}  // namespace

TEST_CASE("busy: every loop takes time, and its speed beside others is one") {
  for (const chore& work : {compute_loop(), vector_loop(), stream_loop(64 << 10)}) {
    const double start = now_ns();
    work();
    CHECK(now_ns() - start > 1'000);
  }
  const std::vector<unsigned> cpus = usable();
  if (cpus.size() < 2) return;
  for (const auto& make : {compute_loop, vector_loop}) {
    const double speed = speed_while_all(little, cpus, make).median;
    CHECK((speed > 0.01 && speed < 20));  // whatever else the computer does
  }
}

TEST_CASE("busy: cores that want the same word are seen to slow each other down") {
  std::vector<unsigned> cpus = usable();
  if (cpus.size() < 2) return;
  cpus.resize(2);
  const auto word = std::make_shared<std::atomic<unsigned>>(0);
  const auto contended = [&] {
    return [word] {
      for (int i = 0; i < 20'000; ++i) word->fetch_add(1);
    };
  };
  const auto apart = [&] {
    return [own = std::make_shared<std::array<std::atomic<unsigned>, 64>>()] {
      for (int i = 0; i < 20'000; ++i) (*own)[32].fetch_add(1);
    };
  };
  // Where others want this computer, too, the two threads may not run at the same time; then it is tried again.
  bool seen = false;
  for (int tries = 0; tries < 100 && !seen; ++tries)
    seen = speed_while_all(little, cpus, contended).min < 0.7 * speed_while_all(little, cpus, apart).median;
  CHECK(seen);
}

}  // namespace weft::tool::calibrate
