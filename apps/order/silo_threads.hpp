// The program silo as the Swarm paper's parallel program has it (§6.2): threads that run whole transactions under
// Silo's optimistic concurrency control (optimistic.hpp).
#pragma once
#include <cstdint>
#include <vector>

#include "optimistic.hpp"
#include "tpcc.hpp"
#include "weft/lab/swarm.hpp"

namespace weft::apps::order {

struct served_requests {
  swarm_statistics chip;
  std::vector<std::uint64_t> in_order;  // the requests as they happened one after the other
  std::uint64_t aborts = 0;             // transactions that were tried in vain
  std::uint64_t aborted_cycles = 0;     // of cores: those tries
  std::uint64_t backoff_cycles = 0;     // and the waits after them
};

// Serves all requests on the chip that WEFT_SWARM says.
[[nodiscard]] served_requests serve_by_threads(database& db, const paged<request>& requests, std::uint64_t items,
                                               std::uint64_t seed, std::uint64_t epoch_cycles = epochs::length);

}  // namespace weft::apps::order
