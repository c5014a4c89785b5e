// The systems that TaskGenX compares, as options of a runtime: which machine of machines/tasksim.toml, what is
// different about it, and who creates tasks. Nothing else is known about them: what comes out is what Weft's scheduler
// does there.
#pragma once
#include <cstddef>
#include <string>

#include "weft/weft.hpp"
#include "workloads.hpp"

namespace weft::apps::taskgenx {

constexpr double ghz = 2.6;  // of the machine whose cycles the paper counts

struct system_choice {
  std::string name;            // baseline, rtopt, taskgenx, runtime, dependences
  std::size_t cores = 512;     // general ones: 1, or 8, 16, ... 512
  std::size_t big = 0;         // of these; the others are little. 0: all alike
  std::string master = "big";  // the kind of core that the program runs on
  std::size_t r = 16;          // how much faster the extra core does the runtime's work
  std::size_t inserts = 0;     // dependences: so many per cent of creation are done by the extra core, too
  bool fine = false;           // every cache line, not only every step of a task
};

// `given`, on that system with that workload's costs. The names that it points to live in `keep`. Errors: weft::error
// for a system that there is not.
[[nodiscard]] options on_system(const system_choice& s, const workload& w, const options& given,
                                std::string (&keep)[2]);

}  // namespace weft::apps::taskgenx
