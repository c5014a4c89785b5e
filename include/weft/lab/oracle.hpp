// What the oracle says about an ordered section: how large its bodies are, what they touch, and how many of them could
// have run at a time, had it been known what they would touch (Swarm §2.2).
//
//   #include <weft/lab/oracle.hpp>               // not in weft.hpp
//   weft::ordered q(rt, {.executor = "oracle"});
//   ...
//   q.run();
//   weft::oracle_statistics s = weft::oracle_of(q);   // s.parallelism.unlimited is how far speed-up can go
//
// Time is instructions: what work() says, and one for each word loaded or stored. A body begins when the one that
// created it has ended, and all that wrote a word it reads have, too. Nothing else holds it up but the limit: order
// says who reads from whom, and is otherwise no reason to wait. Words have 64 bits.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>

#include "weft/lab/executors.hpp"
#include "weft/ordered.hpp"

namespace weft {

struct oracle_spread {
  double mean = 0;
  std::uint64_t percentile_90 = 0;  // nine of ten bodies have at most so many
};

// Instructions of all bodies over those from the beginning to the end of the last one, if there are cores enough.
struct oracle_parallelism {
  double unlimited = 0;
  // A body begins when all but the last T - 1 before it in order have ended.
  double window_1024 = 0;
  double window_64 = 0;
  // A body begins when fewer than T of those before it in order have not ended, whichever these are.
  double in_flight_1024 = 0;
  double in_flight_64 = 0;
  // What an ideal scheme finds that speculates on the sequential program (thread-level speculation, Swarm §3): the
  // better of two programs. One is a loop that takes a body from a priority queue: who puts something into it holds up
  // the next round. The other is a loop over what the section was given. A round is such a body with all that it
  // creates, and waits for the rounds that it reads from. It is a program only where the order is such.
  double sequential = 0;
};

struct oracle_statistics {
  std::uint64_t tasks = 0;
  std::uint64_t instructions = 0;
  std::uint64_t critical_path = 0;  // instructions; unlimited
  oracle_spread size;               // instructions of a body
  oracle_spread reads;              // words it loads or reads, each once
  oracle_spread writes;             // words it stores, each once
  oracle_parallelism parallelism;
  bool is_loop = false;  // there are several roots, and order is a loop over them: all that one creates, then the next
};

// Of all that has run in the section. Errors: weft::error if its executor is another one.
[[nodiscard]] oracle_statistics oracle_of(ordered& q);

}  // namespace weft
