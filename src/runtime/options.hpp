// From what the program asked for, the environment and the machine, to what will be done.
#pragma once
#include "sched/balance/rules.hpp"
#include "weft/runtime.hpp"

namespace weft {

// What machine a runtime of this thread has that says none, and how that one is changed, in place of the environment;
// nullptr: what that says. For nodes of a modelled cluster.
struct default_machine {
  const char* name = nullptr;
  const char* change = nullptr;
};
[[nodiscard]] default_machine& default_machine_here() noexcept;

// Fills every field that `asked` leaves at its default from WEFT_<NAME>, then from the machine, and checks all.
// The strings of the result live as long as the process. Errors: weft::error naming the option and what is allowed.
[[nodiscard]] options complete(options asked);

// The numbers of the scheduler's rules that they ask for.
[[nodiscard]] sched::rules rules_of(const options& complete);

// What a complete set of options says about creation.
[[nodiscard]] bool decoupled(const options& complete);

}  // namespace weft
