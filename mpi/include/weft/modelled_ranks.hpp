// All ranks in one process, in virtual time: each is a node of a modelled cluster, with a runtime on modelled cores,
// and messages take what its network takes (docs/guide/53-modelled-clusters.md). The same program as on MPI, and the
// same times in every run.
//
//   weft::run_modelled_ranks({.machine = "cluster-16x64"}, [](weft::transport& net) {
//     weft::runtime rt;                                          all cores of a node
//     weft::cluster w(rt, net);
//     ...
//   });
//
// A message of up to `eager` bytes leaves when its send begins, and the send is over then. A larger one leaves when
// sender and receiver know of each other: one latency for the sender's question, one for the answer. It is over for
// both when its last byte is there. A message from a rank to itself takes no time.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "weft/transport.hpp"

namespace weft {

struct modelled_ranks {
  const char* machine = nullptr;  // with a [network]: "cluster-2x4"; nullptr: WEFT_MACHINE
  int ranks = 0;                  // the first so many nodes; 0: one for each
  const char* change = nullptr;   // as options::model.change; nullptr: WEFT_CHANGE
  int tag_limit = 32767;
};

// What the messages of a run have met, in virtual time.
struct network_report {
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t eager = 0;               // of the messages: left at once
  double slow_ns = 0;                    // sum of how much longer they took than each alone would have
  double longest_full_ns = 0;            // of the link that was full for longest, how long
  std::uint32_t longest_full_node = 0;   // whose it is; the number of nodes: it is between switches
  bool longest_full_sends = false;       // from that node, or to it
};

// Calls `program` for each rank, each on a stack of its own of the calling thread, and returns when all have returned.
// Errors: weft::error for a machine without a network or with fewer nodes; what the program of a rank has thrown, of
// the first that did.
network_report run_modelled_ranks(const modelled_ranks& how, const std::function<void(transport&)>& program);

}  // namespace weft
