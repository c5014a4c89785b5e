// Arenas of oneTBB as guests: each thread that comes is alone on its CPU, and all have left when the guest ends.
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>

#include "count.hpp"
#include "weft/onetbb.hpp"

int main() {
  const unsigned cores = std::max(1u, weft::usable_cpus());
  weft::runtime rt({.workers = cores, .machine = "host"});
  census c;
  std::atomic<int> wide = 0, wrong = 0;
  const auto guest = [&](weft::team_context& t, unsigned) {
    weft::onetbb_guest(t, [&](weft::guest_context& g) {
      ++c.guests;
      std::vector<std::atomic<int>> slots(g.threads());
      tbb::parallel_for(0, 64, [&](int) {
        const auto slot = static_cast<unsigned>(tbb::this_task_arena::current_thread_index());
        ++slots[slot];
        c.work(g.cpu(slot));
      });
      int done = 0, came = 0;
      for (const auto& slot : slots) done += slot, came += slot != 0;
      wrong += done != 64;
      wide += came > 1;
    });
  };
  // On a busy computer the second thread of an arena may come too late for all of them; over many it does not.
  constexpr int rounds_max = 1000;
  for (int round = 0; round == 0 || (round < rounds_max && cores > 1 && wide == 0); ++round) cross(rt, c, 400, guest);
  std::printf("%d guests had more than one thread\n", wide.load());
  return c.verdict("onetbb") != 0 || wrong != 0 || (cores > 1 && wide == 0) ? 1 : 0;
}
