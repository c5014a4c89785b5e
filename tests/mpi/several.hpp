// A program on ranks, in tests: one worker each, and what it throws on each rank. Ranks are threads; with
// RANKS=modelled in the environment they are nodes of a modelled cluster, whose network the seed draws.
#pragma once
#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "weft/cluster.hpp"
#include "weft/modelled_ranks.hpp"
#include "weft/thread_ranks.hpp"

namespace weft::testing {

[[nodiscard]] inline bool are_modelled() {
  const char* const ranks = std::getenv("RANKS");
  return ranks != nullptr && std::string(ranks) == "modelled";
}

// A network of that many nodes; seed 0: a usual one.
[[nodiscard]] inline std::string network_of(int nodes, std::uint64_t seed, std::size_t eager_bytes) {
  std::mt19937_64 draw(seed);
  const auto some = [&](std::uint64_t usual, std::uint64_t most) {
    return std::to_string(seed == 0 ? usual : draw() % most);
  };
  return "network.nodes.count = " + std::to_string(nodes) + "; network.latency.ns = " + some(1000, 3000) + ".5" +
         "; network.link.GBps = 1" + some(0, 9) + "; network.send.ns = " + some(300, 2000) +
         "; network.receive.ns = " + some(200, 2000) + "; network.gap.ns = " + some(0, 500) +
         "; network.notice.us = " + some(0, 60) + "; network.eager.bytes = " + std::to_string(eager_bytes);
}

template <class Program> void on_each_rank(const thread_ranks& how, unsigned workers, Program program) {
  if (!are_modelled())
    return run_ranks(how, [&](transport& net) {
      runtime rt({.workers = workers, .machine = "host"});
      program(rt, net);
    });
  const std::string change = network_of(how.ranks, how.seed, how.eager_bytes);
  run_modelled_ranks({.machine = "virtual", .ranks = how.ranks, .change = change.c_str(), .tag_limit = how.tag_limit},
                     [&](transport& net) {
                       runtime rt({.workers = workers});
                       program(rt, net);
                     });
}

// What each rank has thrown; "" for nothing.
inline std::vector<std::string> texts_of(const thread_ranks& how, const std::function<void(cluster&)>& program,
                                         unsigned workers = 1) {
  std::vector<std::string> texts(static_cast<std::size_t>(how.ranks));
  on_each_rank(how, workers, [&](runtime& rt, transport& net) {
    cluster w(rt, net);
    try {
      program(w);
    } catch (const std::exception& e) {
      texts[static_cast<std::size_t>(net.rank())] = e.what();
    }
  });
  return texts;
}

inline void on_ranks(const thread_ranks& how, const std::function<void(cluster&)>& program, unsigned workers = 1) {
  on_each_rank(how, workers, [&](runtime& rt, transport& net) {
    cluster w(rt, net);
    program(w);
    w.fence();
  });
}

[[nodiscard]] inline bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace weft::testing
