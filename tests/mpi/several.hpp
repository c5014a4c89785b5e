// A program on ranks that are threads, in tests: one worker each, and what it throws on each rank.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "weft/cluster.hpp"
#include "weft/thread_ranks.hpp"

namespace weft::testing {

// What each rank has thrown; "" for nothing.
inline std::vector<std::string> texts_of(const thread_ranks& how, const std::function<void(cluster&)>& program,
                                         unsigned workers = 1) {
  std::vector<std::string> texts(static_cast<std::size_t>(how.ranks));
  run_ranks(how, [&](transport& net) {
    runtime rt({.workers = workers, .machine = "host"});
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
  run_ranks(how, [&](transport& net) {
    runtime rt({.workers = workers, .machine = "host"});
    cluster w(rt, net);
    program(w);
    w.fence();
  });
}

[[nodiscard]] inline bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace weft::testing
