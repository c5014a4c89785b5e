// All ranks in one process: each is a thread with a runtime of its own, and messages are copied. For tests, where a
// seed delays and reorders them, and for a first try without an MPI.
//
//   weft::run_ranks(4, [](weft::transport& net) {
//     weft::runtime rt({.workers = 1});
//     weft::cluster w(rt, net);
//     ...
//   });
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "weft/transport.hpp"

namespace weft {

struct thread_ranks {
  int ranks = 1;
  // Above 0: how long each message takes, which of those from one rank are faster, and what is copied at once and what
  // waits for its receiver, is drawn from it. 0: all messages come at once.
  std::uint64_t seed = 0;
  // Bytes up to which a message is copied at once; but those up to 8 KiB always are.
  std::size_t eager_bytes = 64 << 10;
  int tag_limit = 32767;
};

// Calls `program` once for each rank and returns when all have returned. Errors: what the program of a rank has thrown,
// of the first that did; std::system_error if there is no thread.
void run_ranks(const thread_ranks& how, const std::function<void(transport&)>& program);
inline void run_ranks(int ranks, const std::function<void(transport&)>& program) {
  run_ranks(thread_ranks{.ranks = ranks}, program);
}

}  // namespace weft
