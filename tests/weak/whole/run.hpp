// A check of the whole engine on the machine with weak memory, by seeds: each is a runtime of 2 to 4 workers whose
// creation, deques and barrier differ, and what goes wrong in it is said with the line that replays it.
#pragma once
#include <string>

#include "interleave.hpp"
#include "machine/virtual/turns.hpp"
#include "runtime/engines.hpp"
#include "weak/whole/engine.hpp"
#include "weft/weft.hpp"

namespace weft::weak {

struct way {
  std::uint64_t seed;
  unsigned workers;
  bool decoupled;
};

[[nodiscard]] inline way way_of(std::uint64_t seed) noexcept {
  return {seed, 2 + static_cast<unsigned>(seed / 2 % 3), seed % 5 >= 3};
}
[[nodiscard]] inline options options_of(const way& w) noexcept {
  const choices all = policies();
  const choice* const first = all.begin();
  return {.workers = w.workers,
          .machine = "virtual",
          .policy = (first + (w.seed % 4 == 3 ? w.seed / 4 % static_cast<std::size_t>(all.end() - first) : 0))->name,
          .seed = w.seed,
          .window = w.seed % 7 == 0 ? 64u : 4096u,
          .search_us = w.seed % 3 == 0 ? 0u : 1u,
          .stack_kib = 128,
          .creation = w.decoupled ? "decoupled" : "inline"};
}

// check(runtime) returns what is wrong with its values, or nullptr; all that it uses lives until the runtime has ended.
// Check::with(options) may change how that is made.
template <class Check> [[nodiscard]] const char* on_weak_memory(std::uint64_t seed, Check& check) {
  INFO("WEFT_TEST_SEED=" << seed);  // where it crashes
  disturb_modelled_machines() = {};
  if (seed % 4 == 1) disturb_modelled_machines().deque_slots = 2;
  const char* wrong = nullptr;
  whole::tells_races = false;
  whole::watches_what_is_gone = !requires { Check::has_a_shared_ptr; };
  {
    options how = options_of(way_of(seed));
    if constexpr (requires { Check::with(how); }) how = Check::with(how);
    runtime rt(how);
    wrong = check(rt);
  }
  whole::tells_races = whole::watches_what_is_gone = true;
  return wrong;
}

// Make: check(runtime) for one seed.
template <class Make> void on_weak_memory_of_all_seeds(unsigned n, Make make) {
  interleave::all_seeds(n, [&](std::uint64_t seed) {
    auto check = make(seed);
    return on_weak_memory(seed, check);
  });
}

template <class Check> void runs_on_all_seeds(unsigned n) {
  on_weak_memory_of_all_seeds(n, [](std::uint64_t) { return Check(); });
}

}  // namespace weft::weak
