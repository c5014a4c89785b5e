// What the guests of these tests have in common: each of their threads says which CPU it is on while it works, and
// nobody may be there with it. Streams of teams of all widths cross, on as many workers as there are cores.
#pragma once
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <vector>

#include "weft/weft.hpp"

struct census {
  std::vector<std::atomic<int>> on = std::vector<std::atomic<int>>(CPU_SETSIZE);
  std::atomic<int> crowded{0}, elsewhere{0}, works{0}, guests{0}, fewer{0};

  // A thread of a guest works for about 10 us, on the CPU that is its own.
  void work(int cpu) {
    ++works;
    if (cpu < 0) return;
    crowded += ++on[static_cast<unsigned>(cpu)] != 1;
    for (int spin = 0; spin < 10000; ++spin) asm volatile("");
    elsewhere += sched_getcpu() != cpu;
    --on[static_cast<unsigned>(cpu)];
  }
  // As tasks do, which no guest may share a core with.
  void task() {
    const int cpu = weft::worker_id() == 0 ? -1 : sched_getcpu();  // the main thread is not bound
    if (cpu >= 0) crowded += ++on[static_cast<unsigned>(cpu)] != 1;
    for (int spin = 0; spin < 5000; ++spin) asm volatile("");
    if (cpu >= 0) --on[static_cast<unsigned>(cpu)];
  }
  [[nodiscard]] int verdict(const char* what) const {
    std::printf(
        "%s: %d guests, %d works of their threads; %d not alone on a core, %d on another, %d guests too narrow\n", what,
        guests.load(), works.load(), crowded.load(), elsewhere.load(), fewer.load());
    return crowded != 0 || elsewhere != 0 || fewer != 0 ? 1 : 0;
  }
};

// one(team, k): the guest of the k-th team.
template <class One> void cross(weft::runtime& rt, census& c, unsigned teams, One one) {
  for (unsigned k = 0; k < teams; ++k) {
    rt.submit(weft::team(1 + k % rt.workers()), [one, k](weft::team_context& t) { one(t, k); });
    rt.submit([&c] { c.task(); });
  }
  rt.wait();
}
