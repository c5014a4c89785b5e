// The machines a runtime can be made on. One file per machine instantiates the engine for it; only those two see both
// the scheduler and a machine.
#pragma once
#include <memory>

#include "runtime/options.hpp"
#include "sched/admit/any_engine.hpp"
#include "weft/runtime.hpp"

namespace weft {

namespace machine {
struct disturbance;
}

// `opt` is complete: every field set, every value checked (options.cpp).
[[nodiscard]] std::unique_ptr<sched::any_engine> make_host_engine(const options& opt);
[[nodiscard]] std::unique_ptr<sched::any_engine> make_virtual_engine(const options& opt);

// What they have in common.
[[nodiscard]] inline sched::engine_setup setup_of(const options& opt) {
  return {.workers_wanted = opt.workers,
          .seed = opt.seed,
          .window_tasks = opt.window,
          .stack_bytes = opt.stack_kib * 1024,
          .search_ns = opt.search_us * std::uint64_t{1000},
          .decoupled = decoupled(opt),
          .creator = opt.creator,
          .top = opt.top,
          .rules = rules_of(opt)};
}

// How modelled machines made from now on are disturbed (machine/virtual/turns.hpp): for tests of the scheduler.
[[nodiscard]] machine::disturbance& disturb_modelled_machines() noexcept;

}  // namespace weft
