// Tasks that complete events by fulfil_after(), beside plain ones, on a modelled machine, ended in "internal error" in
// sleep.hpp. A worker that took its announcement of sleep back, and had been claimed by then, parked to take the wake
// that was on its way; the alarm of an event ended that.
// Right: every event comes.
// Run: 40
// Long: 1500
// Machines: random pct virtual
// Workers: 8 2 3
#include <weft/weft.hpp>

#include <array>

#include "found.hpp"

int main(int argc, char** argv) {
  const long seeds = amount(argument(argc, argv, 1, 40));
  for (long seed = 1; seed <= seeds; ++seed) {
    std::array<weft::event, 8> events;
    weft::runtime rt({.seed = static_cast<std::uint64_t>(seed), .search_us = 0});
    int done = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      rt.submit(weft::completes(events[i]), [&events, &done, seed, i] {
        ++done;
        events[i].fulfil_after(700.0 * static_cast<double>((static_cast<std::size_t>(seed) + i) % 5));
      });
      for (int k = 0; k < 3; ++k) rt.submit([&done] { ++done; });
    }
    rt.wait();
    require(done == 32, in_words("seed ", seed, ": ", done, " tasks ran"));
  }
}
