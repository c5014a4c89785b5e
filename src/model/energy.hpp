// What a run on a modelled machine takes in joules: power of cores by what they do, and energy of each byte that comes
// from memory. A plain sum: no frequencies, no temperature, nothing of what the machine takes when nobody is there.
// Caches are in the power of the core, and so is a core that stands still for a cache line or for its data.
#pragma once
#include <cstdint>

#include "model/machine.hpp"
#include "weft/counts.hpp"

namespace weft::model {

// Of all cores together.
struct core_times {
  std::uint64_t running_ps = 0;    // bodies, the scheduler's own work, and whatever these wait for
  std::uint64_t searching_ps = 0;  // pauses of waiting loops
  std::uint64_t asleep_ps = 0;
};

[[nodiscard]] inline joules energy_of(const energy_costs& e, const core_times& t, std::uint64_t local_bytes,
                                      std::uint64_t remote_bytes) noexcept {
  constexpr double second = 1e-12;  // of ps, and joules of pJ
  if (!e.known) return {};
  return {.modelled = true,
          .running = e.running_w * (static_cast<double>(t.running_ps) * second),
          .searching = e.searching_w * (static_cast<double>(t.searching_ps) * second),
          .asleep = e.asleep_w * (static_cast<double>(t.asleep_ps) * second),
          .local = e.local_pj * (static_cast<double>(local_bytes) * second),
          .remote = e.remote_pj * (static_cast<double>(remote_bytes) * second)};
}

}  // namespace weft::model
