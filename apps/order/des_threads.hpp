// The parallel program that the simulation of a circuit is compared with, and what it has in common with the one in
// order (des.cpp): what is known of a gate, and what a signal costs.
#pragma once
#include <cstdint>

#include "circuit.hpp"
#include "weft/lab/swarm.hpp"

namespace weft::apps::des {

// What the simulation knows of a gate.
struct gate_state {
  std::uint64_t pins = 0;
  std::uint64_t says = 0;
  std::uint64_t asked = 0;
  std::uint64_t changes = 0;
  std::uint64_t changed_at = 0;
  std::uint64_t high = 0;  // time
  friend bool operator==(const gate_state&, const gate_state&) = default;
};

// Instructions beside the loads and stores, so that mean and 90th percentile are near those of the paper's Table 1.
inline constexpr std::uint64_t signal_instructions = 248, send_instructions = 25;

// When a gate says that there is no change (des_threads.cpp): in answer to each message, or when it cannot go on.
enum class null_messages { each, lazy };

struct threads_counts {
  std::uint64_t signals = 0;      // processed
  std::uint64_t activations = 0;  // of gates that were locked
  std::uint64_t conflicts = 0;    // gates put back, because one of the locks was taken
  std::uint64_t nulls = 0;        // messages that told nothing but a time
};

// Runs all toggles of the circuit from these states on. Errors: those of run_chip_threads().
swarm_statistics simulate_by_threads(const order::circuit& c, order::paged<gate_state>& states, null_messages nulls,
                                     threads_counts& counts);

}  // namespace weft::apps::des
